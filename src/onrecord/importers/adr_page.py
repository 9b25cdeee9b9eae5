"""The parts of a page that records a decision, wherever its template puts them: status, date, links, sections, text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from onrecord import markdown, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.markdown import Block, MarkdownPage, Section
from onrecord.text import cut

# A status is a line or two, and naming what replaces a decision takes few words more.
_LONGEST_STATUS = 2_000
# Where a template puts its fields: above the first section, or in one of the first.
_FIRST_SECTIONS = 3
_FIELD = re.compile(
    r"(status|state|date|created|decided on|superseded[ -]by|supersedes|replaces|tags?)\s*(?::|\|)\s*(.*)",
    re.IGNORECASE,
)
_ALIASES = {"state": "status", "created": "date", "decided on": "date", "replaces": "supersedes", "tag": "tags"}
_AROUND_TITLE = re.compile(r"^[\W\d_]+|[\W_]+$")
_DECISION = re.compile(
    r"(?:(?:the|our|final|agreed|architectur\w+|adr)\s+)*"
    r"(?:decisions?(?: outcome| made| taken| (?:and|&) (?:rationale|reason\w*|justification)| statement| summary)?"
    r"|outcome|resolution|(?:chosen|selected) (?:option|solution|approach|alternative|decision)|preferred option)"
)
_IN_HEADING = re.compile(
    r"(?:the )?(?:(?:chosen |selected )?decision|decision outcome|(?:chosen|selected) (?:option|solution|approach))"
    r"\s*[:–—]\s*(\S.*)",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"(?:the )?(?:context(?: (?:and|&) problem(?: statement)?)?|problem(?: statement| description)?|background|"
    r"motivation|issue|introduction|overview|summary|context (?:and|&) \w+|why|purpose|description|user story)"
)
_REASONS = re.compile(
    r"(?:rationale|reasons?|reasoning|justification|why|decision drivers?|drivers?|argument\w*|decision rationale)"
)
_OPTIONS = re.compile(
    r"(?:(?:possible|considered|proposed|other|available|design|the) )*(?:options?|alternatives?|solutions?|approaches|"
    r"possibilities)(?: considered| (?:we|that were) considered)?"
)
_EFFECTS = re.compile(
    r"(?:(?:positive|negative|general|expected|known) )*(?:consequences?|implications?|outcomes|impacts?)"
)
_NOT_DECIDED = re.compile(
    r"(?:(?:positive|negative|neutral|general|expected|good|bad|known) )*"
    r"(?:consequences?|implications?|outcomes|impacts?|pros|cons|pros (?:and|&) cons.*|advantages|disadvantages|"
    r"benefits|drawbacks|risks|trade-?offs?|confirmation|validation|compliance|notes?|links?|references|"
    r"further reading|more information|related.*|examples?|status|changelog|open questions|next steps|"
    r"questions|follow[- ]?ups?)"
)
_TAG = re.compile(r"</?(?:br|p|div|details|summary|a|img|sub|sup|b|i|em|strong|ul|li|ol)\b[^<>]{0,300}>", re.IGNORECASE)
_REFERENCE_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\[[^\[\]\n]{0,100}\]")
_LINK_TARGET = re.compile(r"(?:^|\s)\[[^\[\]\n]{1,100}\]:\s*\S{1,500}")
_EMPHASIS = re.compile(r"(?<![\w`])_([^_`\n]{1,300})_(?![\w`])|(?<![\w*`])\*([^\s*`][^*`\n]{0,300})\*(?![\w*`])")
_ARGUMENT = re.compile(
    r"(?:good|bad|neutral|pros?|cons?|positive|negative|advantage|disadvantage)s?\b\s*[,:]", re.IGNORECASE
)
_ASIDE = re.compile(
    r"(?:(?:positive|negative|expected|main) )?(?:consequences|pros|cons|advantages|disadvantages|benefits|drawbacks|"
    r"implications|trade-?offs)(?: (?:of|are)\b.{0,40})?\W*",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\b(?:includes?|are|is|to|will|with|that|by|because|as|of|and|or)$", re.IGNORECASE)
"""Words after which a list goes on with the sentence."""

_SHORT = 200
"""Characters below which the text of a section may be only a lead to the sections in it."""

_MOST_DECISIONS = 8
"""Sections for a decision that are looked at: two are too many already."""

_LONGEST_BELOW = 600
"""Characters of the sections below a section that says something itself."""

_MOST_CODE_LINES = 4
_LONGEST_CODE = 200
"""Characters of code that can be part of a sentence."""

_REPLACED = re.compile(
    r"(?:(?:this|the) (?:decision|adr|document|record)\w* (?:has been|is|was) )?"
    r"(?:superseded|replaced|deprecated|rejected)(?: by\b|\W*$)",
    re.IGNORECASE,
)


class Fields(NamedTuple):
    """What a template asks for in a line each, as it was written."""

    status: str = ""
    date: str = ""
    tags: str = ""
    superseded_by: str = ""
    supersedes: str = ""

    @property
    def day(self) -> str:
        """The instant at which a day named in it begins; empty if there is none."""
        match = re.search(r"\d{4}-\d{2}-\d{2}", self.date)
        when = f"{match[0]}T00:00:00Z" if match else ""
        return when if when and timestamps.is_instant(when) else ""


def fields(page: MarkdownPage) -> Fields:
    """Status, date and links: of the front matter, of a line or a table row at the top, or of a section."""
    values = dict.fromkeys(Fields._fields, "")
    for key, texts in page.front.items():
        _note(values, key, ", ".join(texts))
    for section in page.sections[:_FIRST_SECTIONS]:
        for name, value in _lines_of(section):
            _note(values, name, value)
    for section in page.sections:
        if heading(section) in ("status", "date", "state") and section.level > 1:
            _note(values, heading(section), " ".join(section.lines) or section.source.strip())
    for section in page.sections[:_FIRST_SECTIONS]:
        _note(values, "status", next((line for line in section.lines if _REPLACED.match(line)), ""))
    return Fields(**values)


def _note(values: dict[str, str], name: str, value: str) -> None:
    key = re.sub(r"[ -]", "_", _ALIASES.get(name.strip().lower(), name.strip().lower()))
    if key in values and not values[key]:
        values[key] = value.strip(" |*_`")[:_LONGEST_STATUS]


def _lines_of(section: Section) -> Iterator[tuple[str, str]]:
    """Names and values of lines `Status: x` and of table rows; a row of names has its values in the row below."""
    lines = section.lines
    rows = [[cell.strip(" *_`") for cell in line.strip().strip("|").split("|")] for line in lines if "|" in line]
    rows = [row for row in rows if any(cell.strip(":-") for cell in row)]
    for head, row in zip(rows[:1], rows[1:2]):
        if len(head) > 1 and len(head) == len(row) and not _FIELD.match(f"{row[0]}:"):
            yield from zip(head, row)
    for line in lines:
        if match := _FIELD.match(
            line.strip().lstrip("|*_- ").replace("**", "").replace(" | ", "|", 1).replace("|", ":", 1)
        ):
            yield match[1], match[2]


def heading(section: Section) -> str:
    """The title of a section as it is compared: in lower case, without number, picture and punctuation around it."""
    return _AROUND_TITLE.sub("", section.title.lower())


def decisions(page: MarkdownPage) -> list[tuple[Section, str]]:
    """The sections that say what was decided, the likeliest first, and what their heading itself says of it."""
    named = [(section, "") for section in page.sections if section.level > 1 and _DECISION.fullmatch(heading(section))]
    named += [
        (section, match[1])
        for section in page.sections
        if section.level > 1 and (match := _IN_HEADING.match(section.title))
    ]
    # A template with an outcome uses "decision" for what led to it.
    return sorted(named[:_MOST_DECISIONS], key=lambda each: "outcome" not in heading(each[0]))


def context(page: MarkdownPage) -> str:
    """The situation: a section for it, or what stands above the first section."""
    for section in page.sections:
        if section.level > 1 and _CONTEXT.fullmatch(heading(section)) and (text := text_of(page, section)):
            return text
    top = [section for section in page.sections if section.level <= 1][:1]
    return joined(block for section in top for block in section.blocks if not _FIELD.match(block.text.lstrip("*_- ")))


def reasons(page: MarkdownPage) -> list[str]:
    return _items(page, _REASONS)


def effects(page: MarkdownPage) -> list[str]:
    return _items(page, _EFFECTS)


def options(page: MarkdownPage) -> list[Section]:
    """The sections that list options."""
    return [section for section in page.sections if section.level > 1 and _OPTIONS.fullmatch(heading(section))]


def _items(page: MarkdownPage, names: re.Pattern[str]) -> list[str]:
    sections = [
        each for section in page.sections if names.fullmatch(heading(section)) for each in within(page, section)
    ]
    texts = [clean(markdown.flat(text)) for section in dict.fromkeys(sections) for text in section.prose]
    return [text for text in texts if len(text.split()) > 1]


def within(page: MarkdownPage, section: Section) -> list[Section]:
    """A section and the deeper ones that follow it."""
    start = page.sections.index(section)
    sections = [section]
    for other in page.sections[start + 1 :]:
        if other.level <= section.level:
            break
        sections.append(other)
    return sections


def text_of(page: MarkdownPage, section: Section) -> str:
    """What a section says; where that only leads to the sections in it, what they say too."""
    own = joined(section.blocks)
    if own and not own.endswith(":") and len(own) > _SHORT:
        return own
    below = [each for each in within(page, section)[1:] if not _is_aside(each)]
    if not own and any(_is_figure(each) for each in below):
        return ""
    parts = [f"{each.title.rstrip(':')}: {text}" for each in below if (text := joined(each.blocks))]
    if own and not own.endswith(":"):
        parts = [cut(" ".join(parts), _LONGEST_BELOW)] if parts else []
    return " ".join((_closed(own, False) if own and parts else own, *parts)).strip()


def _is_figure(section: Section) -> bool:
    """Whether a section holds a table or code and nothing else: what it says cannot be told in a sentence."""
    return bool(section.blocks) and all(block.kind in ("table", "code") for block in section.blocks)


def _is_aside(section: Section) -> bool:
    """Whether a section, or one it is in, says what follows from a decision and not what it is."""
    names = [_AROUND_TITLE.sub("", title.lower()) for title in (section.title, *section.above)]
    return any(
        _NOT_DECIDED.fullmatch(name) or _REASONS.fullmatch(name) or _OPTIONS.fullmatch(name) for name in names if name
    )


def joined(blocks: Iterable[Block]) -> str:
    """Blocks as running text, items set off by semicolons; code, tables, notices and arguments are left out."""
    text, was_item = "", False
    for block in blocks:
        if block.kind in ("code", "table"):
            text = _before_a_figure(text, block)
            continue
        part = clean(markdown.flat(block.text))
        if not part or part.startswith((":::", "![")):
            continue
        if text and _ASIDE.fullmatch(part):
            break
        is_item = block.kind == "bullet"
        if is_item and _ARGUMENT.match(part):
            continue
        text = f"{_closed(text, is_item and was_item)} {part}" if text else part
        was_item = is_item
    return text


def _before_a_figure(text: str, block: Block) -> str:
    """Text before code or a table that it leads to: short code is quoted, before anything else the lead is left out."""
    if not text.endswith(":"):
        return text
    lines = [line.strip() for line in block.text.split("\n") if line.strip()]
    if block.kind == "code" and len(lines) <= _MOST_CODE_LINES and len(block.text) <= _LONGEST_CODE:
        return f"{text} {', '.join(f'`{line}`' for line in lines)}."
    return text[: max(text.rfind(". ") + 1, text.rfind("; "), 0)].strip()


def _closed(text: str, is_listing: bool) -> str:
    """Text with a mark at its end, so that the next block does not run into it."""
    if is_listing:
        return f"{text.rstrip('.;')};"
    return text if text[-1] in ".:;!?,…" or _GOES_ON.search(text) else f"{text}."


def _emphasised(match: re.Match[str]) -> str:
    return match[1] or match[2]


def clean(text: str) -> str:
    """Text without HTML tags and the targets of links."""
    text = _EMPHASIS.sub(_emphasised, _LINK_TARGET.sub(" ", _REFERENCE_LINK.sub(r"\1", text)))
    return " ".join(_TAG.sub(" ", text).split())

"""The parts of a decision record in any template: fields, sections, and their blocks, as far as they can be quoted.

A block can be quoted if it is plain prose, whose lines and marks leave nothing to guess. One with parts of its own, or
with lines that may be separate texts, says why it is not.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator, Sequence

from onrecord import markdown, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.markdown import Block, MarkdownPage, Section

# A status is a line or two, with a few words about what replaces the decision.
_MAX_STATUS_LENGTH = 2_000
# Templates put their fields above the first section or in one of the first.
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
_REASONS = re.compile(r"(?:rationale|reasons?|reasoning|justification|why|decision rationale)")
_DRIVERS = re.compile(r"(?:(?:decision|key|main) )?(?:drivers?|forces|requirements|goals|criteria)(?: \(.*)?")
_OPTIONS = re.compile(
    r"(?:(?:possible|considered|proposed|other|available|design|the) )*(?:options?|alternatives?|solutions?|approaches|"
    r"possibilities)(?: considered| (?:we|that were) considered)?(?: for .{1,60})?"
)
_EFFECTS = re.compile(
    r"(?:(?:positive|negative|general|expected|known) )*(?:consequences?|implications?|outcomes|impacts?)"
)
_SIDE = re.compile(
    r"(?:the )?(?:positives?|negatives?|neutral|good|bad|pros|cons|benefits|drawbacks|risks?|(?:dis)?advantages|"
    r"trade-?offs|costs|upsides|downsides)(?: (?:consequences|effects|impacts|outcomes|implications))?"
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
_QUOTED = re.compile(r"^\s*>\s+")
_FOOTNOTE = re.compile(r"\[\^[\w-]{1,40}\]")
_BRACKETED = re.compile(
    r"\[(?!(?:short|describe|insert|option|title|justification|text|name|your|the)\b)"
    r"([A-Za-z][\w .'’/-]{2,60})\](?![\[(:])",
    re.IGNORECASE,
)
"""A link whose target is elsewhere on the page."""

_AUTOLINK = re.compile(r"<(https?://[^<>\s]{1,500})>")
_ESCAPE = re.compile(r"\\([_*`#\[\]<>().!|~-])")
_MAX_DECISIONS = 8
"""Sections for a decision that are read: two are too many already."""

_REPLACED = re.compile(
    r"(?:(?:this|the) (?:decision|adr|document|record)\w* (?:has been|is|was) )?"
    r"(?:superseded|replaced|deprecated|rejected)(?: by\b|\W*$)",
    re.IGNORECASE,
)

_ITEM_MARK = re.compile(r"(\s*)(?:[-*+]|[(\[]?(\d{1,3})[.)\]])\s+")
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"(?<!!)\[[^\[\]\n]{0,300}\]\([^()\n]{0,500}\)")
_FOOTNOTE_LINK = re.compile(r"\[\W?\d{1,3}\W?\]\([^()\n]{0,500}\)")
_BOLD = re.compile(r"(\*\*|__)(?=\S)(.{1,300}?)\1(.*)", re.DOTALL)
_ALL_ITALIC = re.compile(r"_[^_]+_|\*[^*]+\*")
_LABELLED = re.compile(r"[A-Z][^.,;:!?]{0,40}:\s")
"""The beginning of a paragraph that is an item of what the paragraph before it leads to."""

_ENDS_SENTENCE = re.compile(r"[.!?][\"'”’)]*$")
_GOES_ON = re.compile(
    r"\b(?:includes?|including|are|is|be|to|will|should|must|can|may|needs?|have|has|with|that|by|because|as|of|and|or|"
    r"for|from|the|an?|in|on|at|into|than|which|when|such|like|following)$",
    re.IGNORECASE,
)
"""Words after which a list or code continues the sentence."""

_MIN_WIDTH = 60
"""Characters that a page has in a line at least: a shorter one before a capital letter may be a text of its own."""

_MAX_LABEL_WORDS = 3
"""Words of a label above a list, such as `Positive:`; more words are a sentence that the list goes on with."""

_MAX_BLOCKS = 100
"""Blocks of a section that are read; a draft has room for a few."""


class Fields(NamedTuple):
    """The one-line fields of a template, as they were written."""

    status: str = ""
    date: str = ""
    tags: str = ""
    superseded_by: str = ""
    supersedes: str = ""

    @property
    def day(self) -> str:
        """The start of the day in `date`; empty if there is none."""
        match = re.search(r"\d{4}-\d{2}-\d{2}", self.date)
        instant = f"{match[0]}T00:00:00Z" if match else ""
        return instant if instant and timestamps.is_instant(instant) else ""


def read_fields(page: MarkdownPage) -> Fields:
    """Return status, date and links from the front matter, a line or table row at the top, or a section."""
    texts = dict.fromkeys(Fields._fields, "")
    for key, items in page.front.items():
        _add_field(texts, key, ", ".join(items))
    for section in page.sections[:_FIRST_SECTIONS]:
        for name, text in _named_lines(section):
            _add_field(texts, name, text)
    for section in page.sections:
        if heading(section) in ("status", "date", "state") and section.level > 1:
            _add_field(texts, heading(section), " ".join(section.lines) or section.source.strip())
    for section in page.sections[:_FIRST_SECTIONS]:
        notes = (block.text for block in section.blocks if _REPLACED.match(block.text))
        _add_field(texts, "status", next(notes, "").split("\n")[0])
    return Fields(**texts)


def _add_field(field_texts: dict[str, str], name: str, text: str) -> None:
    key = re.sub(r"[ -]", "_", _ALIASES.get(name.strip().lower(), name.strip().lower()))
    if key in field_texts and not field_texts[key]:
        field_texts[key] = text.strip(" |*_`")[:_MAX_STATUS_LENGTH]


def _named_lines(section: Section) -> Iterator[tuple[str, str]]:
    """Yield name and text of lines such as `Status: x` and of table rows; the texts of a header are in the next row."""
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
    """Return the title of a section for comparison: lower case, without number, emoji and punctuation around it."""
    return _AROUND_TITLE.sub("", section.title.lower())


def is_part(section: Section) -> bool:
    """True if the heading of a section is that of a part which every such page has."""
    name = heading(section)
    patterns = (_DECISION, _CONTEXT, _REASONS, _DRIVERS, _OPTIONS, _EFFECTS, _NOT_DECIDED)
    return any(pattern.fullmatch(name) for pattern in patterns)


def decisions(page: MarkdownPage) -> list[tuple[Section, str]]:
    """Return the sections for the decision, most likely first, each with the decision in its heading (empty: none)."""
    candidates = [
        (section, "") for section in page.sections if section.level > 1 and _DECISION.fullmatch(heading(section))
    ]
    candidates += [
        (section, match[1])
        for section in page.sections
        if section.level > 1 and (match := _IN_HEADING.match(section.title))
    ]
    # In a template with an outcome, "decision" is what led to it.
    return sorted(candidates[:_MAX_DECISIONS], key=lambda candidate: "outcome" not in heading(candidate[0]))


def context(page: MarkdownPage) -> list[Quotable]:
    """Return what the section for the context has, or what precedes the first section."""
    for section in _own_sections(page, _CONTEXT):
        if parts := quotables(section.blocks):
            return parts
    top = [section for section in page.sections if section.level <= 1][:1]
    return [
        part
        for section in top
        for part in quotables(section.blocks)
        if not _FIELD.match(part.text) and not _REPLACED.match(part.text)
    ]


def reasons(page: MarkdownPage) -> list[Quotable]:
    """Return what the sections for the reasons have."""
    return _parts_below(page, _REASONS)


def drivers(page: MarkdownPage) -> list[Quotable]:
    """Return the demands on the decision, which it may meet or not."""
    return _parts_below(page, _DRIVERS)


def effects(page: MarkdownPage) -> list[Quotable]:
    """Return what the sections for the consequences have."""
    return _parts_below(page, _EFFECTS)


def options(page: MarkdownPage) -> list[Section]:
    """Return the sections that list options."""
    return _own_sections(page, _OPTIONS)


def _own_sections(page: MarkdownPage, title_pattern: re.Pattern[str]) -> list[Section]:
    """Return the sections about the whole decision, and not about one of its options or parts."""
    return [
        section
        for section in page.sections
        if section.level > 1 and title_pattern.fullmatch(heading(section)) and _is_own(page, section)
    ]


def _is_own(page: MarkdownPage, section: Section) -> bool:
    """True if every section that a section is part of is the page, or the decision."""
    level = section.level
    for other in reversed(page.sections[: page.sections.index(section)]):
        if 1 < other.level < level and not (_DECISION.fullmatch(heading(other)) or _IN_HEADING.match(other.title)):
            return False
        level = min(level, other.level)
    return True


def _parts_below(page: MarkdownPage, title_pattern: re.Pattern[str]) -> list[Quotable]:
    """Return the parts of the sections with such a heading, and of their subsections for good and bad."""
    sections = [
        inner
        for section in _own_sections(page, title_pattern)
        for inner in within(page, section)
        if inner is section or _SIDE.fullmatch(heading(inner))
    ]
    return [part for section in dict.fromkeys(sections) for part in quotables(section.blocks)]


def within(page: MarkdownPage, section: Section) -> list[Section]:
    """Return a section and its subsections."""
    start = page.sections.index(section)
    sections = [section]
    for other in page.sections[start + 1 :]:
        if other.level <= section.level:
            break
        sections.append(other)
    return sections


def decision_parts(page: MarkdownPage, section: Section) -> list[Quotable]:
    """Return what a section for the decision has, or its subsection if it has one and nothing itself."""
    own = quotables(section.blocks)
    if own:
        return own
    filled = [inner for inner in within(page, section)[1:] if not is_aside(inner) and quotables(inner.blocks)]
    return quotables(filled[0].blocks) if len(filled) == 1 else []


def is_aside(section: Section) -> bool:
    """True if a section, or one above it, is about effects, reasons or options and not the decision."""
    names = [_AROUND_TITLE.sub("", title.lower()) for title in (section.title, *section.above)]
    patterns = (_NOT_DECIDED, _REASONS, _DRIVERS, _OPTIONS)
    return any(pattern.fullmatch(name) for name in names if name for pattern in patterns)


def _emphasised(match: re.Match[str]) -> str:
    return match[1] or match[2]


def clean(text: str) -> str:
    """Return the text without HTML tags, link targets, footnotes and the escapes of Markdown; code stays as it is."""
    parts = text.split("`")
    # With an odd number of backticks nobody knows what is code.
    parts = parts if len(parts) % 2 else [text]
    return " ".join("`".join(part if number % 2 else _without_marks(part) for number, part in enumerate(parts)).split())


def _without_marks(text: str) -> str:
    text = _EMPHASIS.sub(_emphasised, _LINK_TARGET.sub(" ", _REFERENCE_LINK.sub(r"\1", text)))
    text = _BRACKETED.sub(r"\1", _QUOTED.sub("", text))
    text = _FOOTNOTE.sub("", _AUTOLINK.sub(r"\1", _ESCAPE.sub(r"\1", text)))
    return html.unescape(_TAG.sub(" ", text))


class Quotable(NamedTuple):
    """A paragraph, an item of a list, or a figure: its text, and why it cannot be quoted (empty: it can)."""

    kind: str
    """`paragraph`, `item` or `figure`: a table, code or a picture."""

    text: str = ""
    flaw: str = ""
    label: str = ""
    """The bold words at its beginning, if more follows."""

    number: str = ""
    """The number of an item of a numbered list."""

    is_open: bool = False
    """True if it leads to the block that follows it: a list, a table or code."""


def quotables(blocks: Sequence[Block]) -> list[Quotable]:
    """Return what the blocks of a section have, in order, without quotations and notes in italics."""
    parts = list(itertools.islice((part for block in blocks for part in _parts(block)), _MAX_BLOCKS))
    following = [*parts[1:], Quotable("paragraph")]
    parts = [part._replace(is_open=_is_open(part, after)) for part, after in zip(parts, following)]
    is_introduced = False
    for position, part in enumerate(parts):
        if part.kind == "paragraph":
            is_introduced = part.is_open and len(part.text.split()) > _MAX_LABEL_WORDS
        elif is_introduced and part.kind == "item":
            parts[position] = part._replace(flaw=part.flaw or "it goes on with another sentence")
    return parts


def _parts(text_block: Block) -> Iterator[Quotable]:
    source = text_block.source.strip("\n")
    if text_block.kind in ("code", "table"):
        yield Quotable("figure")
    elif text_block.kind == "paragraph":
        bare = source.strip()
        if bare.startswith(("![", ":::", "<")):
            yield Quotable("figure")
        elif not bare.startswith(">") and not _ALL_ITALIC.fullmatch(bare):
            yield _quotable("paragraph", bare.split("\n"))
    else:
        items = _items(source.split("\n"))
        yield from (_quotable("item", lines)._replace(number=number) for number, lines in items)


def _items(lines: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return number and lines of each item of a list, the first line without its mark."""
    items: list[tuple[str, list[str]]] = []
    for line in lines:
        mark = _ITEM_MARK.match(line)
        if mark and (not items or len(mark[1]) < 2):
            items.append((mark[2] or "", [line[mark.end() :]]))
        elif items:
            items[-1][1].append(line)
    return items


def _quotable(kind: str, lines: Sequence[str]) -> Quotable:
    source = "\n".join(lines).strip()
    text = plain(source)
    bold = _BOLD.match(source)
    label = plain(bold[2]) if bold and bold[3].strip(" .:") and not _is_sentence(plain(bold[2])) else ""
    return Quotable(kind, text, _flaw(source), label)


def _is_sentence(text: str) -> bool:
    return bool(_ENDS_SENTENCE.search(text)) and len(text.split()) > 4


def plain(source: str) -> str:
    """Return a text on one line, without emphasis and the targets of links to other sites."""
    parts = markdown.plain(_FOOTNOTE_LINK.sub("", source)).split("`")
    parts = [part if number % 2 else _EMPHASIS.sub(_emphasised, part) for number, part in enumerate(parts)]
    return " ".join("`".join(parts).split())


def _flaw(source: str) -> str:
    prose = _LINK.sub("link", _CODE.sub("code", source))
    lines = source.split("\n")
    if "`" in prose or "![" in prose or "<br" in prose:
        return "it has more than plain text"
    if any(_ITEM_MARK.match(line) for line in lines[1:]):
        return "it has a list of its own"
    if not all(line.strip() for line in lines):
        return "it has several parts"
    return "its lines may be separate" if _has_separate_lines(lines) else ""


def _has_separate_lines(lines: Sequence[str]) -> bool:
    """True if a line ends where its author ended it, in the middle of what would be a sentence.

    A line that was wrapped has no room for the next word.
    """
    width = max(_MIN_WIDTH, *map(len, lines))
    for line, following in zip(lines, lines[1:]):
        word = following.split()[0]
        is_wrapped = len(line.rstrip()) + 1 + len(word) > width or word[0].islower()
        if not (is_wrapped or _ENDS_SENTENCE.search(line.rstrip())):
            return True
    return False


def _is_open(text_part: Quotable, next_part: Quotable) -> bool:
    if text_part.kind == "figure":
        return False
    text = text_part.text.rstrip()
    if text_part.kind == next_part.kind == "paragraph" and (next_part.label or _LABELLED.match(next_part.text)):
        return True
    is_ended = bool(_ENDS_SENTENCE.search(text))
    return (
        text.endswith(":")
        or (not is_ended and (next_part.kind == "figure" or bool(_GOES_ON.search(text[-20:]))))
        or (text_part.kind == "paragraph" and next_part.kind == "item" and not is_ended)
    )

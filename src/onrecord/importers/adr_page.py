"""The parts of a decision record in any template: fields, sections and their text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from onrecord import timestamps
from onrecord.coldstart import NamedTuple
from onrecord.importers import quotable
from onrecord.importers.quotable import Quotable
from onrecord.markdown import MarkdownPage, Section

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
_DRIVERS = re.compile(r"(?:(?:decision|key|main) )?(?:drivers?|forces|requirements|goals|criteria)(?: \(.*\))?")
_OPTIONS = re.compile(
    r"(?:(?:possible|considered|proposed|other|available|design|the) )*(?:options?|alternatives?|solutions?|approaches|"
    r"possibilities)(?: considered| (?:we|that were) considered)?(?: for .{1,60})?"
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
        if parts := quotable.read(section.blocks):
            return parts
    top = [section for section in page.sections if section.level <= 1][:1]
    return [
        part
        for section in top
        for part in quotable.read(section.blocks)
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


def _own_sections(page: MarkdownPage, pattern: re.Pattern[str]) -> list[Section]:
    """Return the sections about the whole decision, and not about one of its options or parts."""
    return [
        section
        for section in page.sections
        if section.level > 1 and pattern.fullmatch(heading(section)) and _is_own(page, section)
    ]


def _is_own(page: MarkdownPage, section: Section) -> bool:
    """True if every section that a section is part of is the page, or the decision."""
    level = section.level
    for other in reversed(page.sections[: page.sections.index(section)]):
        if 1 < other.level < level and not (_DECISION.fullmatch(heading(other)) or _IN_HEADING.match(other.title)):
            return False
        level = min(level, other.level)
    return True


def _parts_below(page: MarkdownPage, pattern: re.Pattern[str]) -> list[Quotable]:
    """Return the parts of the sections with such a heading, and of their subsections."""
    sections = [inner for section in _own_sections(page, pattern) for inner in within(page, section)]
    return [part for section in dict.fromkeys(sections) for part in quotable.read(section.blocks)]


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
    own = quotable.read(section.blocks)
    if own:
        return own
    filled = [inner for inner in within(page, section)[1:] if not is_aside(inner) and quotable.read(inner.blocks)]
    return quotable.read(filled[0].blocks) if len(filled) == 1 else []


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

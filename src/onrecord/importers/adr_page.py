"""The parts of a decision record in any template: fields, sections and their text."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from onrecord import markdown, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.importers import quotation
from onrecord.markdown import Block, MarkdownPage, Section
from onrecord.text import sentences

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
_REASONS = re.compile(
    r"(?:rationale|reasons?|reasoning|justification|why|decision drivers?|drivers?|argument\w*|decision rationale)"
)
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
_ITEM_NUMBER = re.compile(r"[(\[]?\d{1,3}[.)\]]\s+")
_ARGUMENT = re.compile(
    r"(?:good|bad|neutral|pros?|cons?|positive|negative|advantage|disadvantage)s?\b\s*[,:]", re.IGNORECASE
)
_ASIDE = re.compile(
    r"(?:(?:positive|negative|expected|main) )?(?:consequences|pros|cons|advantages|disadvantages|benefits|drawbacks|"
    r"implications|trade-?offs)(?: (?:of|are)\b.{0,40})?\W*",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\b(?:includes?|including|are|is|be|to|will|should|must|can|may|needs?|have|has|with|that|by|because|as|of|and|or|"
    r"for|from|the|an?|in|on|at|into|than|which|when|such|like)$",
    re.IGNORECASE,
)
"""Words after which a list continues the sentence."""

_MAX_ENDING_LENGTH = 20
"""Characters at the end of a text that are looked at."""

_MAX_PARTS = 100
"""Paragraphs and list items of a section that are read; a draft has room for a few."""

_MAX_DECISIONS = 8
"""Sections for a decision that are read: two are too many already."""

_OPEN_END = re.compile(r"[\w)`\"'”’]$")
_ENDS = (".", "!", "?", quotation.OPEN_END)
_MAX_CLAUSES = 6
_MAX_CLAUSE_LENGTH = 120
"""Characters and number of the items that a sentence can go on with."""

_NO_CLAUSE = re.compile(rf"; |:\s|[:{quotation.OPEN_END}]$")
"""What an item has that is more than a clause of a sentence."""

_ASIDE_BLOCK = re.compile(r"_[^_]+_|\*[^*]+\*|>.*", re.DOTALL)
_MAX_LABEL_WORDS = 3
"""Words of a label above a list, such as `Positive:`; more words are a sentence that the list goes on with."""

_SHORT_LINE_LENGTH = 50
"""Characters of a line that was not wrapped: it ends where its author ended it."""

_BY_LINE = 0.6
"""Share of lines that end a sentence from which on a block has a sentence on each line."""

_WRAPPED = 0.8
"""Share of the longest line of a block from which on a line may have been wrapped."""

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
    patterns = (_DECISION, _CONTEXT, _REASONS, _OPTIONS, _EFFECTS, _NOT_DECIDED)
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


def context(page: MarkdownPage) -> str:
    """Return the context: the text of its section, or the text above the first section."""
    for section in page.sections:
        if section.level > 1 and _CONTEXT.fullmatch(heading(section)) and (text := text_of(page, section)):
            return text
    top = [section for section in page.sections if section.level <= 1][:1]
    return join_blocks(
        block for section in top for block in section.blocks if not _FIELD.match(block.text.lstrip("*_- "))
    )


def reasons(page: MarkdownPage) -> list[str]:
    return _items(page, _REASONS)


def effects(page: MarkdownPage) -> list[str]:
    return _items(page, _EFFECTS)


def options(page: MarkdownPage) -> list[Section]:
    """Return the sections that list options."""
    return [section for section in page.sections if section.level > 1 and _OPTIONS.fullmatch(heading(section))]


def _items(page: MarkdownPage, title_pattern: re.Pattern[str]) -> list[str]:
    """Return the first paragraph of each section and its list items, without a list that a sentence introduces.

    Later paragraphs go on with the first.
    """
    sections = [
        inner
        for section in page.sections
        if title_pattern.fullmatch(heading(section))
        for inner in within(page, section)
    ]
    items: list[str] = []
    for section in dict.fromkeys(sections):
        is_introduced = has_paragraph = False
        for kind, text in itertools.islice(_parts(section.blocks, has_arguments=True), _MAX_PARTS):
            if kind == "paragraph":
                is_introduced = text.endswith(":") and len(text.split()) > _MAX_LABEL_WORDS
                items += [] if has_paragraph or text.endswith(":") else [text]
                has_paragraph = True
            elif kind != "figure" and not is_introduced:
                items.append(text.removesuffix(quotation.OPEN_END))
    return [text for text in items if len(text.split()) > 1]


def within(page: MarkdownPage, section: Section) -> list[Section]:
    """Return a section and its subsections."""
    start = page.sections.index(section)
    sections = [section]
    for other in page.sections[start + 1 :]:
        if other.level <= section.level:
            break
        sections.append(other)
    return sections


def text_of(page: MarkdownPage, section: Section) -> str:
    """Return the text of a section, or that of its subsection if it has one and no text itself."""
    own = join_blocks(section.blocks)
    if own:
        return own
    subsections = [inner for inner in within(page, section)[1:] if not _is_aside(inner)]
    if any(_is_figure(inner) for inner in subsections):
        return ""
    texts = [text for inner in subsections if (text := join_blocks(inner.blocks))]
    return texts[0] if len(texts) == 1 else ""


def _is_figure(section: Section) -> bool:
    """True if a section has only tables and code, which cannot be part of a sentence."""
    return bool(section.blocks) and all(block.kind in ("table", "code") for block in section.blocks)


def _is_aside(section: Section) -> bool:
    """True if a section, or one above it, is about effects, reasons or options and not the decision."""
    names = [_AROUND_TITLE.sub("", title.lower()) for title in (section.title, *section.above)]
    return any(
        _NOT_DECIDED.fullmatch(name) or _REASONS.fullmatch(name) or _OPTIONS.fullmatch(name) for name in names if name
    )


def join_blocks(blocks: Iterable[Block]) -> str:
    """Return blocks as running text, without code, tables, notices and arguments.

    The clauses of a list complete the sentence that introduces it. What goes on with anything else has an open end.
    """
    text, was_clause = "", False
    for kind, part in _parts(list(blocks)):
        if text and _ASIDE.fullmatch(part):
            break
        is_introduced = text.endswith(":") or _goes_on(text)
        is_clause = kind == "clause" and (was_clause or is_introduced)
        if is_clause:
            text = text if was_clause or text.endswith(":") else f"{text}:"
            text = f"{text.rstrip('.;')}; {part}" if was_clause else f"{text} {part}"
        elif kind == "figure" or (kind != "paragraph" and not was_clause and not text.endswith(_ENDS)):
            text = _with_open_end(text)
        if kind != "figure" and not is_clause:
            text = f"{_with_end_mark(text)} {part}" if text else part
        was_clause = is_clause
    return text


def _with_open_end(text: str) -> str:
    """Return the text with the mark for a sentence that goes on, unless its last sentence has ended."""
    return text if not text or text.endswith((".", "!", "?", quotation.OPEN_END)) else f"{text}{quotation.OPEN_END}"


def _parts(blocks: Sequence[Block], *, has_arguments: bool = False) -> Iterator[tuple[str, str]]:
    """Yield each paragraph, and each item of a list: a clause if all of its items are short, else sentences."""
    for kind, run in itertools.groupby(blocks, lambda block: block.kind if block.kind != "numbered" else "bullet"):
        if kind in ("code", "table"):
            yield from (("figure", "") for _ in run)
            continue
        texts = [text for block in run if not _is_aside_block(block) for text in items_of(block)]
        texts = [text for text in texts if text and not text.startswith((":::", "!["))]
        if kind == "bullet" and not has_arguments:
            texts = [text for text in texts if not _ARGUMENT.match(text)]
        is_listing = len(texts) <= _MAX_CLAUSES and all(
            len(text) < _MAX_CLAUSE_LENGTH and len(sentences(text)) < 2 and not _NO_CLAUSE.search(text)
            for text in texts
        )
        item_kind = "paragraph" if kind == "paragraph" else "clause" if is_listing else "sentence"
        yield from ((item_kind, text) for text in texts)


def _is_aside_block(text_block: Block) -> bool:
    """True if a paragraph is a quotation, or in italics as a whole: a prompt of the template."""
    return text_block.kind == "paragraph" and bool(_ASIDE_BLOCK.fullmatch(text_block.text.strip()))


def items_of(text_block: Block) -> list[str]:
    """Return a paragraph or a bullet on one line, or the items of a numbered list without their numbers.

    Nested items are left out, and leave an open end.
    """
    items: list[list[str]] = []
    for line in text_block.text.split("\n"):
        number = _ITEM_NUMBER.match(line.strip()) if text_block.kind == "numbered" else None
        if number or not items:
            items.append([line.strip()[number.end() if number else 0 :]])
        else:
            items[-1].append(line)
    return [_item_text(lines) for lines in items]


def _item_text(lines: Sequence[str]) -> str:
    own = list(itertools.takewhile(lambda line: not line.lstrip().startswith("; "), lines))
    text = clean(markdown.flat("\n".join(_ended(own)))) if own else ""
    return _with_open_end(text.rstrip(".")) if len(own) < len(lines) else text


def _ended(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines with an open end where the next one seems to be a text of its own, such as a line below a label."""
    is_by_line = sum(line[-1:] in ".!?" for line in lines) > len(lines) * _BY_LINE
    width = max(map(len, lines), default=0) * _WRAPPED
    for number, (line, following) in enumerate(zip(lines, (*lines[1:], ""))):
        is_short = number == 0 and len(line) < _SHORT_LINE_LENGTH and len(following.split()) > _MAX_LABEL_WORDS
        is_capital = following[:1].isupper() or (is_by_line and following[:1] == "`")
        is_end = is_capital and not _goes_on(line) and (is_short or (is_by_line and len(line) < width))
        yield f"{line}{quotation.OPEN_END if is_end and _OPEN_END.search(line) else ''}"


def _with_end_mark(text: str) -> str:
    """Return the text with a mark at its end, which separates it from the next block."""
    if text.endswith(":"):
        return _with_open_end(text)
    return text if text.endswith((*_ENDS, ",")) or _goes_on(text) else f"{text}."


def _goes_on(text: str) -> bool:
    """True if a text ends with a word after which a list continues the sentence."""
    return bool(_GOES_ON.search(text[-_MAX_ENDING_LENGTH:]))


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

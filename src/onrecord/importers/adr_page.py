"""The parts of a decision record in any template: fields, sections and their text."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from onrecord import markdown, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.markdown import Block, MarkdownPage, Section
from onrecord.text import cut, sentences

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
_ESCAPE = re.compile(r"\\([_*`#\[\]<>.!~-])")
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

_SHORT_LENGTH = 200
"""Characters below which the text of a section may only introduce its subsections."""

_MAX_DECISIONS = 8
"""Sections for a decision that are read: two are too many already."""

_MAX_SUBSECTIONS_LENGTH = 600
"""Characters of the subsections of a section that has text itself."""

_OPEN_END = re.compile(r"[\w)`\"'”’]$")
_INTRODUCES = re.compile(r"(?::|,|\be\.g\.?|\bi\.e\.?|\b(?:like|example|following|below))$")
"""The end of a text that a figure completes."""

_MIN_SENTENCE_WORDS = 5
"""Words from which on an item of a list that nothing introduces is a sentence of its own."""

_MAX_LABEL_WORDS = 3
"""Words of a label above a list, such as `Positive:`; more words are a sentence that the list goes on with."""

_SHORT_LINE_LENGTH = 50
"""Characters of a line that was not wrapped: it ends where its author ended it."""

_BY_LINE = 0.6
"""Share of lines that end a sentence from which on a block has a sentence on each line."""

_WRAPPED = 0.8
"""Share of the longest line of a block from which on a line may have been wrapped."""

_MAX_CODE_LINES = 4
_MAX_CODE_LENGTH = 200
"""Characters of code that can be part of a sentence."""

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
    """Return the paragraphs and list items of sections; a list that a sentence introduces is one item with it."""
    sections = [
        inner
        for section in page.sections
        if title_pattern.fullmatch(heading(section))
        for inner in within(page, section)
    ]
    items: list[str] = []
    for section in dict.fromkeys(sections):
        is_introduced = False
        for kind, text in itertools.islice(_parts(section.blocks, has_arguments=True), _MAX_PARTS):
            if kind == "paragraph":
                is_introduced = text.endswith(":") and len(text.split()) > _MAX_LABEL_WORDS
                items += [text] if is_introduced or not text.endswith(":") else []
            elif is_introduced:
                items[-1] = f"{_with_end_mark(items[-1], items[-1][-1] != ':' and kind == 'clause')} {text}"
            elif kind != "figure":
                items.append(text)
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
    """Return the text of a section, with that of its subsections if its own is short."""
    own = join_blocks(section.blocks)
    if own and not own.endswith(":") and len(own) > _SHORT_LENGTH:
        return own
    subsections = [inner for inner in within(page, section)[1:] if not _is_aside(inner)]
    if not own and any(_is_figure(inner) for inner in subsections):
        return ""
    parts = [f"{inner.title.rstrip(':')}: {text}" for inner in subsections if (text := join_blocks(inner.blocks))]
    if own and not own.endswith(":"):
        parts = [cut(" ".join(parts), _MAX_SUBSECTIONS_LENGTH)] if parts else []
    texts = [text for text in (own, *parts) if text]
    return " ".join((*(_with_end_mark(text, False) for text in texts[:-1]), *texts[-1:]))


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
    """Return blocks as running text, without code, tables, notices and arguments; short list items become clauses."""
    text, was_item, is_introduced = "", False, False
    for kind, part in _parts(list(blocks)):
        if kind == "figure":
            text = _before_figure(text, part)
            continue
        if text and _ASIDE.fullmatch(part):
            break
        is_introduced = (was_item and is_introduced) or text.endswith(":") or _goes_on(text)
        is_item = kind == "clause" and (is_introduced or len(part.split()) < _MIN_SENTENCE_WORDS)
        # What introduces several sentences goes with none of them.
        text = f"{text.rstrip(':')}:." if kind == "sentence" and is_introduced else text
        text = f"{text}:" if is_item and not was_item and _GOES_ON.search(text) else text
        text = f"{_with_end_mark(text, is_item and was_item)} {part}" if text else part
        was_item = is_item
    return text


def _parts(blocks: Sequence[Block], *, has_arguments: bool = False) -> Iterator[tuple[str, str]]:
    """Yield each paragraph, and each item of a list: a clause if all of its items are short, else sentences."""
    for kind, run in itertools.groupby(blocks, lambda block: block.kind if block.kind != "numbered" else "bullet"):
        if kind in ("code", "table"):
            yield from (("figure", _short_code(block)) for block in run)
            continue
        texts = [text for block in run for text in items_of(block)]
        texts = [text for text in texts if text and not text.startswith((":::", "!["))]
        if kind == "bullet" and not has_arguments:
            texts = [text for text in texts if not _ARGUMENT.match(text)]
        is_listing = all(len(sentences(text)) < 2 and "; " not in text for text in texts)
        item_kind = "paragraph" if kind == "paragraph" else "clause" if is_listing else "sentence"
        yield from ((item_kind, text) for text in texts)


def items_of(text_block: Block) -> list[str]:
    """Return a paragraph or a bullet on one line, or the items of a numbered list without their numbers."""
    items: list[list[str]] = []
    for line in text_block.text.split("\n"):
        number = _ITEM_NUMBER.match(line.strip()) if text_block.kind == "numbered" else None
        if number or not items:
            items.append([line.strip()[number.end() if number else 0 :]])
        else:
            items[-1].append(line)
    return [clean(markdown.flat("\n".join(_ended(lines)).removeprefix("; "))) for lines in items]


def _ended(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines with a full stop where a nested item begins a sentence, or a line that its author began anew."""
    was_ended = False
    is_by_line = sum(line[-1:] in ".!?" for line in lines) > len(lines) * _BY_LINE
    width = max(map(len, lines)) * _WRAPPED
    for number, (line, following) in enumerate(zip(lines, (*lines[1:], ""))):
        bare = following.lstrip("; ")
        is_nested = following.startswith("; ")
        is_short = number == 0 and len(line) < _SHORT_LINE_LENGTH and len(bare.split()) > _MAX_LABEL_WORDS
        is_capital = bare[:1].isupper() or (is_by_line and bare[:1] == "`")
        is_end = (
            is_capital
            and not _goes_on(line)
            and (is_nested or is_short or (is_by_line and len(line) < width))
            and bool(_OPEN_END.search(line))
        )
        yield f"{line.removeprefix('; ') if was_ended else line}{'.' if is_end else ''}"
        was_ended = is_end or (is_nested and line[-1:] in ".!?")


def _short_code(figure: Block) -> str:
    """Return code that is short enough to be part of a sentence, as text; empty for other code, and for a table."""
    lines = [line.strip() for line in figure.text.split("\n") if line.strip()]
    is_short = len(lines) <= _MAX_CODE_LINES and len(figure.text) <= _MAX_CODE_LENGTH
    return ", ".join(f"`{line}`" for line in lines) if figure.kind == "code" and is_short else ""


def _before_figure(text: str, code: str) -> str:
    """Return `text` with the short code that it introduces, or without the introduction of any other figure."""
    if not _INTRODUCES.search(text[-_MAX_ENDING_LENGTH:]):
        return text
    return f"{text} {code}." if code else text[: max(text.rfind(". ") + 1, text.rfind("; "), 0)].strip()


def _with_end_mark(text: str, is_listing: bool) -> str:
    """Return the text with a mark at its end, which separates it from the next block."""
    if is_listing:
        return f"{text.rstrip('.;')};"
    return text if text[-1] in ".:;!?,…" or _goes_on(text) else f"{text}."


def _goes_on(text: str) -> bool:
    """True if a text ends with a word after which a list continues the sentence."""
    return bool(_GOES_ON.search(text[-_MAX_ENDING_LENGTH:]))


def _emphasised(match: re.Match[str]) -> str:
    return match[1] or match[2]


def clean(text: str) -> str:
    """Return the text without HTML tags, link targets, footnotes and the escapes of Markdown."""
    text = _EMPHASIS.sub(_emphasised, _LINK_TARGET.sub(" ", _REFERENCE_LINK.sub(r"\1", text)))
    text = _BRACKETED.sub(r"\1", _QUOTED.sub("", text))
    text = _FOOTNOTE.sub("", _AUTOLINK.sub(r"\1", _ESCAPE.sub(r"\1", text)))
    return " ".join(html.unescape(_TAG.sub(" ", text)).split())

"""The options of a decision record, by letter, number or position, and the options that a text names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from onrecord import markdown
from onrecord.coldstart import NamedTuple
from onrecord.importers import adr_page
from onrecord.markdown import MarkdownPage

MAX_OPTIONS = 26
"""Options of one record: as many as there are letters."""

NOUN = r"(?:option|alternative|approach|solution|proposal|variant|scenario|choice|strategy|rule)"
_LABELLED = re.compile(rf"\[?{NOUN}\s*#?(\d{{1,2}}|[A-Za-z])\b\s*[:.)\]*–—-]*\s*(.*)", re.IGNORECASE | re.DOTALL)
_NUMBERED = re.compile(r"[(\[]?(\d{1,2}|[A-Z])[.):\]]\s+(.*)", re.DOTALL)
_REFERENCE = re.compile(
    rf"\b({NOUN}s?|Options?|OPTION)\s+[`(#]*(\d{{1,2}}|[A-Z])\b[`)]*((?:\s*(?:,|and|or|&|\+|/)\s*#?(?:\d{{1,2}}|[A-Z])\b)*)"
)
_ORDINAL = re.compile(rf"\b(first|second|third|fourth|fifth|last)\s+({NOUN})\b", re.IGNORECASE)
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_ARGUMENTS = re.compile(r"(?:pros?|cons?|advantages?|disadvantages?|benefits|drawbacks|summary)\W*", re.IGNORECASE)
_BARE = re.compile(r"#?(\d{1,2}|[A-Z])[.)]?")
_DASH = re.compile(r"\s+[-–—]+\s+|:\s+|\s+[-–—]+$")
_WORD = re.compile(r"[^\W_]+")
_COMMON = frozenset("a an the of for to in on with and or our use using as is we will be".split())
_MIN_SIMILARITY = 0.75
"""Share of common words at which two names mean the same option: one word may be added or missing."""

_MIN_LEAD = 0.08
"""Lead of the most similar option over the next."""

_MAX_NAME_LENGTH = 300


class AdrOption(NamedTuple):
    """An option: its letter or number (empty: none), its name, and its description."""

    label: str
    name: str
    text: str = ""

    @property
    def words(self) -> frozenset[str]:
        return words_of(self.name)

    @property
    def line(self) -> str:
        """Its name and description."""
        return f"{self.name}: {self.text}" if self.text else self.name


def words_of(text: str) -> frozenset[str]:
    """Return the words that identify an option, without common ones if there are others."""
    words = [word.lower() for word in _WORD.findall(text)]
    return frozenset(word for word in words if word not in _COMMON) or frozenset(words)


def read_options(page: MarkdownPage) -> list[AdrOption]:
    """Return the options in the order of the page: list items, or headings in the section for options."""
    sections = adr_page.options(page)
    options = [option for section in sections[:1] for option in _in_list(section.blocks)]
    if not options:
        subsections = [below for section in sections[:1] for below in adr_page.within(page, section)[1:]]
        highest = min((section.level for section in subsections), default=0)
        titles = [section.title for section in subsections if section.level == highest]
        options = [_parse_option(title) for title in titles if not _ARGUMENTS.fullmatch(title)]
    return (options or list(_in_headings(page)))[:MAX_OPTIONS]


def _in_list(blocks: Sequence[markdown.Block]) -> Iterator[AdrOption]:
    for block in blocks:
        if block.kind == "bullet":
            # A nested item describes its parent and is not an option itself.
            head, _, rest = adr_page.clean(markdown.flat(block.text)).partition("; ")
            yield _parse_option(head, rest)
        elif block.kind == "numbered":
            for line in block.text.split("\n"):
                if match := _NUMBERED.match(line.strip()):
                    yield _parse_option(adr_page.clean(match[2]))._replace(label=match[1])
        elif block.kind == "paragraph" and (match := _LABELLED.match(block.text)) and match[2]:
            yield _parse_option(adr_page.clean(markdown.flat(block.text)))


def _in_headings(page: MarkdownPage) -> Iterator[AdrOption]:
    for section in page.sections:
        match = _LABELLED.match(section.title)
        if match and section.level > 1:
            first = " ".join(section.prose[:1])
            yield AdrOption(match[1].upper(), (match[2].strip() or adr_page.clean(first))[:_MAX_NAME_LENGTH])


def _parse_option(text: str, description: str = "") -> AdrOption:
    """Parse `Option A: name - description`, where label and description may be missing."""
    text = adr_page.clean(text).strip(" *\"“”'").rstrip(".")
    label = ""
    match = _LABELLED.match(text) or _NUMBERED.match(text)
    if match and match[2].strip():
        label, text = match[1].upper(), match[2].strip()
    name, *rest = _DASH.split(text, maxsplit=1)
    if len(name) < 2 or not _WORD.search(name):
        name, rest = text, []
    description = " ".join((*rest, adr_page.clean(description))).strip()
    return AdrOption(label, name.strip(" *\"“”'")[:_MAX_NAME_LENGTH], description)


def options_by_label(page: MarkdownPage, options: Sequence[AdrOption]) -> dict[str, AdrOption]:
    """Return the options by letter or number, or by position if none has one; drop a label that two options share."""
    labelled = [option for option in options if option.label] or [
        AdrOption(str(number), option.name, option.text) for number, option in enumerate(options, 1)
    ]
    if any(option.label for option in options):
        labelled += list(_in_headings(page))
    by_label: dict[str, AdrOption] = {}
    for option in labelled:
        other = by_label.get(option.label)
        if other and other.name and option.name and not _is_same(other.words, option.words):
            by_label[option.label] = AdrOption(option.label, "")
        elif not other or not other.name:
            by_label.setdefault(option.label, option)
    return {label: option for label, option in by_label.items() if option.name}


def spell_out(text: str, by_label: dict[str, AdrOption]) -> str | None:
    """Return the text with the name of each option after its letter or number; None if an option is unknown."""
    is_lost = False

    def with_name(label: str, rest: str) -> str:
        nonlocal is_lost
        option = by_label.get(label.upper())
        if option is None:
            # "Option 2: Use Redis" already names the option.
            is_lost = is_lost or not re.match(r"\s*(?:[:–—(-]|which|is to)\s*[\w`\"“]{2,}", rest)
            return label
        is_named = option.words <= words_of(text) or re.match(r"\s*(?:[:(–—-])\s*[\w`\"“]{2,}", rest)
        return label if is_named else f'{label} ("{option.name}")'

    def replace(match: re.Match[str]) -> str:
        rest = text[match.end() :]
        more = re.sub(r"(\d{1,2}|[A-Z])\b", lambda label_match: with_name(label_match[1], rest), match[3])
        return f"{match[1]} {with_name(match[2], rest)}{more}"

    def replace_ordinal(match: re.Match[str]) -> str:
        position = len(by_label) if match[1].lower() == "last" else _ORDINALS.index(match[1].lower()) + 1
        options = list(by_label.values())[position - 1 : position]
        nonlocal is_lost
        is_lost = is_lost or not options
        return f'{match[0]} ("{options[0].name}")' if options else match[0]

    bare = _BARE.fullmatch(text.strip(' ."“”'))
    if bare:
        option = by_label.get(bare[1].upper())
        return option.line if option else None
    spelled_text = _ORDINAL.sub(replace_ordinal, _REFERENCE.sub(replace, text))
    return None if is_lost else spelled_text


def find_named(text: str, options: Sequence[AdrOption]) -> list[AdrOption]:
    """Return the options that a short text names: the most similar one, or all whose names it contains.

    Return none if in doubt.
    """
    by_similarity = sorted(options, key=lambda option: -_similarity(option.name, text))
    scores = [_similarity(option.name, text) for option in by_similarity]
    best, second = [*scores, 0.0, 0.0][:2]
    if best >= _MIN_SIMILARITY and best - second >= _MIN_LEAD:
        return by_similarity[:1]
    words = words_of(text)
    inside = [option for option in options if option.words and option.words <= words]
    # A name inside the name of another option belongs to that option. Two options with the same words are in doubt.
    inside = [option for option in inside if not any(option.words < other.words for other in inside)]
    return inside if len({option.words for option in inside}) == len(inside) else []


def _similarity(name: str, other_name: str) -> float:
    """Return the share of words that two names have in common, in the same order: "A, not B" is not "B, not A"."""
    words, others = ([_stem(word.lower()) for word in _WORD.findall(text)] for text in (name, other_name))
    return difflib.SequenceMatcher(None, words, others, autojunk=False).ratio() if words and others else 0.0


def _stem(word: str) -> str:
    return re.sub(r"(?:ed|ing|es|e|s|d)$", "", word) if len(word) > 4 else word


def _is_same(words: frozenset[str], other_words: frozenset[str]) -> bool:
    return len(words & other_words) / max(1, len(words | other_words)) >= _MIN_SIMILARITY

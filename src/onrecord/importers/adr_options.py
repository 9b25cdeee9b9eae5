"""The options of a decision record, by letter, number or position, and which of them a text chooses."""

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
_ALIKE = 0.75
"""Share of the words of two names in common from which they name the same option: a word added or left out."""

_AHEAD = 0.08
"""By how much the likest option must be ahead of the next."""

_LONGEST_NAME = 300


class AdrOption(NamedTuple):
    """An option: the letter or number it goes by (empty: none), its name, and what is said of it."""

    label: str
    name: str
    text: str = ""

    @property
    def words(self) -> frozenset[str]:
        return words_of(self.name)

    @property
    def line(self) -> str:
        """Its name and what is said of it."""
        return f"{self.name}: {self.text}" if self.text else self.name


def words_of(text: str) -> frozenset[str]:
    """The words by which an option is recognised."""
    every = [word.lower() for word in _WORD.findall(text)]
    return frozenset(word for word in every if word not in _COMMON) or frozenset(every)


def read_options(page: MarkdownPage) -> list[AdrOption]:
    """The options in the order of the page: items of a list of options, or headings below it or numbered as options."""
    sections = adr_page.options(page)
    options = [option for section in sections[:1] for option in _in_list(section.blocks)]
    if not options:
        below = [each for section in sections[:1] for each in adr_page.within(page, section)[1:]]
        highest = min((each.level for each in below), default=0)
        titles = [each.title for each in below if each.level == highest]
        options = [_of_text(title) for title in titles if not _ARGUMENTS.fullmatch(title)]
    return (options or list(_in_headings(page)))[:MAX_OPTIONS]


def _in_list(blocks: Sequence[markdown.Block]) -> Iterator[AdrOption]:
    for block in blocks:
        if block.kind == "bullet":
            # What is below an item is about it, not a second one.
            head, _, rest = adr_page.clean(markdown.flat(block.text)).partition("; ")
            yield _of_text(head, rest)
        elif block.kind == "numbered":
            for line in block.text.split("\n"):
                if match := _NUMBERED.match(line.strip()):
                    yield _of_text(adr_page.clean(match[2]))._replace(label=match[1])
        elif block.kind == "paragraph" and (match := _LABELLED.match(block.text)) and match[2]:
            yield _of_text(adr_page.clean(markdown.flat(block.text)))


def _in_headings(page: MarkdownPage) -> Iterator[AdrOption]:
    for section in page.sections:
        match = _LABELLED.match(section.title)
        if match and section.level > 1:
            first = " ".join(section.prose[:1])
            yield AdrOption(match[1].upper(), (match[2].strip() or adr_page.clean(first))[:_LONGEST_NAME])


def _of_text(text: str, more: str = "") -> AdrOption:
    """An option of its line: `Option A: name - description`, with either part missing."""
    text = adr_page.clean(text).strip(" *\"“”'").rstrip(".")
    label = ""
    match = _LABELLED.match(text) or _NUMBERED.match(text)
    if match and match[2].strip():
        label, text = match[1].upper(), match[2].strip()
    name, *rest = _DASH.split(text, maxsplit=1)
    if len(name) < 2 or not _WORD.search(name):
        name, rest = text, []
    description = " ".join((*rest, adr_page.clean(more))).strip()
    return AdrOption(label, name.strip(" *\"“”'")[:_LONGEST_NAME], description)


def options_by_label(page: MarkdownPage, options: Sequence[AdrOption]) -> dict[str, AdrOption]:
    """Options by their letter or number; by position where none has one. What two options claim belongs to none."""
    named = [option for option in options if option.label] or [
        AdrOption(str(number), option.name, option.text) for number, option in enumerate(options, 1)
    ]
    if any(option.label for option in options):
        named += list(_in_headings(page))
    by_label: dict[str, AdrOption] = {}
    for option in named:
        before = by_label.get(option.label)
        if before and before.name and option.name and not _is_same(before.words, option.words):
            by_label[option.label] = AdrOption(option.label, "")
        elif not before or not before.name:
            by_label.setdefault(option.label, option)
    return {label: option for label, option in by_label.items() if option.name}


def spell_out(text: str, by_label: dict[str, AdrOption]) -> str | None:
    """The text with each option's name beside its letter or number; None if a reference leads nowhere."""
    is_lost = False

    def name_of(label: str, rest: str) -> str:
        nonlocal is_lost
        option = by_label.get(label.upper())
        if option is None:
            # "Option 2: Use Redis" says itself what option 2 is.
            is_lost = is_lost or not re.match(r"\s*(?:[:–—(-]|which|is to)\s*[\w`\"“]{2,}", rest)
            return label
        is_said = option.words <= words_of(text) or re.match(r"\s*(?:[:(–—-])\s*[\w`\"“]{2,}", rest)
        return label if is_said else f'{label} ("{option.name}")'

    def replaced(match: re.Match[str]) -> str:
        rest = text[match.end() :]
        more = re.sub(r"(\d{1,2}|[A-Z])\b", lambda each: name_of(each[1], rest), match[3])
        return f"{match[1]} {name_of(match[2], rest)}{more}"

    def replaced_ordinal(match: re.Match[str]) -> str:
        position = len(by_label) if match[1].lower() == "last" else _ORDINALS.index(match[1].lower()) + 1
        option = list(by_label.values())[position - 1 : position]
        nonlocal is_lost
        is_lost = is_lost or not option
        return f'{match[0]} ("{option[0].name}")' if option else match[0]

    bare = _BARE.fullmatch(text.strip(' ."“”'))
    if bare:
        option = by_label.get(bare[1].upper())
        return option.line if option else None
    spelled = _ORDINAL.sub(replaced_ordinal, _REFERENCE.sub(replaced, text))
    return None if is_lost else spelled


def find_named(names: str, options: Sequence[AdrOption]) -> list[AdrOption]:
    """The options that a short text names: the one that it is, or each whose whole name it has; none if in doubt."""
    by_similarity = sorted(options, key=lambda option: -_similarity(option.name, names))
    best, second = [
        _similarity(option.name, names) for option in (*by_similarity, AdrOption("", ""), AdrOption("", ""))
    ][:2]
    if best >= _ALIKE and best - second >= _AHEAD:
        return by_similarity[:1]
    words = words_of(names)
    inside = [option for option in options if option.words and option.words <= words]
    # A name within the name of another option is that option's, not one of its own; two of the same words are in doubt.
    inside = [option for option in inside if not any(option.words < other.words for other in inside)]
    return inside if len({option.words for option in inside}) == len(inside) else []


def _similarity(first: str, second: str) -> float:
    """Share of the words that two names have in common, in the same order: "A, not B" is not "B, not A"."""
    words, others = ([_stem(word.lower()) for word in _WORD.findall(text)] for text in (first, second))
    return difflib.SequenceMatcher(None, words, others, autojunk=False).ratio() if words and others else 0.0


def _stem(word: str) -> str:
    return re.sub(r"(?:ed|ing|es|e|s|d)$", "", word) if len(word) > 4 else word


def _is_same(first: frozenset[str], second: frozenset[str]) -> bool:
    return len(first & second) / max(1, len(first | second)) >= _ALIKE

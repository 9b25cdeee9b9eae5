"""The options of a decision record, by letter, number or position, and the options that a text names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from onrecord import markdown
from onrecord.coldstart import NamedTuple
from onrecord.importers import adr_page, quotation
from onrecord.markdown import MarkdownPage

MAX_OPTIONS = 26
"""Options of one record: as many as there are letters."""

NOUN = r"(?:option|alternative|approach|solution|proposal|variant|scenario|choice|strategy|rule)"
_LABELLED = re.compile(rf"\[?{NOUN}\s*#?(\d{{1,2}}|[A-Za-z])\b\s*[:.)\]*–—-]*\s*(.*)", re.IGNORECASE | re.DOTALL)
_NUMBERED = re.compile(r"[(\[]?(\d{1,2}|[A-Z]|[a-h](?=[)\]]))[.):\]]\s+(.*)", re.DOTALL)
_REFERENCE = re.compile(
    rf"(?<![\w-])({NOUN}s?|Options?|OPTION)\s+[`(#]*(\d{{1,2}}|[A-Z])\b[`)]*((?:\s*(?:,|and|or|&|\+|/)\s*#?(?:\d{{1,2}}|[A-Z])\b)*)"
)
_MAX_REPEATED_IN = 80
"""Characters behind a label in which the name of its option may follow."""

_GOES_ON = re.compile(r",\s+(?!because|as\b|since|with|which|and|but|due)", re.IGNORECASE)
"""What follows a label that is no part of the sentence: "Option 2, we will use Redis"."""

_NAMED_AFTER = re.compile(r"[`)\]]*\s*(?:--|[:(–—-])\s*[\w`\"“]{2,}")
"""What follows a label that its name follows."""

_DROP = "\0"
"""In place of a label that is dropped with the sign behind it."""

_DROPPED = re.compile(_DROP + r"[`)\]]*\s*(?:--|[:–—-])\s*")
_ORDINAL = re.compile(rf"\b(the )?(first|second|third|fourth|fifth|last)\s+({NOUN})\b", re.IGNORECASE)
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_NO_OPTION = re.compile(
    r"(?:other|further|more) (?:considerations?|options?|alternatives?|solutions?|ideas)\W*", re.IGNORECASE
)
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
    """Return the options in the order of the page: list items, or headings in the section for options.

    Return none if there are two lists: which of them a text means would be a guess.
    """
    sections = adr_page.options(page)
    lists = [options for section in sections for options in _in_lists(section.blocks)]
    subsections = [below for section in sections for below in adr_page.within(page, section)[1:]]
    if len(lists) > 1 or (len(sections) > 1 and subsections):
        return []
    options = lists[0] if lists else []
    if not options:
        highest = min((section.level for section in subsections), default=0)
        titles = [section.title for section in subsections if section.level == highest]
        options = [parse(title) for title in titles if not _ARGUMENTS.fullmatch(title)]
    options = options or list(_in_headings(page))
    options = [option for option in options if not _NO_OPTION.fullmatch(option.name)]
    labels = [option.label for option in options if option.label]
    return options[:MAX_OPTIONS] if len(labels) == len(set(labels)) else []


def _in_lists(blocks: Sequence[markdown.Block]) -> Iterator[list[AdrOption]]:
    """Yield the options of each list of a section; a paragraph that begins with a label is an option, too."""
    options: list[AdrOption] = []
    for block in blocks:
        if block.kind == "bullet":
            # A nested item describes its parent and is not an option itself.
            head = adr_page.clean(markdown.flat(block.text)).partition("; ")[0]
            options.append(parse(head))
        elif block.kind == "numbered":
            numbers = [match[1] for line in block.text.split("\n") if (match := _NUMBERED.match(line.strip()))]
            items = adr_page.items_of(block)
            labels = numbers if len(numbers) == len(items) else [""] * len(items)
            options += [parse(item)._replace(label=label) for item, label in zip(items, labels)]
        elif block.kind == "paragraph" and (match := _LABELLED.match(block.text)) and match[2]:
            options.append(parse(adr_page.clean(markdown.flat(block.text))))
        elif block.kind == "paragraph" and options:
            yield options
            options = []
    if options:
        yield options


def _in_headings(page: MarkdownPage) -> Iterator[AdrOption]:
    for section in page.sections:
        match = _LABELLED.match(section.title)
        if match and section.level > 1:
            first = " ".join(section.prose[:1])
            yield AdrOption(match[1].upper(), (match[2].strip() or adr_page.clean(first))[:_MAX_NAME_LENGTH])


def parse(text: str, description: str = "") -> AdrOption:
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
    """Return the text with the name of each option in place of its label; None if an option is unknown."""
    is_lost = False

    def name_of(option: AdrOption | None, label: str, rest: str) -> str:
        nonlocal is_lost
        is_lost = is_lost or option is None or not _can_stand_for(option, rest)
        return f'"{option.name}"' if option else label

    def replace(match: re.Match[str]) -> str:
        rest = text[match.end() :]
        if not match[3] and (named := _NAMED_AFTER.match(rest)):
            # "Option 2: Use Redis" already names the option.
            return match[0] if named[0].lstrip()[0] == "(" else _DROP
        names = name_of(by_label.get(match[2].upper()), match[0], rest)
        others = r"#?(\d{1,2}|[A-Z])\b"
        return names + re.sub(others, lambda one: name_of(by_label.get(one[1].upper()), one[0], rest), match[3])

    def replace_ordinal(match: re.Match[str]) -> str:
        position = len(by_label) if match[2].lower() == "last" else _ORDINALS.index(match[2].lower()) + 1
        option = next(iter(list(by_label.values())[position - 1 : position]), None)
        return name_of(option, match[0], text[match.end() :])

    bare = _BARE.fullmatch(text.strip(' ."“”'))
    if bare:
        option = by_label.get(bare[1].upper())
        return option.line if option else None
    spelled_text = _ORDINAL.sub(replace_ordinal, _DROPPED.sub("", _REFERENCE.sub(replace, text)))
    is_name = spelled_text[:1] == spelled_text[-1:] == '"' and spelled_text.count('"') == 2
    return None if is_lost else spelled_text.strip('"') if is_name else spelled_text


def _can_stand_for(option: AdrOption, rest: str) -> bool:
    """True if the name of an option can take the place of its label before `rest`, which must not name it again."""
    following = words_of(rest[:_MAX_REPEATED_IN]) if rest and rest[0] not in ".;!?" else frozenset()
    is_repeated = len(option.words & following) >= min(2, len(option.words))
    return not (is_repeated or rest.startswith("-") or _GOES_ON.match(rest) or quotation.name_flaw(option.name))


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

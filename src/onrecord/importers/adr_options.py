"""The options of a decision record: their names, and the letters or numbers by which a page calls them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from onrecord.coldstart import NamedTuple
from onrecord.importers import adr_page
from onrecord.importers.adr_page import Quotable
from onrecord.markdown import MarkdownPage, Section

MAX_OPTIONS = 26
"""Options of one record: as many as there are letters."""

NOUN = r"(?:option|alternative|approach|solution|proposal|variant|scenario|choice|strategy|rule)"
_LABELLED = re.compile(
    rf"\[?{NOUN}\s*#?(\d{{1,2}}|[A-Za-z])\b\s*[:.)\]–—-]*\s*(.*)|"
    r"[(\[]?(\d{1,2}|[A-Z]\d?|[a-h](?=[)\]]))(?:[.):\]]|\s[-–—])\s+(.*)",
    re.IGNORECASE | re.DOTALL,
)
_DESCRIBED = re.compile(r"\s+[-–—]+\s+|:\s+")
"""What stands between the name of an option and its description."""

_LABEL_ALONE = re.compile(rf"\W*(?:{NOUN}\s*)?#?(\d{{1,2}}|[A-Z])\W*", re.IGNORECASE)
_ARGUMENTS = re.compile(
    r"(?:pros?|cons?|advantages?|disadvantages?|benefits|drawbacks|summary|"
    r"(?:other|further|more) (?:considerations?|options?|alternatives?|solutions?|ideas))\W*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_AROUND_NAME = " *_."
_QUOTED = re.compile(r"(?P<quote>[\"'`])(?P<name>[^\"'`]+)(?P=quote)|“(?P<inner>[^“”]+)”")
_MAX_NAME_LENGTH = 300


class AdrOption(NamedTuple):
    """An option: its letter or number (empty: none) and its name."""

    label: str
    name: str

    @property
    def words(self) -> tuple[str, ...]:
        return words_of(self.name)


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a name in lower case, by which two names are the same."""
    return tuple(word.lower() for word in _WORD.findall(text))


def read_options(page: MarkdownPage) -> list[AdrOption]:
    """Return the options in the order of the page: the items of a list, or the headings in the section for options.

    Return none if there are two lists, two options of one name, or an item whose name is not plain: which of them a
    text means would be a guess.
    """
    sections = adr_page.options(page)
    if len(sections) != 1:
        return []
    options = _listed(adr_page.quotables(sections[0].blocks)) or _headings(page, sections[0])
    names, labels = [option.words for option in options], [option.label for option in options if option.label]
    is_clear = all(names) and len(names) == len(set(names)) and len(labels) == len(set(labels))
    return options if is_clear and len(options) <= MAX_OPTIONS else []


def _listed(text_parts: Sequence[Quotable]) -> list[AdrOption]:
    """Return the options of a section with one list; none if there is more than a list and what introduces it."""
    kinds = [part.kind for part in text_parts]
    items = [part for part in text_parts if part.kind == "item"]
    if not items or "paragraph" in kinds[kinds.index("item") :] or "figure" in kinds:
        return []
    return [] if any(part.flaw for part in items) else [_option(part) for part in items]


def _option(text_part: Quotable) -> AdrOption:
    option = parse(text_part.label or text_part.text)
    name = option.name if text_part.label else _DESCRIBED.split(option.name, maxsplit=1)[0]
    return AdrOption(option.label or text_part.number, _bare(name))


def _headings(page: MarkdownPage, section: Section) -> list[AdrOption]:
    below = adr_page.within(page, section)[1:]
    highest = min((inner.level for inner in below), default=0)
    titles = [inner.title for inner in below if inner.level == highest and not _ARGUMENTS.fullmatch(inner.title)]
    return [parse(title) for title in titles]


def parse(text: str) -> AdrOption:
    """Parse `Option A: name`, where the label may be missing."""
    bare = _bare(text)
    match = _LABELLED.match(bare)
    label, name = (match[1] or match[3], match[2] or match[4] or "") if match else ("", bare)
    if not _bare(name):
        return AdrOption("", bare[:_MAX_NAME_LENGTH])
    return AdrOption(label.upper(), _bare(name)[:_MAX_NAME_LENGTH])


def _bare(name: str) -> str:
    """Return a name without emphasis and quotes around all of it."""
    bare = name.strip(_AROUND_NAME)
    quoted = _QUOTED.fullmatch(bare)
    return (quoted["name"] or quoted["inner"]).strip(_AROUND_NAME) if quoted else bare


def named(text: str, options: Sequence[AdrOption]) -> AdrOption | None:
    """Return the option that a text names: by its whole name, or by its letter or number alone; None for none."""
    words = words_of(parse(text).name)
    by_name = [option for option in options if words in (option.words, words_of(f"{option.label} {option.name}"))]
    label = _LABEL_ALONE.fullmatch(text)
    by_label = [option for option in options if label and option.label == label[1].upper()]
    matches = by_name or by_label
    return matches[0] if len(matches) == 1 else None


def is_label(text: str) -> bool:
    """True if a text is the letter or number of an option and no name."""
    return bool(_LABEL_ALONE.fullmatch(text))

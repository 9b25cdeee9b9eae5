"""Facets of the search page: what a list of records can be narrowed by, and how many each choice leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlencode

from onrecord import globs
from onrecord.coldstart import NamedTuple

STORE, CATEGORY, STATUS, TAG, FILE, NEVER, CORRECTED = (
    "store", "category", "status", "tag", "file", "never", "corrected",
)  # fmt: skip
FACETS = (STORE, CATEGORY, STATUS, TAG, FILE, NEVER, CORRECTED)
"""The facets, as they are named in addresses."""

FLAGS = {NEVER: "never shown", CORRECTED: "corrected"}
"""Facets with one choice, and its words."""

_HEADINGS = {STORE: "Store", CATEGORY: "Category", STATUS: "Status", TAG: "Tag", FILE: "File", NEVER: "Use"}
_MAX_CHOICES = {TAG: 12, FILE: 6}
_FEW_CHOICES = 20
"""Choices shown of a facet: the most frequent ones, and the one that is chosen."""

_MAX_VALUE = 300


class Listing(NamedTuple):
    """What a record is listed by."""

    path: str
    """With the prefix of its store."""
    store: str
    category: str
    status: str
    tags: Sequence[str]
    files: Sequence[str]
    is_never_shown: bool
    is_corrected: bool

    def values(self, facet: str) -> Sequence[str]:
        """Return the choices of a facet that this record is among."""
        if facet == TAG:
            return self.tags
        if facet == FILE:
            return [file.partition("#")[0] for file in self.files]
        if facet in FLAGS:
            return ["1"] if (self.is_never_shown if facet == NEVER else self.is_corrected) else []
        return [getattr(self, facet)]


class Choice(NamedTuple):
    """One choice of a facet: its label, the number of records that it leaves, and the address that takes it."""

    facet: str
    value: str
    label: str
    number: int
    address: str
    is_chosen: bool


class Facet(NamedTuple):
    """A facet with its choices."""

    name: str
    heading: str
    choices: Sequence[Choice]


class Selection(NamedTuple):
    """What the address of a search page says: the text, the chosen value of each facet, and the page."""

    text: str
    chosen: Mapping[str, str]
    """By facet; without those that are not chosen."""
    page: int = 1

    @property
    def is_narrow(self) -> bool:
        return bool(self.chosen)

    def address(self, facet: str = "", value: str = "", page: int = 1) -> str:
        """Return the address of this selection with another value of a facet, and of one of its pages."""
        chosen = {**self.chosen, facet: value} if facet else self.chosen
        fields = {"q": self.text, **chosen, "page": str(page) if page > 1 else ""}
        query = urlencode({name: text for name, text in fields.items() if text})
        return f"/search?{query}" if query else "/search"

    def accepts(self, listing: Listing, facet: str) -> bool:
        """True if a record is among what is chosen of a facet, or nothing is."""
        value = self.chosen.get(facet, "")
        if not value:
            return True
        values = listing.values(facet)
        return value in values or (facet == FILE and any(_covers(file, value) for file in values))


def selection(params: Mapping[str, str], page: int, max_chars: int) -> Selection:
    """Return what an address says."""
    chosen = {name: params.get(name, "")[:_MAX_VALUE].strip() for name in FACETS}
    chosen = {name: "1" if name in FLAGS else value for name, value in chosen.items() if value}
    return Selection(params.get("q", "")[:max_chars], chosen, page)


def narrow(listings: Sequence[Listing], wanted: Selection) -> tuple[list[Listing], list[Facet]]:
    """Return the records that are chosen, and the facets with how many records each choice would leave.

    The numbers of a facet are those with all other facets as they are chosen.
    """
    counts: dict[str, Counter[str]] = {facet: Counter() for facet in FACETS}
    accepted: list[Listing] = []
    for listing in listings:
        refusing = [facet for facet in wanted.chosen if not wanted.accepts(listing, facet)]
        if not refusing:
            accepted.append(listing)
        # One that a single facet refuses is counted for that one alone.
        for facet in FACETS if not refusing else refusing if len(refusing) == 1 else ():
            counts[facet].update(listing.values(facet))
    facets = [Facet(name, _HEADINGS[name], list(_choices(name, counts, wanted))) for name in _HEADINGS]
    return accepted, [facet for facet in facets if _narrows(facet, len(accepted))]


def _narrows(facet: Facet, total: int) -> bool:
    """True if a facet has a choice that changes anything."""
    return any(choice.is_chosen or choice.number < total for choice in facet.choices)


def _choices(name: str, counts: Mapping[str, Counter[str]], wanted: Selection) -> Iterator[Choice]:
    """Yield the choices of a facet, the chosen one first, then the most frequent ones."""
    names = (NEVER, CORRECTED) if name == NEVER else (name,)
    for facet in names:
        chosen = wanted.chosen.get(facet, "")
        frequent = [value for value, _ in counts[facet].most_common(_MAX_CHOICES.get(facet, _FEW_CHOICES))]
        for value in dict.fromkeys([*([chosen] if chosen else []), *frequent]):
            is_chosen = value == chosen
            number = counts[facet][value]
            label = FLAGS.get(facet) or (value.replace("_", " ") if facet == CATEGORY else value)
            target = wanted.address(facet, "" if is_chosen else value)
            yield Choice(facet, value, label, number, target, is_chosen)


def _covers(file: str, wanted: str) -> bool:
    """True if what a record names (a file, a folder or a glob) covers the wanted file, or lies in the wanted folder."""
    file, wanted = file.rstrip("/"), wanted.rstrip("/")
    return file == wanted or file.startswith(f"{wanted}/") or globs.matches(file, wanted)

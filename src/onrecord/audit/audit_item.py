"""A record or a note as an audit sees it, and the comparison of texts by their words."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, count
from typing import Any, TypeVar

from onrecord import budget
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.record import memory, validity
from onrecord.record.memory import Memory
from onrecord.search import document

Member = TypeVar("Member", str, int)

_PAIRS, _FACTOR = 33_554_393, 92_821
"""How many numbers there are for pairs of terms, and the factor that spreads them: prime numbers."""

MAX_COMPARED_TEXTS = 24
"""Texts compared for one common word. The limit keeps the work linear in the number of texts."""

_MAX_COMMON, _MIN_SIZE_PER_COMMON = 4, 12
"""Rare members that two sets must share to be compared, and the size of a set for each but the first of them."""


class AuditItem(NamedTuple):
    """The fields of a record or a note that an audit needs."""

    id: str
    path: str
    title: str
    text: str
    """Everything but the title."""

    category: str = ""
    statement: str = ""
    """The rule, decision or preference itself."""

    tags: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    updated: str = ""
    is_current: bool = True
    is_retired: bool = False
    superseded_by: str = ""
    supersedes: tuple[str, ...] = ()
    says_superseded: bool = False
    """True if its own text or status says that it is outdated."""

    says_current: bool = False
    """True if it states explicitly that it is in force."""

    source: Memory | None = None
    """The record, or None for a note of another tool."""

    @property
    def raw(self) -> Any:
        """The whole of it as JSON, to search it for credentials."""
        return {"title": self.title, "text": self.text} if self.source is None else memory.to_json(self.source)


def from_records(records: Sequence[Memory]) -> list[AuditItem]:
    """Return the items of the records of a store; a supersession that only one of two records claims does not count."""
    replaced = validity.replaced(records)
    claims = {record.path for record in records if record.superseded_by} - replaced
    return [
        from_record(record._replace(superseded_by=""))._replace(source=record)
        if record.path in claims
        else from_record(record)
        for record in records
    ]


def from_record(record: Memory) -> AuditItem:
    """Return the item of a record."""
    category = CATEGORIES[record.category]
    status = record.text("status")
    is_over = validity.is_over(validity.is_void(record), validity.expiry(record))
    return AuditItem(
        record.id,
        record.path,
        record.title,
        text_of(record),
        category=record.category,
        statement=record.text(category.statement) if category.is_rule else "",
        tags=record.tags,
        triggers=record.triggers,
        updated=record.updated_at,
        is_current=validity.status_of(record, is_replaced=bool(record.superseded_by)) == validity.ACTIVE,
        is_retired=record.record_status != "active",
        superseded_by=record.superseded_by,
        supersedes=record.supersedes,
        says_superseded=status == "superseded",
        says_current=not is_over and category.is_strict,
        source=record,
    )


def text_of(record: Memory) -> str:
    """Return everything that a record says besides its title."""
    return "\n".join(document.content_texts(record))


def shingles(terms: Sequence[str]) -> frozenset[str]:
    """Return the pairs of neighbouring terms. Texts on the same subject share terms; only copies share many pairs."""
    if len(terms) < 3:
        return frozenset(terms)
    return frozenset(f"{first} {second}" for first, second in zip(terms, terms[1:]))


def similarity(terms: AbstractSet[Member], other: AbstractSet[Member]) -> float:
    """Return the Jaccard index of two sets: the share of common members."""
    common = len(terms & other)
    return common / (len(terms) + len(other) - common) if common else 0.0


def similar_texts(streams: Iterable[Sequence[str]], min_similarity: float) -> list[list[int]]:
    """Return groups of texts, by number, that share many pairs of terms, given the terms of each."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    sets = [_numbered_pairs(stream, numbers) for stream in streams]
    return clusters(list(_with_company(sets, min_similarity)), min_similarity)


def _numbered_pairs(terms: Sequence[str], term_numbers: defaultdict[str, int]) -> array[int]:
    """Return the same as `shingles`, as numbers: those of a whole store take a tenth of the memory.

    Two pairs may get the same number. In a text of 90 words that happens once in 8,000 texts, and changes little.
    """
    stream = list(map(term_numbers.__getitem__, terms))
    if len(stream) < 3:
        return array("i", {number % _PAIRS for number in stream})
    return array("i", {(first * _FACTOR + second) % _PAIRS for first, second in zip(stream, stream[1:])})


def _with_company(sets: Sequence[array[int]], min_similarity: float) -> Iterator[frozenset[int]]:
    """Yield the sets in order, empty where another one has so few of the members that none can be similar.

    Most texts are like no other: it would be lost work to order what they have by how rare it is.
    """
    seen, again = bytearray(_PAIRS), bytearray(_PAIRS)
    for members in sets:
        for member in members:
            if seen[member]:
                again[member] = 1
            else:
                seen[member] = 1
    for members in sets:
        shared = sum(map(again.__getitem__, members))
        yield frozenset(members) if shared >= min_similarity * len(members) else frozenset()


def similar_pairs(sets: Sequence[AbstractSet[Member]], min_similarity: float) -> Iterator[tuple[int, int]]:
    """Yield pairs of sets, by number, with at least this similarity.

    Two such sets share several of their rarest members, so only sets that do are compared: where all texts are made of
    the same few words, each shares one or two with hundreds of others.
    """
    counts = Counter(chain.from_iterable(sets))
    by_member: dict[Member, list[int]] = {}
    enough: list[int] = []
    """For each set, the common rare members that are enough to compare it: no more than it is listed under."""
    for number, members in enumerate(budget.counted(sets, "comparing wording")):
        if not members:
            enough.append(0)
            continue
        by_rarity = sorted(sorted(members), key=counts.__getitem__)
        needed = min(_MAX_COMMON, 1 + len(by_rarity) // _MIN_SIZE_PER_COMMON)
        rare = by_rarity[: int((1 - min_similarity) * len(by_rarity)) + needed]
        commons = Counter(chain.from_iterable(by_member[member] for member in rare if member in by_member))
        for other in sorted(other for other, shared in commons.items() if shared >= min(needed, enough[other])):
            if similarity(members, sets[other]) >= min_similarity:
                yield other, number
        lists = [by_member.setdefault(member, []) for member in rare]
        open_lists = [numbers for numbers in lists if len(numbers) < MAX_COMPARED_TEXTS]
        for numbers in open_lists:
            numbers.append(number)
        enough.append(min(needed, len(open_lists)))


def clusters(sets: Sequence[AbstractSet[Member]], min_similarity: float) -> list[list[int]]:
    """Return groups of sets, by number, that are similar directly or through others. Single sets are left out."""
    leader = list(range(len(sets)))

    def find_leader(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    for first, second in similar_pairs(sets, min_similarity):
        low, high = sorted((find_leader(first), find_leader(second)))
        leader[high] = low
    groups: dict[int, list[int]] = {}
    for number in range(len(sets)):
        groups.setdefault(find_leader(number), []).append(number)
    return [group for group in groups.values() if len(group) > 1]

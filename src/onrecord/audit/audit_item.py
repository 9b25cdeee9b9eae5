"""A record or a note as an audit sees it, and the comparison of texts by their words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Any

from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.record import links, memory
from onrecord.record.memory import Memory
from onrecord.search import document

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

    raw: Any = None
    """The whole record, to search it for credentials."""


def from_records(records: Sequence[Memory]) -> list[AuditItem]:
    """Return the items of the records of a store; a supersession that only one of two records claims does not count."""
    replaced = links.replaced(records)
    whole = [record if record.path in replaced else record._replace(superseded_by="") for record in records]
    return [from_record(record)._replace(raw=memory.to_json(one)) for record, one in zip(whole, records)]


def from_record(record: Memory) -> AuditItem:
    """Return the item of a record."""
    category = CATEGORIES[record.category]
    status = record.text("status")
    is_in_force = record.content.get("active") is not False and status not in ("superseded", "deprecated")
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
        is_current=record.is_current and is_in_force,
        is_retired=record.record_status != "active",
        superseded_by=record.superseded_by,
        supersedes=record.supersedes,
        says_superseded=status == "superseded",
        says_current=is_in_force and category.is_strict,
        raw=memory.to_json(record),
    )


def text_of(record: Memory) -> str:
    """Return everything that a record says besides its title."""
    return "\n".join(document.passages(record._replace(related_files=())))


def shingles(terms: Sequence[str]) -> frozenset[str]:
    """Return the pairs of neighbouring terms. Texts on the same subject share terms; only copies share many pairs."""
    if len(terms) < 3:
        return frozenset(terms)
    return frozenset(f"{first} {second}" for first, second in zip(terms, terms[1:]))


def similarity(terms: AbstractSet[str], other: AbstractSet[str]) -> float:
    """Return the Jaccard index of two sets: the share of common members."""
    common = len(terms & other)
    return common / (len(terms) + len(other) - common) if common else 0.0


def similar_pairs(sets: Sequence[AbstractSet[str]], min_similarity: float) -> Iterator[tuple[int, int]]:
    """Yield pairs of sets, by number, with at least this similarity.

    Two such sets share several of their rarest members, so only sets that do are compared: where all texts are made of
    the same few words, each shares one or two with hundreds of others.
    """
    counts = Counter(chain.from_iterable(sets))
    by_member: dict[str, list[int]] = {}
    enough: list[int] = []
    """For each set, the common rare members that are enough to compare it: no more than it is listed under."""
    for number, members in enumerate(sets):
        by_rarity = sorted(sorted(members), key=counts.__getitem__)
        needed = min(_MAX_COMMON, 1 + len(by_rarity) // _MIN_SIZE_PER_COMMON)
        rare = by_rarity[: int((1 - min_similarity) * len(by_rarity)) + needed]
        common = Counter(chain.from_iterable(by_member[member] for member in rare if member in by_member))
        for other in sorted(other for other, count in common.items() if count >= min(needed, enough[other])):
            if similarity(members, sets[other]) >= min_similarity:
                yield other, number
        lists = [by_member.setdefault(member, []) for member in rare]
        open_lists = [numbers for numbers in lists if len(numbers) < MAX_COMPARED_TEXTS]
        for numbers in open_lists:
            numbers.append(number)
        enough.append(min(needed, len(open_lists)))


def clusters(sets: Sequence[AbstractSet[str]], min_similarity: float) -> list[list[int]]:
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

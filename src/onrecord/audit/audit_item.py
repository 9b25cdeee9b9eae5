"""A record as an audit sees it, whichever tool it comes from, and which of many have most of their words in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.record import memory
from onrecord.record.memory import Memory
from onrecord.search import document

# A word that thousands of texts share leads to no more than so many, so that work grows with texts and not with pairs.
MAX_COMPARED_TEXTS = 24


class AuditItem(NamedTuple):
    """What an audit needs to know of a record or a note."""

    id: str
    path: str
    title: str
    text: str
    """Everything but the title."""

    category: str = ""
    statement: str = ""
    """The rule, decision or preference itself."""

    tags: tuple[str, ...] = ()
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
    """All of it, to be searched for credentials."""


def from_record(record: Memory) -> AuditItem:
    """A record of our own as an item."""
    category = CATEGORIES[record.category]
    status = record.text("status")
    is_in_force = record.content.get("active") is not False and status not in ("superseded", "deprecated")
    return AuditItem(
        record.id,
        record.path,
        record.title,
        "\n".join(document.passages(record._replace(related_files=()))),
        category=record.category,
        statement=record.text(category.statement) if category.is_rule else "",
        tags=record.tags,
        updated=record.updated_at,
        is_current=record.is_current and is_in_force,
        is_retired=record.record_status != "active",
        superseded_by=record.superseded_by,
        supersedes=record.supersedes,
        says_superseded=status == "superseded",
        says_current=is_in_force and category.is_strict,
        raw=memory.to_json(record),
    )


def shingles(terms: Sequence[str]) -> frozenset[str]:
    """Neighbouring terms as pairs: they tell wording from mere subject."""
    if len(terms) < 3:
        return frozenset(terms)
    return frozenset(f"{first} {second}" for first, second in zip(terms, terms[1:]))


def similarity(left: AbstractSet[str], right: AbstractSet[str]) -> float:
    """Jaccard index: the share of the members of either set that both have."""
    common = len(left & right)
    return common / (len(left) + len(right) - common) if common else 0.0


def similar_pairs(sets: Sequence[AbstractSet[str]], alike: float) -> Iterator[tuple[int, int]]:
    """Pairs of sets, by number, that are at least so much alike.

    Two such sets share a member among the rarest few of each, so only sets that meet there are compared.
    """
    counts = Counter(member for members in sets for member in members)
    seen: dict[str, list[int]] = {}
    for number, members in enumerate(sets):
        by_rarity = sorted(members, key=lambda member: (counts[member], member))
        rare = by_rarity[: int((1 - alike) * len(by_rarity)) + 1]
        for other in sorted({other for member in rare for other in seen.get(member, ())}):
            if similarity(members, sets[other]) >= alike:
                yield other, number
        for member in rare:
            numbers = seen.setdefault(member, [])
            if len(numbers) < MAX_COMPARED_TEXTS:
                numbers.append(number)


def clusters(sets: Sequence[AbstractSet[str]], alike: float) -> list[list[int]]:
    """Numbers of the sets that are alike, directly or through others; sets like no other are left out."""
    leader = list(range(len(sets)))

    def led_by(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    for first, second in similar_pairs(sets, alike):
        low, high = sorted((led_by(first), led_by(second)))
        leader[high] = low
    groups: dict[int, list[int]] = {}
    for number in range(len(sets)):
        groups.setdefault(led_by(number), []).append(number)
    return [group for group in groups.values() if len(group) > 1]

"""Likeness: which of many sets have most of their members in common, found without comparing every pair.

Two sets that are alike share a member among the rarest few of each; only sets that meet there are compared, and
a member that thousands share leads to no more than a handful of them. So the work grows with the sets, not their pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

MOST_MET = 24


def pairs(sets: Sequence[AbstractSet[str]], alike: float) -> Iterator[tuple[int, int]]:
    """Pairs of sets, by number, whose common part is at least this share of what they have together."""
    spread = Counter(member for members in sets for member in members)
    met: dict[str, list[int]] = {}
    for number, members in enumerate(sets):
        rare = sorted(members, key=lambda member: (spread[member], member))
        telling = rare[: int((1 - alike) * len(rare)) + 1]
        for other in sorted({other for member in telling for other in met.get(member, ())}):
            if likeness(members, sets[other]) >= alike:
                yield other, number
        for member in telling:
            places = met.setdefault(member, [])
            if len(places) < MOST_MET:
                places.append(number)


def likeness(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """How much of what two sets have together they have in common, from 0 to 1."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0


def clusters(sets: Sequence[AbstractSet[str]], alike: float) -> list[list[int]]:
    """Numbers of the sets that are alike, directly or through others; sets like no other are left out."""
    leader = list(range(len(sets)))

    def led_by(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    for one, other in pairs(sets, alike):
        first, second = sorted((led_by(one), led_by(other)))
        leader[second] = first
    groups: dict[int, list[int]] = {}
    for number in range(len(sets)):
        groups.setdefault(led_by(number), []).append(number)
    return [group for group in groups.values() if len(group) > 1]


def shingles(terms: Sequence[str]) -> frozenset[str]:
    """Neighbouring terms as pairs: what a text says and not only what it talks about."""
    if len(terms) < 3:
        return frozenset(terms)
    return frozenset(f"{one} {other}" for one, other in zip(terms, terms[1:]))

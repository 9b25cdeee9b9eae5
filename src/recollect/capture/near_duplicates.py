"""Neighbours: what the store says already about a record that is about to be written, and what that means for it.

A verdict rests on what the records say: the ranking's probability that they are about the same thing, how much of
their wording they share, and whether they contradict each other. A shared tag decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from recollect.audit import audit_item, contradictions
from recollect.audit.audit_item import likeness
from recollect.categories import BY_NAME
from recollect.errors import NearDuplicate, RecollectError, Reverses
from recollect.record import summary_line
from recollect.record.fields import shorten
from recollect.record.memory import Memory
from recollect.search import gate, index, rank, stopwords, terms
from recollect.store.store import Entry, Store

SAME = 0.6
"""Share of wording from which two records say the same."""

RELATED = 0.3
PROBABLE = gate.HIGH
_LOOKED_AT = 8
_LONGEST_QUERY = 1_200
_WORKING = frozenset(category.name for category in BY_NAME.values() if not category.is_rule)


class Neighbour(NamedTuple):
    """A record near a new one: how probably it is about the same thing, and what it means for the new one."""

    entry: Entry
    probability: float
    likeness: float
    verdict: str
    """`same`, `reverses`, `update` or `related`."""

    reason: str = ""

    @property
    def memory(self) -> Memory:
        return self.entry.memory


def nearest(store: Store, record: Memory, most: int = 3) -> list[Neighbour]:
    """The records nearest to a new one, those that matter most first."""
    if not store.exists:
        return []
    matches = rank.find(index.open(store.root), _query(record), limit=_LOOKED_AT, mode="search")
    found = []
    for match in matches:
        try:
            entry = store.read(match.path)
        except RecollectError:
            continue
        if entry.memory.is_current and entry.memory.id not in record.supersedes:
            found.append(_judged(record, entry, match.probability))
    kept = [one for one in found if one.probability >= PROBABLE or one.verdict != "related"]
    return sorted(kept, key=lambda one: (_ORDER.index(one.verdict), -one.likeness, -one.probability))[:most]


_ORDER = ("same", "reverses", "update", "related")


def refuse(near: Sequence[Neighbour], retry: str) -> None:
    """NearDuplicate or Reverses if the nearest record must be dealt with knowingly; `retry` is what to run then."""
    if not near or near[0].verdict not in ("same", "reverses"):
        return
    one = near[0]
    told = f"{one.entry.path} ({shorten(one.memory.title)})"
    if one.verdict == "same":
        raise NearDuplicate(
            f"{told} says nearly the same: {one.reason}",
            fix=f"{retry} --update {one.memory.id} to change it, or --force if it is another thing; or leave it",
        )
    raise Reverses(
        f"this reverses {told}: {one.reason}. Supersede it?",
        fix=f"{retry} --supersedes {one.memory.id} if it no longer holds, --update {one.memory.id} to correct it,"
        " or --force if both hold",
    )


def said_already(store_root: str, text: str) -> Neighbour | None:
    """The record that says what a sentence says, if there is one: its words are all there."""
    from recollect.capture import triage

    store = Store(store_root)
    for match in rank.find(index.open(store_root, hook=True), text[:_LONGEST_QUERY], limit=3, mode="search"):
        try:
            entry = store.read(match.path)
        except RecollectError:
            continue
        if entry.memory.is_current and triage.is_echo(text, (_said(entry.memory),)):
            return Neighbour(entry, match.probability, 1.0, "same")
    return None


def closest(store_root: str, text: str) -> Neighbour | None:
    """The record a sentence is most probably about, if any is probable."""
    for match in rank.find(index.open(store_root, hook=True), text[:_LONGEST_QUERY], limit=1, mode="search"):
        if match.probability >= PROBABLE:
            return Neighbour(Store(store_root).read(match.path), match.probability, 0.0, "related")
    return None


def _judged(record: Memory, entry: Entry, probability: float) -> Neighbour:
    other = entry.memory
    alike = _alike(record, other)
    same_kind = record.category == other.category or not {record.category, other.category} & _WORKING
    reason = _reversal(record, other) if same_kind else ""
    if reason:
        return Neighbour(entry, probability, alike, "reverses", reason)
    if record.category == other.category and alike >= SAME and _share_title(record, other):
        return Neighbour(entry, probability, alike, "same", f"{alike:.0%} of the wording is the same")
    if record.category == other.category and alike >= RELATED and probability >= PROBABLE:
        return Neighbour(entry, probability, alike, "update", "it is about the same thing")
    return Neighbour(entry, probability, alike, "related")


def _reversal(record: Memory, other: Memory) -> str:
    """In what two records contradict each other; empty if they do not."""
    found = contradictions.conflicts([audit_item.of(record), audit_item.of(other)])
    if found:
        return found[0].reason
    return "one prefers what the other puts second" if _are_swapped(record, other) else ""


_CONTRAST = frozenset("not instead rather over statt nicht anstelle sondern".split())


def _are_swapped(record: Memory, other: Memory) -> bool:
    """Whether one says A and not B where the other says B and not A."""
    for one in _preferences(record):
        for two in _preferences(other):
            if one[0] & two[1] and one[1] & two[0]:
                return True
    return False


def _preferences(record: Memory) -> list[tuple[frozenset[str], frozenset[str]]]:
    """What stands before and after the word of contrast in a record's title and statement, without what both share."""
    found = []
    for text in (record.title, audit_item.of(record).statement.split(". ")[0]):
        words = text.lower().replace(",", " ").split()
        at = next((number for number, word in enumerate(words) if word in _CONTRAST), 0)
        chosen, rejected = (frozenset(terms.stream(" ".join(part))) for part in (words[:at], words[at + 1 :]))
        if at and rejected:
            found.append((chosen - rejected, rejected - chosen))
    return found


def _share_title(one: Memory, other: Memory) -> bool:
    """Whether two titles have a word of meaning in common."""
    first, second = (set(terms.stream(record.title)) - stopwords.ENGLISH for record in (one, other))
    return bool(first & second)


def _alike(one: Memory, other: Memory) -> float:
    """How much two records say the same: the better of their statements and of all they say."""
    statements = [frozenset(terms.stream(summary_line.of(record))) for record in (one, other)]
    whole = [frozenset(terms.stream(_said(record))) for record in (one, other)]
    return max(likeness(*statements), likeness(*whole))


def _said(record: Memory) -> str:
    each = audit_item.of(record)
    return f"{each.title}\n{each.text[:20_000]}"


def _query(record: Memory) -> str:
    return f"{record.title}\n{summary_line.of(record)}"[:_LONGEST_QUERY]

"""Records that somebody should see before a new one is saved, because they settle the same question.

Two records are similar if both say what to do, are of one category, are close in meaning and share some wording. Either
alone is not enough: the records of one project share its words, and those about one part of it are all close to each
other. The thresholds are chosen by `python -m bench similar` on pairs that were labelled by reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import hypot

from onrecord.audit import audit_item
from onrecord.audit.audit_item import similarity
from onrecord.capture import triage
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.errors import NearDuplicate, OnrecordError
from onrecord.record import summary_line
from onrecord.record.memory import Memory
from onrecord.record.schema import shorten
from onrecord.search import index, query, rank, record_vectors, terms, vectors
from onrecord.store.store import Entry, Store

SAME_WORDING = 0.7
"""Share of wording from which two records say the same; procedures that only resemble each other reach 0.65."""

MIN_CLOSENESS, MIN_WORDING = 0.75, 0.18
"""The cosine of two records, and the share of wording, from which they are similar."""

_CANDIDATES = 8
"""Results of a search that are compared: of 90 records that were replaced, 87 were among the first six."""

_LONGEST_QUERY = 1_200
_LONGEST_TEXT = 20_000


class Similar(NamedTuple):
    """A record that settles the same question as a new one."""

    entry: Entry
    closeness: float
    """The cosine of the two: how close they are in meaning."""

    wording: float
    """The share of words that both have, in the statement or in all of the text."""

    is_same: bool
    """Whether it says nearly the same, so that a second record would be one too many."""

    @property
    def memory(self) -> Memory:
        return self.entry.memory


def find(store: Store, record: Memory, most: int = 2) -> list[Similar]:
    """The current records that are similar to a new one, those that say the same and the closest first."""
    if not store.exists:
        return []
    text = f"{record.title}\n{summary_line.render(record)}"
    others = [
        entry
        for entry in _matches(store, text, _CANDIDATES, hook=False)
        if entry.memory.is_current and entry.memory.id not in record.supersedes
    ]
    similar = [each for each in (compare(record, entry) for entry in others) if each]
    return sorted(similar, key=lambda each: (not each.is_same, -each.closeness))[:most]


def compare(record: Memory, entry: Entry) -> Similar | None:
    """A record beside a new one; None if they do not settle the same question."""
    other = entry.memory
    if record.category != other.category:
        return None
    shared = _shared(_text(record), _text(other))
    wording = max(shared, _shared(summary_line.render(record), summary_line.render(other)))
    is_same = wording >= SAME_WORDING and bool(_title_terms(record) & _title_terms(other))
    if not is_same and (shared < MIN_WORDING or not CATEGORIES[record.category].is_rule):
        return None
    closeness = cosine(record, other)
    return Similar(entry, closeness, wording, is_same) if is_same or closeness >= MIN_CLOSENESS else None


def _shared(left: str, right: str) -> float:
    return similarity(frozenset(terms.stream(left)), frozenset(terms.stream(right)))


def _title_terms(record: Memory) -> set[str]:
    return set(terms.stream(record.title)) - query.ENGLISH


def _text(record: Memory) -> str:
    item = audit_item.from_record(record)
    return f"{item.title}\n{item.text[:_LONGEST_TEXT]}"


def cosine(first: Memory, second: Memory) -> float:
    """How close two records are in meaning; 0 where there is no table of word vectors."""
    try:
        made = vectors.shared()
    except (OSError, ValueError):
        return 0.0
    left, right = (vectors.signed(record_vectors.of(record, made).gist) for record in (first, second))
    return sum(a * b for a, b in zip(left, right)) / (hypot(*left) * hypot(*right) or 1.0)


def _matches(store: Store, text: str, most: int, *, hook: bool) -> Iterator[Entry]:
    opened = index.open(store.root, hook=hook)
    matches = rank.find(opened, query.parse(text[:_LONGEST_QUERY]), limit=most)
    opened.close()
    for match in matches:
        try:
            yield store.read(match.path)
        except OnrecordError:
            continue


def find_restated(store_root: str, sentence: str) -> Memory | None:
    """The current record that says what a sentence says, if there is one: its words are all there."""
    records = (entry.memory for entry in _matches(Store(store_root), sentence, 3, hook=True))
    return next((each for each in records if each.is_current and triage.is_repeated_in(sentence, [_text(each)])), None)


def refuse(similar: Sequence[Similar], fix: Callable[[str], str]) -> None:
    """NearDuplicate if a record says nearly the same; `fix` tells, given its id, what to do then."""
    same = next((each for each in similar if each.is_same), None)
    if same is not None:
        raise NearDuplicate(describe(same), fix=fix(same.memory.id))


def command_fix(retry: str) -> Callable[[str], str]:
    """What to do on the command line, where `retry` is the command to give again."""
    return lambda same: (
        f"to change it: {retry} --update {same}; if it no longer holds: {retry} --supersedes {same}; "
        f"if both hold: {retry} --force; or leave it"
    )


def describe(similar: Similar) -> str:
    """What to say of a record that says nearly the same."""
    where = f"{similar.entry.path} ({shorten(similar.memory.title)})"
    return f"{where} says nearly the same: {similar.wording:.0%} of the wording is the same"

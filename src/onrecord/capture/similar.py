"""Finds existing records that are similar to a new one, to show them before it is saved.

Two records are similar if both are rules of one category, close in meaning, and have some wording in common. Common
wording alone is not enough, because all records of a project share its words. Closeness alone is not enough, because
all records about one part of a project are close to each other. The thresholds were chosen with
`python -m bench similar`, on pairs that were labelled by hand.
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
from onrecord.record import summary_line, validity
from onrecord.record.memory import Memory
from onrecord.record.schema import shorten
from onrecord.search import index, query, rank, record_vectors, terms, vectors
from onrecord.store.store import Entry, Store

SAME_WORDING = 0.7
"""Share of common wording at which two records say the same. Different procedures of similar form reach 0.65."""

MIN_CLOSENESS, MIN_WORDING = 0.75, 0.18
"""Lowest cosine and lowest share of common wording of similar records."""

_MAX_CANDIDATES = 8
"""Search results that are compared. In a test, 87 of 90 replaced records were among the first six results."""

_MAX_QUERY_CHARS = 1_200
_MAX_TEXT_CHARS = 20_000


class Similar(NamedTuple):
    """A record that is similar to a new one."""

    entry: Entry
    closeness: float
    """Closeness in meaning: the cosine of the two records' vectors."""

    wording: float
    """Share of common words, in the statement or in the whole text."""

    is_same: bool
    """True if both say nearly the same, so the new record would be a duplicate."""

    @property
    def memory(self) -> Memory:
        return self.entry.memory


def find(store: Store, record: Memory, limit: int = 2) -> list[Similar]:
    """Return the current records that are similar to `record`: duplicates first, then the closest."""
    if not store.exists:
        return []
    text = f"{record.title}\n{summary_line.unmarked(record)}"
    entries = [
        entry
        for entry in _matches(store, text, _MAX_CANDIDATES, hook=False)
        if validity.is_current(entry.memory, store.records_named) and entry.memory.id not in record.supersedes
    ]
    similar = [match for match in (compare(record, entry) for entry in entries) if match]
    return sorted(similar, key=lambda match: (not match.is_same, -match.closeness))[:limit]


def compare(record: Memory, entry: Entry) -> Similar | None:
    """Compare a new record with an existing one. None if they are not similar."""
    other = entry.memory
    if record.category != other.category:
        return None
    text_wording = _common_wording(_text(record), _text(other))
    wording = max(text_wording, _common_wording(summary_line.unmarked(record), summary_line.unmarked(other)))
    is_same = wording >= SAME_WORDING and bool(_title_terms(record) & _title_terms(other))
    if not is_same and (text_wording < MIN_WORDING or not CATEGORIES[record.category].is_rule):
        return None
    closeness = cosine(record, other)
    return Similar(entry, closeness, wording, is_same) if is_same or closeness >= MIN_CLOSENESS else None


def _common_wording(text: str, other: str) -> float:
    return similarity(frozenset(terms.stream(text)), frozenset(terms.stream(other)))


def _title_terms(record: Memory) -> set[str]:
    return set(terms.stream(record.title)) - query.ENGLISH


def _text(record: Memory) -> str:
    item = audit_item.from_record(record)
    return f"{item.title}\n{item.text[:_MAX_TEXT_CHARS]}"


def cosine(record: Memory, other_record: Memory) -> float:
    """Return the cosine of two records; 0 without a table of word vectors."""
    try:
        table = vectors.shared()
    except (OSError, ValueError):
        return 0.0
    first, second = (vectors.signed(record_vectors.build(record, table).gist) for record in (record, other_record))
    return sum(a * b for a, b in zip(first, second)) / (hypot(*first) * hypot(*second) or 1.0)


def _matches(store: Store, text: str, limit: int, *, hook: bool) -> Iterator[Entry]:
    store_index = index.open(store.root, hook=hook)
    matches = rank.find(store_index, query.parse(text[:_MAX_QUERY_CHARS]), limit=limit)
    store_index.close()
    for match in matches:
        try:
            yield store.read(match.path)
        except OnrecordError:
            continue


def find_restated(store_root: str, sentence: str) -> Memory | None:
    """Return the current record that has nearly all the words of `sentence`, or None."""
    store = Store(store_root)
    records = (entry.memory for entry in _matches(store, sentence, 3, hook=True))
    current = (record for record in records if validity.is_current(record, store.records_named))
    return next((record for record in current if triage.is_repeated_in(sentence, [_text(record)])), None)


def refuse(similar: Sequence[Similar], fix: Callable[[str], str]) -> None:
    """Raise NearDuplicate if one of `similar` is a duplicate; `fix` returns the text of the fix for its id."""
    duplicate = next((match for match in similar if match.is_same), None)
    if duplicate is not None:
        raise NearDuplicate(describe(duplicate), fix=fix(duplicate.memory.id))


def command_fix(retry: str) -> Callable[[str], str]:
    """Return a function that returns the fix for a record id, for users of the command line.

    `retry` is the command that the user should repeat with another option.
    """
    return lambda record_id: (
        f"to update it: {retry} --update {record_id}; to replace it: {retry} --supersedes {record_id}; "
        f"to keep both: {retry} --force"
    )


def describe(similar: Similar) -> str:
    """Return the message about a record that says nearly the same."""
    name = f"{similar.entry.path} ({shorten(similar.memory.title)})"
    return f"{name} says nearly the same: {similar.wording:.0%} of the wording is the same"

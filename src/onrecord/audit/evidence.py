"""Evidence for an audit from outside the records: changes of their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from onrecord.audit.report import Evidence
from onrecord.coldstart import NamedTuple
from onrecord.freshness import anchors, check
from onrecord.freshness.check import Freshness, Verdict
from onrecord.store.store import Entry, Store

TIMEOUT_SECONDS = 60.0
"""Total time for git: a large history needs ten seconds, and a hostile repository can make git wait forever."""


class RecordFreshness(NamedTuple):
    """A record, the verdicts on its anchors, and its files that have no anchor."""

    entry: Entry
    verdicts: tuple[Verdict, ...]
    loose: tuple[str, ...]

    @property
    def is_stale(self) -> bool:
        return bool(self.loose) or any(verdict.state != check.FRESH or verdict.is_moved for verdict in self.verdicts)


def collect(
    store: Store, entries: Sequence[Entry], watch_entries: Callable[[Iterable[Entry]], Iterable[Entry]] = iter
) -> Evidence:
    """Return the changed and missing files of current records; `watch_entries` can report progress."""
    if not anchors.project_root(store.root):
        return Evidence()
    states: dict[str, dict[str, str]] = {check.CHANGED: {}, check.MISSING: {}}
    current = [entry for entry in entries if entry.memory.is_current]
    for result in check_all(store, watch_entries(current)):
        for state, messages in states.items():
            changes = [check.sentence(verdict) for verdict in result.verdicts if verdict.state == state]
            if changes:
                messages[result.entry.memory.id] = "; ".join(changes[:3])
    return Evidence(changed=states[check.CHANGED], missing=states[check.MISSING])


def check_all(store: Store, entries: Iterable[Entry]) -> list[RecordFreshness]:
    """Check all anchors of these records."""
    freshness = Freshness(anchors.project_root(store.root), TIMEOUT_SECONDS)
    return [_check_record(freshness, entry) for entry in entries if entry.memory.anchors or entry.memory.related_files]


def _check_record(freshness: Freshness, entry: Entry) -> RecordFreshness:
    indexed = anchors.to_indexed(entry.memory)
    covered = {anchor.path for anchor in indexed}
    loose = tuple(file for file in entry.memory.related_files if file not in covered)
    return RecordFreshness(entry, tuple(map(freshness.check, indexed)), loose)

"""What is known about records beside their text: whether their files changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from onrecord.audit.report import Evidence
from onrecord.coldstart import NamedTuple
from onrecord.freshness import anchors, check
from onrecord.freshness.check import Freshness, Verdict
from onrecord.store.store import Entry, Store


def collect(
    store: Store, entries: Sequence[Entry], watch: Callable[[Iterable[Entry]], Iterable[Entry]] = iter
) -> Evidence:
    """Return what the files of records say about them; `watch` may count the records as they go by."""
    if not anchors.project_root(store.root):
        return Evidence()
    states: dict[str, dict[str, str]] = {check.CHANGED: {}, check.MISSING: {}}
    current = [entry for entry in entries if entry.memory.is_current]
    for looked in check_all(store, watch(current)):
        for state, messages in states.items():
            changes = [check.sentence(each) for each in looked.verdicts if each.state == state]
            if changes:
                messages[looked.entry.memory.id] = "; ".join(changes[:3])
    return Evidence(changed=states[check.CHANGED], missing=states[check.MISSING])


TIMEOUT_SECONDS = 60.0
"""Seconds that git may take in all: a large history needs ten, and a repository can make git wait for ever."""


class RecordFreshness(NamedTuple):
    """A record, the verdicts on its anchors, and those of its files that have no anchor."""

    entry: Entry
    verdicts: tuple[Verdict, ...]
    loose: tuple[str, ...]

    @property
    def is_stale(self) -> bool:
        return bool(self.loose) or any(each.state != check.FRESH or each.is_moved for each in self.verdicts)


def check_all(store: Store, entries: Iterable[Entry]) -> list[RecordFreshness]:
    """The verdicts on all anchors of some records."""
    freshness = Freshness(anchors.project_root(store.root), TIMEOUT_SECONDS)
    return [_checked(freshness, entry) for entry in entries if entry.memory.anchors or entry.memory.related_files]


def _checked(freshness: Freshness, entry: Entry) -> RecordFreshness:
    indexed = anchors.to_indexed(entry.memory)
    covered = {anchor.path for anchor in indexed}
    loose = tuple(file for file in entry.memory.related_files if file not in covered)
    return RecordFreshness(entry, tuple(map(freshness.check, indexed)), loose)

"""Whether the files of records have changed since: all anchors of each, with as much patience as a command has."""

from __future__ import annotations

from collections.abc import Iterable

from onrecord.coldstart import NamedTuple
from onrecord.freshness import anchors, check
from onrecord.freshness.check import Freshness, Verdict
from onrecord.store.store import Entry, Store

PATIENCE = 60.0
"""Seconds that git may take in all: a large history needs ten, and a repository can make git wait for ever."""


class Checked(NamedTuple):
    """A record, the verdicts on its anchors, and those of its files that have no anchor."""

    entry: Entry
    verdicts: tuple[Verdict, ...]
    loose: tuple[str, ...]

    @property
    def is_stale(self) -> bool:
        return bool(self.loose) or any(each.state != check.FRESH or each.is_moved for each in self.verdicts)


def check_all(store: Store, entries: Iterable[Entry]) -> list[Checked]:
    """The verdicts on all anchors of some records."""
    freshness = Freshness(anchors.root_of(store.root), PATIENCE)
    return [_checked(freshness, entry) for entry in entries if entry.memory.anchors or entry.memory.related_files]


def _checked(freshness: Freshness, entry: Entry) -> Checked:
    indexed = anchors.indexed(entry.memory)
    covered = {anchor.path for anchor in indexed}
    loose = tuple(file for file in entry.memory.related_files if file not in covered)
    return Checked(entry, tuple(map(freshness.check, indexed)), loose)

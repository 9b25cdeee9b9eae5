"""Checks of a store after many writers, however they ended: every acknowledged change must be in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from onrecord import files
from onrecord.record import compose
from onrecord.store import index_md
from onrecord.store.store import Entry, Store
from tests.busy_writer import SHARED

WRITER = str(Path(__file__).parent / "busy_writer.py")
ROOT = str(Path(__file__).parent.parent)


def command(root: str, log: Path, number: int, seed: int, steps: int) -> list[str]:
    return [sys.executable, WRITER, root, str(log), str(number), str(seed), str(steps)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.join(ROOT, "src"), ROOT])}


def found_store(root: Path) -> Store:
    """Create a store with the records that all writers share, and return it."""
    store = Store(str(root))
    for number in range(SHARED):
        fields = {"title": f"Shared {number}", "topic": "t", "value": "v", "reason": "r"}
        store.create(compose.compose("preference", fields))
    return store


class Log(NamedTuple):
    """The changes that the store acknowledged to one writer."""

    number: int
    lines: list[list[str]]


def read_logs(logs: Iterable[tuple[int, Path]]) -> list[Log]:
    return [
        Log(number, [line.split() for line in log.read_text().splitlines()] if log.exists() else [])
        for number, log in logs
    ]


def check(store: Store, logs: list[Log]) -> int:
    """Assert the invariants, and return the number of acknowledged changes."""
    with files.locked(os.path.join(store.root, ".lock"), seconds=0):
        pass
    store.recover()
    entries = list(store.scan())
    assert [broken for broken in entries if not isinstance(broken, Entry)] == []
    by_birth = _by_birth(entries)
    _check_counters(store, logs)
    for log in logs:
        _check_records(by_birth, log)
    assert not store.is_interrupted
    assert index_md.differences(store.root, (entry.memory for entry in store.entries())) == []
    return sum(len(log.lines) for log in logs)


def _by_birth(entries: Iterable[object]) -> dict[str, Entry]:
    """Return the entries by the id that each was created with: half a rename would show one twice, or not at all."""
    by_birth: dict[str, Entry] = {}
    for entry in entries:
        assert isinstance(entry, Entry)
        if "born" in entry.memory.unknown:
            born = str(entry.memory.unknown["born"]).replace(" ", "_")
            assert born not in by_birth, f"{born} is at {by_birth[born].path} and at {entry.path}"
            by_birth[born] = entry
    return by_birth


def _check_counters(store: Store, logs: list[Log]) -> None:
    """Assert that each number went to one writer only, and that the last one is the sum of all counts.

    A killed writer may have counted once more than it was told.
    """
    spare = sum(log.lines[-1:] != [["finished"]] for log in logs)
    for number in range(SHARED):
        name = f"shared-{number}"
        counted = [int(line[2]) for log in logs for line in log.lines if line[:2] == ["counted", name]]
        assert len(set(counted)) == len(counted), f"{name}: a number was given twice"
        there = int(store.get(name).memory.unknown.get("counter", 0))
        assert len(counted) <= there <= len(counted) + spare, f"{name}: {there}, acknowledged {len(counted)}"


def _check_records(by_birth: dict[str, Entry], log: Log) -> None:
    """Assert that the last acknowledged change of each kind is in the store.

    A killed writer may have made one more than it was told of, so there the change must be in the history.
    """
    last: dict[tuple[str, str], str] = {}
    for line in log.lines:
        if line[0] in ("created", "status", "titled", "superseded"):
            assert line[1] in by_birth, f"{line[1]} was acknowledged ({' '.join(line)}) and is gone"
            last[line[0], line[1]] = line[-1]
    finished = log.lines[-1:] == [["finished"]]
    for (kind, born), value in last.items():
        record = by_birth[born].memory
        if kind in ("titled", "status"):
            now = record.title.replace(" ", "_") if kind == "titled" else record.record_status
            past = [] if finished else [str(change.new).replace(" ", "_") for change in record.changes]
            assert value in (now, *past), f"{born}: {kind} {value} was acknowledged"
        if kind == "superseded":
            assert record.superseded_by == by_birth[value].memory.id

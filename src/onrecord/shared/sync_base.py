"""What a replica and its remote last agreed on, file by file, and what a sync was about to do when it was killed.

The record files change through the store's own journal, all of them or none. What was agreed on is written after
that, so a plan is written before: it tells the next sync whether the records of the killed one are in the replica.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from onrecord import files, paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import Unwritable
from onrecord.record.memory import MAX_FILE_BYTES
from onrecord.shared import incoming
from onrecord.shared.reconcile import CONFLICT
from onrecord.shared.replicas import Replica
from onrecord.shared.transport import version_hash
from onrecord.store import record_names

_PLAN, _SENT = "plan.json", "sent.json"
_LARGEST = 1 << 30


class SyncStep(NamedTuple):
    """One file of a sync: hashes of the replica's file before and after it, and what is agreed on then."""

    path: str
    before: str
    after: str
    base: bytes


class SyncBase:
    """The agreed versions of one replica, and its plans."""

    def __init__(self, root: str, base: str) -> None:
        self._root = root
        self._base = base

    def read(self, path: str) -> bytes:
        """The agreed version of a file; empty for none."""
        return read_file(self._base, path)

    def write(self, versions: Mapping[str, bytes]) -> None:
        """Agree on these versions; they are on the disk when this returns, before anybody notes how far a sync came."""
        is_lasting = files.waits_for_each(len(versions))
        for path, data in versions.items():
            full = os.path.join(self._base, path)
            if data:
                files.write(full, data, lasting=is_lasting)
            else:
                files.remove(full)
        if not is_lasting:
            os.sync()

    def paths(self) -> set[str]:
        return set(file_paths(self._base))

    def differences(self, store: str) -> Iterator[tuple[str, bytes, bytes]]:
        """The files that are not in a replica as they were agreed on: path, here, agreed."""
        for path in sorted(self.paths().union(file_paths(store))):
            local, base = read_file(store, path), self.read(path)
            if local != base:
                yield path, local, base

    def forget(self) -> None:
        """Nothing is agreed on any more: the remote has another history."""
        shutil.rmtree(self._base, ignore_errors=True)

    def plan(self, steps: Iterable[SyncStep]) -> None:
        """Note what will be agreed on once the records of a sync are written."""
        rows = [[*step[:3], step.base.decode("utf-8")] for step in steps]
        self._note(_PLAN, rows)

    def carry_out(self, steps: Iterable[SyncStep]) -> None:
        """Agree on what was planned: its records are written."""
        self.write({step.path: step.base for step in steps})
        files.remove(self._file(_PLAN))

    def recover(self, store: str) -> None:
        """Carry out what a killed sync had planned, as far as its records are in the replica."""
        steps = [step for row in self._noted(_PLAN, list) if (step := _step(row))]
        states = {step.path: version_hash(read_file(store, step.path)) for step in steps}
        # All of a change is there or nothing. A file that is gone proves nothing: somebody may have deleted it since.
        is_made = any(step.after and step.before != step.after == states[step.path] for step in steps)
        self.carry_out(step for step in steps if is_made or step.after in (step.before, states[step.path]))

    def note_sent(self, data: Mapping[str, bytes]) -> None:
        """Note what is about to be pushed: if we do not live to see the answer, it may have arrived."""
        self._note(_SENT, {path: each.decode("utf-8") for path, each in data.items()})

    def read_sent(self) -> dict[str, bytes]:
        """What was pushed without an answer, or waits for a merge."""
        noted = self._noted(_SENT, dict)
        return {path: text.encode("utf-8") for path, text in noted.items() if isinstance(text, str)}

    def note_answer(self, waiting: Mapping[str, bytes]) -> None:
        """Note that an answer came: only what waits for a merge may still arrive as it was sent."""
        if waiting:
            self.note_sent(waiting)
        else:
            files.remove(self._file(_SENT))

    def _note(self, name: str, value: object) -> None:
        files.write(self._file(name), json.dumps(value).encode("ascii"))

    def _noted(self, name: str, kind: Any) -> Any:
        try:
            value = json.loads(files.read(self._file(name), _LARGEST))
        except (OSError, ValueError):
            return kind()
        return value if isinstance(value, kind) else kind()

    def _file(self, name: str) -> str:
        return os.path.join(self._root, name)


def file_paths(root: str) -> Iterator[str]:
    """The records and drafts in a folder, by path."""
    yield from record_names.paths(root)
    yield from (f"{paths.INBOX}/{name}" for name in record_names.in_folder(root, paths.INBOX))


def read_file(root: str, path: str) -> bytes:
    """What a file of a replica holds; empty if there is none. Unwritable if it cannot be read: it is not deleted."""
    try:
        # The folders are the user's own, where nobody plants links. An empty file is a broken one, not a deleted one.
        return files.read(os.path.join(root, path), MAX_FILE_BYTES + 1) or b"\n"
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        full = os.path.join(root, path)
        raise Unwritable(f"cannot read {full}: {error.strerror or error}", fix=f"chmod u+rw {full}") from error


def make_step(path: str, before: bytes, after: bytes, base: bytes) -> SyncStep:
    """A step from what the replica's file holds and shall hold."""
    return SyncStep(path, version_hash(before), version_hash(after), base)


def _step(row: object) -> SyncStep | None:
    if not isinstance(row, list) or len(row) != len(SyncStep._fields) or not all(isinstance(each, str) for each in row):
        return None
    path, before, after, base = row
    return None if incoming.path_flaw(path) else SyncStep(path, before, after, base.encode("utf-8"))


def unpushed_paths(replica: Replica) -> list[str]:
    """The paths in the store that differ from what the remote has: the next sync pushes them."""
    return [path for path, _, _ in SyncBase(replica.root, replica.base).differences(replica.store)]


def conflict_drafts(replica: Replica) -> list[str]:
    """The names of the drafts that hold the other side of a conflict."""
    names = record_names.in_folder(replica.store, paths.INBOX)
    return [name[: -len(".json")] for name in names if name.startswith(CONFLICT)]

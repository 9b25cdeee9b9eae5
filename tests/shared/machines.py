"""Machines that share a store, for tests: replicas in folders of their own, and a remote in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from onrecord import paths
from onrecord.record import memory
from onrecord.settings import Settings
from onrecord.shared import engine, sync_base
from onrecord.shared.engine import SyncResult
from onrecord.shared.replicas import Replica
from onrecord.shared.transport import Pulled, Push, Pushed, Transport, Version, version_hash
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from tests.records import raw, sample

NOW = "2026-05-01T12:00:00Z"


class MemoryRemote:
    """A shared store in memory: every version that was ever written, in order."""

    def __init__(self) -> None:
        self.log: list[Version] = []
        self.files: dict[str, bytes] = {}

    def write(self, path: str, data: bytes) -> None:
        self.files[path] = data
        self.log.append(Version(path, data))


class MemoryTransport:
    """A connection to it, which compares before it sets."""

    def __init__(self, remote: MemoryRemote) -> None:
        self.remote = remote

    def pull(self, cursor: str) -> Pulled:
        return Pulled(iter(self.remote.log[int(cursor or 0) :]), str(len(self.remote.log)))

    def push(self, changes: Sequence[Push]) -> Pushed:
        accepted, outdated = [], []
        for path, data, expected in changes:
            present = self.remote.files.get(path, b"")
            if present == data:
                accepted.append(path)
            elif version_hash(present) == expected:
                self.remote.write(path, data)
                accepted.append(path)
            else:
                outdated.append(path)
        return Pushed(tuple(accepted), tuple(outdated))

    def wait(self, seconds: float) -> bool:
        return False

    def close(self) -> None:
        pass


class FolderReplica(Replica):
    """A replica in a folder of its own, as on a machine of its own."""

    def __init__(self, folder: Path) -> None:
        super().__init__("platform")
        self.root = str(folder)

    @property
    def store(self) -> str:
        return os.path.join(self.root, "store")


class Machine:
    """One machine: a replica, and what a person does with it."""

    def __init__(self, folder: Path, transport: Transport, now: str = NOW) -> None:
        self.replica = FolderReplica(folder)
        self.transport = transport
        self.now = now

    @property
    def store(self) -> Store:
        return Store(self.replica.store)

    @property
    def writer(self) -> Writer:
        return Writer(self.store, Settings(), self.now)

    def sync(self, **options: Any) -> SyncResult:
        return engine.sync(self.replica, self.transport, **options)

    def save(self, record_id: str, **fields: Any) -> None:
        self.writer.save(sample(id=record_id, title=record_id.replace("-", " "), **fields))

    def edit(self, record_id: str, patch: dict[str, Any]) -> None:
        self.writer.update(record_id, patch, self.store.get(record_id).hash)

    def save_all(self, numbers: Iterable[int], text: str) -> None:
        """Write many records at once, over those that are there."""
        with self.store.writing("save") as batch:
            for number in numbers:
                content = raw()["content"] | {"decision": f"{text} {number}"}
                batch.put(sample(id=f"record-{number}", title=f"record {number}", content=content))

    def delete(self, *paths: str) -> None:
        with self.store.writing("gc") as batch:
            for path in paths:
                batch.drop(path)

    def read(self, record_id: str) -> memory.Memory:
        return self.store.get(record_id).memory

    def files(self) -> dict[str, bytes]:
        """Return every record and draft, by path."""
        return files_in(self.replica.store)


def conflict_in_a_hundred(ann: Machine, bob: Machine) -> SyncResult:
    """Return two machines that have changed the same field of a hundred records, and have synced."""
    ann.save_all(range(100), "first")
    ann.sync()
    bob.sync()
    ann.save_all(range(100), "Ann")
    bob.save_all(range(100), "Bob")
    ann.sync()
    result = bob.sync()
    ann.sync()
    return result


def files_in(root: str) -> dict[str, bytes]:
    """Return the JSON files in a folder tree, by path."""
    contents = {}
    for folder, _, names in os.walk(root):
        for name in names:
            # A killed writer leaves a file whose name begins with a dot, which nothing reads.
            if name.endswith(".json") and name[0] != ".":
                full = Path(folder, name)
                contents[full.relative_to(root).as_posix()] = full.read_bytes()
    return contents


def both_have(ann: Machine, bob: Machine, record_id: str = "use-uv") -> None:
    """Let one machine save a record and both sync."""
    ann.save(record_id)
    ann.sync()
    bob.sync()


def accept(name: str) -> None:
    """Let a shared store have accepted all that is in its replica, as a sync would leave it."""
    for path in (*sync_base.file_paths(paths.replica(name).root), *sync_base.file_paths(paths.accepted(name).root)):
        data = sync_base.read_file(paths.replica(name).root, path)
        file = Path(paths.accepted(name).root, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data) if data else file.unlink(missing_ok=True)

"""The sync base of a replica: the last synced version of each file, and the plan of the sync in progress.

A sync writes its records through the store's journal, all of them or none, and the sync base after that. So it writes
a plan first: if the sync is killed, the plan tells the next one whether those records are in the replica.

Changes that a remote has refused, or not accepted yet, can be withdrawn: the replica gets the base again.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from onrecord import files, paths
from onrecord.coldstart import NamedTuple, content_hash
from onrecord.errors import Unwritable
from onrecord.record import drafts, memory, naming
from onrecord.record.drafts import Draft
from onrecord.record.memory import MAX_FILE_BYTES
from onrecord.shared import incoming
from onrecord.shared.reconcile import CONFLICT
from onrecord.shared.replicas import Replica
from onrecord.shared.transport import version_hash
from onrecord.store import inbox, record_names
from onrecord.store.store import Batch, Store

WITHDRAW = "withdraw"
"""The action in the log."""

_WITHDRAWN = "Changed here, and not accepted as a record"
_PLAN, _SENT = "plan.json", "sent.json"
_MAX_NOTE_BYTES = 1 << 30


class SyncStep(NamedTuple):
    """One file of a sync: hashes of the replica's file before and after, and the new base version."""

    path: str
    before: str
    after: str
    base: bytes


class Withdrawn(NamedTuple):
    """The paths that are again as the remote has them, and the names of the drafts that were written."""

    paths: tuple[str, ...]
    drafts: tuple[str, ...]


class SyncBase:
    """The last synced versions of one replica, and the plan of its sync."""

    def __init__(self, replica: Replica) -> None:
        self._root = replica.root
        self._folder = replica.base

    def read(self, path: str) -> bytes:
        """Return the last synced version of a file; empty for none."""
        return read_file(self._folder, path)

    def write(self, versions: Mapping[str, bytes]) -> None:
        """Record `versions` as synced. They are on disk when this returns, before the cursor of the sync is saved."""
        is_lasting = files.waits_for_each(len(versions))
        for path, data in versions.items():
            full = os.path.join(self._folder, path)
            if data:
                files.write(full, data, lasting=is_lasting)
            else:
                files.remove(full)
        if not is_lasting:
            os.sync()

    def paths(self) -> set[str]:
        return set(file_paths(self._folder))

    def differences(self, store: str) -> Iterator[tuple[str, bytes, bytes]]:
        """Yield path, local and base version of each file in `store` that differs from the base."""
        for path in sorted(self.paths().union(file_paths(store))):
            local, base = read_file(store, path), self.read(path)
            if local != base:
                yield path, local, base

    def forget(self) -> None:
        """Drop all versions: the remote has another history."""
        shutil.rmtree(self._folder, ignore_errors=True)
        files.make_folder(self._folder, is_private=True)

    def plan(self, steps: Iterable[SyncStep]) -> None:
        """Save the steps of a sync before its records are written."""
        rows = [[*step[:3], step.base.decode("utf-8")] for step in steps]
        self._note(_PLAN, rows)

    def carry_out(self, steps: Iterable[SyncStep]) -> None:
        """Record the planned versions as synced, after the records are written."""
        self.write({step.path: step.base for step in steps})
        files.remove(self._file(_PLAN))

    def recover(self, store: str) -> None:
        """Carry out the plan of a killed sync, as far as its records are in the replica."""
        steps = [step for row in self._read_note(_PLAN, list) if (step := _parse_step(row))]
        states = {step.path: version_hash(read_file(store, step.path)) for step in steps}
        # The change was written as a whole or not at all. A missing file proves nothing: it may be deleted since.
        is_written = any(step.after and step.before != step.after == states[step.path] for step in steps)
        self.carry_out(step for step in steps if is_written or step.after in (step.before, states[step.path]))

    def note_sent(self, versions: Mapping[str, bytes]) -> None:
        """Save the versions that are about to be pushed: if we are killed before the answer, they may have arrived."""
        self._note(_SENT, {path: data.decode("utf-8") for path, data in versions.items()})

    def read_sent(self) -> dict[str, bytes]:
        """Return what was pushed without an answer or waits for a merge."""
        texts = self._read_note(_SENT, dict)
        return {path: text.encode("utf-8") for path, text in texts.items() if isinstance(text, str)}

    def note_answer(self, waiting: Mapping[str, bytes]) -> None:
        """Note that the push was answered: only what waits for a merge may still arrive as it was sent."""
        if waiting:
            self.note_sent(waiting)
        else:
            files.remove(self._file(_SENT))

    def _note(self, name: str, value: object) -> None:
        files.write(self._file(name), json.dumps(value).encode("ascii"))

    def _read_note(self, name: str, expected_type: Any) -> Any:
        data = files.read_if_there(self._file(name), _MAX_NOTE_BYTES)
        try:
            value = json.loads(data)
        except ValueError:
            return expected_type()
        return value if isinstance(value, expected_type) else expected_type()

    def _file(self, name: str) -> str:
        return os.path.join(self._root, name)


def file_paths(root: str) -> Iterator[str]:
    """Yield the paths of the records and drafts in a folder."""
    yield from record_names.paths(root)
    yield from (f"{paths.INBOX}/{name}" for name in record_names.in_folder(root, paths.INBOX))


def read_file(root: str, path: str) -> bytes:
    """Return the content of a file; empty if there is none. Raises Unwritable if it exists but cannot be read."""
    try:
        # The folders are the user's own, so no link was planted. An empty file is broken, not deleted.
        return files.read(os.path.join(root, path), MAX_FILE_BYTES + 1) or b"\n"
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        full = os.path.join(root, path)
        raise Unwritable(f"cannot read {full}: {error.strerror or error}", fix=f"chmod u+rw {full}") from error


def make_step(path: str, old_data: bytes, new_data: bytes, base: bytes) -> SyncStep:
    """Return the step that changes the replica's file from `old_data` to `new_data`."""
    return SyncStep(path, version_hash(old_data), version_hash(new_data), base)


def _parse_step(value: Any) -> SyncStep | None:
    is_row = isinstance(value, list) and len(value) == len(SyncStep._fields)
    if not is_row or not all(isinstance(part, str) for part in value):
        return None
    path, before, after, base = value
    return None if incoming.path_flaw(path) else SyncStep(path, before, after, base.encode("utf-8"))


def unpushed_paths(replica: Replica) -> list[str]:
    """Return the paths that differ from the sync base: the next sync pushes them."""
    return [path for path, _, _ in SyncBase(replica).differences(replica.store)]


def conflict_drafts(replica: Replica) -> list[str]:
    """Return the names of the drafts with our side of a conflict."""
    names = record_names.in_folder(replica.store, paths.INBOX)
    return [name[: -len(".json")] for name in names if name.startswith(CONFLICT)]


def withdraw(replica: Replica, only_paths: Collection[str], *, as_drafts: bool) -> Withdrawn:
    """Take back all changes that are not pushed, or those of `only_paths`; `undo` brings them back.

    With `as_drafts`, a new or changed record becomes a draft, on which the remote's reviewers decide: what was written
    is not lost. Drafts themselves then stay as they are.
    """
    store, withdrawn, names = Store(replica.store), [], []
    with replica.lock(), store.writing(WITHDRAW) as batch:
        for path, local, base in SyncBase(replica).differences(replica.store):
            if (only_paths and path not in only_paths) or (as_drafts and incoming.is_draft(path)):
                continue
            draft = _draft(path, local, base) if as_drafts and not incoming.file_flaw(path, local) else None
            if draft:
                draft = draft._replace(name=naming.unused_name(draft.name, store.has_draft))
                batch.put_draft(draft)
                names.append(draft.name)
            put(batch, path, base)
            withdrawn.append(path)
    return Withdrawn(tuple(withdrawn), tuple(names))


def put(batch: Batch, path: str, data: bytes) -> None:
    """Add a file to write with this content, or to delete if there is none."""
    if data:
        batch.restore(path, data.decode("utf-8"))
    else:
        batch.drop(path)


def _draft(path: str, local: bytes, base: bytes) -> Draft | None:
    """Return a local version as a draft: of a new record, or of a change to the one that the remote has.

    None for a deleted record, and for a change that no draft can make, such as the link to a successor: the draft of
    the successor makes it again.
    """
    if not local:
        return None
    record = memory.parse(local, path)
    if not base:
        return inbox.new_draft(record._replace(supersedes=()), supersedes=next(iter(record.supersedes), ""))
    before = memory.parse(base, path)
    if record.superseded_by != before.superseded_by:
        return None
    fields = drafts.changed_fields(before, record)
    about = {"updates": before.id, "revises": content_hash(base), "summary": _WITHDRAWN}
    return inbox.new_draft(record, fields=fields, **about) if fields else None

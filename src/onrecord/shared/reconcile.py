"""One file of a shared store that two sides may have changed: what the replica shall hold, and what both agree on.

Pure. Nothing that somebody wrote is dropped in silence: where both changed the same field, the remote's value stays in
the record and ours becomes a draft that would change it; an edit wins over a deletion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from onrecord import paths
from onrecord.coldstart import NamedTuple, content_hash
from onrecord.errors import BadRecord
from onrecord.record import drafts, memory, merge
from onrecord.record.drafts import Draft
from onrecord.shared import incoming

CONFLICT = "conflict-"
"""How the name of a draft begins that holds our side of a conflict."""

_LONGEST_ID = 80
_WHOLE = ("the whole record",)


class Conflict(NamedTuple):
    """A file that both sides changed in different ways: which fields, and the draft that holds our version."""

    path: str
    fields: tuple[str, ...]
    draft: str


class Reconciled(NamedTuple):
    """What becomes of one file; empty bytes stand for no file."""

    local: bytes
    base: bytes
    """What both sides agree on from now on: always what the remote has."""

    conflict: Conflict | None = None
    beside: tuple[str, bytes] | None = None
    """A draft that is written beside it: its path, and what it holds."""

    is_revived: bool = False
    """Whether a side had deleted what the other has edited; the edit stays."""


def reconcile(path: str, base: bytes, local: bytes, remote: bytes) -> Reconciled:
    """The three versions as one. All are valid files of a shared store, or empty."""
    if remote in (local, base):
        return Reconciled(local, remote)
    if local == base:
        return Reconciled(remote, remote)
    if not remote or not local:
        return Reconciled(local or remote, remote, is_revived=True)
    if incoming.is_draft(path):
        return _both_drafts(path, local, remote)
    return _both_records(path, base, local, remote)


def _both_drafts(path: str, local: bytes, remote: bytes) -> Reconciled:
    """A draft is one text to its reader: both stay, ours under another name."""
    name = f"{incoming.stem(path)[:_LONGEST_ID]}-{content_hash(local)[:8]}"
    return Reconciled(remote, remote, Conflict(path, _WHOLE, name), (f"{paths.INBOX}/{name}.json", local))


def _both_records(path: str, base: bytes, local: bytes, remote: bytes) -> Reconciled:
    ancestor, ours, theirs = (memory.decode(data, path) if data else {} for data in (base, local, remote))
    try:
        merged = merge.merge_objects(ancestor, ours, theirs)
    except BadRecord:
        return _in_conflict(path, remote, ours, _WHOLE, data=remote)
    settled = merge.resolve(merged, 1)
    # The remote's own bytes, where the merge says the same: there is nothing to push then.
    data = remote if settled == theirs else memory.render(memory.from_json(settled))
    fields = tuple(_clashes(merged))
    if not fields:
        return Reconciled(data, remote)
    return _in_conflict(path, remote, merge.resolve(merged, 0), fields, data=data)


def _in_conflict(
    path: str, remote: bytes, ours: Mapping[str, Any], fields: tuple[str, ...], *, data: bytes
) -> Reconciled:
    """The settled record, and our version of it as a draft whose name says which two versions met."""
    record = memory.from_json(ours)
    name = f"{CONFLICT}{record.id[:_LONGEST_ID]}-{content_hash(memory.render(record) + remote)[:8]}"
    ours_as_draft = Draft(
        name,
        record,
        # No clock: a sync that is killed and repeated must write the same bytes.
        made_at=record.updated_at,
        updates=record.id,
        revises=content_hash(data),
        fields=tuple(dict.fromkeys(".".join(field.split(".")[:2]) for field in fields if fields != _WHOLE)),
        summary=f"Conflict in a shared store: {', '.join(fields)}",
    )
    beside = (f"{paths.INBOX}/{name}.json", drafts.render(ours_as_draft))
    return Reconciled(data, remote, Conflict(path, fields, name), beside)


def _clashes(merged: Mapping[str, Any], where: str = "") -> Iterator[str]:
    for key, value in merged.items():
        if isinstance(value, merge.Clash):
            yield where + key
        elif isinstance(value, dict):
            yield from _clashes(value, f"{where}{key}.")

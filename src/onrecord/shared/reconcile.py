"""Merge one file of a shared store that both sides may have changed.

Pure: no disk, no clock. No edit is dropped in silence: where both sides changed the same field, the remote's value
stays in the record and ours becomes a draft that would change it. An edit wins over a deletion.
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
"""Prefix of the name of a draft with our side of a conflict."""

_MAX_ID_LENGTH = 80
"""Characters of the record's id in the name of a draft."""

_WHOLE = ("the whole record",)


class Conflict(NamedTuple):
    """A file that both sides changed in different ways: the fields, and the name of the draft with our version."""

    path: str
    fields: tuple[str, ...]
    draft: str


class Reconciled(NamedTuple):
    """The merged state of one file; empty bytes mean no file."""

    local: bytes
    base: bytes
    """The new sync base: always what the remote has."""

    conflict: Conflict | None = None
    beside: tuple[str, bytes] | None = None
    """A draft to write beside it: path and content."""

    is_revived: bool = False
    """True if one side deleted what the other edited; the edit stays."""


def reconcile(path: str, base: bytes, local: bytes, remote: bytes) -> Reconciled:
    """Merge three versions of a file, each a valid file of a shared store or empty."""
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
    """Keep both drafts, ours under another name: a reviewer reads a draft as one text."""
    name = f"{incoming.stem(path)[:_MAX_ID_LENGTH]}-{content_hash(local)[:8]}"
    return Reconciled(remote, remote, Conflict(path, _WHOLE, name), (f"{paths.INBOX}/{name}.json", local))


def _both_records(path: str, base: bytes, local: bytes, remote: bytes) -> Reconciled:
    versions = (base, local, remote)
    base_fields, local_fields, remote_fields = (memory.decode(data, path) if data else {} for data in versions)
    try:
        merged = merge.merge_objects(base_fields, local_fields, remote_fields)
    except BadRecord:
        return _in_conflict(path, remote, local_fields, _WHOLE, data=remote)
    settled = merge.resolve(merged, 1)
    # Keep the remote's own bytes if the merge changes nothing, so that there is nothing to push.
    data = remote if settled == remote_fields else memory.render(memory.from_json(settled))
    clashes = tuple(_clashes(merged))
    if not clashes:
        return Reconciled(data, remote)
    return _in_conflict(path, remote, merge.resolve(merged, 0), clashes, data=data)


def _in_conflict(
    path: str, remote: bytes, local_fields: Mapping[str, Any], clashes: tuple[str, ...], *, data: bytes
) -> Reconciled:
    """Return the merged `data` and our version as a draft, named after the hash of the two versions."""
    record = memory.from_json(local_fields)
    name = f"{CONFLICT}{record.id[:_MAX_ID_LENGTH]}-{content_hash(memory.render(record) + remote)[:8]}"
    draft = Draft(
        name,
        record,
        # No clock: a sync that is killed and repeated must write the same bytes.
        made_at=record.updated_at,
        updates=record.id,
        revises=content_hash(data),
        fields=tuple(dict.fromkeys(".".join(field.split(".")[:2]) for field in clashes if clashes != _WHOLE)),
        summary=f"Conflict in a shared store: {', '.join(clashes)}",
    )
    beside = (f"{paths.INBOX}/{name}.json", drafts.render(draft))
    return Reconciled(data, remote, Conflict(path, clashes, name), beside)


def _clashes(merged: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in merged.items():
        if isinstance(value, merge.Clash):
            yield prefix + key
        elif isinstance(value, dict):
            yield from _clashes(value, f"{prefix}{key}.")

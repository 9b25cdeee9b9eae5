"""Take changes back that a remote has refused or not accepted yet: the replica gets the versions of the remote again.

With drafts, what was written is not lost: it goes to the inbox, where the remote's reviewers decide about it.
"""

from __future__ import annotations

from collections.abc import Collection

from onrecord.coldstart import NamedTuple, content_hash
from onrecord.record import drafts, memory, naming
from onrecord.record.drafts import Draft
from onrecord.shared import incoming
from onrecord.shared.replicas import Replica
from onrecord.shared.sync_base import SyncBase
from onrecord.store import inbox
from onrecord.store.store import Batch, Store

WITHDRAW = "withdraw"
"""The action in the log."""

_SUMMARY = "Changed here, and not accepted as a record"


class Withdrawn(NamedTuple):
    """The paths that are again as the remote has them, and the names of the drafts that were written."""

    paths: tuple[str, ...]
    drafts: tuple[str, ...]


def withdraw(replica: Replica, only_paths: Collection[str] = (), *, as_drafts: bool = False) -> Withdrawn:
    """Take back all changes that are not pushed, or those of `only_paths`; `undo` brings them back.

    With `as_drafts`, a new or changed record becomes a draft. Drafts themselves then stay as they are.
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
            _restore(batch, path, base)
            withdrawn.append(path)
    return Withdrawn(tuple(withdrawn), tuple(names))


def _restore(batch: Batch, path: str, base: bytes) -> None:
    if base:
        batch.restore(path, base.decode("utf-8"))
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
    about = {"updates": before.id, "revises": content_hash(base), "summary": _SUMMARY}
    return inbox.new_draft(record, fields=fields, **about) if fields else None

"""Copies of records for a shared store: as a record, as a draft, or as an update of a record there."""

from __future__ import annotations

from collections.abc import Callable

from onrecord import paths
from onrecord.capture import review, similar
from onrecord.coldstart import NamedTuple
from onrecord.errors import NearDuplicate
from onrecord.record import drafts, lifecycle, naming, validity
from onrecord.record.drafts import Draft
from onrecord.record.memory import Memory
from onrecord.store import inbox
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer

_SHARED_FIELDS = ("title", "content", "tags", "triggers", "checks", "scope", "confidence")
"""Fields that a copy takes from the record."""


class SharedCopy(NamedTuple):
    """The path of the copy in the replica, and what was done: shared, updated, drafted or unchanged."""

    path: str
    action: str


def already_shared(store: Store, copy: Memory) -> SharedCopy | None:
    """Return the record of the same id as shared if all fields of the copy are equal to it."""
    existing = store.read(copy.path).memory if store.has(copy.path) else None
    if existing is None or not validity.is_current(existing, store.records_named):
        return None
    if any(getattr(existing, name) != getattr(copy, name) for name in _SHARED_FIELDS):
        return None
    return SharedCopy(existing.path, "unchanged")


def draft_of(store: Store, copy: Memory, *, updates: str = "", supersedes: str = "") -> Draft:
    """Return a draft of the copy: of a new record with an unused id, or one that updates the record `updates`."""
    if not updates:
        unused = copy._replace(id=naming.unused_name(copy.id, store.has))
        return inbox.new_draft(unused, supersedes=supersedes)
    before = store.get(updates)
    record = before.memory._replace(**{name: getattr(copy, name) for name in _SHARED_FIELDS})
    about = {"updates": before.memory.id, "revises": before.hash, "summary": copy.changes[0].summary}
    return inbox.new_draft(record, fields=drafts.changed_fields(before.memory, record), **about)


def put(writer: Writer, draft: Draft, *, as_draft: bool) -> SharedCopy:
    """Put what `draft_of` returned into the replica: as a draft, or as the record or update itself."""
    if as_draft:
        draft = draft._replace(name=naming.unused_name(draft.name, writer.store.has_draft))
        review.put(writer, [draft], "share")
        return SharedCopy(f"{paths.INBOX}/{draft.name}.json", "drafted")
    if not draft.updates:
        return SharedCopy(writer.save(draft.record, supersedes=draft.supersedes).path, "shared")
    before: Entry = writer.store.get(draft.updates)
    patch = drafts.draft_patch(draft, before.memory)
    after = writer.update(before.path, patch, before.hash, summary=draft.summary, may_shrink=True)
    return SharedCopy(after.path, "unchanged" if after.hash == before.hash else "updated")


def refuse_same(store: Store, copy: Memory, name: str, fix: Callable[[str], str]) -> None:
    """Raise NearDuplicate if a record of the store `name` says nearly the same, or has the same id and title."""
    similar.refuse(similar.find(store, copy), fix)
    existing = store.read(copy.path).memory if store.has(copy.path) else None
    if existing is not None and naming.slug(existing.title) == naming.slug(copy.title):
        back = f"{lifecycle.fix_for_status(existing)} --remote {name}"
        message = (
            f"{existing.path} of {name} has the same title, and is {validity.status(existing, store.records_named)}"
        )
        is_current = validity.is_current(existing, store.records_named)
        raise NearDuplicate(message, fix=fix(existing.id) if is_current else f"to bring it back: {back}")


def left_out(record: Memory) -> list[str]:
    """Return the parts of the record that stay on this machine, for people."""
    parts = {
        "its files": record.related_files,
        "links to other records": record.supersedes,
        "where it came from": record.source,
        "its history": record.changes,
    }
    return [name for name, value in parts.items() if value] or ["nothing"]

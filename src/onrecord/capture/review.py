"""What becomes of a draft: accepted, merged into a record that is there, or rejected."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

from onrecord.capture import similar, suggestions
from onrecord.errors import Changed
from onrecord.git import git_files
from onrecord.record import compose, lifecycle, memory, naming
from onrecord.record import drafts as revision
from onrecord.record.drafts import Draft
from onrecord.record.memory import HistoryEntry, Memory
from onrecord.store import history
from onrecord.store.inbox import BrokenDraft, Inbox
from onrecord.store.store import Entry
from onrecord.store.writer import Writer

_LONGEST_SOURCE = 1_000


def source(session: str, evidence: tuple[str, ...]) -> str:
    """Where a record came from: the session, and the words it rests on."""
    quoted = f': "{" … ".join(evidence)}"' if evidence else ""
    return f"session {session or 'unknown'}{quoted}"[:_LONGEST_SOURCE]


def accept(writer: Writer, draft: Draft, *, project: str, force: bool = False) -> Entry:
    """Make a draft a record: a new one, a change of the one it updates, or the successor of the one it supersedes."""
    if draft.updates:
        return _put_into(writer, draft, writer.store.get(draft.updates), project)
    record = accepted_record(draft.record, writer.now)
    if not draft.supersedes and not record.superseded_by and not force:
        retry = similar.command_fix(f"onrecord review --accept {draft.name}")
        similar.refuse(similar.find(writer.store, record), retry)
    git_files.ensure(writer.store.root)
    if record.supersedes or record.superseded_by:
        (entry,), _ = writer.accept([draft._replace(record=record)])
    else:
        entry = writer.save(record, supersedes=draft.supersedes, draft=draft)
    _log(draft, project, "saved")
    return entry


def accepted_record(record: Memory, now: str) -> Memory:
    """The record of a draft as it is saved: from now on, or from the day of the document that it was imported from."""
    record = compose.check(memory.to_json(record))
    since = record.created_at if record.origin == "import" else now
    change = HistoryEntry(now, "Accepted from the inbox")
    return record._replace(created_at=since, updated_at=max(since, record.updated_at), changes=(change,))


def merge(writer: Writer, draft: Draft, into: str, *, project: str) -> Entry:
    """Put what a draft says into an existing record, as that is now."""
    before, draft = _target(writer, draft, into)
    return _put_into(writer, draft, before, project)


def _put_into(writer: Writer, draft: Draft, before: Entry, project: str) -> Entry:
    """Change a record as a draft says; Changed if the draft revises a version that is no longer there."""
    if draft.revises and draft.revises != before.hash:
        add = f"onrecord review --merge {draft.name} --into {before.memory.id}"
        fix = f"to put it into the record as that is now: {add}; or: onrecord review --reject {draft.name}"
        raise Changed(f"{before.path} was changed since the draft was made", fix=fix)
    summary = draft.summary or f"Merged a draft: {draft.record.title}"
    patch = revision.draft_patch(draft, before.memory)
    may_shrink = bool(draft.revises or draft.fields)
    after = writer.update(before.path, patch, before.hash, summary=summary, may_shrink=may_shrink, draft=draft)
    _log(draft, project, "saved")
    return after


def _target(writer: Writer, draft: Draft, into: str) -> tuple[Entry, Draft]:
    """The record that a draft is put into, and the draft: it revises only the version that it was made for.

    Into a later version go the fields that it was made to change, into another record what it adds to that.
    """
    entry = writer.store.get(into)
    if not draft.revises or draft.revises == entry.hash:
        return entry, draft
    is_same = entry.path in writer.store.find_paths(draft.updates)
    return entry, draft._replace(revises="") if is_same else draft._replace(revises="", fields=(), summary="")


def put(writer: Writer, drafts: Sequence[Draft], action: str = "draft") -> str:
    """Put drafts into the inbox as one change, over those of the same name; the id of the change."""
    was_there = writer.store.exists
    change_id = writer.draft(drafts, action)
    if writer.store.exists and not was_there:
        git_files.ensure(writer.store.root)
    return change_id


def revised(record: Memory, patch: Mapping[str, Any]) -> Memory:
    """The record of a draft with a patch of its form; its id follows the title."""
    raw = revision.apply(memory.to_json(record), patch)
    if "tags" in raw:
        raw["tags"] = list(naming.clean_tags(raw["tags"]))
    if "title" in raw:
        raw["title"] = naming.clean_title(raw["title"])
    changed = compose.check(raw)
    if changed.title == record.title:
        return changed
    return changed._replace(id=naming.slug(changed.title, [*changed.tags, changed.category.replace("_", " ")]))


def accept_all(writer: Writer, drafts: Sequence[Draft], action: str = "import") -> tuple[list[Entry], str]:
    """Make drafts records as one change, without asking what is near; the records, and the change's id."""
    was_there = writer.store.exists
    accepting = [draft._replace(record=accepted_record(draft.record, writer.now)) for draft in drafts]
    entries, change_id = writer.accept(accepting, action)
    if writer.store.exists and not was_there:
        git_files.ensure(writer.store.root)
    return entries, change_id


def accept_group(writer: Writer, drafts: Sequence[Draft], *, project: str) -> list[Entry]:
    """Make drafts of one source records as one change."""
    entries, _ = accept_all(writer, drafts, "accept")
    for draft in drafts:
        _log(draft, project, "saved")
    return entries


def needs_own_decision(writer: Writer, draft: Draft) -> bool:
    """Whether a draft must be decided on alone: it changes or replaces a record, or says what one says already."""
    linked = draft.updates or draft.supersedes or draft.record.superseded_by
    return bool(linked) or any(each.is_same for each in similar.find(writer.store, draft.record))


def undo_decision(writer: Writer, change_id: str, drafts: Sequence[Draft], *, project: str) -> None:
    """Undo a decision: the drafts are in the inbox again, and count as waiting."""
    history.undo(writer.store, change_id)
    for draft in drafts:
        _log(draft, project, "drafted")


def reject(writer: Writer, draft: Union[Draft, BrokenDraft], *, project: str) -> None:
    """Throw a draft away and remember its evidence, so that it is not suggested again."""
    box = Inbox(writer.store.root)
    if os.path.isfile(box.path(draft.name)):
        writer.reject(draft.name, draft.hash if isinstance(draft, Draft) else "")
    else:
        # What is no file cannot be given back by an undo, so it is no change of the store.
        box.drop(draft.name)
    if isinstance(draft, Draft):
        _log(draft, project, "rejected")


def _log(draft: Draft, project: str, state: str) -> None:
    evidence = draft.evidence or (draft.record.title,)
    suggestions.add(project, state, draft.record.category, draft.session, evidence)


def preview(writer: Writer, draft: Draft, into: str = "") -> tuple[Memory, Memory]:
    """The record that a draft updates, or is merged into, as it is, and as it would be with the draft."""
    before, draft = _target(writer, draft, into) if into else (writer.store.get(draft.updates), draft)
    patch = revision.draft_patch(draft, before.memory)
    after = lifecycle.revise(before.memory, patch, now=writer.now, may_shrink=bool(draft.revises or draft.fields))
    return before.memory, after

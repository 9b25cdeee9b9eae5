"""Review: what becomes of a draft. Accepted, it is a record with its origin; rejected, its evidence is remembered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Union

from recollect.capture import near_duplicates, suggestion_log
from recollect.capture.inbox import BrokenDraft, Draft, Inbox
from recollect.errors import RecollectError
from recollect.git import git_files
from recollect.record import compose, memory
from recollect.record.memory import HistoryEntry, Memory
from recollect.store.store import Entry
from recollect.store.writer import Writer

_LONGEST_SOURCE = 1_000
_MOST_TRIGGERS = 8


def source(session: str, evidence: tuple[str, ...]) -> str:
    """Where a record came from: the session, and the words it rests on."""
    quoted = f': "{" … ".join(evidence)}"' if evidence else ""
    return f"session {session or 'unknown'}{quoted}"[:_LONGEST_SOURCE]


def accept(writer: Writer, box: Inbox, draft: Draft, *, project: str, force: bool = False) -> Entry:
    """Make a draft a record: a new one, a change of the one it updates, or the successor of the one it supersedes."""
    if draft.updates:
        return merge(writer, box, draft, draft.updates, project=project)
    record = _dated(compose.checked(memory.to_json(draft.record)), writer.now)
    if not force and not draft.supersedes:
        near = near_duplicates.nearest(writer.store, record)
        near_duplicates.refuse(near, f"recollect review --accept {draft.name}")
    if draft.supersedes:
        writer.store.get(draft.supersedes)
    entry = writer.save(record)
    git_files.ensure(writer.store.root)
    if draft.supersedes:
        _, entry = writer.supersede(draft.supersedes, entry.memory.id)
    _settle(box, draft, project, "saved")
    return entry


def merge(writer: Writer, box: Inbox, draft: Draft, into: str, *, project: str) -> Entry:
    """Put what a draft says into an existing record."""
    before = writer.store.get(into)
    patch = merged(before.memory, draft.record)
    after = writer.update(before.path, patch, before.hash, summary=f"Merged a draft: {draft.record.title}")
    _settle(box, draft, project, "saved")
    return after


def reject(box: Inbox, draft: Union[Draft, BrokenDraft], *, project: str) -> None:
    """Throw a draft away and remember its evidence, so that it is not offered again."""
    if isinstance(draft, Draft):
        _settle(box, draft, project, "rejected")
    else:
        box.drop(draft.name)


def merged(record: Memory, draft: Memory) -> dict[str, Any]:
    """The patch that adds a draft to a record: texts are replaced, lists and sets grow, the title stays."""
    content = {
        key: _grown(record.content.get(key), value)
        for key, value in draft.content.items()
        if value != record.content.get(key) and (draft.category == record.category)
    }
    patch: dict[str, Any] = {"content": content} if content else {}
    if set(draft.tags) - set(record.tags):
        patch["tags"] = list(draft.tags)
    if set(draft.related_files) - set(record.related_files):
        patch["related_files"] = list(draft.related_files)
    triggers = list(dict.fromkeys((*record.triggers, *draft.triggers)))[:_MOST_TRIGGERS]
    if triggers != list(record.triggers):
        patch["triggers"] = triggers
    if draft.source and not record.source:
        patch["source"] = draft.source
    return patch


def _grown(old: Any, new: Any) -> Any:
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *(each for each in new if each not in old)]
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {**old, **{key: _grown(old.get(key), value) for key, value in new.items()}}
    return new


def _dated(record: Memory, now: str) -> Memory:
    accepted = HistoryEntry(now, "Accepted from the inbox")
    return record._replace(created_at=now, updated_at=now, changes=(accepted,))


def _settle(box: Inbox, draft: Draft, project: str, state: str) -> None:
    evidence = draft.evidence or (draft.record.title,)
    suggestion_log.note(project, state, draft.record.category, draft.session, evidence)
    box.drop(draft.name)


def preview(writer: Writer, draft: Draft, into: str) -> tuple[Memory, Memory]:
    """The record as it is, and as it would be with the draft merged into it."""
    from recollect.record import lifecycle

    before = writer.store.get(into).memory
    return before, lifecycle.revised(before, merged(before, draft.record), now=writer.now)


def find(box: Inbox, name: str) -> Union[Draft, BrokenDraft]:
    """A draft by its name, readable or not; NotFound if there is none."""
    if name not in box.names():
        return box.get(name)
    try:
        return box.get(name)
    except RecollectError as error:
        return BrokenDraft(name, error)

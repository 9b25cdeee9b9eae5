"""The tools that write: a draft in the inbox, or a record where the user lets sessions save without review.

Every check of `onrecord save` is made here, too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from onrecord import paths
from onrecord import project as projects
from onrecord.capture import review, similar
from onrecord.capture.similar import Similar
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.freshness import related_files
from onrecord.mcp.reading import exactly
from onrecord.mcp.tools import Outcome
from onrecord.project import Project
from onrecord.record import compose, drafts
from onrecord.record.memory import Memory
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from onrecord.store.writer import Writer

_NO_TRIGGERS = "it has no triggers, so prompts in other words seldom find it; call save again with triggers and"
_SESSION = f"mcp-{os.getpid()}-{time.time_ns():x}"
"""The session of this process: a draft that it made may be replaced by a better one."""


class _Links(NamedTuple):
    """The record that a new one updates, or the one that it replaces."""

    updates: str = ""
    supersedes: str = ""

    def __bool__(self) -> bool:
        return bool(self.updates or self.supersedes)


class _Written(NamedTuple):
    """What was written: a draft or a record, its name or id, its path in the store."""

    state: str
    name: str
    path: str

    def __str__(self) -> str:
        if self.state == "record":
            return f"Saved {paths.PROJECT_PREFIX}{self.path}."
        return f"Drafted {paths.PROJECT_PREFIX}{self.path}; the user decides on it with `onrecord review`."


def save(project: Project, client: str, *, updates: str = "", force: bool = False, **fields: Any) -> Outcome:
    """A draft of a new record, or of a change of one."""
    return _write(project, client, fields, _Links(updates=updates), force=force)


def supersede(project: Project, client: str, id: str, *, force: bool = False, **fields: Any) -> Outcome:
    """A draft of a record that replaces another."""
    return _write(project, client, fields, _Links(supersedes=id), force=force)


def _write(project: Project, client: str, fields: Mapping[str, Any], links: _Links, *, force: bool) -> Outcome:
    projects.require_store(project.store)
    writer = project.writer
    links = _Links(*(exactly(writer.store, typed).memory.id if typed else "" for typed in links))
    record = _composed(writer, client, fields)
    related_files.refuse_missing_in_store(writer.store.root, record.related_files, may_come=force)
    near = [] if links or writer.store.has(record.path) else similar.find(writer.store, record)
    if not force:
        similar.refuse(near, _instead)
    write = _saved if writer.settings.text("capture.mode") == "auto" else _drafted
    return _outcome(write(writer, record, links), record, links, near)


def _composed(writer: Writer, client: str, fields: Mapping[str, Any]) -> Memory:
    source = f"an agent over MCP{f' ({client})' if client else ''}"
    partial = {key: value for key, value in fields.items() if key != "category"}
    return compose.compose(fields["category"], {"origin": "agent", "source": source, **partial}, now=writer.now)


def _instead(same: str) -> str:
    """What to call where a record says nearly the same."""
    return (
        f"to change it, call save with updates {same!r}; if it no longer holds, call supersede with id {same!r}; "
        "if both hold, call save with force; or leave it"
    )


def _drafted(writer: Writer, record: Memory, links: _Links) -> _Written:
    if not links.updates:
        writer.store.refuse_existing(record.id)
    draft = inbox.new_draft(record, session=_SESSION, **links._asdict())
    Inbox(writer.store.root).refuse_taken(draft)
    review.put(writer, [draft])
    return _Written("draft", draft.name, f"{paths.INBOX}/{draft.name}.json")


def _saved(writer: Writer, record: Memory, links: _Links) -> _Written:
    if not links.updates:
        entry = writer.save(record, supersedes=links.supersedes)
    else:
        before = writer.store.get(links.updates)
        patch, summary = drafts.additions(before.memory, record), f"Updated from: {record.title}"
        entry = writer.update(before.path, patch, before.hash, summary=summary)
    return _Written("record", entry.memory.id, entry.path)


def _outcome(written: _Written, record: Memory, links: _Links, near: Sequence[Similar]) -> Outcome:
    again = "the same title" if written.state == "draft" else f"updates {written.name!r}"
    # A summary of a session is shown when the next one starts, not at a prompt.
    needs_none = record.triggers or links.updates or CATEGORIES[record.category].max_active
    note = "" if needs_none else f"{_NO_TRIGGERS} {again}"
    optional = {**links._asdict(), "note": note}
    data = {
        "state": written.state,
        "name": written.name,
        "category": record.category,
        "title": record.title,
        "file": paths.PROJECT_PREFIX + written.path,
        **{key: value for key, value in optional.items() if value},
        "similar": [_brief(each) for each in near],
    }
    hints = [f"Similar: {each.entry.path} ({each.memory.title}). If this replaces it, call supersede." for each in near]
    return Outcome(data, "\n".join([str(written), *hints, *([f"Note: {note}."] if note else [])]))


def _brief(near: Similar) -> dict[str, Any]:
    named = {name: getattr(near.memory, name) for name in ("id", "category", "title")}
    return {**named, "path": paths.PROJECT_PREFIX + near.entry.path}

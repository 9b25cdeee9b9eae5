"""The tools that write: a draft in the inbox, or a record if the user lets sessions save without review.

The checks are those of `onrecord save`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onrecord import paths
from onrecord import project as projects
from onrecord.capture import advice, review, similar
from onrecord.capture.similar import Similar
from onrecord.coldstart import NamedTuple
from onrecord.freshness import related_files
from onrecord.mcp.reading import get_exactly
from onrecord.mcp.tools import ToolResult
from onrecord.project import Project
from onrecord.record import author, compose, drafts
from onrecord.record.memory import Memory
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from onrecord.store.writer import Writer

_MAX_SOURCE_CHARACTERS = 1_000
_SESSION = f"mcp-{os.getpid()}-{time.time_ns():x}"
"""The session name of this process: a session may replace its own drafts."""


class _Links(NamedTuple):
    """The record that a new one updates, or the one that it replaces."""

    updates: str = ""
    supersedes: str = ""

    def __bool__(self) -> bool:
        return bool(self.updates or self.supersedes)


class _Saved(NamedTuple):
    """A draft or record that was written: its name or id, and its path in the store."""

    state: str
    name: str
    path: str

    def __str__(self) -> str:
        if self.state == "record":
            return f"Saved {paths.PROJECT_PREFIX}{self.path}."
        return f"Drafted {paths.PROJECT_PREFIX}{self.path}; the user decides on it with `onrecord review`."


def save(project: Project, client: str, *, updates: str = "", force: bool = False, **fields: Any) -> ToolResult:
    """Draft a new record, or an update of one."""
    return _write(project, client, fields, _Links(updates=updates), force=force)


def supersede(project: Project, client: str, id: str, *, force: bool = False, **fields: Any) -> ToolResult:
    """Draft a record that replaces another."""
    return _write(project, client, fields, _Links(supersedes=id), force=force)


def _write(project: Project, client: str, fields: Mapping[str, Any], links: _Links, *, force: bool) -> ToolResult:
    projects.require_store(project.store)
    writer = project.writer
    links = _Links(*(get_exactly(writer.store, name).memory.id if name else "" for name in links))
    record = _compose(writer, client, fields)
    related_files.refuse_missing_in_store(writer.store.root, record.related_files, may_come=force)
    similar_records = [] if links or writer.store.has(record.path) else similar.find(writer.store, record)
    if not force:
        similar.refuse(similar_records, _advice)
    write = _save if writer.settings.text("capture.mode") == "auto" else _draft
    return _result(project, write(writer, record, links), record, links, similar_records)


def _notes(project: Project, record: Memory, links: _Links, argument: str) -> Iterator[str]:
    """Yield the advice on a record that was saved, with the call to follow it."""
    before = project.writer.store.get(links.updates).memory.triggers if links.updates else ()
    whole = record._replace(triggers=(*record.triggers, *before))
    again = f"call save again with triggers and {argument}"
    for one in advice.on(whole, project.root, earlier_triggers=before):
        if one.about in (advice.NO_TRIGGERS, advice.LANGUAGES):
            yield f"{one.text}: {again}"
        elif one.about == advice.GENERIC or (one.about == advice.TITLE and not links.updates):
            yield one.text


def _compose(writer: Writer, client: str, fields: Mapping[str, Any]) -> Memory:
    source = f"an agent over MCP{f' ({client})' if client else ''}"
    partial = {key: value for key, value in fields.items() if key != "category"}
    if isinstance(partial.get("source"), str):
        source = f"{source}: {partial['source']}"[:_MAX_SOURCE_CHARACTERS]
    written_by = author.client(client)
    return compose.compose(fields["category"], {**partial, "source": source}, now=writer.now, written_by=written_by)


def _advice(record_id: str) -> str:
    """Return the calls to choose from if a record says nearly the same."""
    return (
        f"to change it, call save with updates {record_id!r}; "
        f"if it no longer holds, call supersede with id {record_id!r}; if both hold, call save with force; or leave it"
    )


def _draft(writer: Writer, record: Memory, links: _Links) -> _Saved:
    if not links.updates:
        writer.store.refuse_existing(record.id)
    draft = inbox.new_draft(record, session=_SESSION, **links._asdict())
    Inbox(writer.store.root).refuse_taken(draft)
    review.put(writer, [draft])
    return _Saved("draft", draft.name, f"{paths.INBOX}/{draft.name}.json")


def _save(writer: Writer, record: Memory, links: _Links) -> _Saved:
    if not links.updates:
        entry = writer.save(record, supersedes=links.supersedes)
    else:
        before = writer.store.get(links.updates)
        patch, summary = drafts.additions(before.memory, record), f"Updated from: {record.title}"
        entry = writer.update(before.path, patch, before.hash, summary=summary)
    return _Saved("record", entry.memory.id, entry.path)


def _result(
    project: Project, saved: _Saved, record: Memory, links: _Links, similar_records: Sequence[Similar]
) -> ToolResult:
    argument = "the same title" if saved.state == "draft" else f"updates {saved.name!r}"
    note = "; ".join(_notes(project, record, links, argument))
    optional = {**links._asdict(), "note": note}
    data = {
        "state": saved.state,
        "name": saved.name,
        "category": record.category,
        "title": record.title,
        "file": paths.PROJECT_PREFIX + saved.path,
        **{key: value for key, value in optional.items() if value},
        "similar": [_brief(neighbour) for neighbour in similar_records],
    }
    hints = [
        f"Similar: {neighbour.entry.path} ({neighbour.memory.title}). If this replaces it, call supersede."
        for neighbour in similar_records
    ]
    return ToolResult(data, "\n".join([str(saved), *hints, *([f"Note: {note}."] if note else [])]))


def _brief(neighbour: Similar) -> dict[str, Any]:
    fields = {name: getattr(neighbour.memory, name) for name in ("id", "category", "title")}
    return {**fields, "path": paths.PROJECT_PREFIX + neighbour.entry.path}

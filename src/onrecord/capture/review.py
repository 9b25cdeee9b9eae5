"""Decisions on drafts: accept, merge into an existing record, reject, and edit; and the passage a draft was made of."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from onrecord import files
from onrecord.capture import similar, suggestions
from onrecord.coldstart import NamedTuple
from onrecord.errors import Changed, OnrecordError
from onrecord.git import git_files
from onrecord.record import compose, lifecycle, memory, naming
from onrecord.record import drafts as revision
from onrecord.record.drafts import Draft
from onrecord.record.memory import HistoryEntry, Memory
from onrecord.search import document
from onrecord.store import history
from onrecord.store.inbox import BrokenDraft, Inbox, new_draft
from onrecord.store.store import Entry
from onrecord.store.writer import Writer

_MAX_SOURCE_CHARS = 1_000

_MAX_SOURCE_BYTES = 400_000

_MAX_SOURCE_LINES = 160

_LINES_BEFORE = 20
"""Lines of a long page above the one that the record names."""

_MAX_LINE_CHARACTERS = 1_000

_MIN_LINE_CHARACTERS = 12
"""Shorter lines, such as headings of one word, occur everywhere."""

_SOURCE = re.compile(r"(.+):([0-9]{1,7})")

_SIGNS = re.compile(r"[\W_]+")


def source(session: str, evidence: tuple[str, ...]) -> str:
    """Return the text for a record's field `source`: the session, and the quoted evidence."""
    quotes = f': "{" … ".join(evidence)}"' if evidence else ""
    return f"session {session or 'unknown'}{quotes}"[:_MAX_SOURCE_CHARS]


def accept(writer: Writer, draft: Draft, *, project: str, force: bool = False) -> Entry:
    """Save a draft as a new record, as an update of an existing one, or as its successor.

    Raises NearDuplicate unless `force` is set, and Changed if the record to update has changed.
    """
    if draft.updates:
        return _update(writer, draft, writer.store.get(draft.updates), project)
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
    """Return the record of a draft, dated now; an imported one keeps the date of its document."""
    record = compose.check(memory.to_json(record))
    since = record.created_at if record.origin == "import" else now
    change = HistoryEntry(now, "Accepted from the inbox")
    return record._replace(created_at=since, updated_at=max(since, record.updated_at), changes=(change,))


def merge(writer: Writer, draft: Draft, into: str, *, project: str) -> Entry:
    """Merge a draft into the current version of an existing record."""
    before, draft = _target(writer, draft, into)
    return _update(writer, draft, before, project)


def _update(writer: Writer, draft: Draft, before: Entry, project: str) -> Entry:
    """Update a record with a draft. Raises Changed if the draft was written for an older version of the record."""
    if draft.revises and draft.revises != before.hash:
        command = f"onrecord review --merge {draft.name} --into {before.memory.id}"
        fix = f"to merge it into the current version: {command}; or: onrecord review --reject {draft.name}"
        raise Changed(f"{before.path} was changed after the draft was written", fix=fix)
    summary = draft.summary or f"Merged a draft: {draft.record.title}"
    patch = revision.draft_patch(draft, before.memory)
    may_shrink = bool(draft.revises or draft.fields)
    after = writer.update(before.path, patch, before.hash, summary=summary, may_shrink=may_shrink, draft=draft)
    _log(draft, project, "saved")
    return after


def merge_fields(writer: Writer, draft: Draft, before: Entry, patch: Mapping[str, Any], *, project: str) -> Entry:
    """Apply to a record what a person chose from a draft, field by field, and delete the draft. Raises Changed."""
    summary = draft.summary or f"Merged a draft: {draft.record.title}"
    after = writer.update(before.path, patch, before.hash, summary=summary, may_shrink=True, draft=draft)
    _log(draft, project, "saved")
    return after


def draft_update(
    writer: Writer, before: Entry, patch: Mapping[str, Any], summary: str, *, may_shrink: bool = True
) -> Draft | None:
    """Return a draft that changes the version `before` of a record; None if it would change nothing."""
    record = lifecycle.revise(before.memory, patch, now=writer.now, may_shrink=may_shrink)
    if record is before.memory:
        return None
    about = {"updates": before.memory.id, "revises": before.hash, "summary": summary}
    return new_draft(record, fields=revision.changed_fields(before.memory, record), **about)


def _target(writer: Writer, draft: Draft, into: str) -> tuple[Entry, Draft]:
    """Return the record to merge into, and the draft, adapted to that record.

    If the record is the version that the draft was written for, the draft replaces its text. If it is a later version,
    the draft changes only its own fields. If it is another record, the draft only adds to it.
    """
    entry = writer.store.get(into)
    if not draft.revises or draft.revises == entry.hash:
        return entry, draft
    is_same = entry.path in writer.store.find_paths(draft.updates)
    return entry, draft._replace(revises="") if is_same else draft._replace(revises="", fields=(), summary="")


def put(writer: Writer, drafts: Sequence[Draft], action: str = "draft") -> str:
    """Write drafts to the inbox as one change, replacing those of the same name. Return the id of the change."""
    existed = writer.store.exists
    change_id = writer.draft(drafts, action)
    if writer.store.exists and not existed:
        git_files.ensure(writer.store.root)
    return change_id


def revised(record: Memory, patch: Mapping[str, Any]) -> Memory:
    """Return the record of a draft with `patch` applied. If the title changes, so does the id."""
    fields = revision.apply(memory.to_json(record), patch)
    if "tags" in fields:
        fields["tags"] = list(naming.clean_tags(fields["tags"]))
    if "title" in fields:
        fields["title"] = naming.clean_title(fields["title"])
    after = compose.check(fields)
    if after.title == record.title:
        return after
    return after._replace(id=naming.slug(after.title, [*after.tags, after.category.replace("_", " ")]))


def edited(draft: Draft, patch: Mapping[str, Any]) -> Draft:
    """Return a draft with `patch` applied to its record, and to the list of changed fields if it has one."""
    record = revised(draft.record, patch)
    if not draft.fields:
        return draft._replace(record=record)
    changed = revision.changed_fields(draft.record, record)
    return draft._replace(record=record, fields=tuple(dict.fromkeys((*draft.fields, *changed))))


def accept_all(writer: Writer, drafts: Sequence[Draft], action: str = "import") -> tuple[list[Entry], str]:
    """Save drafts as records in one change, without a check for duplicates. Return the records and the change's id."""
    existed = writer.store.exists
    drafts = [draft._replace(record=accepted_record(draft.record, writer.now)) for draft in drafts]
    entries, change_id = writer.accept(drafts, action)
    if writer.store.exists and not existed:
        git_files.ensure(writer.store.root)
    return entries, change_id


def accept_group(writer: Writer, drafts: Sequence[Draft], *, project: str) -> list[Entry]:
    """Save drafts from one source document as records, in one change."""
    entries, _ = accept_all(writer, drafts, "accept")
    for draft in drafts:
        _log(draft, project, "saved")
    return entries


def needs_own_decision(writer: Writer, draft: Draft) -> bool:
    """True if a draft cannot be accepted in a group: it changes or replaces a record, or duplicates one."""
    target = draft.updates or draft.supersedes or draft.record.superseded_by
    is_replacing = any(writer.store.has(old) for old in draft.record.supersedes)
    return bool(target) or is_replacing or any(match.is_same for match in similar.find(writer.store, draft.record))


def undo_decision(writer: Writer, change_id: str, drafts: Sequence[Draft], *, project: str) -> None:
    """Undo a decision: put the drafts back into the inbox."""
    history.undo(writer.store, change_id)
    for draft in drafts:
        _log(draft, project, "drafted")


def reject(writer: Writer, draft: Draft | BrokenDraft, *, project: str) -> None:
    """Delete a draft and log its evidence, so that it is not suggested again. Raises NotFound if it is gone."""
    box = Inbox(writer.store.root)
    status = files.status(box.path(draft.name))
    if stat.S_ISREG(status.st_mode) if status else not files.is_there(box.path(draft.name)):
        writer.reject(draft.name, draft.hash if isinstance(draft, Draft) else "")
    else:
        # This is a folder or a link, which an undo could not restore, so it is not logged as a change.
        box.drop(draft.name)
    if isinstance(draft, Draft):
        _log(draft, project, "rejected")


def _log(draft: Draft, project: str, state: str) -> None:
    evidence = draft.evidence or (draft.record.title,)
    suggestions.add(project, state, draft.record.category, draft.session, evidence)


def preview(writer: Writer, draft: Draft, into: str = "") -> tuple[Memory, Memory]:
    """Return the record that a draft would update, or with `into` be merged into: before and after the change."""
    before, draft = _target(writer, draft, into) if into else (writer.store.get(draft.updates), draft)
    patch = revision.draft_patch(draft, before.memory)
    after = lifecycle.revise(before.memory, patch, now=writer.now, may_shrink=bool(draft.revises or draft.fields))
    return before.memory, after


class PassageLine(NamedTuple):
    """A line of the source, marked if the draft has its words."""

    number: int
    text: str
    is_marked: bool


class SourcePassage(NamedTuple):
    """The part of a file that a draft rests on, or why it cannot be read."""

    path: str
    lines: tuple[PassageLine, ...] = ()
    flaw: str = ""


def source_passage(project: str, record: Memory) -> SourcePassage | None:
    """Return the passage in a file of the project that a record names as its source; None if it names none."""
    source = _SOURCE.fullmatch(record.source)
    if source is None or not project or record.origin != "import":
        return None
    try:
        text = files.read_inside(project, source[1], _MAX_SOURCE_BYTES).decode("utf-8", "replace")
    except (OSError, OnrecordError) as error:
        reason = error.message if isinstance(error, OnrecordError) else error.strerror or error
        return SourcePassage(source[1], flaw=f"cannot be read: {reason}")
    texts = text.splitlines()
    start = max(0, int(source[2]) - 1 - _LINES_BEFORE) if len(texts) > _MAX_SOURCE_LINES else 0
    record_texts = document.content_texts(record)
    record_text = _plain(" ".join((record.title, *record_texts)))
    sentences = [plain for text in record_texts if len(plain := _plain(text)) >= _MIN_LINE_CHARACTERS]
    lines = (
        PassageLine(number, line[:_MAX_LINE_CHARACTERS], _is_said(_plain(line), record_text, sentences))
        for number, line in enumerate(texts[start : start + _MAX_SOURCE_LINES], start + 1)
    )
    return SourcePassage(source[1], tuple(lines))


def _is_said(line: str, record_text: str, sentences: Iterable[str]) -> bool:
    """True if a record has the words of a line, or the line those of one of its sentences."""
    return len(line) >= _MIN_LINE_CHARACTERS and (
        line in record_text or any(sentence in line for sentence in sentences)
    )


def _plain(text: str) -> str:
    return _SIGNS.sub(" ", text.lower()).strip()

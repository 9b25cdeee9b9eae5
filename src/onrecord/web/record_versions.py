"""The versions of a record that this machine knows, from the log of changes and from git, and what changed in each.

The record itself keeps its newest fifty changes with short values; the versions have whole ones, and who wrote them.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onrecord.coldstart import NamedTuple, content_hash
from onrecord.errors import OnrecordError
from onrecord.git import repository
from onrecord.record import drafts, form, lifecycle, memory
from onrecord.record.memory import HistoryEntry, Memory
from onrecord.store import history
from onrecord.store.store import Entry, Store
from onrecord.web import field_merge
from onrecord.web.field_merge import Marked

_MAX_COMMITS = 20
_GIT_SECONDS = 2.0
_LOG = (*repository.LOG, "--no-renames", f"--max-count={_MAX_COMMITS}", "--format=%H%x00%an")
_FORM_FIELDS = ("title", "tags", "triggers", "related_files", "scope", "checks", "confidence", "source")


class RecordVersion(NamedTuple):
    """A version of a record, and who wrote it."""

    record: Memory
    hash: str
    by: str = ""
    """The agent, or `person`; empty if this machine did not write it."""
    commit: str = ""
    committer: str = ""


class ChangedField(NamedTuple):
    """A change of one field: both values with the changed words marked, and whether the old one can be put back."""

    number: int
    """Its place in the history of the record."""
    summary: str
    label: str
    values: Marked
    can_be_put_back: bool


class ChangeView(NamedTuple):
    """The fields that were changed at one moment, by whom, and in which commit."""

    date: str
    notes: tuple[str, ...]
    fields: tuple[ChangedField, ...]
    by: str
    commit: str
    committer: str
    before: str
    """The hash of the whole version before it, if that is known and differs from the present one."""


def known(store: Store, entry: Entry) -> list[RecordVersion]:
    """Return the versions of a record, oldest first; one that is known twice has the facts of both."""
    versions: dict[str, RecordVersion] = {}
    for version in (*_from_git(store, entry.path), *_from_log(store, entry.path)):
        other = versions.get(version.hash, version)
        versions[version.hash] = version._replace(
            by=version.by or other.by, commit=other.commit or version.commit, committer=other.committer
        )
    versions.setdefault(entry.hash, RecordVersion(entry.memory, entry.hash))
    return sorted(versions.values(), key=lambda version: (version.record.updated_at, version.record.times_updated))


def with_hash(store: Store, path: str, version_hash: str) -> Memory | None:
    """Return the version of a record with this hash; None if it is not known."""
    versions = (*_from_log(store, path), *_from_git(store, path))
    return next((version.record for version in versions if version.hash == version_hash), None)


def _from_log(store: Store, path: str) -> Iterator[RecordVersion]:
    """Yield the versions in the log of this machine: the text before each change, and who wrote it."""
    try:
        changes = history.read(store.root)
    except OnrecordError:
        return
    by = {file.after: change.by for change in changes for file in change.files if file.path == path}
    for change in changes:
        for file in change.files:
            record = _parsed(file.before) if file.path == path and change.is_done else None
            if record is not None:
                yield RecordVersion(record, history.text_hash(file.before), by.get(history.text_hash(file.before), ""))
    current = history.current_data(store.root, path)
    record = _parsed(current)
    if current is not None and record is not None:
        yield RecordVersion(record, content_hash(current), by.get(content_hash(current), ""))


def _parsed(file_text: str | bytes | None) -> Memory | None:
    if file_text is None:
        return None
    try:
        return memory.parse(file_text.encode("utf-8") if isinstance(file_text, str) else file_text)
    except OnrecordError:
        return None


def _from_git(store: Store, path: str) -> Iterator[RecordVersion]:
    """Yield the versions that git has, each with the oldest commit that has it."""
    repo = repository.find(store.root)
    if repo is None:
        return
    deadline = time.monotonic() + _GIT_SECONDS
    full = repo.inner(store.root) + path
    log = repo.run(*_LOG, "--", full, deadline=deadline)
    rows = [line.split("\0") for line in log.output.decode("utf-8", "replace").split("\n") if "\0" in line]
    blobs = repo.run_all([(("cat-file", "blob", f"{row[0]}:{full}"), False) for row in rows], deadline) if rows else []
    for (commit, author), blob in zip(rows, blobs):
        record = _parsed(blob.output) if blob.is_good else None
        if record is not None:
            yield RecordVersion(record, content_hash(blob.output), commit=commit, committer=author)


def changes(entry: Entry, known_versions: Sequence[RecordVersion]) -> list[ChangeView]:
    """Return the history of a record, newest first, with whole values where a version has them."""
    numbered = list(enumerate(entry.memory.changes))
    groups = [list(group) for _, group in itertools.groupby(numbered, key=lambda pair: pair[1].date)]
    return [_change(entry, known_versions, group) for group in reversed(groups)]


def _change(
    entry: Entry, known_versions: Sequence[RecordVersion], group: Sequence[tuple[int, HistoryEntry]]
) -> ChangeView:
    date = group[0][1].date
    earlier = [version for version in known_versions if version.record.updated_at < date]
    after = next((version for version in known_versions if version.record.updated_at == date), None)
    committed = next((version for version in known_versions if version.commit and _includes(version, date)), None)
    before = earlier[-1] if earlier and earlier[-1].hash != entry.hash else None
    return ChangeView(
        date,
        tuple(change.summary for _, change in group if not change.field),
        tuple(_field(entry, known_versions, number, change) for number, change in group if change.field),
        after.by if after else "",
        committed.commit if committed else "",
        committed.committer if committed else "",
        before.hash if before and patch_to(entry.memory, before.record) else "",
    )


def _includes(record_version: RecordVersion, date: str) -> bool:
    return any(change.date == date for change in record_version.record.changes)


def _field(
    entry: Entry, known_versions: Sequence[RecordVersion], number: int, history_entry: HistoryEntry
) -> ChangedField:
    kind = field_merge.kind_of(entry.memory.category, history_entry.field)
    old = old_value(known_versions, history_entry)
    new = _whole(
        known_versions,
        history_entry.field,
        history_entry.new,
        lambda version: version.record.updated_at >= history_entry.date,
    )
    texts = (field_merge.as_text(kind, value) for value in (old.value, new.value))
    now = field_merge.value_at(memory.to_json(entry.memory), history_entry.field)
    can_be_put_back = is_editable(history_entry.field) and old.is_whole and now != old.value
    label = form.field_label(history_entry.field.removeprefix("content.")).capitalize()
    return ChangedField(number, history_entry.summary, label, field_merge.compare_words(*texts), can_be_put_back)


class OldValue(NamedTuple):
    """The value of a field before a change, whole or cut as the history has it."""

    value: Any
    is_whole: bool


def old_value(known_versions: Sequence[RecordVersion], history_entry: HistoryEntry) -> OldValue:
    """Return the value of a field before a change."""
    return _whole(
        known_versions,
        history_entry.field,
        history_entry.old,
        lambda version: version.record.updated_at < history_entry.date,
    )


def _whole(known_versions: Sequence[RecordVersion], field: str, brief: Any, fits: Any) -> OldValue:
    """Return the value that the history has in short, from the newest version that has it."""
    if not lifecycle.is_cut(brief):
        return OldValue(brief, True)
    for version in reversed(known_versions):
        value = field_merge.value_at(memory.to_json(version.record), field)
        if fits(version) and lifecycle.brief(value) == brief:
            return OldValue(value, True)
    return OldValue(brief, False)


def is_editable(field: str) -> bool:
    """True for a field that the form of a record has."""
    return field in _FORM_FIELDS or field.startswith("content.")


def patch_to(record: Memory, version_record: Memory) -> dict[str, Any]:
    """Return the patch that puts the text of an earlier version back; links and the state stay as they are."""
    patch: Mapping[str, Any] = drafts.difference(memory.to_json(record), memory.to_json(version_record))
    return {key: value for key, value in patch.items() if key in (*_FORM_FIELDS, "content")}


def patch_of(field: str, value: Any) -> dict[str, Any]:
    """Return the patch that sets one field, such as `content.decision`."""
    outer, _, inner = field.partition(".")
    return {outer: {inner: value}} if inner else {outer: value}

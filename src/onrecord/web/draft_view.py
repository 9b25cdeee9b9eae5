"""The drafts of all stores as the inbox shows them: each with its source, similar records, and what it would change."""

from __future__ import annotations

from collections.abc import Iterator

from onrecord import paths
from onrecord.capture import review, similar
from onrecord.capture.review import SourcePassage
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.freshness import anchors
from onrecord.project import Project
from onrecord.record import author, check, memory, summary_line
from onrecord.record.drafts import Draft
from onrecord.record.memory import Memory
from onrecord.settings import load_settings
from onrecord.shared import reconcile, replicas
from onrecord.store.inbox import BrokenDraft, Inbox
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from onrecord.web import field_merge, record_page, view
from onrecord.web.field_merge import Marked
from onrecord.web.record_page import FieldView

_MAX_DIFFERENCES = 12


class Difference(NamedTuple):
    """A field that two records, or two versions, have differently."""

    label: str
    values: Marked


class SimilarRecord(NamedTuple):
    """A record that is similar to a draft, and how they differ."""

    id: str
    title: str
    address: str
    is_same: bool
    differences: tuple[Difference, ...]


class StoredDraft(NamedTuple):
    """A draft of a store, by the name of the store in addresses."""

    store: str
    writer: Writer
    draft: Draft | BrokenDraft

    @property
    def made_at(self) -> str:
        return getattr(self.draft, "made_at", "")

    @property
    def anchor(self) -> str:
        return view.draft_anchor(self.store, self.draft.name)


class DraftView(NamedTuple):
    """A draft as the page shows it."""

    name: str
    store: str
    anchor: str
    title: str
    category: str
    made_at: str
    hash: str = ""
    """Hash of the file; empty if it cannot be read."""
    line: str = ""
    """What an agent will be shown."""
    fields: tuple[FieldView, ...] = ()
    evidence: tuple[str, ...] = ()
    note: str = ""
    """What of its source is not in it."""
    passage: SourcePassage | None = None
    triggers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    similar: tuple[SimilarRecord, ...] = ()
    updates: str = ""
    updates_title: str = ""
    updates_address: str = ""
    supersedes: str = ""
    source: str = ""
    author: str = ""
    """Who wrote it, as far as the program could tell."""
    changes: tuple[Difference, ...] = ()
    """What it would change in the record that it updates."""
    is_conflict: bool = False
    """True if it is our side of a conflict in a shared store."""
    error: str = ""
    """The reason if the draft cannot be read or applied."""

    @property
    def is_readable(self) -> bool:
        return bool(self.hash)

    @property
    def into(self) -> str:
        """The record that it would most probably be merged into."""
        return self.updates or (self.similar[0].id if self.similar else "")


class _Change(NamedTuple):
    """A draft applied to the record that it updates: the result, that record, and the fields that differ."""

    after: Memory
    title: str = ""
    address: str = ""
    differences: tuple[Difference, ...] = ()
    error: str = ""


def stored_drafts(project: Project) -> list[StoredDraft]:
    """Return the drafts of all stores whose drafts this user may decide on, oldest first."""
    drafts = [
        StoredDraft(name, writer, draft)
        for name, writer in _writers(project)
        for draft in Inbox(writer.store.root).scan()
    ]
    return sorted(drafts, key=lambda stored: (stored.made_at, stored.store, stored.draft.name))


def _writers(project: Project) -> Iterator[tuple[str, Writer]]:
    """Yield a writer for each store whose drafts this user may decide on, with the store's name in addresses."""
    for store_ref in project.known_refs:
        root, name = paths.working_root(store_ref.root), view.name_in_address(store_ref.prefix)
        is_shared = paths.is_shared(store_ref.prefix)
        state = replicas.Replica(name).state if is_shared else replicas.SyncState()
        if not (state.asks_for_review or state.is_read_only):
            yield name, writer_of(Store(root), project)


def writer_of(store: Store, project: Project) -> Writer:
    is_own = store.root == project.store.root
    store.recover()
    return Writer(store, project.settings if is_own else load_settings(store.root))


def of(stored: StoredDraft) -> DraftView:
    draft, writer = stored.draft, stored.writer
    head = (draft.name, stored.store, stored.anchor)
    if isinstance(draft, BrokenDraft):
        return DraftView(*head, draft.name, "", "", error=draft.error.message)
    record, change = draft.record, _change(stored, draft)
    return DraftView(
        *head,
        record.title,
        record.category,
        draft.made_at,
        draft.hash,
        summary_line.render(change.after),
        fields=tuple(record_page.fields_of(record)),
        evidence=tuple(draft.evidence),
        note=draft.note,
        passage=review.source_passage(anchors.project_root(writer.store.root), record),
        triggers=record.triggers,
        tags=record.tags,
        files=record.related_files,
        checks=tuple(map(check.describe, record.checks)),
        similar=() if draft.updates else tuple(_similar(stored, record)),
        updates=draft.updates,
        updates_title=change.title,
        updates_address=change.address,
        supersedes=draft.replaces,
        source=record.source,
        author=author.described(record.origin, record.agent, record.host),
        changes=change.differences,
        is_conflict=draft.name.startswith(reconcile.CONFLICT),
        error=change.error,
    )


def _change(stored: StoredDraft, draft: Draft) -> _Change:
    """Return what a draft does to the record that it updates; without such a record, the draft as it is."""
    if not draft.updates or not stored.writer.store.has(draft.updates):
        return _Change(draft.record)
    try:
        target = stored.writer.store.get(draft.updates)
        change = _Change(draft.record, target.memory.title, view.address(stored.store, target.path))
        before, after = review.preview(stored.writer, draft)
    except OnrecordError as problem:
        return _Change(draft.record, error=f"This change cannot be applied: {problem.message}")
    return change._replace(after=after, differences=tuple(_differences(before, after)))


def _similar(stored: StoredDraft, record: Memory) -> Iterator[SimilarRecord]:
    for match in similar.find(stored.writer.store, record):
        other = match.memory
        address = view.address(stored.store, match.entry.path)
        differences = tuple(_differences(other, record))[:_MAX_DIFFERENCES]
        yield SimilarRecord(other.id, other.title, address, match.is_same, differences)


def _differences(before: Memory, after: Memory) -> Iterator[Difference]:
    """Yield the fields of two records that differ and that a person reads."""
    old, new = memory.to_json(before), memory.to_json(after)
    for name in field_merge.differing(old, new):
        if name in ("id", "source", "confidence"):
            continue
        kind = field_merge.kind_of(after.category, name)
        texts = [field_merge.as_text(kind, field_merge.value_at(side, name)) for side in (old, new)]
        yield Difference(field_merge.label_of(name), field_merge.compare_words(*texts))

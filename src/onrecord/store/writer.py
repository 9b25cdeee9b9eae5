"""The writer: makes all changes to records and drafts, each as one step under the store's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from onrecord import categories, timestamps
from onrecord.coldstart import NamedTuple, content_hash
from onrecord.errors import BadInput, NotFound, WrongState
from onrecord.freshness import anchors
from onrecord.record import compose, lifecycle, memory, naming
from onrecord.record.drafts import Draft
from onrecord.record.memory import HistoryEntry, Memory
from onrecord.settings import Settings
from onrecord.store.store import Batch, Entry, Store


class CollectedRecord(NamedTuple):
    """A record that `collect` retired or deleted, or would in a dry run."""

    action: str
    path: str
    reason: str


class Writer:
    """Changes the records and drafts of a store, each change as one step under the lock."""

    def __init__(self, store: Store, settings: Settings, now: str = "") -> None:
        self.store = store
        self.settings = settings
        self.now = now or timestamps.now()

    @property
    def _project(self) -> str:
        return anchors.project_root(self.store.root)

    def save(self, record: Memory, *, supersedes: str = "", draft: Draft | None = None) -> Entry:
        """Write a new record, link the one it supersedes, and delete the draft it was made from, in one step.

        If the category limits its active records, the oldest ones over the limit are retired. Raises AlreadyExists.
        """
        record = anchors.add_missing(record, self._project, self.now)
        with self.store.writing("accept" if draft else "save") as batch:
            record = self._with_id_of_no_other_category(record)
            self.store.refuse_existing(record.id)
            if draft:
                batch.drop_draft(draft.name, draft.hash)
            if supersedes:
                before = self.store.get(supersedes).memory
                linked, record = self._supersede(before, record)
                batch.put(linked, over=before)
            entry = batch.put(record)
            if categories.CATEGORIES[record.category].max_active:
                self._retire_oldest(batch, record.category)
        return entry

    def draft(self, drafts: Iterable[Draft], action: str = "draft") -> str:
        """Write drafts to the inbox, replacing those of the same name, and return the id of the change."""
        with self.store.writing(action) as batch:
            for draft in drafts:
                batch.put_draft(draft)
        return batch.change_id

    def accept(self, drafts: Sequence[Draft], action: str = "accept") -> tuple[list[Entry], str]:
        """Turn drafts into records with unused ids, and link the records they supersede, in one change.

        Return the records and the id of the change. Raises NotFound or Changed if a draft that was read from the inbox
        is no longer there, or is another version: somebody else decided on it.
        """
        paths: dict[str, str] = {}
        with self.store.writing(action) as batch:
            for draft in drafts:
                record = self._with_unused_id(draft.record._replace(supersedes=(), superseded_by=""), batch)
                batch.put(anchors.add_missing(record, self._project, self.now))
                paths[draft.record.id] = record.path
                if draft.hash or self.store.has_draft(draft.name):
                    batch.drop_draft(draft.name, draft.hash)
            for draft in drafts:
                for old in draft.record.supersedes:
                    self._link(batch, paths.get(old, old), paths[draft.record.id])
                if draft.record.superseded_by and draft.record.superseded_by not in paths:
                    self._link(batch, paths[draft.record.id], draft.record.superseded_by)
        records = [batch.written[path] for path in paths.values()]
        return [Entry(record, record.path, content_hash(memory.render(record))) for record in records], batch.change_id

    def _with_unused_id(self, record: Memory, batch: Batch) -> Memory:
        """Return `record` with an id that neither the store nor this change has."""
        batch_ids = {other.id for other in batch.written.values()}
        return record._replace(id=naming.unused_name(record.id, lambda name: name in batch_ids or self.store.has(name)))

    def _link(self, batch: Batch, old: str, new: str) -> None:
        """Link two records of this change or of the store, unless one is missing or already superseded."""
        try:
            before, after = (batch.written.get(path) or self.store.get(path).memory for path in (old, new))
            if before.id in self._successors(after) or before.superseded_by:
                return
            pair = lifecycle.supersede(before, after, self.now)
        except (NotFound, WrongState):
            return
        for record, old_version in zip(pair, (before, after)):
            batch.put(record, over=old_version)

    def reject(self, name: str, expected_hash: str = "") -> None:
        """Delete a draft; with `expected_hash`, only if it is that version. Raises NotFound or Changed."""
        with self.store.writing("reject") as batch:
            batch.drop_draft(name, expected_hash)

    def _with_id_of_no_other_category(self, record: Memory) -> Memory:
        if self.store.has(record.path):
            return record
        return record._replace(id=naming.unused_name(record.id, self.store.has))

    def _retire_oldest(self, batch: Batch, category: str) -> None:
        limit = self.settings.count(f"categories.{category}.max_retained")
        records = {entry.path: entry.memory for entry in self.store.entries(category)}
        for record in lifecycle.over_limit({**records, **batch.written}.values(), category, limit):
            reason = f"more than {limit} records of {category}"
            batch.put(lifecycle.retire(record, reason, self.now), over=record)

    def update(
        self,
        reference: str,
        patch: Mapping[str, Any],
        expected_hash: str,
        *,
        summary: str = "",
        allow_secret: bool = False,
        may_shrink: bool = False,
        draft: Draft | None = None,
    ) -> Entry:
        """Apply a patch to the record, which must be the version `expected_hash`. A new title may also change its id.

        The draft that the patch was made from is deleted in the same step. Raises Changed and NotFound.
        """
        with self.store.writing("merge" if draft else "update") as batch:
            entry = self.store.get(reference)
            self.store.expect(entry.path, expected_hash)
            if draft:
                batch.drop_draft(draft.name, draft.hash)
            record = lifecycle.revise(entry.memory, patch, now=self.now, summary=summary, may_shrink=may_shrink)
            if record is entry.memory:
                return entry
            if not allow_secret:
                compose.refuse_secrets(patch)
                compose.refuse_secrets({"summary": summary})
            record = anchors.renew(entry.memory, record, self._project, self.now)
            renamed = self._rename(entry.memory, record)
            updated = batch.put(renamed, over=entry.memory)
            if renamed.id != record.id:
                batch.drop(entry.path)
                self._relink(batch, record.id, renamed.id)
        return updated

    def revised(self, record: Memory, patch: Mapping[str, Any]) -> Memory:
        """Return a record as `update` writes it, but for the state of its files. Raises Invalid and SecretFound."""
        after = lifecycle.revise(record, patch, now=self.now, may_shrink=True)
        compose.refuse_secrets(patch)
        return self._rename(record, after)

    def _rename(self, before: Memory, after: Memory) -> Memory:
        hints = [*after.tags, after.category.replace("_", " ")]
        if naming.slug(before.title, hints) == naming.slug(after.title, hints):
            return after
        new_slug = naming.slug(after.title, hints)
        new_id = naming.unused_name(new_slug, lambda name: name != before.id and self.store.has(name))
        if new_id == before.id:
            return after
        change = HistoryEntry(self.now, f"Renamed from {before.id}", "id", before.id, new_id)
        return after._replace(id=new_id, changes=(*after.changes, change)[-lifecycle.MAX_CHANGES :])

    def _relink(self, batch: Batch, old_id: str, new_id: str) -> None:
        for entry in self.store.entries():
            record = entry.memory
            if record.superseded_by == old_id:
                batch.put(record._replace(superseded_by=new_id), over=record)
            elif old_id in record.supersedes:
                supersedes = tuple(new_id if i == old_id else i for i in record.supersedes)
                batch.put(record._replace(supersedes=supersedes), over=record)

    def reanchor(self, reference: str, moved: Mapping[str, str], *, expected_hash: str = "") -> Entry:
        """Record that the user confirmed a record against its current files; `moved` maps old paths to new ones."""
        change = HistoryEntry(self.now, "Confirmed against its files", "anchors")
        return self._step(
            "reanchor",
            reference,
            lambda record: lifecycle.add_history(anchors.confirm(record, self._project, self.now, moved), change),
            expected_hash,
        )

    def retire(self, reference: str, reason: str, *, expected_hash: str = "") -> Entry:
        compose.refuse_secrets({"reason": reason})
        return self._step("retire", reference, lambda record: lifecycle.retire(record, reason, self.now), expected_hash)

    def restore(self, reference: str, *, expected_hash: str = "") -> Entry:
        return self._step("restore", reference, lambda record: lifecycle.restore(record, self.now), expected_hash)

    def archive(self, reference: str, reason: str, *, expected_hash: str = "") -> Entry:
        compose.refuse_secrets({"reason": reason})
        return self._step(
            "archive", reference, lambda record: lifecycle.archive(record, reason, self.now), expected_hash
        )

    def unarchive(self, reference: str, *, expected_hash: str = "") -> Entry:
        return self._step("unarchive", reference, lambda record: lifecycle.unarchive(record, self.now), expected_hash)

    def _step(self, action: str, reference: str, decide: Callable[[Memory], Memory], expected_hash: str) -> Entry:
        with self.store.writing(action) as batch:
            record = self._current(reference, expected_hash)
            return batch.put(decide(record), over=record)

    def _current(self, reference: str, expected_hash: str) -> Memory:
        """Read the record again under the lock and return it. Raises Changed, NotFound or Ambiguous."""
        entry = self.store.get(reference)
        if expected_hash:
            self.store.expect(entry.path, expected_hash)
        return entry.memory

    def supersede(self, old: str, new: str, *, expected_hash: str = "") -> tuple[Entry, Entry]:
        """Link two records so that retrieval shows the new one wherever the old one matches."""
        with self.store.writing("supersede") as batch:
            before, after = self._current(old, expected_hash), self.store.get(new).memory
            linked, successor = self._supersede(before, after)
            return batch.put(linked, over=before), batch.put(successor, over=after)

    def replace_shared(self, shared_name: str, new: str) -> Entry:
        """Make `new` supersede a record of a shared store, such as `platform:ID`. The shared record is not changed."""
        with self.store.writing("supersede") as batch:
            after = self.store.get(new).memory
            return batch.put(lifecycle.add_supersedes(after, shared_name, self.now), over=after)

    def _supersede(self, before: Memory, after: Memory) -> tuple[Memory, Memory]:
        if before.id in self._successors(after):
            raise WrongState(
                f"{after.id} is itself superseded by {before.id}",
                fix=f"swap the two: onrecord supersede {after.id} {before.id}",
            )
        return lifecycle.supersede(before, after, self.now)

    def _successors(self, record: Memory) -> Iterator[str]:
        """Yield the ids of the records that supersede `record`, one after the other, up to the current one."""
        ids: set[str] = set()
        while record.superseded_by and record.superseded_by not in ids:
            ids.add(record.superseded_by)
            yield record.superseded_by
            try:
                record = self.store.get(record.superseded_by).memory
            except NotFound:
                return

    def collect(self, *, dry_run: bool = False) -> list[CollectedRecord]:
        """Retire records past their retention, and delete those retired longer ago than the grace period.

        Raises BadInput if a value that says how long records are kept cannot be read: it may set a longer time.
        """
        problems = self.settings.retention_problems
        if problems:
            files = " and ".join(dict.fromkeys(problem.file for problem in problems))
            fix = f"correct {files} first: it says how long records are kept; nothing was deleted"
            raise BadInput("; ".join(map(str, problems)), fix=fix)
        grace = self.settings.number("delete.grace_period_days")
        collected = []
        with self.store.writing("gc") as batch:
            for entry in self.store.entries():
                record = entry.memory
                if lifecycle.is_past_grace(record, grace, self.now):
                    collected.append(CollectedRecord("delete", entry.path, f"retired more than {grace:g} days ago"))
                    if not dry_run:
                        batch.drop(entry.path)
                elif record.record_status == "active" and lifecycle.is_past_retention(record, self.settings, self.now):
                    days = self.settings.retention_days(record.category)
                    collected.append(CollectedRecord("retire", entry.path, f"unchanged for more than {days} days"))
                    if not dry_run:
                        reason = f"past its retention of {days} days"
                        batch.put(lifecycle.retire(record, reason, self.now), over=record)
        return collected

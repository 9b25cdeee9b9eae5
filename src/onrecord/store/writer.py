"""Changes carried out on a store, each as one step under the lock."""

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
    """Something that was done, or would be, to a record."""

    action: str
    path: str
    reason: str


class Writer:
    """Carries changes out on a store, each as one step under the lock."""

    def __init__(self, store: Store, settings: Settings, now: str = "") -> None:
        self.store = store
        self.settings = settings
        self.now = now or timestamps.now()

    @property
    def _project(self) -> str:
        return anchors.project_root(self.store.root)

    def save(self, record: Memory, *, supersedes: str = "", draft: Draft | None = None) -> Entry:
        """Write a new record, link the one it supersedes, and take the draft it was made from out of the inbox.

        A category with a rolling window retires what it no longer has room for. All of it is one step.
        """
        record = anchors.add_missing(record, self._project, self.now)
        with self.store.writing("accept" if draft else "save") as batch:
            record = self._unclaimed(record)
            self.store.refuse_existing(record.id)
            if draft:
                batch.drop_draft(draft.name, draft.hash)
            if supersedes:
                before = self.store.get(supersedes).memory
                linked, record = self._linked(before, record)
                batch.put(linked, over=before)
            entry = batch.put(record)
            if categories.CATEGORIES[record.category].max_active:
                self._roll_window(batch, record.category)
        return entry

    def draft(self, drafts: Iterable[Draft], action: str = "draft") -> str:
        """Put drafts into the inbox, over those of the same name; the id of the change."""
        with self.store.writing(action) as batch:
            for draft in drafts:
                batch.put_draft(draft)
        return batch.change_id

    def accept(self, drafts: Sequence[Draft], action: str = "accept") -> tuple[list[Entry], str]:
        """Make drafts records as one change, under free ids and with their links; the records, and the change's id."""
        paths: dict[str, str] = {}
        with self.store.writing(action) as batch:
            for draft in drafts:
                record = self._free(draft.record._replace(supersedes=(), superseded_by=""), batch)
                batch.put(anchors.add_missing(record, self._project, self.now))
                paths[draft.record.id] = record.path
                if self.store.has_draft(draft.name):
                    batch.drop_draft(draft.name, draft.hash)
            for draft in drafts:
                for old in draft.record.supersedes:
                    self._link(batch, paths.get(old, old), paths[draft.record.id])
                if draft.record.superseded_by and draft.record.superseded_by not in paths:
                    self._link(batch, paths[draft.record.id], draft.record.superseded_by)
        records = [batch.written[path] for path in paths.values()]
        return [Entry(record, record.path, content_hash(memory.render(record))) for record in records], batch.change_id

    def _free(self, record: Memory, batch: Batch) -> Memory:
        """The record under an id that neither the store nor this change has."""
        taken = {each.id for each in batch.written.values()}
        return record._replace(id=naming.unused_name(record.id, lambda name: name in taken or self.store.has(name)))

    def _link(self, batch: Batch, old: str, new: str) -> None:
        """Link two records of this change or of the store, unless one is missing or replaced already."""
        try:
            before, after = (batch.written.get(each) or self.store.get(each).memory for each in (old, new))
            if before.id in self._chain(after) or before.superseded_by:
                return
            pair = lifecycle.supersede(before, after, self.now)
        except (NotFound, WrongState):
            return
        for record, was in zip(pair, (before, after)):
            batch.put(record, over=was)

    def reject(self, name: str, expected_hash: str = "") -> None:
        """Throw a draft away; with a hash, only the version that has it."""
        with self.store.writing("reject") as batch:
            batch.drop_draft(name, expected_hash)

    def _unclaimed(self, record: Memory) -> Memory:
        """The record under an id that no record of another category has."""
        return (
            record if _is_at(self.store, record) else record._replace(id=naming.unused_name(record.id, self.store.has))
        )

    def _roll_window(self, batch: Batch, category: str) -> None:
        most = self.settings.count(f"categories.{category}.max_retained")
        records = {entry.path: entry.memory for entry in self.store.entries(category)}
        for record in lifecycle.over_limit({**records, **batch.written}.values(), category, most):
            reason = f"more than {most} records of {category}"
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
        """Apply a patch to the version that has this hash; a title that really changes renames the record.

        The draft that the patch was made from leaves the inbox in the same step.
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
            renamed = self._renamed(entry.memory, record)
            updated = batch.put(renamed, over=entry.memory)
            if renamed.id != record.id:
                batch.drop(entry.path)
                self._relink(batch, record.id, renamed.id)
        return updated

    def _renamed(self, before: Memory, after: Memory) -> Memory:
        hints = [*after.tags, after.category.replace("_", " ")]
        if naming.slug(before.title, hints) == naming.slug(after.title, hints):
            return after
        wanted = naming.slug(after.title, hints)
        new_id = naming.unused_name(wanted, lambda name: name != before.id and self.store.has(name))
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
        """Confirm that a record holds for its files as they are now; `moved` says which have another name."""
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
        """A record as it is under the lock; with a hash, Changed if it is not the version that has it."""
        entry = self.store.get(reference)
        if expected_hash:
            self.store.expect(entry.path, expected_hash)
        return entry.memory

    def supersede(self, old: str, new: str, *, expected_hash: str = "") -> tuple[Entry, Entry]:
        """Link two records so that retrieval shows the new one wherever the old one matches."""
        with self.store.writing("supersede") as batch:
            before, after = self._current(old, expected_hash), self.store.get(new).memory
            linked, successor = self._linked(before, after)
            return batch.put(linked, over=before), batch.put(successor, over=after)

    def replace_shared(self, shared: str, new: str) -> Entry:
        """Let a record say that it replaces one of a shared store, `platform:ID`, which stays as it is."""
        with self.store.writing("supersede") as batch:
            after = self.store.get(new).memory
            return batch.put(lifecycle.add_supersedes(after, shared, self.now), over=after)

    def _linked(self, before: Memory, after: Memory) -> tuple[Memory, Memory]:
        if before.id in self._chain(after):
            raise WrongState(
                f"{after.id} is itself superseded by {before.id}",
                fix=f"swap the two: onrecord supersede {after.id} {before.id}",
            )
        return lifecycle.supersede(before, after, self.now)

    def _chain(self, record: Memory) -> Iterator[str]:
        """The ids of what replaces a record, and of what replaces that, up to the one that holds now."""
        seen: set[str] = set()
        while record.superseded_by and record.superseded_by not in seen:
            seen.add(record.superseded_by)
            yield record.superseded_by
            try:
                record = self.store.get(record.superseded_by).memory
            except NotFound:
                return

    def collect(self, *, dry_run: bool = False) -> list[CollectedRecord]:
        """Retire what is past its retention, delete what was retired longer ago than the grace period.

        With a config that cannot be read nothing is: it may have asked for longer.
        """
        for problem in self.settings.retention_problems:
            fix = f"correct {problem.file} first: it says how long records are kept; nothing was deleted"
            raise BadInput(str(problem), fix=fix)
        grace = self.settings.number("delete.grace_period_days")
        changes = []
        with self.store.writing("gc") as batch:
            for entry in self.store.entries():
                record = entry.memory
                if lifecycle.is_past_grace(record, grace, self.now):
                    changes.append(CollectedRecord("delete", entry.path, f"retired more than {grace:g} days ago"))
                    if not dry_run:
                        batch.drop(entry.path)
                elif record.record_status == "active" and lifecycle.is_past_retention(record, self.settings, self.now):
                    days = self.settings.retention_days(record.category)
                    changes.append(CollectedRecord("retire", entry.path, f"unchanged for more than {days} days"))
                    if not dry_run:
                        reason = f"past its retention of {days} days"
                        batch.put(lifecycle.retire(record, reason, self.now), over=record)
        return changes


def _is_at(store: Store, record: Memory) -> bool:
    """Whether a record of this category has this id already."""
    return store.has(record.path)

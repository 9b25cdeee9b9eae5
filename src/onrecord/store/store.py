"""A store: the record files on disk, which are the source of truth. Everything else can be rebuilt from them.

A change to any number of files is one step: it is made under the store's lock, and either completely or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Union

from onrecord import budget, files, paths, state_file
from onrecord.coldstart import NamedTuple, content_hash
from onrecord.errors import (
    AlreadyExists,
    Ambiguous,
    BadRecord,
    Changed,
    Invalid,
    NotFound,
    OnrecordError,
    Unwritable,
)
from onrecord.record import drafts, memory, schema
from onrecord.record.drafts import Draft
from onrecord.record.memory import Memory
from onrecord.record.schema import shorten
from onrecord.store import index_md, journal, record_names, rights

_LOCK = ".lock"


class Entry(NamedTuple):
    """A record that was read, its path, and the hash of that version, which an update must name."""

    memory: Memory
    path: str
    hash: str


class Broken(NamedTuple):
    """A file in the store that is not a valid record, and why."""

    path: str
    error: OnrecordError


class Store:
    """One store folder: a project's, or the user's own."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.warnings: list[str] = []
        """Failures that came after a change was made; the change stays."""
        self.last_change = ""
        """The id of the last change made through this object."""

    def __repr__(self) -> str:
        return f"Store({self.root!r})"

    @property
    def exists(self) -> bool:
        """True if there is such a folder. Raises Unwritable if that cannot be told."""
        return files.is_folder(self.root)

    @property
    def is_interrupted(self) -> bool:
        """True if a writer was killed during a change. The next writer will finish that change."""
        return journal.is_open(self.root)

    def read(self, path: str) -> Entry:
        """Return the record at a relative path. Raises NotFound, BadRecord or UnsafePath."""
        label = path if path.isprintable() else repr(path)
        data = self._data(path, label)
        record = memory.parse(data, label)
        if record.path != path:
            raise BadRecord(
                f"{label}: says it is {record.path}",
                fix="make its `id` the file's name and its `category` the folder's, or rename the file",
            )
        return Entry(record, path, content_hash(data))

    def _data(self, path: str, label: str) -> bytes:
        try:
            return files.read_inside(self.root, path, memory.MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            raise NotFound(f"there is nothing at {label}", fix="onrecord list") from None
        except OSError as error:
            if files.is_fault(error):
                raise files.unreadable(os.path.join(self.root, path), error) from error
            reason = error.strerror or error
            raise BadRecord(f"{label}: {reason}", fix="check the file's type and permissions") from error

    def scan(self, category: str = "") -> Iterator[Union[Entry, Broken]]:
        """Yield the records of the store, or of one category; a file that cannot be read is yielded as Broken."""
        for folder in [schema.FOLDERS[category]] if category else schema.FOLDERS.values():
            try:
                names = record_names.read_folder(self.root, folder)
            except OnrecordError as error:
                yield Broken(folder, error)
                continue
            for name in names:
                yield from self._scan_file(f"{folder}/{name}")

    def _scan_file(self, path: str) -> Iterator[Union[Entry, Broken]]:
        try:
            yield self.read(path)
        except NotFound:
            if os.path.islink(os.path.join(self.root, path)):
                yield Broken(path, BadRecord(f"{path}: a link to nothing", fix=f"remove {path}"))
        except OnrecordError as error:
            yield Broken(path, error)

    def entries(self, category: str = "") -> Iterator[Entry]:
        """Yield all valid records, or those of one category. Raises Unwritable if a file or folder cannot be read.

        A file that is no record is left out; one that the disk does not give may be a record.
        """
        for entry in self.scan(category):
            if isinstance(entry, Entry):
                yield entry
            elif isinstance(entry.error, Unwritable):
                raise entry.error

    def get(self, reference: str) -> Entry:
        """Return the record with this id, `category/id`, path or short name. Raises NotFound or Ambiguous."""
        matches = self.find_paths(reference)
        if not matches:
            from shlex import quote

            fix = f"onrecord search {quote(shorten(reference.replace('-', ' ')))}"
            raise NotFound(f"no record {shorten(reference)!r} in {self.root}", fix=fix)
        if len(matches) > 1:
            raise Ambiguous(
                f"{reference!r} is the id of {' and '.join(matches)}", fix=f"name one by its path: {matches[0]}"
            )
        return self.read(matches[0])

    def records_named(self, record_id: str) -> list[Memory]:
        """Return the records with exactly this id: one, none, or one in each of several folders."""
        records = []
        for path in self._paths_of(record_id):
            try:
                records.append(self.read(path).memory)
            except OnrecordError:
                continue
        return records

    def find_paths(self, reference: str) -> list[str]:
        """Return the paths that `reference` may mean (see `get`). Only an id can mean more than one."""
        return self._paths_of(reference) or record_names.with_short_name(self.root, reference)

    def has(self, record_id: str) -> bool:
        return bool(self._paths_of(record_id))

    def has_draft(self, name: str) -> bool:
        return files.is_regular(os.path.join(self.root, paths.INBOX, f"{name}.json"))

    def _paths_of(self, reference: str) -> list[str]:
        return [path for path in self._candidates(reference) if files.is_regular(os.path.join(self.root, path))]

    def _candidates(self, reference: str) -> list[str]:
        reference = self._relative(reference)
        if "/" in reference:
            folder, name = reference.rsplit("/", 1)
            folder = schema.FOLDERS.get(folder, folder)
            name = name if name.endswith(".json") else f"{name}.json"
            return [f"{folder}/{name}"] if folder in schema.FOLDERS.values() else []
        name = reference if reference.endswith(".json") else f"{reference}.json"
        return [f"{folder}/{name}" for folder in schema.FOLDERS.values()]

    def _relative(self, reference: str) -> str:
        reference = reference.replace(os.sep, "/")
        root = self.root.replace(os.sep, "/") + "/"
        for prefix in (root, os.path.realpath(self.root).replace(os.sep, "/") + "/", ".claude/memory/", "./"):
            if reference.startswith(prefix):
                reference = reference[len(prefix) :]
        return reference

    def create(self, record: Memory) -> Entry:
        """Write a new record. Raises AlreadyExists if one has that id, whatever its status."""
        with self.writing("save") as batch:
            self.refuse_existing(record.id)
            return batch.put(record)

    def refuse_existing(self, record_id: str) -> None:
        """Raise AlreadyExists if the path of `record_id` is taken, even by a folder or a broken link."""
        for path in self._candidates(record_id):
            if files.is_there(os.path.join(self.root, path)):
                fix = _fix_for_existing(self, path, record_id)
                raise AlreadyExists(f"there is a record {record_id!r} already: {path}", fix=fix)

    def expect(self, path: str, expected_hash: str) -> None:
        """Raise Changed if a record or draft is not the version with this hash."""
        is_draft = path.startswith(f"{paths.INBOX}/")
        current = content_hash(self._data(path, path)) if is_draft else self.read(path).hash
        if current != expected_hash:
            command = "onrecord inbox" if is_draft else f"onrecord show {path} --json"
            raise Changed(
                f"{path} was changed since it was read (it is {current} now, not {shorten(expected_hash, 40)})",
                fix=f"read it again: {command}; then apply the change to that",
            )

    @contextmanager
    def writing(self, action: str = "change") -> Iterator[Batch]:
        """Lock the store, collect changes in a batch, and make all of them at the end; none if an error is raised.

        `action` is the name of the change in the log.
        """
        page_text = self._missing_page()
        with files.locked(os.path.join(self.root, _LOCK)):
            self._recover()
            batch = Batch(self, action, page_text)
            yield batch
            batch.commit()
            self.last_change = batch.change_id

    def _missing_page(self) -> str:
        """Return the page for a store without an `index.md` of ours; empty if it has one.

        It is made before the store is locked: to read 200,000 records takes half a minute, and others wait ten seconds.
        """
        if index_md.is_ours(self.root):
            return ""
        entries = budget.counted(self.entries(), "reading records for index.md")
        return index_md.render(entry.memory for entry in entries)

    def recover(self) -> None:
        """Finish the change of a writer that was killed."""
        if self.is_interrupted:
            with files.locked(os.path.join(self.root, _LOCK)):
                self._recover()

    def _recover(self) -> None:
        if self.is_interrupted:
            journal.finish(self.root)
            self.refresh_index_md()
            self.renew_page()
            journal.end(self.root)

    def warn(self, problem: str) -> None:
        """Add a warning: the records were written, but writing `index.md` or the journal failed."""
        self.warnings.append(f"the records are saved, but {problem}; then: onrecord doctor --fix")
        state_file.log_failure("index.md", problem)

    def renew_page(self) -> None:
        """Update the page that the settings name, if any. A failure only adds a warning."""
        from onrecord.store import generated_page

        try:
            generated_page.renew(self)
        except OnrecordError as error:
            self.warnings.append(f"the records are saved, but {error.message}; {error.fix}")

    def refresh_index_md(self) -> list[str]:
        """Write `index.md` anew and return its name; a failure only adds a warning."""
        try:
            self.rebuild_index_md()
        except OnrecordError as error:
            self.warn(error.message)
            return []
        return [paths.INDEX_MD]

    def rebuild_index_md(self) -> None:
        """Write `index.md` anew. Raises Unwritable, also if a folder cannot be listed: its records would be missing."""
        index_md.write(self.root, index_md.render(entry.memory for entry in self.entries()))


class Batch:
    """Changes to a store that are made together."""

    def __init__(self, store: Store, action: str = "change", page_text: str = "") -> None:
        self._store = store
        self._page_text = page_text
        """What `index.md` lists if the store has none of ours, as it was before the lock."""
        self.action = action
        self.undoes = ""
        """The id of the change that this one undoes."""
        self.change_id = ""
        """The id of this change in the log, once it is made."""
        self.written: dict[str, Memory] = {}
        self._texts: dict[str, str] = {}
        """Texts that are written unchanged: drafts, and files that an undo restores."""
        self._drops: list[str] = []

    def put(self, record: Memory, *, over: Memory | None = None) -> Entry:
        """Add a record to write. Raises Invalid, except for flaws that the old version, `over`, has too."""
        flaws = memory.new_flaws(memory.to_json(record), memory.to_json(over)) if over else memory.flaws(record)
        if flaws:
            raise Invalid(
                "; ".join(map(str, flaws[:8])), fix=f"correct {flaws[0].where} and try again; nothing was written"
            )
        self.written[record.path] = record
        return Entry(record, record.path, content_hash(memory.render(record)))

    def put_draft(self, draft: Draft) -> None:
        """Add a draft to write. Raises Changed if its file was changed since the draft was read."""
        if draft.hash:
            self._store.expect(f"{paths.INBOX}/{draft.name}.json", draft.hash)
        self._texts[f"{paths.INBOX}/{draft.name}.json"] = drafts.render(draft).decode("utf-8")

    def put_config(self, text: str) -> None:
        """Add the store's config to write."""
        self._texts[paths.CONFIG] = text

    def restore(self, path: str, text: str) -> None:
        """Add a file to restore to the old `text`."""
        if _is_record(path):
            self.written[path] = memory.parse(text.encode("utf-8"), path)
        self._texts[path] = text

    def drop(self, path: str) -> None:
        """Add a file to delete."""
        self._drops.append(path)

    def drop_draft(self, name: str, expected_hash: str = "") -> None:
        """Add a draft to delete. Raises NotFound if it is gone, and Changed if its hash is not `expected_hash`."""
        path = f"{paths.INBOX}/{name}.json"
        if not files.is_there(files.inside(self._store.root, path)):
            raise NotFound(f"the draft {shorten(name)!r} is no longer in the inbox", fix="onrecord inbox")
        if expected_hash:
            self._store.expect(path, expected_hash)
        self.drop(path)

    def commit(self) -> None:
        new_texts = self._new_texts()
        if not new_texts and not self.undoes:
            return
        root = self._store.root
        for path in new_texts:
            files.inside(root, path)
        if self.action != rights.SYNC:
            rights.refuse(root, new_texts)
        begun = journal.begin(root, new_texts, self.action, self.undoes)
        self.change_id = begun.id
        if begun.warning:
            self._store.warn(begun.warning)
        # The records are on disk now, so a failure below is only a warning.
        try:
            if any(path != paths.CONFIG for path in new_texts):
                self._renew_index_md()
            if any(map(_is_record, new_texts)):
                self._store.renew_page()
            journal.end(root, self.change_id)
        except OnrecordError as error:
            self._store.warn(error.message)

    def _renew_index_md(self) -> None:
        # Another writer may have made it since, and then it has that writer's records, too.
        root = self._store.root
        page = index_md.read(root) if index_md.is_ours(root) else self._page_text
        if page:
            page = index_md.revise(page, removed_paths=self._drops, records=self.written.values())
            index_md.write(root, page)
        else:
            self._store.rebuild_index_md()

    def _new_texts(self) -> dict[str, str | None]:
        """Return the new text of each file. Deletions come last, so that a reader never misses a renamed record."""
        record_texts = {path: memory.render(record).decode("utf-8") for path, record in self.written.items()}
        texts = {**record_texts, **self._texts}
        return {**texts, **{path: None for path in self._drops if path not in texts}}


def _is_record(path: str) -> bool:
    """True if a file of a store is a record, not a draft or the config."""
    return path != paths.CONFIG and not path.startswith(f"{paths.INBOX}/")


class DryRunStore(Store):
    """A store for `--dry-run`: changes are checked but not written, and later reads see them."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.planned: dict[str, Memory] = {}
        self.dropped: list[str] = []

    def read(self, path: str) -> Entry:
        if path in self.planned:
            record = self.planned[path]
            return Entry(record, path, content_hash(memory.render(record)))
        return super().read(path)

    def scan(self, category: str = "") -> Iterator[Union[Entry, Broken]]:
        unseen = {path: record for path, record in self.planned.items() if category in ("", record.category)}
        for entry in super().scan(category):
            unseen.pop(entry.path, None)
            yield entry
        yield from (self.read(path) for path in unseen)

    def _paths_of(self, reference: str) -> list[str]:
        on_disk = super()._paths_of(reference)
        planned = [path for path in self._candidates(reference) if path in self.planned]
        return on_disk + [path for path in planned if path not in on_disk]

    @contextmanager
    def writing(self, action: str = "change") -> Iterator[Batch]:
        batch = _DryRunBatch(self)
        yield batch
        batch.commit()


class _DryRunBatch(Batch):
    def __init__(self, dry_run: DryRunStore) -> None:
        super().__init__(dry_run)
        self._dry_run = dry_run

    def commit(self) -> None:
        rights.refuse(self._store.root, self._new_texts())
        self._dry_run.planned.update(self.written)
        self._dry_run.dropped += self._drops


def _fix_for_existing(store: Store, path: str, record_id: str) -> str:
    from onrecord.record import lifecycle

    try:
        record = store.read(path).memory
    except OnrecordError:
        return f"the file {path} is broken, to see why: onrecord doctor"
    return lifecycle.fix_for_status(record, f"onrecord edit {record_id}; or give the new record another title")

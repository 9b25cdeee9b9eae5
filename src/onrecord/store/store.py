"""The files on disk that hold records. They are the truth; everything else can be rebuilt from them.

A change of any number of files is one step, made under the lock through the journal.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Union

from onrecord import files, paths, state_file
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
from onrecord.store import index_md, journal, record_names

_LOCK = ".lock"


class Entry(NamedTuple):
    """A memory as it was read: where it lies, and the hash to update it with."""

    memory: Memory
    path: str
    hash: str


class Broken(NamedTuple):
    """A file in the store that is not a memory, and why."""

    path: str
    error: OnrecordError


class Store:
    """One store folder: a project's, or the user's own."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.warnings: list[str] = []
        """What went wrong after a change was made, and does not undo it."""
        self.last_change = ""
        """What the log calls the last change that was made through this object."""

    def __repr__(self) -> str:
        return f"Store({self.root!r})"

    @property
    def exists(self) -> bool:
        return os.path.isdir(self.root)

    @property
    def is_interrupted(self) -> bool:
        """Whether a writer died in the middle of a change, which the next one will finish."""
        return journal.is_open(self.root)

    def read(self, path: str) -> Entry:
        """The record at a relative path; BadRecord or UnsafePath if there is none to be had."""
        shown = path if path.isprintable() else repr(path)
        data = self._data(path, shown)
        record = memory.parse(data, shown)
        if record.path != path:
            raise BadRecord(
                f"{shown}: says it is {record.path}",
                fix="make its `id` the file's name and its `category` the folder's, or rename the file",
            )
        return Entry(record, path, content_hash(data))

    def _data(self, path: str, shown: str) -> bytes:
        try:
            return files.read_inside(self.root, path, memory.MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            raise NotFound(f"there is nothing at {shown}", fix="onrecord list") from None
        except OSError as error:
            reason = error.strerror or error
            raise BadRecord(f"{shown}: {reason}", fix="check the file's type and permissions") from error

    def scan(self, category: str = "") -> Iterator[Union[Entry, Broken]]:
        """Every record file, of one category if it is named, read, or broken and why."""
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
        """Every record that can be read, of one category if it is named."""
        return (scanned for scanned in self.scan(category) if isinstance(scanned, Entry))

    def get(self, reference: str) -> Entry:
        """A record by its id, `category/id`, path, or the short name in a pointer."""
        matches = self.find_paths(reference)
        if not matches:
            from shlex import quote

            fix = f"onrecord search {quote(shorten(reference.replace('-', ' ')))}"
            raise NotFound(f"no memory {shorten(reference)!r} in {self.root}", fix=fix)
        if len(matches) > 1:
            raise Ambiguous(
                f"{reference!r} is the id of {' and '.join(matches)}", fix=f"name one by its path: {matches[0]}"
            )
        return self.read(matches[0])

    def find_paths(self, reference: str) -> list[str]:
        """The paths of the records with an id, `category/id`, path or short name: more than one only for an id."""
        return self._paths_of(reference) or record_names.with_short_name(self.root, reference)

    def has(self, record_id: str) -> bool:
        return bool(self._paths_of(record_id))

    def has_draft(self, name: str) -> bool:
        return files.is_file(os.path.join(self.root, paths.INBOX, f"{name}.json"))

    def _paths_of(self, reference: str) -> list[str]:
        return [path for path in self._candidates(reference) if files.is_file(os.path.join(self.root, path))]

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
        """Write a new record; refused if one of that id is there, whatever its status."""
        with self.writing("save") as batch:
            self.refuse_existing(record.id)
            return batch.put(record)

    def refuse_existing(self, record_id: str) -> None:
        """AlreadyExists if anything has that id's place, be it a folder or a broken link."""
        for path in self._candidates(record_id):
            if os.path.lexists(os.path.join(self.root, path)):
                fix = _instead(self, path, record_id)
                raise AlreadyExists(f"there is a record {record_id!r} already: {path}", fix=fix)

    def expect(self, path: str, expected_hash: str) -> None:
        """Changed if a record or a draft is not the version that has this hash."""
        is_draft = path.startswith(f"{paths.INBOX}/")
        current = content_hash(self._data(path, path)) if is_draft else self.read(path).hash
        if current != expected_hash:
            again = "onrecord inbox" if is_draft else f"onrecord show {path} --json"
            raise Changed(
                f"{path} was changed since it was read (it is {current} now, not {shorten(expected_hash, 40)})",
                fix=f"read it again: {again}; then apply the change to that",
            )

    @contextmanager
    def writing(self, action: str = "change") -> Iterator[Batch]:
        """Hold the lock, gather changes, and make them all at the end; none if something raises.

        The action is what the log calls it.
        """
        with files.locked(os.path.join(self.root, _LOCK)):
            self._recover()
            batch = Batch(self, action)
            yield batch
            batch.commit()
            self.last_change = batch.change_id

    def recover(self) -> None:
        """Finish what a writer that died had begun."""
        if self.is_interrupted:
            with files.locked(os.path.join(self.root, _LOCK)):
                self._recover()

    def _recover(self) -> None:
        if self.is_interrupted:
            journal.finish(self.root)
            try:
                self.rebuild_index_md()
            except Unwritable as error:
                self.warn(error)
            self.renew_page()
            journal.end(self.root)

    def warn(self, error: Unwritable) -> None:
        """Note that `index.md` or the journal could not be written after the records were."""
        self.warnings.append(f"the records are saved, but {error.message}; then: onrecord doctor --fix")
        state_file.log_failure("index.md", error.message)

    def renew_page(self) -> None:
        """Renew the page that the settings name, if any; that it cannot be does not undo a change."""
        from onrecord.store import generated_page

        try:
            generated_page.renew(self)
        except OnrecordError as error:
            self.warnings.append(f"the records are saved, but {error.message}; {error.fix}")

    def rebuild_index_md(self) -> None:
        index_md.write(self.root, index_md.render(entry.memory for entry in self.entries()))


class Batch:
    """Changes to a store that happen together."""

    def __init__(self, store: Store, action: str = "change") -> None:
        self._store = store
        self.action = action
        self.undoes = ""
        """The id of the change that this one takes back."""
        self.change_id = ""
        """What the log calls this change, once it is made."""
        self.written: dict[str, Memory] = {}
        self._texts: dict[str, str] = {}
        """What is written as it is: drafts, and what an undo brings back."""
        self._drops: list[str] = []

    def put(self, record: Memory, *, over: Memory | None = None) -> Entry:
        """Write a record; what was wrong with the one that it takes the place of is no reason to refuse."""
        flaws = memory.new_flaws(memory.to_json(record), memory.to_json(over)) if over else memory.flaws(record)
        if flaws:
            raise Invalid(
                "; ".join(map(str, flaws[:8])), fix=f"correct {flaws[0].where} and try again; nothing was written"
            )
        self.written[record.path] = record
        return Entry(record, record.path, content_hash(memory.render(record)))

    def put_draft(self, draft: Draft) -> None:
        """Write a draft, over one of the same name; over the version that it was read from, if it was."""
        if draft.hash:
            self._store.expect(f"{paths.INBOX}/{draft.name}.json", draft.hash)
        self._texts[f"{paths.INBOX}/{draft.name}.json"] = drafts.render(draft).decode("utf-8")

    def restore(self, path: str, text: str) -> None:
        """Write what a file held before."""
        if not path.startswith(f"{paths.INBOX}/"):
            self.written[path] = memory.parse(text.encode("utf-8"), path)
        self._texts[path] = text

    def drop(self, path: str) -> None:
        """Delete a record's file."""
        self._drops.append(path)

    def drop_draft(self, name: str, expected_hash: str = "") -> None:
        """Delete a draft; NotFound if somebody has decided on it meanwhile, Changed if it is not the version read."""
        path = f"{paths.INBOX}/{name}.json"
        if not os.path.lexists(files.inside(self._store.root, path)):
            raise NotFound(f"the draft {shorten(name)!r} is no longer in the inbox", fix="onrecord inbox")
        if expected_hash:
            self._store.expect(path, expected_hash)
        self.drop(path)

    def commit(self) -> None:
        changes = self._changes()
        if not changes and not self.undoes:
            return
        root = self._store.root
        for path in changes:
            files.inside(root, path)
        self.change_id = journal.begin(root, changes, self.action, self.undoes)
        # From here on the records are on the disk: whatever fails now must not be reported as if they were not.
        try:
            listed = index_md.read(root)
            if listed:
                index_md.write(root, index_md.revise(listed, gone=self._drops, written=self.written.values()))
            else:
                self._store.rebuild_index_md()
            if any(not path.startswith(f"{paths.INBOX}/") for path in changes):
                self._store.renew_page()
            journal.end(root, self.change_id)
        except Unwritable as error:
            self._store.warn(error)

    def _changes(self) -> dict[str, str | None]:
        """The new text of each file; what comes is first: a reader sees a renamed record twice rather than never."""
        written = {path: memory.render(record).decode("utf-8") for path, record in self.written.items()}
        texts = {**written, **self._texts}
        return {**texts, **{path: None for path in self._drops if path not in texts}}


def _instead(store: Store, path: str, record_id: str) -> str:
    from onrecord.record import lifecycle

    try:
        record = store.read(path).memory
    except OnrecordError:
        return f"the file {path} is broken, to see why: onrecord doctor"
    return lifecycle.fix_for_status(record, f"onrecord edit {record_id}; or give the new record another title")


class DryRunStore(Store):
    """A store in which everything is checked and nothing is written; later reads see what would have been written."""

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
        ahead = {path: record for path, record in self.planned.items() if category in ("", record.category)}
        for scanned in super().scan(category):
            ahead.pop(scanned.path, None)
            yield scanned
        yield from (self.read(path) for path in ahead)

    def _paths_of(self, reference: str) -> list[str]:
        present = super()._paths_of(reference)
        planned = [path for path in self._candidates(reference) if path in self.planned]
        return present + [path for path in planned if path not in present]

    @contextmanager
    def writing(self, action: str = "change") -> Iterator[Batch]:
        batch = _DryRunBatch(self)
        yield batch
        batch.commit()


class _DryRunBatch(Batch):
    def __init__(self, store: DryRunStore) -> None:
        super().__init__(store)
        self._dry_run = store

    def commit(self) -> None:
        self._dry_run.planned.update(self.written)
        self._dry_run.dropped += self._drops

"""A set as a real store: files on disk, the real index over them, and records that can be taken away for a while."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from onrecord import paths
from onrecord.recall.stores import Stores
from onrecord.record import memory
from onrecord.record.memory import Memory
from onrecord.search import index, indexing
from onrecord.search.index import Index


class _Staged(Stores):
    """The one store of a stage, whose index stays open."""

    def __init__(self, opened: Index) -> None:
        super().__init__(paths.store_refs(opened.root))
        self._opened = opened

    def open(self, root: str) -> Index:
        return self._opened

    def close(self, opened: Index) -> None:
        """Do nothing: the next prompt asks it, too."""


class Stage:
    """A store in a temporary folder, and its index in memory."""

    def __init__(self, records: Iterable[Memory]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="onrecord-bench-")
        self.root = self._folder.name
        self.records = tuple(records)
        self.paths = {record.id: record.path for record in self.records}
        write(self.root, self.records)
        self.index = index.in_memory(self.root)
        self.stores: Stores = _Staged(self.index)

    def close(self) -> None:
        self.index.close()
        self._folder.cleanup()

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def without(self, ids: Iterable[str]) -> Iterator[None]:
        """Give the same store without some records and without what they superseded."""
        gone = self._with_predecessors(set(ids))
        execute = self.index._connection.execute
        execute("SAVEPOINT present")
        try:
            indexing.remove(self.index, [self.paths[one] for one in sorted(gone) if one in self.paths])
            yield
        finally:
            execute("ROLLBACK TO present")
            execute("RELEASE present")

    def _with_predecessors(self, ids: set[str]) -> set[str]:
        while True:
            more = {record.id for record in self.records if record.superseded_by in ids} - ids
            if not more:
                return ids
            ids |= more


def write(root: str, records: Iterable[Memory]) -> None:
    """Write records as files, without the checks of a save: the sets hold longer titles than we allow."""
    for record in records:
        path = os.path.join(root, record.path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(memory.render(record))

"""A store in which changes are only checked, for `--dry-run`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Union

from onrecord.coldstart import digest
from onrecord.record import memory
from onrecord.record.memory import Memory
from onrecord.store.store import Batch, Broken, Entry, Store


class DryRunStore(Store):
    """A store in which everything is checked and nothing is written; later reads see what would have been written."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.planned: dict[str, Memory] = {}
        self.dropped: list[str] = []

    def read(self, path: str) -> Entry:
        if path in self.planned:
            record = self.planned[path]
            return Entry(record, path, digest(memory.render(record)))
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
        batch = _Plan(self)
        yield batch
        batch.commit()


class _Plan(Batch):
    def __init__(self, store: DryRunStore) -> None:
        super().__init__(store)
        self._dry_run = store

    def commit(self) -> None:
        self._dry_run.planned.update(self.written)
        self._dry_run.dropped += self._drops

"""A store in which everything is checked and nothing is written: what `--dry-run` works on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Union

from recollect.coldstart import digest
from recollect.record import memory
from recollect.record.memory import Memory
from recollect.store.store import Batch, Broken, Entry, Store


class DryRunStore(Store):
    """A store that remembers what would have been written to it, and shows it to whoever reads on."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.planned: dict[str, Memory] = {}
        self.dropped: list[str] = []

    def read(self, path: str) -> Entry:
        if path in self.planned:
            record = self.planned[path]
            return Entry(record, path, digest(memory.render(record)))
        return super().read(path)

    def scan(self) -> Iterator[Union[Entry, Broken]]:
        ahead = dict(self.planned)
        for found in super().scan():
            ahead.pop(found.path, None)
            yield found
        yield from (self.read(path) for path in ahead)

    def _paths_of(self, reference: str) -> list[str]:
        known = super()._paths_of(reference)
        return known + [path for path in self._candidates(reference) if path in self.planned and path not in known]

    @contextmanager
    def writing(self) -> Iterator[Batch]:
        batch = _Plan(self)
        yield batch
        batch.commit()


class _Plan(Batch):
    def __init__(self, store: DryRunStore) -> None:
        super().__init__(store)
        self._dry_run = store

    def commit(self) -> None:
        self._dry_run.planned.update(self._puts)
        self._dry_run.dropped += self._drops

"""Putting records into the index and taking them out. Loaded only when a file has changed."""

from __future__ import annotations

import time
from collections.abc import Iterable

from recollect.categories import BY_NAME
from recollect.errors import RecollectError
from recollect.freshness import anchors
from recollect.record import summary_line
from recollect.record.fields import Day
from recollect.record.memory import Memory
from recollect.record.schema import content_fields
from recollect.search import by_file, digest_columns, document, refresh
from recollect.search.document import Document
from recollect.search.index import Index
from recollect.store.store import Store

_INSERT = (
    "INSERT INTO record (path, mtime, size, id, category, title, tags, status, updated_at, expires, void, essence,"
    " anchors, facts, title_terms, tag_terms, trigger_terms, body_terms)"
    " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
)
_COUNT = (
    "INSERT INTO term VALUES (?, ?, ?) ON CONFLICT (term)"
    " DO UPDATE SET records = records + excluded.records, heads = heads + excluded.heads"
)


def replace(index: Index, paths: Iterable[str], deadline: float | None) -> bool:
    """Index the files at some paths as they are now; whether all were done before the deadline."""
    work = _Work(index)
    finished = True
    for path in paths:
        if deadline is not None and time.monotonic() > deadline:
            finished = False
            break
        work.remove(path)
        work.add(path)
    work.finish()
    return finished


def forget(index: Index, paths: Iterable[str]) -> None:
    """Take records out, whatever files there are."""
    work = _Work(index)
    for path in paths:
        work.remove(path)
    work.finish()


class _Work:
    """A run of changes, whose effect on the counts of terms is gathered and written once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._store = Store(index.root)
        self._terms: dict[str, list[int]] = {}
        self._totals = [0, 0, 0]

    def remove(self, path: str) -> None:
        for row in self._index.rows("WHERE path = ?", (path,)):
            fields = (row.title_terms, row.tag_terms, row.trigger_terms, row.body_terms)
            if self._index.has_words and row.status != "broken":
                table = _table(row.status)
                self._index.connection.execute(
                    f"INSERT INTO {table} ({table}, rowid, title_terms, tag_terms, trigger_terms, body_terms)"
                    " VALUES ('delete', ?, ?, ?, ?, ?)",
                    (row.n, *fields),
                )
            if row.status == "active":
                self._count(Document(*fields), -1)
            self._index.connection.execute("DELETE FROM record WHERE n = ?", (row.n,))
            self._index.connection.execute("DELETE FROM succession WHERE said_by = ?", (row.n,))
            self._index.connection.execute("DELETE FROM place WHERE n = ?", (row.n,))

    def add(self, path: str) -> None:
        # The stamp is taken before reading: an edit in between is seen next time, never lost.
        stamp = refresh.stamp(self._index.root, path)
        if stamp is None:
            return
        try:
            memory = self._store.read(path).memory
        except RecollectError:
            self._index.connection.execute(_INSERT, (path, *stamp, "", "", "", "", "broken", *[""] * 10))
            return
        self._insert(path, stamp, memory, document.of(memory))

    def _insert(self, path: str, stamp: tuple[int, int], memory: Memory, text: Document) -> None:
        execute = self._index.connection.execute
        fields = (text.title, text.tags, text.triggers, text.body)
        values = (path, *stamp, memory.id, memory.category, memory.title, "\n".join(memory.tags), memory.record_status)
        more = (memory.updated_at, _expiry(memory), _is_void(memory), summary_line.of(memory))
        n = execute(_INSERT, (*values, *more, anchors.compact(memory), digest_columns.pack(memory), *fields)).lastrowid
        if self._index.has_words:
            table = _table(memory.record_status)
            execute(
                f"INSERT INTO {table} (rowid, title_terms, tag_terms, trigger_terms, body_terms) VALUES (?,?,?,?,?)",
                (n, *fields),
            )
        if memory.record_status == "active":
            self._count(text, 1)
        for spot, name, gravity in by_file.of(memory):
            execute("INSERT INTO place VALUES (?, ?, ?, ?)", (spot, name, gravity, n))
        if memory.superseded_by:
            execute("INSERT INTO succession VALUES (?, ?, ?)", (memory.id, memory.superseded_by, n))
        for old in memory.supersedes:
            execute("INSERT INTO succession VALUES (?, ?, ?)", (old, memory.id, n))

    def _count(self, text: Document, step: int) -> None:
        title, body = text.title.split(), text.body.split()
        self._totals = [
            self._totals[0] + step,
            self._totals[1] + step * len(title),
            self._totals[2] + step * len(body),
        ]
        heads = {*title, *text.triggers.split()} - {"|"}
        for term in heads.union(text.tags.split(), body):
            self._terms.setdefault(term, [0, 0])[0] += step
        for term in heads:
            self._terms[term][1] += step

    def finish(self) -> None:
        many = self._index.connection.executemany
        many(_COUNT, [(term, *counts) for term, counts in self._terms.items() if counts != [0, 0]])
        many(
            "DELETE FROM term WHERE term = ? AND records <= 0",
            [(term,) for term, counts in self._terms.items() if counts[0] < 0],
        )
        self._index.connection.execute(
            "UPDATE total SET records = records + ?, title_terms = title_terms + ?, body_terms = body_terms + ?",
            self._totals,
        )


def _table(status: str) -> str:
    return "word" if status == "active" else "past"


def _expiry(memory: Memory) -> str:
    days = [field.name for field in content_fields(memory.category) if isinstance(field.kind, Day)]
    return next((memory.text(name) for name in days), "")


def _is_void(memory: Memory) -> bool:
    """Whether the record itself says that it no longer holds."""
    field, values = BY_NAME[memory.category].void
    return memory.content.get(field) in values

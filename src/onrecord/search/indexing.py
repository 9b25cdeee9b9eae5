"""How records get into the index and out of it. Loaded only when a file has changed."""

from __future__ import annotations

import time
from collections.abc import Iterable

from onrecord import coldstart, files, state_file
from onrecord.errors import OnrecordError
from onrecord.freshness import anchors
from onrecord.record import summary_line
from onrecord.record.memory import LARGEST_FILE, Memory
from onrecord.search import candidates, document, record_vectors, refresh
from onrecord.search.document import Document
from onrecord.search.index import Index
from onrecord.store.store import Store

HOOK_CPU = 0.12
"""Seconds of computing that a hook may spend reading records: some 100. Writing them takes half as long again, and a
whole hook must stay below 60 bare interpreters, on machines where one takes 8 ms, too."""

_MOST_IN_CIRCLES = 1_000
"""Records in circles of supersession that are resolved; nobody has so many but who wants to keep us busy."""

_COLUMNS = (
    "n, path, mtime, size, hash, id, category, title, tags, status, updated_at, expires, void, summary_line, anchors,"
    " scope, facts, title_terms, tag_terms, trigger_terms, body_terms, created_at, may_be_urgent"
)
_INSERT = f"INSERT INTO record ({_COLUMNS}) VALUES ({','.join('?' * 23)})"
_COUNT = (
    "INSERT INTO term VALUES (?, ?, ?) ON CONFLICT (term)"
    " DO UPDATE SET records = records + excluded.records, titles = titles + excluded.titles"
)
_TOTAL = "UPDATE total SET records = records + ?, title_terms = title_terms + ?, body_terms = body_terms + ?"


def replace(index: Index, paths: Iterable[str], deadline: float | None) -> bool:
    """Index the files at some paths as they are now; whether all were done before the deadline."""
    changes = _Changes(index)
    is_complete = True
    most_cpu = time.process_time() + HOOK_CPU
    for path in paths:
        if deadline is not None and (time.monotonic() > deadline or time.process_time() > most_cpu):
            is_complete = False
            break
        changes.renew(path)
    changes.finish()
    return is_complete


def remove(index: Index, paths: Iterable[str]) -> None:
    """Take records out, whatever files there are."""
    changes = _Changes(index)
    for path in paths:
        changes.remove(path)
    changes.finish()


class _Changes:
    """A run of changes, whose effect on the counts of terms is gathered and written once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._execute = index._connection.execute
        self._store = Store(index.root)
        self._terms: dict[str, list[int]] = {}
        self._totals = [0, 0, 0]
        self._vectors = record_vectors.Blocks(index)

    def remove(self, path: str) -> int | None:
        """Take a record out; its number, which the next version of it gets."""
        n = None
        for row in self._index._select("WHERE path = ?", (path,)):
            fields = Document(row.title_terms, row.tag_terms, row.trigger_terms, row.body_terms)
            if self._index.has_words and row.status != "broken":
                table = _table(row.status)
                # An external-content table can only forget a row if it is told what the row held.
                self._execute(
                    f"INSERT INTO {table} ({table}, rowid, title_terms, tag_terms, trigger_terms, body_terms)"
                    " VALUES ('delete', ?, ?, ?, ?, ?)",
                    (row.n, *fields),
                )
            if row.status == "active":
                self._count(fields, -1)
            for name in ("record", "succession", "record_file"):
                self._execute(f"DELETE FROM {name} WHERE n = ?", (row.n,))
            self._vectors.remove(row.n)
            n = row.n
        return n

    def renew(self, path: str) -> None:
        """Put the file at a path in the place of what is indexed of it; where its content is the same, that stays."""
        # The stamp is taken before reading: an edit in between is seen next time, never lost.
        stamp = refresh.stamp(self._index.root, path)
        if stamp is not None:
            indexed = self._execute("SELECT hash FROM record WHERE path = ?", (path,)).fetchone()
            if indexed and indexed[0] and indexed[0] == self._hash(path):
                self._execute("UPDATE record SET mtime = ?, size = ? WHERE path = ?", (*stamp, path))
                return
        n = self.remove(path)
        if stamp is not None:
            self.add(path, stamp, n)

    def _hash(self, path: str) -> str:
        try:
            return coldstart.digest(files.read_inside(self._index.root, path, LARGEST_FILE + 1))
        except (OSError, OnrecordError):
            return ""

    def add(self, path: str, stamp: tuple[int, int], n: int | None) -> None:
        try:
            memory, _, content = self._store.read(path)
            text, spots, made = document.of(memory), document.places(memory), self._vectors.of(memory)
            may_be_urgent = document.may_be_urgent(memory)
            more = (memory.updated_at, document.expiry(memory), document.is_void(memory), summary_line.of(memory))
            facts = (*more, anchors.compact(memory), document.pack_scope(memory), document.pack_facts(memory))
        except Exception as error:
            # Whatever is wrong with one record, the others must be found: everything that could fail comes before here.
            if not isinstance(error, OnrecordError):
                state_file.leave(f"index {path}", f"{type(error).__name__}: {error}")
            self._execute(_INSERT, (n, path, *stamp, "", "", "", "", "", "broken", *[""] * 13))
            return
        named = (memory.id, memory.category, memory.title, "\n".join(memory.tags), memory.record_status)
        values = (n, path, *stamp, content, *named, *facts, *text, memory.created_at, may_be_urgent)
        n = self._execute(_INSERT, values).lastrowid or 0
        self._vectors.add(n, made, is_active=memory.record_status == "active")
        self._insert(memory, n, text, spots)

    def _insert(self, memory: Memory, n: int, text: Document, spots: list[tuple[str, str, int]]) -> None:
        if self._index.has_words:
            self._execute(
                f"INSERT INTO {_table(memory.record_status)} (rowid, title_terms, tag_terms, trigger_terms, body_terms)"
                " VALUES (?,?,?,?,?)",
                (n, *text),
            )
        if memory.record_status == "active":
            self._count(text, 1)
        many = self._index._connection.executemany
        many("INSERT INTO record_file VALUES (?, ?, ?, ?)", [(*spot, n) for spot in spots])
        links = [(memory.id, memory.superseded_by)] if memory.superseded_by else []
        links += [(old, memory.id) for old in memory.supersedes]
        many("INSERT INTO succession VALUES (?, ?, ?)", [(old, new, n) for old, new in links if old != new])

    def _count(self, text: Document, step: int) -> None:
        title, body = text.title.split(), text.body.split()
        counts = (1, len(title), len(body))
        self._totals = [total + step * count for total, count in zip(self._totals, counts)]
        in_title = {*title, *text.triggers.split()} - {"|"}
        for term in in_title.union(text.tags.split(), body):
            self._terms.setdefault(term, [0, 0])[0] += step
        for term in in_title:
            self._terms[term][1] += step

    def finish(self) -> None:
        many = self._index._connection.executemany
        many(_COUNT, [(term, *counts) for term, counts in self._terms.items() if counts != [0, 0]])
        fewer = [(term,) for term, counts in self._terms.items() if counts[0] < 0]
        many("DELETE FROM term WHERE term = ? AND records <= 0", fewer)
        self._execute(_TOTAL, self._totals)
        self._vectors.finish()
        self._note_circles()

    def _note_circles(self) -> None:
        """Note the newest record of each circle of supersessions: it holds, although another claims to replace it."""
        self._execute("DELETE FROM cycle_winner")
        links = self._execute("SELECT old, new FROM succession").fetchall()
        for record_id in sorted(in_circles(links))[:_MOST_IN_CIRCLES]:
            rows = self._index._select("WHERE id = ?", (record_id,))
            if rows and candidates.successors(self._index, rows[:1])[rows[0].n] in rows:
                self._execute("INSERT OR IGNORE INTO cycle_winner VALUES (?)", (record_id,))
                # It says itself that it was superseded, as all of the circle do.
                self._execute("UPDATE record SET void = 0 WHERE id = ?", (record_id,))


def in_circles(links: Iterable[tuple[str, str]]) -> set[str]:
    """The ids that lead into a circle of links from old to new, so that following them never ends."""
    successors: dict[str, set[str]] = {}
    predecessors: dict[str, set[str]] = {}
    for old, new in links:
        successors.setdefault(old, set()).add(new)
        predecessors.setdefault(new, set()).add(old)
    ends = [new for new in predecessors if new not in successors]
    while ends:
        end = ends.pop()
        for old in predecessors.get(end, ()):
            successors[old].discard(end)
            if not successors[old]:
                del successors[old]
                ends.append(old)
    return set(successors)


def _table(status: str) -> str:
    return "active_text" if status == "active" else "inactive_text"

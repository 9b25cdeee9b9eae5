"""Putting records into the index: added, removed and edited records get into it and out of it.

`search.refresh` finds out which files have changed; a record about to be shown is always checked. What it takes to read
a record is imported only when a file has changed.
"""

from __future__ import annotations

import os
import time

from onrecord import coldstart
from onrecord.categories import CATEGORIES
from onrecord.search import command_filter, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onrecord.errors import Unwritable
    from onrecord.record.memory import Memory
    from onrecord.search.document import Document
    from onrecord.search.index import Index

FOLDERS = tuple(category.folder for category in CATEGORIES.values())

LARGE_BYTES = 8_000
"""Bytes of a file that is larger than nearly all records."""

_ENDLESS = float("inf")

_UNSEEN = (-1, -1)
"""Stamp of a file that the disk did not show or give: it fits no file, so that the file is read again next time."""

_MAX_IN_CIRCLES = 1_000
"""Records in cycles of supersession that are resolved; only a hostile store has more."""

_COLUMNS = (
    "n, path, mtime, size, hash, id, category, title, tags, status, updated_at, expires, void, rule_line, mark, areas,"
    " standing, scope, facts, summary_line, anchors, title_terms, tag_terms, trigger_terms, body_terms, created_at"
)
_INSERT = f"INSERT INTO record ({_COLUMNS}) VALUES ({','.join('?' * 26)})"
_COUNT = (
    "INSERT INTO term VALUES (?, ?, ?) ON CONFLICT (term)"
    " DO UPDATE SET records = records + excluded.records, titles = titles + excluded.titles"
)
_LINK = """
INSERT INTO succession SELECT c.old, c.new, c.n FROM claim c WHERE c.side = 0 AND (
    EXISTS (SELECT 1 FROM claim d WHERE d.old = c.old AND d.new = c.new AND d.side = 1)
    OR NOT EXISTS (SELECT 1 FROM record WHERE id = c.new)
)"""
"""Links what both records claim; one whose successor is not there was withdrawn (`record.validity`)."""

_NOT_LINKED = "NOT EXISTS (SELECT 1 FROM succession s WHERE s.old = c.old AND s.new = c.new AND s.n = c.n)"
_MAX_RELINKED = 500
"""Changed records whose links are made one by one; for more, all links are made anew."""

_COUNT_AREA = (
    "INSERT INTO area VALUES (?, ?, ?) ON CONFLICT (name, scope) DO UPDATE SET records = records + excluded.records"
)
_TOTAL = "UPDATE total SET records = records + ?, title_terms = title_terms + ?, body_terms = body_terms + ?"


def is_complete(index: Index) -> bool:
    """True if every file was indexed: a hook that ran out of time has left some for the next one."""
    indexed = folder_times(index)
    now = command_filter.folder_times(index.root)
    return all(indexed.get(folder, 0) in (-1, now[folder]) for folder in FOLDERS)


def is_unchanged(index: Index, path: str) -> bool:
    """True if a file is as it was indexed."""
    indexed = index._connection.execute("SELECT mtime, size FROM record WHERE path = ?", (path,)).fetchone()
    return indexed is not None and stamp(index.root, path) == indexed


def changed_since(index: Index, record_paths: Sequence[str]) -> list[str]:
    """Return those of these paths whose file is not as it was indexed; paths that are not indexed are left out."""
    query = f"SELECT path, mtime, size FROM record WHERE path IN ({','.join('?' * len(record_paths))})"
    rows = index._connection.execute(query, record_paths).fetchall()
    return [path for path, mtime, size in rows if stamp(index.root, path) != (mtime, size)]


def reread(index: Index, names: Iterable[str]) -> None:
    """Index the records at these paths again, whatever the index has of them. Raises SqliteError if it is locked."""
    is_reading = index._connection.in_transaction
    if is_reading:
        index._connection.execute("ROLLBACK")
    try:
        index._connection.execute("BEGIN IMMEDIATE")
        with index._connection:
            replace(index, names)
    finally:
        if is_reading:
            # What is read from now on is one state again, a later one.
            index._connection.execute("BEGIN")


def stamp(root: str, path: str) -> tuple[int, int] | None:
    """Return modification time and size, which differ between versions of a file; None if there is no file.

    Of a file that the disk does not show it returns a time that no file has: the file may be there, and is read.
    """
    try:
        # Joined by hand: this is done for every record of a store, and `os.path.join` takes as long as the rest.
        status = os.stat(root + os.sep + path)
    except ValueError:
        return None
    except OSError as error:
        from onrecord import files

        return _UNSEEN if files.is_fault(error) else None
    return status.st_mtime_ns & command_filter.NANOSECONDS, status.st_size


def folder_times(index: Index) -> dict[str, int]:
    return dict(index._connection.execute("SELECT name, mtime FROM folder").fetchall())


def replace(
    index: Index,
    record_paths: Iterable[str],
    deadline: float = _ENDLESS,
    most_cpu: float = _ENDLESS,
    *,
    is_part: bool = False,
    is_strict: bool = False,
) -> int:
    """Index the files at these paths as they are now; return how many were left when the time was up.

    At least one is indexed whatever the time, so that each hook on a very slow machine gets further than the last.
    `is_part` says that others follow, so that what concerns all records is done at the end. Raises Unwritable with
    `is_strict` if the disk does not give one of the files.
    """
    changes = _Changes(index)
    names = list(record_paths)
    done = 0
    for path in names:
        if done and (time.monotonic() > deadline or time.process_time() > most_cpu):
            break
        changes.renew(path)
        done += 1
    changes.finish(is_part=is_part)
    if changes.unread and is_strict:
        raise changes.unread
    return len(names) - done


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
        from onrecord.search import record_vectors
        from onrecord.store.store import Store

        self._store = Store(index.root)
        self._terms: dict[str, list[int]] = {}
        self._areas: dict[tuple[str, str], int] = {}
        self._totals = [0, 0, 0]
        self._has_filter = not index.in_memory and command_filter.exists(index.root)
        self._keys: set[str] = set()
        """Keys of the added records for the filter of commands, if there is one; a missing one is made later."""
        self._vectors = record_vectors.Blocks(index)
        self._relinked: set[str] = set()
        """Ids of records that were added or removed, so that their links may count now, or no longer."""
        self.unread: Unwritable | None = None
        """Why a file could not be read, if the disk is to blame."""

    def remove(self, path: str) -> int | None:
        """Take a record out; return its number, which the next version of it gets."""
        from onrecord.search import document

        n = None
        for row in self._index._select("WHERE path = ?", (path,)):
            fields = document.Document(row.title_terms, row.tag_terms, row.trigger_terms, row.body_terms)
            if self._index.has_words and row.status != "broken":
                table = _table(row.status)
                # An external-content table can only forget a row if it is given what the row had.
                self._execute(
                    f"INSERT INTO {table} ({table}, rowid, title_terms, tag_terms, trigger_terms, body_terms)"
                    " VALUES ('delete', ?, ?, ?, ?, ?)",
                    (row.n, *fields),
                )
            if row.status == "active":
                self._count(fields, -1)
                self._count_areas(row.category, row.areas, row.scope, 0 if row.void else -1)
            self._relinked.add(row.id)
            for name in ("record", "claim", "record_file", "record_check"):
                self._execute(f"DELETE FROM {name} WHERE n = ?", (row.n,))
            self._vectors.remove(row.n)
            n = row.n
        return n

    def renew(self, path: str) -> None:
        """Put the file at a path in the place of what is indexed of it; where its content is the same, that stays."""
        # The stamp is taken before reading: an edit in between is seen next time, never lost.
        file_stamp = stamp(self._index.root, path)
        if file_stamp is not None:
            indexed = self._execute("SELECT hash FROM record WHERE path = ?", (path,)).fetchone()
            if indexed and indexed[0] and indexed[0] == self._hash(path):
                self._execute("UPDATE record SET mtime = ?, size = ? WHERE path = ?", (*file_stamp, path))
                return
        n = self.remove(path)
        if file_stamp is not None:
            self.add(path, file_stamp, n)

    def _hash(self, path: str) -> str:
        from onrecord import files
        from onrecord.errors import OnrecordError
        from onrecord.record.memory import MAX_FILE_BYTES

        try:
            return coldstart.content_hash(files.read_inside(self._index.root, path, MAX_FILE_BYTES + 1))
        except (OSError, OnrecordError):
            return ""

    def add(self, path: str, file_stamp: tuple[int, int], n: int | None) -> None:
        """Index the record at `path`, whose stamp is `file_stamp`, under number `n`."""
        from onrecord.errors import OnrecordError, Unwritable
        from onrecord.freshness import anchors
        from onrecord.record import summary_line, validity
        from onrecord.search import document

        try:
            memory, _, content = self._store.read(path)
            text, record_files, vectors = document.build(memory), document.places(memory), self._vectors.build(memory)
            in_map = document.in_map(memory)
            scope, is_void = document.pack_scope(memory), validity.is_void(memory)
            facts = (memory.updated_at, validity.expiry(memory), is_void, *in_map, scope, document.pack_facts(memory))
            shown = (summary_line.render(memory), anchors.dump(memory))
        except Exception as error:
            # Whatever is wrong with one record, the others must be found: everything that could fail comes before here.
            if not isinstance(error, OnrecordError):
                from onrecord import state_file

                state_file.log_failure(f"index {path}", f"{type(error).__name__}: {error}")
            elif isinstance(error, Unwritable):
                # The disk did not give the file: with this stamp it is read again next time.
                self.unread, file_stamp = error, _UNSEEN
            self._execute(_INSERT, (n, path, *file_stamp, "", "", "", "", "", "broken", *[""] * 16))
            return
        head = (memory.id, memory.category, memory.title, "\n".join(memory.tags), memory.record_status)
        values = (n, path, *file_stamp, content, *head, *facts, *shown, *text, memory.created_at)
        n = self._execute(_INSERT, values).lastrowid or 0
        if memory.record_status == "active" and not is_void:
            self._count_areas(memory.category, in_map.areas, scope, 1)
        self._vectors.add(n, vectors, is_active=memory.record_status == "active")
        self._insert(memory, n, text, record_files)

    def _insert(self, memory: Memory, n: int, text: Document, record_files: list[tuple[str, str, int]]) -> None:
        if self._index.has_words:
            self._execute(
                f"INSERT INTO {_table(memory.record_status)} (rowid, title_terms, tag_terms, trigger_terms, body_terms)"
                " VALUES (?,?,?,?,?)",
                (n, *text),
            )
        if memory.record_status == "active":
            self._count(text, 1)
        if memory.record_status == "active" and self._has_filter:
            patterns = [(pattern, gravity) for pattern, _, gravity in record_files]
            self._keys |= command_filter.record_keys(text.title, text.triggers, text.body, patterns)
        many = self._index._connection.executemany
        many("INSERT INTO record_file VALUES (?, ?, ?, ?)", [(*record_file, n) for record_file in record_files])
        from onrecord.search import document

        checks = [(word, n, is_firm, body) for word, is_firm, body in document.checks(memory)]
        self._keys |= command_filter.check_keys(word for word, *_ in checks)
        many("INSERT INTO record_check VALUES (?, ?, ?, ?)", checks)
        claims = [(memory.id, memory.superseded_by, 0)] if memory.superseded_by else []
        claims += [(old, memory.id, 1) for old in memory.supersedes]
        many("INSERT INTO claim VALUES (?, ?, ?, ?)", [(old, new, n, side) for old, new, side in claims if old != new])
        self._relinked.add(memory.id)

    def _count(self, text: Document, sign: int) -> None:
        # A joined word counts as a term of the record and adds nothing to its length.
        counts = (1, *(len(terms.respelled(field).split()) for field in (text.title, text.body)))
        title, tags, triggers, body = (field.replace(terms.JOINED, "").split() for field in text)
        self._totals = [total + sign * count for total, count in zip(self._totals, counts)]
        in_title = {*title, *triggers} - {"|"}
        for term in in_title.union(tags, body):
            self._terms.setdefault(term, [0, 0])[0] += sign
        for term in in_title:
            self._terms[term][1] += sign

    def _count_areas(self, category: str, areas: str, scope: str, sign: int) -> None:
        # The record itself is counted under an empty name, so that those without an area count, too.
        for area in ("", *filter(None, areas.split("\n"))) if CATEGORIES[category].is_in_map else ():
            self._areas[area, scope] = self._areas.get((area, scope), 0) + sign

    def finish(self, *, is_part: bool = False) -> None:
        """Write what was gathered. If others follow (`is_part`), cycles of supersession are left to the last run."""
        many = self._index._connection.executemany
        many(_COUNT, [(term, *counts) for term, counts in self._terms.items() if counts != [0, 0]])
        fewer = [(term,) for term, counts in self._terms.items() if counts[0] < 0]
        many("DELETE FROM term WHERE term = ? AND records <= 0", fewer)
        many(_COUNT_AREA, [(*key, count) for key, count in self._areas.items() if count])
        many("DELETE FROM area WHERE name = ? AND scope = ? AND records <= 0", list(self._areas))
        self._execute(_TOTAL, self._totals)
        self._vectors.finish()
        self._link()
        if not is_part:
            self._note_circles()
        self._extend_filter()

    def _link(self) -> None:
        """Make the supersessions of changed records those that both records claim."""
        if len(self._relinked) > _MAX_RELINKED:
            self._execute("DELETE FROM succession")
            self._execute(_LINK)
            return
        for record_id in self._relinked:
            for side in ("old", "new"):
                self._execute(f"DELETE FROM succession WHERE {side} = ?", (record_id,))
        # Those between two changed records are linked once.
        for record_id in sorted(self._relinked):
            for side in ("old", "new"):
                self._execute(f"{_LINK} AND c.{side} = ? AND {_NOT_LINKED}", (record_id,))

    def _extend_filter(self) -> None:
        """Put the keys of added records into the filter, before they are committed; a missing one is made later."""
        if self._keys and self._has_filter:
            try:
                command_filter.add(self._index.root, self._keys)
            except OSError:
                command_filter.discard(self._index.root)

    def _note_circles(self) -> None:
        """Note the newest record of each supersession cycle: it is current, although another claims to replace it."""
        from onrecord.search import candidates

        self._execute("DELETE FROM cycle_winner")
        links = self._execute("SELECT old, new FROM succession").fetchall()
        for record_id in sorted(in_circles(links))[:_MAX_IN_CIRCLES]:
            rows = self._index._select("WHERE id = ?", (record_id,))
            for n, current in candidates.successors(self._index, rows).items():
                if current and current.n == n and n in self._index.replaced([n]):
                    self._execute("INSERT OR IGNORE INTO cycle_winner VALUES (?)", (record_id,))
                    # It says itself that it was superseded, as all of the circle do.
                    self._execute("UPDATE record SET void = 0 WHERE n = ?", (n,))


def in_circles(links: Iterable[tuple[str, str]]) -> set[str]:
    """Return the ids that lead into a cycle of links from old to new, so that following them never ends."""
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

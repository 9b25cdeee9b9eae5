"""Keeping the index in step with the files: added, removed and edited records get into it and out of it.

A store of thousands is not checked file by file before every prompt. A hook checks the folders' times, which show added
and removed files, and a slice of the files; a record about to be shown is always checked. What it takes to read a
record is imported only when a file has changed.
"""

from __future__ import annotations

import os
import time

from onrecord import coldstart
from onrecord.categories import CATEGORIES
from onrecord.search import command_filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onrecord.record.memory import Memory
    from onrecord.search.document import Document
    from onrecord.search.index import Index

    Watch = Callable[[Iterable[str]], Iterable[str]]

FOLDERS = tuple(category.folder for category in CATEGORIES.values())

HOOK_SECONDS = 1.5
"""Time that a hook may spend on indexing; what is left is for the next one."""

SLICE, LARGER_SLICE = 64, 512
"""Files that a hook checks when no folder has changed, and when one has: then others were probably edited too."""

_MAX_CHECKED_FILES = 50_000
"""Files that a command checks: all in any store but a huge one, where checking them would take seconds."""

_LARGE_BYTES = 8_000
"""Bytes of a file that is larger than nearly all records."""

_YOUNG_NANOSECONDS = 2_000_000_000
"""Nanoseconds: a folder changed this recently may change again within the same tick of its clock."""

HOOK_CPU_SECONDS = 0.12
"""Seconds of computing that a hook may spend reading records: some 100. Writing them takes half as long again, and a
whole hook must stay below 60 bare interpreters, on machines where one takes 8 ms, too."""

_MAX_FILTERED_BY_HOOK = 600
"""Records from which a hook makes a missing filter, in some 0.1 s."""

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
_COUNT_AREA = (
    "INSERT INTO area VALUES (?, ?, ?) ON CONFLICT (name, scope) DO UPDATE SET records = records + excluded.records"
)
_TOTAL = "UPDATE total SET records = records + ?, title_terms = title_terms + ?, body_terms = body_terms + ?"


def refresh(index: Index, *, hook: bool, watch: Watch = iter) -> bool:
    """Bring the index in step; True if anything changed. A hook leaves it as it is while another process writes."""
    before = _folder_times(index)
    now = command_filter.folder_times(index.root)
    moved = [folder for folder in FOLDERS if now[folder] != before.get(folder)]
    edited = _edited(index, (LARGER_SLICE if moved else SLICE) if hook else _MAX_CHECKED_FILES)
    if not moved and not edited:
        _confirm_filter(index, hook=hook)
        return False
    try:
        index._connection.execute("BEGIN IMMEDIATE")
    except coldstart.SqliteError:
        if hook and before:
            return False
        raise
    with index._connection:
        changed = [*edited, *(path for folder in moved for path in _added_and_removed(index, folder))]
        deadline = time.monotonic() + HOOK_SECONDS if hook else None
        _apply(index, watch(dict.fromkeys(changed)), {folder: now[folder] for folder in moved}, deadline)
    _confirm_filter(index, hook=hook)
    return True


def _confirm_filter(index: Index, *, hook: bool) -> None:
    """Bring the filter of commands in step with the index; make a missing one."""
    if index.in_memory:
        return
    try:
        if not command_filter.exists(index.root):
            _make_filter(index, hook=hook)
        command_filter.confirm(index.root, _folder_times(index))
    except OSError:
        # Without a filter the index is opened for every command.
        command_filter.discard(index.root)


def _make_filter(index: Index, *, hook: bool) -> None:
    """Make the filter from what is indexed. A hook has no time for a large store, so a command makes it."""
    execute = index._connection.execute
    (count,) = execute("SELECT count(*) FROM record").fetchone()
    command_filter.discard(index.root)
    if hook and count > _MAX_FILTERED_BY_HOOK:
        return
    files: dict[int, list[tuple[str, int]]] = {}
    for pattern, gravity, n in execute("SELECT pattern, gravity, n FROM record_file"):
        files.setdefault(n, []).append((pattern, gravity))
    rows = execute("SELECT n, title_terms, trigger_terms, body_terms FROM record WHERE status = 'active'")
    keys: set[str] = set()
    for n, title, triggers, body in rows:
        keys |= command_filter.record_keys(title, triggers, body, files.get(n, ()))
    keys |= command_filter.check_keys(word for (word,) in execute("SELECT DISTINCT word FROM record_check"))
    command_filter.add(index.root, keys, count)


def is_complete(index: Index) -> bool:
    """True if every file was indexed: a hook that ran out of time has left some for the next one."""
    indexed = _folder_times(index)
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
    """Index the records at these paths again, whatever the index has of them."""
    index._connection.execute("BEGIN IMMEDIATE")
    with index._connection:
        replace(index, names, None)


def stamp(root: str, path: str) -> tuple[int, int] | None:
    """Return modification time and size, which differ between versions of a file; None if there is no file."""
    try:
        # Joined by hand: this is done for every record of a store, and `os.path.join` takes as long as the rest.
        status = os.stat(root + os.sep + path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def _folder_times(index: Index) -> dict[str, int]:
    return dict(index._connection.execute("SELECT name, mtime FROM folder").fetchall())


def _edited(index: Index, limit: int) -> list[str]:
    """Return the records whose file is not the indexed one, in a slice that moves with the clock."""
    execute = index._connection.execute
    last = execute("SELECT max(n) FROM record").fetchone()[0] or 0
    start = time.time_ns() // 1_000_000 % last if last > limit else 0
    rows = execute("SELECT path, mtime, size FROM record WHERE n >= ? LIMIT ?", (start, limit))
    return [path for path, mtime, size in rows.fetchall() if stamp(index.root, path) != (mtime, size)]


def _apply(index: Index, changed_paths: Iterable[str], folders: dict[str, int], deadline: float | None) -> None:
    if replace(index, changed_paths, deadline):
        settled = time.time_ns() - _YOUNG_NANOSECONDS
        index._connection.executemany(
            "INSERT OR REPLACE INTO folder VALUES (?, ?)",
            [(folder, mtime if mtime < settled else -1) for folder, mtime in folders.items()],
        )


def _added_and_removed(index: Index, folder: str) -> list[str]:
    from onrecord.store import record_names

    # The names of records are ASCII; another could have bytes that are no text, which SQLite refuses.
    there = {f"{folder}/{name}" for name in record_names.in_folder(index.root, folder) if name.isascii()}
    rows = index._connection.execute(
        "SELECT path FROM record WHERE path > ? AND path < ?", (folder + "/", folder + "0")
    ).fetchall()
    changed = there.symmetric_difference(path for (path,) in rows)
    # In order, so that equal stores have equal indexes: ties in a search are settled by the number of a record. Large
    # ones last: one that takes all of a hook's time must not keep the others out.
    return sorted(changed, key=lambda path: ((stamp(index.root, path) or (0, 0))[1] > _LARGE_BYTES, path))


def replace(index: Index, paths: Iterable[str], deadline: float | None) -> bool:
    """Index the files at `paths` as they are now; True if all were done before the deadline."""
    changes = _Changes(index)
    is_complete = True
    most_cpu = time.process_time() + HOOK_CPU_SECONDS
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
        from onrecord.search import record_vectors
        from onrecord.store.store import Store

        self._store = Store(index.root)
        self._terms: dict[str, list[int]] = {}
        self._areas: dict[tuple[str, str], int] = {}
        self._totals = [0, 0, 0]
        self._keys: set[str] = set()
        """Keys of the added records for the filter of commands."""
        self._vectors = record_vectors.Blocks(index)

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
            for name in ("record", "succession", "record_file", "record_check"):
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
        from onrecord.errors import OnrecordError
        from onrecord.freshness import anchors
        from onrecord.record import summary_line
        from onrecord.search import document

        try:
            memory, _, content = self._store.read(path)
            text, record_files, vectors = document.build(memory), document.places(memory), self._vectors.build(memory)
            in_map = document.in_map(memory)
            scope, is_void = document.pack_scope(memory), document.is_void(memory)
            facts = (memory.updated_at, document.expiry(memory), is_void, *in_map, scope, document.pack_facts(memory))
            shown = (summary_line.render(memory), anchors.dump(memory))
        except Exception as error:
            # Whatever is wrong with one record, the others must be found: everything that could fail comes before here.
            if not isinstance(error, OnrecordError):
                from onrecord import state_file

                state_file.log_failure(f"index {path}", f"{type(error).__name__}: {error}")
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
            patterns = [(pattern, gravity) for pattern, _, gravity in record_files]
            self._keys |= command_filter.record_keys(text.title, text.triggers, text.body, patterns)
        many = self._index._connection.executemany
        many("INSERT INTO record_file VALUES (?, ?, ?, ?)", [(*record_file, n) for record_file in record_files])
        from onrecord.search import document

        checks = [(word, n, is_firm, body) for word, is_firm, body in document.checks(memory)]
        self._keys |= command_filter.check_keys(word for word, *_ in document.checks(memory))
        many("INSERT INTO record_check VALUES (?, ?, ?, ?)", checks)
        links = [(memory.id, memory.superseded_by)] if memory.superseded_by else []
        links += [(old, memory.id) for old in memory.supersedes]
        many("INSERT INTO succession VALUES (?, ?, ?)", [(old, new, n) for old, new in links if old != new])

    def _count(self, text: Document, sign: int) -> None:
        title, body = text.title.split(), text.body.split()
        counts = (1, len(title), len(body))
        self._totals = [total + sign * count for total, count in zip(self._totals, counts)]
        in_title = {*title, *text.triggers.split()} - {"|"}
        for term in in_title.union(text.tags.split(), body):
            self._terms.setdefault(term, [0, 0])[0] += sign
        for term in in_title:
            self._terms[term][1] += sign

    def _count_areas(self, category: str, areas: str, scope: str, sign: int) -> None:
        # The record itself is counted under an empty name, so that those without an area count, too.
        for area in ("", *filter(None, areas.split("\n"))) if CATEGORIES[category].is_in_map else ():
            self._areas[area, scope] = self._areas.get((area, scope), 0) + sign

    def finish(self) -> None:
        many = self._index._connection.executemany
        many(_COUNT, [(term, *counts) for term, counts in self._terms.items() if counts != [0, 0]])
        fewer = [(term,) for term, counts in self._terms.items() if counts[0] < 0]
        many("DELETE FROM term WHERE term = ? AND records <= 0", fewer)
        many(_COUNT_AREA, [(*key, count) for key, count in self._areas.items() if count])
        many("DELETE FROM area WHERE name = ? AND scope = ? AND records <= 0", list(self._areas))
        self._execute(_TOTAL, self._totals)
        self._vectors.finish()
        self._note_circles()
        self._extend_filter()

    def _extend_filter(self) -> None:
        """Put the keys of added records into the filter, before they are committed; a missing one is made later."""
        if self._keys and not self._index.in_memory and command_filter.exists(self._index.root):
            try:
                command_filter.add(self._index.root, self._keys, 0)
            except OSError:
                command_filter.discard(self._index.root)

    def _note_circles(self) -> None:
        """Note the newest record of each supersession cycle: it is current, although another claims to replace it."""
        from onrecord.search import candidates

        self._execute("DELETE FROM cycle_winner")
        links = self._execute("SELECT old, new FROM succession").fetchall()
        for record_id in sorted(in_circles(links))[:_MAX_IN_CIRCLES]:
            rows = self._index._select("WHERE id = ?", (record_id,))
            if rows and candidates.successors(self._index, rows[:1])[rows[0].n] in rows:
                self._execute("INSERT OR IGNORE INTO cycle_winner VALUES (?)", (record_id,))
                # It says itself that it was superseded, as all of the circle do.
                self._execute("UPDATE record SET void = 0 WHERE id = ?", (record_id,))


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

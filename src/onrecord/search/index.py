"""The search index: a SQLite file in the user's cache, derived from the store and always rebuildable.

It has, for each record, what ranking and injection need, so that a hook opens no record. Whatever is wrong
with the file (missing, corrupt, locked, of another version, on a read-only disk) means a quiet rebuild, in
memory if need be.
"""

from __future__ import annotations

import os
import time

from onrecord import coldstart, paths
from onrecord.search import command_filter, refresh, tables, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import TypeVar

    Result = TypeVar("Result")

_NO_NAMES: Mapping[str, str] = {}

VERSION = 35
"""Version of the tables (`search.tables`) and of the analysis behind them: if either changes, raise it."""


class Row(coldstart.NamedTuple):
    """One record as the index has it."""

    n: int
    path: str
    mtime: int
    size: int
    id: str
    category: str
    title: str
    tags: str
    status: str
    updated_at: str
    expires: str
    void: int
    """1 if the record itself says that it is no longer in force."""
    summary_line: str
    mark: str
    """What is not plain about it, such as `proposed`; the summary line begins with it."""
    anchors: str
    scope: str
    """Where it applies, as `scopes.unpack` reads it; empty for everywhere."""
    areas: str
    title_terms: str
    tag_terms: str
    trigger_terms: str
    body_terms: str

    def respelled(self, query_terms: Collection[str] = (), query_names: Mapping[str, str] = _NO_NAMES) -> Row:
        """Return the record with its names spelled as a query spells them: see `terms.respelled`."""
        fields = (self.title_terms, self.tag_terms, self.trigger_terms, self.body_terms)
        spelled = [terms.respelled(field, query_terms, query_names) for field in fields]
        return Row(*self[:-4], *spelled)


class RecordFile(coldstart.NamedTuple):
    """A file, folder or glob that a record is about."""

    pattern: str
    n: int
    """The number of the record."""
    gravity: int
    """0 for a record that it is gravest to ignore."""


class IndexedCheck(coldstart.NamedTuple):
    """A check of a record."""

    n: int
    """The number of the record."""
    is_firm: int
    """1 unless the record is only proposed."""
    body: str
    """The check, as `record.check.unpack` reads it."""


_COLUMNS = ", ".join(Row._fields)

REPLACED = "SELECT n FROM succession WHERE old NOT IN (SELECT id FROM cycle_winner)"
"""The SQL query for the numbers of the records that others replace."""

NOT_REPLACED = f"n NOT IN ({REPLACED})"
"""The SQL condition that no other record replaces a record."""

NOT_OVER = "(NOT void AND (expires = '' OR substr(expires, 1, 10) >= date('now')))"
"""The SQL condition that a record holds, as `record.validity` has it."""

IS_CURRENT = f"status = 'active' AND {NOT_OVER} AND {NOT_REPLACED}"

_SAME_ID = """
SELECT id, path, scope FROM record
WHERE id IN ({}) AND status = 'active' AND (expires = '' OR substr(expires, 1, 10) >= date('now'))
"""
# A record of a shared store cannot link back: its full name, such as `platform:use-uv`, is enough, an id alone is not.
_SUPERSEDES = """
SELECT old, path, scope FROM claim JOIN record USING (n)
WHERE old IN ({}) AND side = 1 AND instr(old, ':') AND status = 'active'
"""

MAX_VALUES = 400
"""Values in one statement: the oldest SQLite takes 999."""

_MAX_FILES = 1_000
"""Rows of `record_file` read for one file: bounds the work in a store with a thousand globs."""

_MAX_CHECKS = 1_000
"""Checks that are compared with one action; each takes some 20 microseconds."""

_DAY = 86_400

_DAMAGE = (TypeError, ValueError, AttributeError, LookupError)
"""Errors that content we never wrote leads to, beside those of SQLite."""


class Index:
    """An open index of one store."""

    def __init__(self, root: str, connection: coldstart.Connection, *, has_words: bool, file: str = "") -> None:
        self.root = root
        self.file = file
        """The file on disk; empty for an index in memory."""
        self._connection = connection
        self.has_words = has_words
        """True if SQLite has FTS5; without it the keyword scorer is used."""
        self.records = 0
        """How many records the store has, if a hook had no time to index all of them."""

    def refresh(self, *, hook: bool = False) -> bool:
        """Make the index agree with the files, within a hook's time limit or completely; True if it changed."""
        return refresh.refresh(self, hook=hook)

    def reopen(self, *, hook: bool) -> None:
        """Start over with a new file after SQLite found this one damaged."""
        self._connection.close()
        if not self.in_memory:
            _discard(self.root)
        self._become(open(self.root, hook=hook))

    def _become(self, fresh: Index) -> None:
        self._connection, self.has_words, self.file = fresh._connection, fresh.has_words, fresh.file
        self.records = fresh.records

    @property
    def in_memory(self) -> bool:
        """True if it is nowhere on disk."""
        return not self.file

    def run(self, read: Callable[..., Result], *args: object, hook: bool = False) -> Result:
        """Return `read(self, *args)`; if the index is damaged, rebuild it and read again.

        If another process is writing it, read from one in memory: its file is not damaged, or not ours to delete.
        """
        try:
            return self._read_one_state(read, *args)
        except (coldstart.SqliteError, *_DAMAGE) as error:
            if _is_in_use(self.file, error):
                self._connection.close()
                self._become(in_memory(self.root, hook=hook))
            else:
                self.reopen(hook=hook)
            return self._read_one_state(read, *args)

    def _read_one_state(self, read: Callable[..., Result], *args: object) -> Result:
        """Return `read(self, *args)`, all of it from one state: counts differ from the records of a moment later."""
        if self._connection.in_transaction:
            return read(self, *args)
        self._connection.execute("BEGIN")
        try:
            return read(self, *args)
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def close(self) -> None:
        self._connection.close()

    def totals(self) -> tuple[int, int, int]:
        """Return the number of active records, and of the terms in their titles and bodies."""
        records, title_terms, body_terms = self._connection.execute(
            "SELECT records, title_terms, body_terms FROM total"
        ).fetchone()
        return records, title_terms, body_terms

    def term_counts(self, terms: Iterable[str]) -> dict[str, tuple[int, int]]:
        """Return, for terms that occur, the number of active records, and of titles or triggers, that have them."""
        names = list(terms)
        marks = ",".join("?" * len(names))
        rows = self._connection.execute(f"SELECT term, records, titles FROM term WHERE term IN ({marks})", names)
        return {term: (records, titles) for term, records, titles in rows}

    def terms_like(self, prefix: str, limit: int) -> dict[str, tuple[int, int]]:
        """Return the commonest terms that begin with `prefix`."""
        rows = self._connection.execute(
            "SELECT term, records, titles FROM (SELECT * FROM term WHERE term > ? AND term < ? LIMIT 200)"
            " ORDER BY records DESC LIMIT ?",
            (prefix, prefix + "\U0010ffff", limit),
        )
        return {term: (records, titles) for term, records, titles in rows}

    def records_with(self, term: str, *, in_title: bool = False, retired: bool = False) -> list[str]:
        """Return the numbers of the records that have a term: anywhere, or in title and triggers."""
        table = "inactive_text" if retired else "active_text"
        where = "{title_terms trigger_terms}: " if in_title else ""
        # One text of all numbers comes out of SQLite faster than a row for each.
        (numbers,) = self._connection.execute(
            f"SELECT group_concat(rowid) FROM {table} WHERE {table} MATCH ?", (f'{where}"{term}"',)
        ).fetchone()
        return numbers.split(",") if numbers else []

    def rows(self, numbers: Iterable[int]) -> list[Row]:
        """Return the records with these `numbers`."""
        numbers_text = ",".join(str(int(n)) for n in numbers)
        return self._select(f"WHERE n IN ({numbers_text})") if numbers_text else []

    def not_replaced(self) -> list[Row]:
        """Return all records that can be read and that no other record replaces."""
        return self._select(f"WHERE status <> 'broken' AND {NOT_REPLACED}")

    def records_with_terms(self, category: str, term_groups: Iterable[Sequence[str]], limit: int) -> list[Row]:
        """Return up to `limit` active records of `category` that have all terms of one of `term_groups`.

        Without a full-text table, return up to `limit` active records of `category`.
        """
        where = "WHERE category = ? AND status = 'active'"
        if not self.has_words:
            return self._select(f"{where} LIMIT ?", (category, limit))
        groups = ["(" + " AND ".join(f'"{term}"' for term in group) + ")" for group in term_groups]
        if not groups:
            return []
        matching = "n IN (SELECT rowid FROM active_text WHERE active_text MATCH ?)"
        return self._select(f"{where} AND {matching} LIMIT ?", (category, " OR ".join(groups), limit))

    def files_with_pattern(self, patterns: Sequence[str]) -> list[RecordFile]:
        """Return the record files whose pattern is one of `patterns`."""
        return self._files(f"pattern IN ({','.join('?' * len(patterns))})", patterns)

    def files_with_glob(self) -> list[RecordFile]:
        """Return the record files whose pattern is a glob."""
        return self._files("name = ''")

    def files_with_name(self, name: str) -> list[RecordFile]:
        """Return the record files whose last part is `name`."""
        return self._files("name = ?", [name])

    def _files(self, where: str, names: Sequence[str] = ()) -> list[RecordFile]:
        query = f"SELECT pattern, n, gravity FROM record_file WHERE {where} LIMIT {_MAX_FILES}"
        return [RecordFile(*row) for row in self._connection.execute(query, names).fetchall()]

    def file_paths(self) -> list[str]:
        """Return the distinct paths in record files, without globs."""
        query = f"SELECT DISTINCT pattern FROM record_file WHERE name != '' LIMIT {_MAX_FILES}"
        return [pattern for (pattern,) in self._connection.execute(query)]

    def files_at(self, path: str) -> list[tuple[RecordFile, str]]:
        """Return the record files at `path`, each with the anchors of its record, if it has any."""
        query = "SELECT pattern, n, gravity, anchors FROM record_file JOIN record USING (n) WHERE pattern = ?"
        return [(RecordFile(*row), anchors) for *row, anchors in self._connection.execute(query, (path,)).fetchall()]

    def is_gravest(self, n: int) -> bool:
        """True if it is gravest to ignore record `n` at one of its files."""
        query = "SELECT 1 FROM record_file WHERE n = ? AND gravity = 0 LIMIT 1"
        return self._connection.execute(query, (n,)).fetchone() is not None

    def checks_with(self, words: Iterable[str]) -> list[IndexedCheck]:
        """Return the checks that an action with these words may break."""
        # SQLite takes no lone surrogate; what replaces it is in no word.
        names = sorted({word.encode("utf-8", "replace").decode() for word in words})
        if len(names) > MAX_VALUES:
            word_rows = self._connection.execute(f"SELECT DISTINCT word FROM record_check LIMIT {_MAX_CHECKS}")
            names = sorted({word for (word,) in word_rows}.intersection(names))[:MAX_VALUES]
        marks = ",".join("?" * (len(names) + 1))
        query = f"SELECT DISTINCT n, is_firm, body FROM record_check WHERE word IN ({marks}) ORDER BY n"
        rows = self._connection.execute(f"{query} LIMIT {_MAX_CHECKS}", ("", *names))
        return [IndexedCheck(*row) for row in rows.fetchall()]

    def all_checks(self) -> list[IndexedCheck]:
        """Return the checks of all active records."""
        rows = self._connection.execute("SELECT DISTINCT n, is_firm, body FROM record_check ORDER BY n, rowid")
        return [IndexedCheck(*row) for row in rows.fetchall()]

    def records_hiding(self, names: Sequence[str]) -> list[tuple[str, str, str]]:
        """Return name, path and scope of the active records that have one of `names` as their id, or supersede it.

        Only a full name such as `platform:use-uv` is superseded. An expired record hides only what it supersedes.
        """
        hiding: list[tuple[str, str, str]] = []
        for start in range(0, len(names), MAX_VALUES):
            batch = names[start : start + MAX_VALUES]
            marks = ",".join("?" * len(batch))
            for query in (_SAME_ID, _SUPERSEDES):
                rows = self._connection.execute(query.format(marks), batch)
                hiding += [(str(name), str(path), scope) for name, path, scope in rows]
        return hiding

    def anchors(self, record_paths: Sequence[str]) -> dict[str, str]:
        """Return the packed anchors of the records at these paths, by path."""
        marks = ",".join("?" * len(record_paths))
        query = f"SELECT path, anchors FROM record WHERE path IN ({marks})"
        return dict(self._connection.execute(query, record_paths).fetchall())

    def _select(self, where: str = "", parameters: Sequence[object] = ()) -> list[Row]:
        rows = [Row(*row) for row in self._connection.execute(f"SELECT {_COLUMNS} FROM record {where}", parameters)]
        for row in rows:
            # Only a damaged index has anything but text here, and joining that raises what `run` waits for.
            "".join((row.path, *row[4:11], *row[12:]))
        return rows

    def replaced(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return, for those of these records that are superseded, the id of the record that replaces them."""
        among = ",".join(str(int(n)) for n in numbers)
        return dict(self._connection.execute(f"SELECT n, new FROM succession WHERE n IN ({among})").fetchall())


def unpack_facts(text: str) -> tuple[int, float, list[str], list[str], str]:
    """Return what `document.pack_facts` packed: observations, confidence from 0 to 3, files, branches and state."""
    observations, confidence, files, branches, state = coldstart.loads(text)
    return observations, confidence, files, branches, state


def open(store_root: str, *, hook: bool = False) -> Index:
    """Return the index of a store, refreshed as far as a hook has time for, or completely."""
    for is_second_try in (False, True):
        try:
            index = open_file(store_root, anew=is_second_try, patience=0.25 if hook else 5.0)
            index.refresh(hook=hook)
            return index
        except (coldstart.SqliteError, OSError) as error:
            if _is_in_use(file_of(store_root), error):
                break
    return in_memory(store_root, hook=hook)


def _is_in_use(index_file: str, error: BaseException) -> bool:
    """True if an error says that another process writes the index, or if one completes it: that is no fault of it."""
    from onrecord.search import build_lock

    is_locked = isinstance(error, coldstart.SqliteError) and "locked" in str(error)
    return is_locked or bool(index_file and build_lock.state(build_lock.file_of(index_file)).is_running)


def file_of(store_root: str) -> str:
    """Return the file of a store's index."""
    return paths.index_file(store_root, VERSION, ".sqlite")


def in_memory(store_root: str, *, hook: bool = False) -> Index:
    """Return an index that is nowhere on disk, for when the cache cannot be used."""
    connection = coldstart.connect(":memory:", isolation_level=None)
    index = Index(store_root, connection, has_words=prepare(connection))
    index.refresh(hook=hook)
    return index


def open_file(store_root: str, *, anew: bool = False, patience: float = 5.0) -> Index:
    """Return the index in the file of a store, as it is, or empty. Raises SqliteError."""
    file = file_of(store_root)
    if anew:
        _discard(store_root)
    if not _is_there(file, store_root):
        _make_private(file)
    connection = coldstart.connect(file, timeout=patience, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous=OFF")
        has_words = prepare(connection)
    except coldstart.SqliteError:
        connection.close()
        raise
    return Index(store_root, connection, has_words=has_words, file=file)


def _is_there(file: str, store_root: str) -> bool:
    """True if a store has an index in this file. Note once a day that it is in use: others are deleted some day."""
    try:
        if time.time() - os.stat(file).st_mtime > _DAY:
            for part in (file, command_filter.file_of(store_root)):
                os.utime(part)
    except OSError:
        # It may be there, on a disk that cannot be written: nothing is deleted there either.
        return os.path.exists(file)
    return True


def _make_private(file: str) -> None:
    """Make an empty file that only the user may read: SQLite would let everybody."""
    # `makedirs` gives its mode to the last folder only, so those above it need the mask.
    before = os.umask(0o077)
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError:
        # SQLite says in its own words why it cannot have the file, and the index is made in memory.
        return
    finally:
        os.umask(before)


def _discard(store_root: str) -> None:
    file = file_of(store_root)
    for name in (file, file + "-journal", command_filter.file_of(store_root)):
        try:
            os.unlink(name)
        except OSError:
            continue


def prepare(connection: coldstart.Connection) -> bool:
    """Make the tables in an empty file; True if there is a full-text table. Raises SqliteError if the file is not ours.

    A table, trigger or view that we did not make could run for ever, or change what a search returns.
    """
    # Under the lock only if there is something to make: reading alone must not wait for a writer.
    if not tables.schema(connection):
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            if not tables.schema(connection):
                tables.create(connection)
                connection.execute(f"PRAGMA user_version={VERSION}")
    present = tables.schema(connection)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != VERSION or present not in (tables.PLAIN, tables.PLAIN | tables.FULL_TEXT):
        raise coldstart.SqliteError("the index is of another version, or not ours")
    return present != tables.PLAIN

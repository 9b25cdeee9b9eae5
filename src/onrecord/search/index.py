"""The search index: a SQLite file in the user's cache, derived from the store and always rebuildable.

It has, for each record, what ranking and injection need, so that a hook opens no record. Whatever is wrong
with the file (missing, corrupt, locked, of another version, on a read-only disk) means a quiet rebuild, in
memory if need be.
"""

from __future__ import annotations

import os

from onrecord import coldstart, paths
from onrecord.search import command_filter, indexing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeVar

    Result = TypeVar("Result")
    Watch = Callable[[Iterable[str]], Iterable[str]]

VERSION = 28
"""Of the tables and of the analysis behind them: raise it when either changes, and old files are made anew."""

# `term` counts the active records that have a term anywhere (records), and in title or triggers (titles).
# `rule_line`, `mark`, `areas` and `standing` are what the map at session start says of a record, and chooses it by;
# `area` counts the records that may be in a map, by each of their areas and by their scope.
# `vector` has the vectors of a record's texts, and the rows of its words in the table of word vectors; `vector_head`
# and `vector_tail` the gists of records, a block of them column by column;
# `vector_source` which table all vectors were made with.
# `record_file` lists the files, folders and globs that a record is about; `name` is the file name, empty for a glob.
# `record_check` has the sound checks of active records, once for each of the words of which an action must have one to
# break the check; it is not firm if the record is only proposed.
# `succession` tells which record replaces which; `cycle_winner` lists the ids that are current although another record
# claims to replace them: the newest of each cycle of claims.
_SCHEMA = """
CREATE TABLE folder (name TEXT PRIMARY KEY, mtime INTEGER) WITHOUT ROWID;
CREATE TABLE total (id INTEGER PRIMARY KEY, records INTEGER, title_terms INTEGER, body_terms INTEGER);
INSERT INTO total VALUES (1, 0, 0, 0);
CREATE TABLE record (
    n INTEGER PRIMARY KEY, path TEXT UNIQUE, mtime INTEGER, size INTEGER, hash TEXT, id TEXT, category TEXT, title TEXT,
    tags TEXT, status TEXT, updated_at TEXT, expires TEXT, void INTEGER, rule_line TEXT, mark TEXT, areas TEXT,
    standing INTEGER, scope TEXT, facts TEXT, summary_line TEXT, anchors TEXT, title_terms TEXT, tag_terms TEXT,
    trigger_terms TEXT, body_terms TEXT, created_at TEXT
);
CREATE INDEX record_by_id ON record (id);
CREATE INDEX record_by_date ON record (updated_at, id, category, status);
CREATE INDEX record_by_standing ON record (category, standing, updated_at, id) WHERE status = 'active' AND NOT void;
CREATE TABLE area (name TEXT, scope TEXT, records INTEGER, PRIMARY KEY (name, scope)) WITHOUT ROWID;
CREATE TABLE succession (old TEXT, new TEXT, n INTEGER);
CREATE INDEX succession_by_old ON succession (old);
CREATE INDEX succession_by_record ON succession (n);
CREATE TABLE cycle_winner (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE record_file (pattern TEXT, name TEXT, gravity INTEGER, n INTEGER);
CREATE INDEX record_file_by_pattern ON record_file (pattern);
CREATE INDEX record_file_by_name ON record_file (name);
CREATE INDEX record_file_by_record ON record_file (n);
CREATE TABLE record_check (word TEXT, n INTEGER, is_firm INTEGER, body TEXT);
CREATE INDEX record_check_by_word ON record_check (word);
CREATE INDEX record_check_by_record ON record_check (n);
CREATE TABLE vector (n INTEGER PRIMARY KEY, triggers INTEGER, vectors BLOB, words BLOB);
CREATE TABLE vector_head (block INTEGER PRIMARY KEY, gists BLOB);
CREATE TABLE vector_tail (block INTEGER PRIMARY KEY, gists BLOB);
CREATE TABLE vector_source (id INTEGER PRIMARY KEY, identity TEXT);
CREATE TABLE term (term TEXT PRIMARY KEY, records INTEGER, titles INTEGER) WITHOUT ROWID;
"""

# The streams have nothing but terms and spaces, so the plainest tokeniser reads back exactly what was analysed.
# Ranking reads the streams themselves, so the table need not know positions or lengths.
_FULL_TEXT_TABLE = """
CREATE VIRTUAL TABLE {0} USING fts5(
    title_terms, tag_terms, trigger_terms, body_terms,
    content='record', content_rowid='n', tokenize='ascii', detail=column, columnsize=0
)
"""
_FULL_TEXT_NAMES = ("active_text", "inactive_text")
"""Of the active records, and of the others."""


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
    anchors: str
    scope: str
    """Where it applies, as `scopes.unpack` reads it; empty for everywhere."""
    areas: str
    title_terms: str
    tag_terms: str
    trigger_terms: str
    body_terms: str


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

NOT_REPLACED = "id NOT IN (SELECT old FROM succession WHERE old NOT IN (SELECT id FROM cycle_winner))"
"""The SQL condition that no other record replaces a record."""

IS_CURRENT = f"status = 'active' AND NOT void AND {NOT_REPLACED}"

_SAME_ID = """
SELECT id, path, scope FROM record
WHERE id IN ({}) AND status = 'active' AND (expires = '' OR substr(expires, 1, 10) >= date('now'))
"""
_SUPERSEDES = "SELECT old, path, scope FROM succession JOIN record USING (n) WHERE old IN ({}) AND status = 'active'"

_MAX_VALUES = 400
"""Values in one statement: the oldest SQLite takes 999."""

_MAX_FILES = 1_000
"""Rows of `record_file` read for one file: bounds the work in a store with a thousand globs."""

_MAX_CHECKS = 1_000
"""Checks that are compared with one action; each takes some 20 microseconds."""

_DAMAGE = (TypeError, ValueError, AttributeError, LookupError)
"""Errors that content we never wrote leads to, beside those of SQLite."""


class Index:
    """An open index of one store."""

    def __init__(self, root: str, connection: coldstart.Connection, *, has_words: bool, in_memory: bool) -> None:
        self.root = root
        self._connection = connection
        self.has_words = has_words
        """True if SQLite has FTS5; without it the keyword scorer is used."""
        self.in_memory = in_memory

    def refresh(self, *, hook: bool = False, watch: Watch = iter) -> bool:
        """Make the index agree with the files, within a hook's time limit or completely; True if it changed."""
        return indexing.refresh(self, hook=hook, watch=watch)

    def reopen(self, *, hook: bool = False) -> None:
        """Start over with a new file after SQLite found this one damaged or lost its lock."""
        self._connection.close()
        if not self.in_memory:
            _discard(self.root)
        fresh = open(self.root, hook=hook)
        self._connection, self.has_words, self.in_memory = fresh._connection, fresh.has_words, fresh.in_memory

    def run(self, read: Callable[..., Result], *args: object, hook: bool = False) -> Result:
        """Return `search(self, *args)`; if the index is damaged, rebuild it and run the search again."""
        try:
            return read(self, *args)
        except (coldstart.SqliteError, *_DAMAGE):
            self.reopen(hook=hook)
            return read(self, *args)

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

    def records_with_terms(self, category: str, term_groups: Iterable[Sequence[str]]) -> list[Row]:
        """Return the active records of `category` that have all terms of one of `term_groups`.

        Without a full-text table, return all active records of `category`.
        """
        where = "WHERE category = ? AND status = 'active'"
        if not self.has_words:
            return self._select(where, (category,))
        groups = ["(" + " AND ".join(f'"{term}"' for term in group) + ")" for group in term_groups]
        if not groups:
            return []
        matching = "n IN (SELECT rowid FROM active_text WHERE active_text MATCH ?)"
        return self._select(f"{where} AND {matching}", (category, " OR ".join(groups)))

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

    def anchored_at(self, path: str) -> list[tuple[RecordFile, str]]:
        """Return the record files at `path` of records with anchors, each with the anchors."""
        query = (
            "SELECT pattern, n, gravity, anchors FROM record_file JOIN record USING (n)"
            " WHERE pattern = ? AND anchors != ''"
        )
        return [(RecordFile(*row), anchors) for *row, anchors in self._connection.execute(query, (path,)).fetchall()]

    def is_gravest(self, n: int) -> bool:
        """True if it is gravest to ignore record `n` at one of its files."""
        query = "SELECT 1 FROM record_file WHERE n = ? AND gravity = 0 LIMIT 1"
        return self._connection.execute(query, (n,)).fetchone() is not None

    def checks_with(self, words: Iterable[str]) -> list[IndexedCheck]:
        """Return the checks that an action with these words may break."""
        # SQLite takes no lone surrogate; what replaces it is in no word.
        names = sorted({word.encode("utf-8", "replace").decode() for word in words})
        if len(names) > _MAX_VALUES:
            word_rows = self._connection.execute(f"SELECT DISTINCT word FROM record_check LIMIT {_MAX_CHECKS}")
            names = sorted({word for (word,) in word_rows}.intersection(names))[:_MAX_VALUES]
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

        An expired record hides only what it supersedes.
        """
        hiding: list[tuple[str, str, str]] = []
        for start in range(0, len(names), _MAX_VALUES):
            batch = names[start : start + _MAX_VALUES]
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

    def replaced(self, ids: Sequence[str]) -> dict[str, list[str]]:
        """Return, for those of `ids` that are superseded, the ids of the records that replace them."""
        marks = ",".join("?" * len(ids))
        rows = self._connection.execute(f"SELECT DISTINCT old, new FROM succession WHERE old IN ({marks})", ids)
        successors: dict[str, list[str]] = {}
        for old, new in rows:
            successors.setdefault(old, []).append(new)
        return successors


def unpack_facts(text: str) -> tuple[int, float, list[str], list[str], str]:
    """Return what `document.pack_facts` packed: observations, confidence from 0 to 3, files, branches and state."""
    observations, confidence, files, branches, state = coldstart.loads(text)
    return observations, confidence, files, branches, state


def open(store_root: str, *, hook: bool = False, watch: Watch = iter) -> Index:
    """Return the index of a store, refreshed as far as a hook has time for, or completely; `watch` may count reads."""
    for is_second_try in (False, True):
        try:
            index = _open_file(store_root, anew=is_second_try, patience=0.25 if hook else 5.0)
            index.refresh(hook=hook, watch=watch)
            return index
        except (coldstart.SqliteError, OSError):
            continue
    return in_memory(store_root, hook=hook)


def in_memory(store_root: str, *, hook: bool = False) -> Index:
    """Return an index that is nowhere on disk, for when the cache cannot be used."""
    connection = coldstart.connect(":memory:", isolation_level=None)
    index = Index(store_root, connection, has_words=prepare(connection), in_memory=True)
    index.refresh(hook=hook)
    return index


def _open_file(store_root: str, *, anew: bool, patience: float) -> Index:
    file = paths.index_file(store_root)
    if anew:
        _discard(store_root)
    if not os.path.exists(file):
        _make_private(file)
    connection = coldstart.connect(file, timeout=patience, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous=OFF")
        has_words = prepare(connection)
    except coldstart.SqliteError:
        connection.close()
        raise
    return Index(store_root, connection, has_words=has_words, in_memory=False)


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
    file = paths.index_file(store_root)
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
    if not _schema(connection):
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            if not _schema(connection):
                _create(connection)
                connection.execute(f"PRAGMA user_version={VERSION}")
    tables, words = _statements(_SCHEMA), {_words(table) for table in _FULL_TEXT_NAMES}
    present = _schema(connection)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != VERSION or present not in (tables, tables | words):
        raise coldstart.SqliteError("the index is of another version, or not ours")
    return present != tables


def _schema(connection: coldstart.Connection) -> set[str]:
    """Return the statements in the file's schema, without those of FTS5's own tables."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    own_of_fts5 = tuple(f"{table}_" for table in _FULL_TEXT_NAMES)
    return {sql for kind, name, sql in rows if kind != "table" or not name.startswith(own_of_fts5)}


def _statements(text: str) -> set[str]:
    return {statement.strip() for statement in text.split(";\n") if statement.strip().startswith("CREATE")}


def _words(table: str) -> str:
    return _FULL_TEXT_TABLE.format(table).strip()


def _create(connection: coldstart.Connection) -> None:
    for statement in _SCHEMA.split(";\n"):
        connection.execute(statement.strip())
    try:
        for table in _FULL_TEXT_NAMES:
            connection.execute(_words(table))
    except coldstart.SqliteError as error:
        if "fts5" not in str(error):
            raise

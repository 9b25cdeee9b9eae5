"""The search index: a SQLite file in the user's cache, derived from the store and always rebuildable.

It holds, for each record, what ranking and injection need, so that a hook opens no record. Whatever is wrong
with the file (missing, corrupt, locked, of another version, on a read-only disk) means a quiet rebuild, in
memory if need be.
"""

from __future__ import annotations

import os

from recollect import coldstart, paths
from recollect.categories import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    Answer = TypeVar("Answer")
    Watch = Callable[[Iterable[str]], Iterable[str]]

VERSION = 15
"""Of the tables and of the analysis behind them: raise it when either changes, and old files are made anew."""

FOLDERS = tuple(category.folder for category in BY_NAME.values())

# `term` counts the active records that have a term anywhere (records), and in title or triggers (titles).
# `place` lists the files, folders and globs that a record is about; `succession` which record replaces which;
# `holding` the ids that hold although another record claims to replace them: the newest of each circle of claims.
_TABLES = """
CREATE TABLE folder (name TEXT PRIMARY KEY, mtime INTEGER) WITHOUT ROWID;
CREATE TABLE total (id INTEGER PRIMARY KEY, records INTEGER, title_terms INTEGER, body_terms INTEGER);
INSERT INTO total VALUES (1, 0, 0, 0);
CREATE TABLE record (
    n INTEGER PRIMARY KEY, path TEXT UNIQUE, mtime INTEGER, size INTEGER, hash TEXT, id TEXT, category TEXT, title TEXT,
    tags TEXT, status TEXT, updated_at TEXT, expires TEXT, void INTEGER, essence TEXT, anchors TEXT, facts TEXT,
    title_terms TEXT, tag_terms TEXT, trigger_terms TEXT, body_terms TEXT
);
CREATE INDEX record_by_id ON record (id);
CREATE INDEX record_by_date ON record (updated_at, id, category, status);
CREATE TABLE succession (old TEXT, new TEXT, n INTEGER);
CREATE INDEX succession_by_old ON succession (old);
CREATE INDEX succession_by_record ON succession (n);
CREATE TABLE holding (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE place (pattern TEXT, name TEXT, gravity INTEGER, n INTEGER);
CREATE INDEX place_by_pattern ON place (pattern);
CREATE INDEX place_by_name ON place (name);
CREATE INDEX place_by_record ON place (n);
CREATE TABLE term (term TEXT PRIMARY KEY, records INTEGER, titles INTEGER) WITHOUT ROWID;
"""

# The streams hold nothing but terms and spaces, so the plainest tokeniser reads back exactly what was analysed.
# Ranking reads the streams themselves, so the table need not know positions or lengths.
_WORDS = """
CREATE VIRTUAL TABLE {0} USING fts5(
    title_terms, tag_terms, trigger_terms, body_terms,
    content='record', content_rowid='n', tokenize='ascii', detail=column, columnsize=0
)
"""
_FULL_TEXT = ("word", "past")
"""Of the active records, and of the others."""


class Row(coldstart.NamedTuple):
    """One record as the index holds it."""

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
    """Whether the record itself says that it no longer holds."""
    essence: str
    anchors: str
    title_terms: str
    tag_terms: str
    trigger_terms: str
    body_terms: str


_COLUMNS = ", ".join(Row._fields)

NOT_REPLACED = "id NOT IN (SELECT old FROM succession WHERE old NOT IN (SELECT id FROM holding))"
"""The condition that no other record replaces a record."""

_DAMAGE = (TypeError, ValueError, AttributeError, LookupError)
"""What content that we never wrote leads to, beside errors of SQLite."""


class Index:
    """An open index of one store."""

    def __init__(self, root: str, connection: coldstart.Connection, *, has_words: bool, in_memory: bool) -> None:
        self.root = root
        self.connection = connection
        self.has_words = has_words
        """Whether SQLite has FTS5; without it the keyword scorer answers."""
        self.in_memory = in_memory

    def refresh(self, *, hook: bool = False, watch: Watch = iter) -> bool:
        """Make the index agree with the files, within a hook's time limit or completely; whether anything changed."""
        from recollect.search.refresh import refresh

        return refresh(self, hook=hook, watch=watch)

    def reopen(self, *, hook: bool = False) -> None:
        """Start over with a new file after SQLite found this one damaged or lost its lock."""
        self.connection.close()
        if not self.in_memory:
            _discard(paths.index_file(self.root))
        fresh = open(self.root, hook=hook)
        self.connection, self.has_words, self.in_memory = fresh.connection, fresh.has_words, fresh.in_memory

    def ask(self, question: Callable[[Index], Answer], *, hook: bool = False) -> Answer:
        """What a question to this index brings; an index that turns out to be damaged is made anew and asked again."""
        try:
            return question(self)
        except (coldstart.SqliteError, *_DAMAGE):
            self.reopen(hook=hook)
            return question(self)

    def close(self) -> None:
        self.connection.close()

    def totals(self) -> tuple[int, int, int]:
        """How many active records there are, and how many terms their titles and bodies have."""
        records, title_terms, body_terms = self.connection.execute(
            "SELECT records, title_terms, body_terms FROM total"
        ).fetchone()
        return records, title_terms, body_terms

    def term_counts(self, terms: Iterable[str]) -> dict[str, tuple[int, int]]:
        """For terms that occur: in how many active records, and in how many titles or triggers."""
        wanted = list(terms)
        marks = ",".join("?" * len(wanted))
        rows = self.connection.execute(f"SELECT term, records, titles FROM term WHERE term IN ({marks})", wanted)
        return {term: (records, titles) for term, records, titles in rows}

    def terms_like(self, prefix: str, most: int) -> dict[str, tuple[int, int]]:
        """The commonest terms that begin with a prefix."""
        rows = self.connection.execute(
            "SELECT term, records, titles FROM (SELECT * FROM term WHERE term > ? AND term < ? LIMIT 200)"
            " ORDER BY records DESC LIMIT ?",
            (prefix, prefix + "\U0010ffff", most),
        )
        return {term: (records, titles) for term, records, titles in rows}

    def records_with(self, term: str, *, in_title: bool = False, retired: bool = False) -> list[str]:
        """The numbers of the records that have a term: anywhere, or in title and triggers."""
        table = "past" if retired else "word"
        where = "{title_terms trigger_terms}: " if in_title else ""
        # One text of all numbers comes out of SQLite faster than a row for each.
        (numbers,) = self.connection.execute(
            f"SELECT group_concat(rowid) FROM {table} WHERE {table} MATCH ?", (f'{where}"{term}"',)
        ).fetchone()
        return numbers.split(",") if numbers else []

    def rows(self, where: str = "", values: Any = ()) -> list[Row]:
        rows = [Row(*row) for row in self.connection.execute(f"SELECT {_COLUMNS} FROM record {where}", values)]
        for row in rows:
            # Only a damaged index has anything but text here, and joining that raises what `ask` waits for.
            "".join((row.path, *row[4:11], *row[12:]))
        return rows

    def replaced(self, ids: Sequence[str]) -> dict[str, list[str]]:
        """For those of some ids that are superseded, the ids of what replaces them."""
        marks = ",".join("?" * len(ids))
        rows = self.connection.execute(f"SELECT DISTINCT old, new FROM succession WHERE old IN ({marks})", ids)
        successors: dict[str, list[str]] = {}
        for old, new in rows:
            successors.setdefault(old, []).append(new)
        return successors


def unpack_facts(text: str) -> tuple[int, float, list[str], list[str], str]:
    """What `indexing.pack_facts` packed: observations, confidence from 0 to 3, files, branches, and the state."""
    observations, confidence, files, branches, state = coldstart.loads(text)
    return observations, confidence, files, branches, state


def open(store_root: str, *, hook: bool = False, watch: Watch = iter) -> Index:
    """The index of a store, up to date as far as a hook has time for, or completely; `watch` may count what is read."""
    for is_second_try in (False, True):
        try:
            index = _open_file(store_root, anew=is_second_try, patience=0.25 if hook else 5.0)
            index.refresh(hook=hook, watch=watch)
            return index
        except (coldstart.SqliteError, OSError):
            continue
    return in_memory(store_root, hook=hook)


def in_memory(store_root: str, *, hook: bool = False) -> Index:
    """An index that is nowhere on disk, for when the cache cannot be used."""
    connection = coldstart.connect(":memory:", isolation_level=None)
    index = Index(store_root, connection, has_words=_prepare(connection), in_memory=True)
    index.refresh(hook=hook)
    return index


def _open_file(store_root: str, *, anew: bool, patience: float) -> Index:
    file = paths.index_file(store_root)
    if anew:
        _discard(file)
    if not os.path.exists(file):
        _make_private(file)
    connection = coldstart.connect(file, timeout=patience, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous=OFF")
        has_words = _prepare(connection)
    except coldstart.SqliteError:
        connection.close()
        raise
    return Index(store_root, connection, has_words=has_words, in_memory=False)


def _make_private(file: str) -> None:
    """Make an empty file that only the user may read: SQLite would let everybody."""
    try:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError:
        # SQLite says in its own words why it cannot have the file, and the index is made in memory.
        return


def _discard(file: str) -> None:
    for name in (file, file + "-journal"):
        try:
            os.unlink(name)
        except OSError:
            continue


def _prepare(connection: coldstart.Connection) -> bool:
    """Make the tables in an empty file; whether there is a full-text table. SqliteError if the file is not ours.

    A table, trigger or view that we did not make could run for ever, or change what a search returns.
    """
    # Under the lock only if there is something to make: reading alone must not wait for a writer.
    if not _schema(connection):
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            if not _schema(connection):
                _create(connection)
                connection.execute(f"PRAGMA user_version={VERSION}")
    tables, words = _statements(_TABLES), {_words(table) for table in _FULL_TEXT}
    present = _schema(connection)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != VERSION or present not in (tables, tables | words):
        raise coldstart.SqliteError("the index is of another version, or not ours")
    return present != tables


def _schema(connection: coldstart.Connection) -> set[str]:
    """The statements that made what is in the file, but for what SQLite makes itself for a full-text table."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return {sql for kind, name, sql in rows if kind != "table" or not name.startswith(("word_", "past_"))}


def _statements(text: str) -> set[str]:
    return {each.strip() for each in text.split(";\n") if each.strip().startswith("CREATE")}


def _words(table: str) -> str:
    return _WORDS.format(table).strip()


def _create(connection: coldstart.Connection) -> None:
    for statement in _TABLES.split(";\n"):
        connection.execute(statement.strip())
    try:
        for table in _FULL_TEXT:
            connection.execute(_words(table))
    except coldstart.SqliteError as error:
        if "fts5" not in str(error):
            raise

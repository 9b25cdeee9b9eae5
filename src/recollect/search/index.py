"""The search index: a SQLite file in the user's cache, derived from the store and always rebuildable.

It keeps, for each record, what ranking and injection need, so that a hook opens no record. Whatever is wrong
with the file (missing, corrupt, locked, of another version, on a read-only disk) means a quiet rebuild, in
memory if need be.
"""

from __future__ import annotations

import os

from recollect import coldstart, paths
from recollect.categories import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from recollect.search.features import Corpus

VERSION = 11
"""Of the tables and of the analysis behind them: raise it when either changes, and old files are made anew."""

FOLDERS = tuple(category.folder for category in BY_NAME.values())

_TABLES = """
CREATE TABLE folder (name TEXT PRIMARY KEY, mtime INTEGER) WITHOUT ROWID;
CREATE TABLE total (id INTEGER PRIMARY KEY, records INTEGER, title_terms INTEGER, body_terms INTEGER);
INSERT INTO total VALUES (1, 0, 0, 0);
CREATE TABLE record (
    n INTEGER PRIMARY KEY, path TEXT UNIQUE, mtime INTEGER, size INTEGER, id TEXT, category TEXT, title TEXT,
    tags TEXT, status TEXT, updated_at TEXT, expires TEXT, void INTEGER, essence TEXT, anchors TEXT, facts TEXT,
    title_terms TEXT, tag_terms TEXT, trigger_terms TEXT, body_terms TEXT
);
CREATE INDEX record_by_id ON record (id);
CREATE TABLE succession (old TEXT, new TEXT, said_by INTEGER);
CREATE INDEX succession_by_old ON succession (old);
CREATE INDEX succession_by_speaker ON succession (said_by);
CREATE TABLE place (spot TEXT, name TEXT, gravity INTEGER, n INTEGER);
CREATE INDEX place_by_spot ON place (spot);
CREATE INDEX place_by_name ON place (name);
CREATE INDEX place_by_record ON place (n);
CREATE TABLE term (term TEXT PRIMARY KEY, records INTEGER, heads INTEGER) WITHOUT ROWID;
"""

# The streams hold nothing but terms and spaces, so the plainest tokeniser reads back exactly what was analysed.
# Ranking looks at the streams themselves, so the table need not know positions or lengths.
_WORDS = """
CREATE VIRTUAL TABLE {0} USING fts5(
    title_terms, tag_terms, trigger_terms, body_terms,
    content='record', content_rowid='n', tokenize='ascii', detail=column, columnsize=0
);
"""

_FIELDS = (
    "n", "path", "mtime", "size", "id", "category", "title", "tags", "status", "updated_at", "expires", "void",
    "essence", "anchors", "title_terms", "tag_terms", "trigger_terms", "body_terms",
)  # fmt: skip
_COLUMNS = ", ".join(_FIELDS)


class Row:
    """One record as the index knows it."""

    __slots__ = _FIELDS

    def __init__(self, *values: Any) -> None:
        (
            self.n, self.path, self.mtime, self.size, self.id, self.category, self.title, self.tags, self.status,
            self.updated_at, self.expires, self.void, self.essence, self.anchors, self.title_terms, self.tag_terms,
            self.trigger_terms, self.body_terms,
        ) = values  # fmt: skip


class Index:
    """An open index of one store."""

    def __init__(self, root: str, connection: coldstart.Connection, *, has_words: bool, in_memory: bool) -> None:
        self.root = root
        self.connection = connection
        self.has_words = has_words
        self.in_memory = in_memory

    def refresh(self, *, hook: bool = False) -> bool:
        """Make the index agree with the files, within a hook's patience or completely; whether anything changed."""
        from recollect.search.refresh import refresh

        return refresh(self, hook=hook)

    def reread(self, names: Iterable[str]) -> None:
        """Index some records again, whatever is known of them."""
        from recollect.search.refresh import reread

        reread(self, names)

    def renew(self, *, hook: bool = False) -> None:
        """Start over after SQLite found the file damaged or lost its lock."""
        self.connection.close()
        if not self.in_memory:
            _discard(paths.index_file(self.root))
        self.__dict__.update(open(self.root, hook=hook).__dict__)

    def close(self) -> None:
        self.connection.close()

    def corpus(self, terms: Iterable[str]) -> Corpus:
        """How many records there are, how long, and in how many each term occurs."""
        from recollect.search.features import Corpus

        counts = self.term_counts(terms)
        records, title_terms, body_terms = self.connection.execute(
            "SELECT records, title_terms, body_terms FROM total"
        ).fetchone()
        return Corpus(
            records,
            title_terms / (records or 1),
            body_terms / (records or 1),
            {term: count for term, (count, _) in counts.items()},
            {term: heads for term, (_, heads) in counts.items()},
        )

    def term_counts(self, terms: Iterable[str]) -> dict[str, tuple[int, int]]:
        """For terms that occur: in how many active records, and in how many titles or triggers."""
        wanted = list(terms)
        marks = ",".join("?" * len(wanted))
        rows = self.connection.execute(f"SELECT term, records, heads FROM term WHERE term IN ({marks})", wanted)
        return {term: (records, heads) for term, records, heads in rows}

    def terms_like(self, prefix: str, most: int) -> dict[str, tuple[int, int]]:
        """The commonest terms that begin with a prefix."""
        rows = self.connection.execute(
            "SELECT term, records, heads FROM (SELECT * FROM term WHERE term > ? AND term < ? LIMIT 200)"
            " ORDER BY records DESC LIMIT ?",
            (prefix, prefix + "\U0010ffff", most),
        )
        return {term: (records, heads) for term, records, heads in rows}

    def holders(self, term: str, *, heads: bool = False, past: bool = False) -> list[int]:
        """The numbers of the records that have a term: anywhere, or in title and triggers."""
        table = "past" if past else "word"
        where = "{title_terms trigger_terms}: " if heads else ""
        rows = self.connection.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH ?", (f'{where}"{term}"',))
        return [n for (n,) in rows]

    def rows(self, where: str = "", values: Any = ()) -> list[Row]:
        return [Row(*row) for row in self.connection.execute(f"SELECT {_COLUMNS} FROM record {where}", values)]

    def replaced(self, ids: Sequence[str]) -> dict[str, list[str]]:
        """For those of some ids that are superseded, the ids of what replaces them."""
        marks = ",".join("?" * len(ids))
        found: dict[str, list[str]] = {}
        rows = self.connection.execute(f"SELECT DISTINCT old, new FROM succession WHERE old IN ({marks})", ids)
        for old, new in rows:
            if new != old:
                found.setdefault(old, []).append(new)
        return found


def open(store_root: str, *, hook: bool = False) -> Index:
    """The index of a store, up to date as far as a hook has time for, or completely."""
    for fresh in (False, True):
        try:
            index = _open_file(store_root, fresh=fresh, patience=0.25 if hook else 5.0)
            index.refresh(hook=hook)
            return index
        except (coldstart.SqliteError, OSError):
            continue
    return in_memory(store_root, hook=hook)


def in_memory(store_root: str, *, hook: bool = False) -> Index:
    """An index that is nowhere on disk, for when the cache cannot be used."""
    connection = coldstart.connect(":memory:", isolation_level=None)
    index = Index(store_root, connection, has_words=reset(connection), in_memory=True)
    index.refresh(hook=hook)
    return index


def _open_file(store_root: str, *, fresh: bool, patience: float) -> Index:
    file = paths.index_file(store_root)
    if fresh:
        _discard(file)
    try:
        connection = coldstart.connect(file, timeout=patience, isolation_level=None)
    except coldstart.SqliteError:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        connection = coldstart.connect(file, timeout=patience, isolation_level=None)
    try:
        has_words = _prepare(connection)
    except coldstart.SqliteError:
        connection.close()
        raise
    return Index(store_root, connection, has_words=has_words, in_memory=False)


def _discard(file: str) -> None:
    for name in (file, file + "-journal"):
        try:
            os.unlink(name)
        except OSError:
            continue


def _prepare(connection: coldstart.Connection) -> bool:
    """Make the tables if need be; whether there is a full-text table among them."""
    connection.execute("PRAGMA synchronous=OFF")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return bool(version > 0) if abs(version) == VERSION else reset(connection, unless_done=True)


def reset(connection: coldstart.Connection, *, unless_done: bool = False) -> bool:
    """Empty tables in place of whatever is there; whether there is a full-text table among them."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if abs(version) != VERSION or not unless_done:
            _drop_all(connection)
            version = VERSION if _create(connection) else -VERSION
            connection.execute(f"PRAGMA user_version={version}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return bool(version > 0)


def _drop_all(connection: coldstart.Connection) -> None:
    for kind in ("word", "past"):
        connection.execute(f"DROP TABLE IF EXISTS {kind}")
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (name,) in tables:
        connection.execute(f'DROP TABLE IF EXISTS "{name}"')


def _create(connection: coldstart.Connection) -> bool:
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    try:
        for table in ("word", "past"):
            for statement in _WORDS.format(table).split(";\n"):
                if statement.strip():
                    connection.execute(statement)
    except coldstart.SqliteError as error:
        if "fts5" not in str(error):
            raise
        return False
    return True

"""The tables of a search index, and whether a SQLite file has these and nothing else."""

from __future__ import annotations

from onrecord import coldstart

VERSION = 23
"""Of the tables and of the analysis behind them: raise it when either changes, and old files are made anew."""

# `term` counts the active records that have a term anywhere (records), and in title or triggers (titles).
# `may_be_urgent` marks the records that a digest shows as soon as their files are changed.
# `vector` holds the vectors of a record's texts, and the rows of its words in the table of word vectors; `vector_head`
# and `vector_tail` the gists of records, a block of them column by column;
# `vector_source` which table all vectors were made with.
# `record_file` lists the files, folders and globs that a record is about; `name` is the file name, empty for a glob.
# `succession` tells which record replaces which; `cycle_winner` lists the ids that are current although another record
# claims to replace them: the newest of each cycle of claims.
_TABLES = """
CREATE TABLE folder (name TEXT PRIMARY KEY, mtime INTEGER) WITHOUT ROWID;
CREATE TABLE total (id INTEGER PRIMARY KEY, records INTEGER, title_terms INTEGER, body_terms INTEGER);
INSERT INTO total VALUES (1, 0, 0, 0);
CREATE TABLE record (
    n INTEGER PRIMARY KEY, path TEXT UNIQUE, mtime INTEGER, size INTEGER, hash TEXT, id TEXT, category TEXT, title TEXT,
    tags TEXT, status TEXT, updated_at TEXT, expires TEXT, void INTEGER, summary_line TEXT, anchors TEXT,
    scope TEXT, facts TEXT, title_terms TEXT, tag_terms TEXT, trigger_terms TEXT, body_terms TEXT,
    created_at TEXT, may_be_urgent INTEGER
);
CREATE INDEX record_by_id ON record (id);
CREATE INDEX record_by_date ON record (updated_at, id, category, status);
CREATE INDEX record_by_urgency ON record (updated_at) WHERE may_be_urgent;
CREATE TABLE succession (old TEXT, new TEXT, n INTEGER);
CREATE INDEX succession_by_old ON succession (old);
CREATE INDEX succession_by_record ON succession (n);
CREATE TABLE cycle_winner (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE record_file (pattern TEXT, name TEXT, gravity INTEGER, n INTEGER);
CREATE INDEX record_file_by_pattern ON record_file (pattern);
CREATE INDEX record_file_by_name ON record_file (name);
CREATE INDEX record_file_by_record ON record_file (n);
CREATE TABLE vector (n INTEGER PRIMARY KEY, triggers INTEGER, vectors BLOB, words BLOB);
CREATE TABLE vector_head (block INTEGER PRIMARY KEY, gists BLOB);
CREATE TABLE vector_tail (block INTEGER PRIMARY KEY, gists BLOB);
CREATE TABLE vector_source (id INTEGER PRIMARY KEY, identity TEXT);
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
_FULL_TEXT = ("active_text", "inactive_text")
"""Of the active records, and of the others."""


def prepare(connection: coldstart.Connection) -> bool:
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
    own_of_fts5 = tuple(f"{table}_" for table in _FULL_TEXT)
    return {sql for kind, name, sql in rows if kind != "table" or not name.startswith(own_of_fts5)}


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

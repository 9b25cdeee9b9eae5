"""The tables of the search index."""

from __future__ import annotations

from onrecord import coldstart

# `term` counts the active records that have a term anywhere (records), and in title or triggers (titles).
# `rule_line`, `mark`, `areas` and `standing` are what the map at session start says of a record, and chooses it by;
# `area` counts the records that may be in a map, by each of their areas and by their scope.
# `vector` has the vectors of a record's texts, and the rows of its words in the table of word vectors; `vector_head`
# and `vector_tail` the gists of records, a block of them column by column;
# `vector_source` which table all vectors were made with.
# `record_file` lists the files, folders and globs that a record is about; `name` is the file name, empty for a glob.
# `record_check` has the sound checks of active records, once for each of the words of which an action must have one to
# break the check; it is not firm if the record is only proposed.
# `claim` has what each record says about supersession: `side` is 0 if the old one says so, 1 if the new one does.
# `succession` tells which record replaces which, as both of them say (`record.validity`); `cycle_winner` has the ids
# that are current although another record claims to replace them: the newest of each cycle of claims.
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
CREATE TABLE claim (old TEXT, new TEXT, n INTEGER, side INTEGER);
CREATE INDEX claim_by_old ON claim (old, new, side);
CREATE INDEX claim_by_new ON claim (new);
CREATE INDEX claim_by_record ON claim (n);
CREATE TABLE succession (old TEXT, new TEXT, n INTEGER);
CREATE INDEX succession_by_old ON succession (old);
CREATE INDEX succession_by_new ON succession (new);
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
"""The full-text tables: of the active records, and of the others."""


def _words(table: str) -> str:
    return _FULL_TEXT_TABLE.format(table).strip()


PLAIN = {statement.strip() for statement in _SCHEMA.split(";\n") if statement.strip().startswith("CREATE")}
"""The statements that make the tables, without the full-text ones, which not every SQLite can make."""

FULL_TEXT = {_words(table) for table in _FULL_TEXT_NAMES}


def schema(connection: coldstart.Connection) -> set[str]:
    """Return the statements in the file's schema, without those of FTS5's own tables."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    own_of_fts5 = tuple(f"{table}_" for table in _FULL_TEXT_NAMES)
    return {sql for kind, name, sql in rows if kind != "table" or not name.startswith(own_of_fts5)}


def create(connection: coldstart.Connection) -> None:
    """Make the tables in an empty file; without FTS5, those for full text are left out."""
    for statement in _SCHEMA.split(";\n"):
        connection.execute(statement.strip())
    try:
        for table in _FULL_TEXT_NAMES:
            connection.execute(_words(table))
    except coldstart.SqliteError as error:
        if "fts5" not in str(error):
            raise

"""The entries of knowledge banks that are about the work at hand. No index holds them: they are searched anew."""

from __future__ import annotations

from onrecord import coldstart
from onrecord.search import query, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.digest.selection import Candidate

MOST_WORDS = 48
"""Words that are searched for: the time FTS5 takes grows with each."""

MOST_COMPARED = 40
"""Entries, the best by BM25, that are compared word by word: comparing all of 2,000 takes a second."""

LEAST_SHARE = 0.5
"""Share of the words of the work that an entry must have: one word of many says nothing."""


class Unavailable(Exception):
    """This Python's SQLite has no FTS5."""


def relevance(lessons: Sequence[Candidate], intent: str) -> dict[str, float]:
    """For the entries about what is being done, by key: the share of its words that they have.

    A single word counts only in the title.
    """
    wanted = _words(intent)
    if not wanted or not lessons:
        return {}
    stems = set(query.parse(intent).terms)
    shares: dict[str, float] = {}
    for lesson in _best(lessons, wanted):
        matched = stems.intersection(terms.stream(lesson.text))
        share = len(matched) / len(stems) if stems else 0.0
        if share >= LEAST_SHARE and (len(matched) > 1 or matched.intersection(terms.stream(lesson.title))):
            shares[lesson.key] = share
    return shares


def _best(lessons: Sequence[Candidate], wanted: Sequence[str]) -> list[Candidate]:
    connection = coldstart.connect(":memory:", isolation_level=None)
    try:
        _fill(connection, lessons)
        # Every word is quoted, so that none can be FTS5 syntax.
        any_word = " OR ".join(f'"{word}"' for word in wanted)
        ranked = f"SELECT rowid FROM entry WHERE entry MATCH ? ORDER BY bm25(entry, 4.0, 1.0) LIMIT {MOST_COMPARED}"
        return [lessons[place] for (place,) in connection.execute(ranked, (any_word,))]
    finally:
        connection.close()


def _fill(connection: coldstart.Connection, lessons: Sequence[Candidate]) -> None:
    columns = "title, body, content='', tokenize='porter unicode61'"
    try:
        connection.execute(f"CREATE VIRTUAL TABLE entry USING fts5({columns})")
    except coldstart.SqliteError as error:
        if "fts5" not in str(error):
            raise
        raise Unavailable from error
    connection.execute("BEGIN")
    rows = [(place, _searchable(each.title), _searchable(each.text)) for place, each in enumerate(lessons)]
    connection.executemany("INSERT INTO entry (rowid, title, body) VALUES (?, ?, ?)", rows)


def _searchable(text: str) -> str:
    """SQLite splits and stems plain text faster than we do; scripts without spaces need our own analysis."""
    return text.replace("\0", " ") if text.isascii() else " ".join(terms.stream(text))


def _words(text: str) -> list[str]:
    words = [word.lower() for word in terms.words(text)]
    stop = query.stop_words(words)
    distinctive = [word for word in dict.fromkeys(words) if word not in stop and query.carries_meaning(word)]
    return [term for word in distinctive for term in ((word,) if word.isascii() else terms.of_word(word))][:MOST_WORDS]

"""How much an entry has to do with the work at hand: BM25 by SQLite's FTS5, made comparable between stores.

A score counts in the rarity of its own store's words, so each is divided by what the whole query would weigh
there. A store of five entries and one of five thousand then speak of the same thing.
"""

from __future__ import annotations

import math

from recollect import coldstart
from recollect.search import query, stopwords, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.digest.selection import Candidate
    from recollect.search.index import Index

MOST_WORDS = 48
_LEAST = 1e-6


class Unavailable(Exception):
    """This Python's SQLite has no FTS5."""


def of_records(index: Index, text: str) -> dict[int, float]:
    """Scores of a store's active records by their number in the index."""
    if not index.has_words:
        raise Unavailable
    wanted = query.parse(text).terms[:MOST_WORDS]
    if not wanted:
        return {}
    counts = {term: known[0] for term, known in index.term_counts(wanted).items()}
    (total,) = index.connection.execute("SELECT records FROM total").fetchone()
    if not counts:
        return {}
    weight = _weight(wanted, counts, total)
    rows = index.connection.execute("SELECT rowid, rank FROM word WHERE word MATCH ?", (_any(list(counts)),))
    return {n: -rank / weight for n, rank in rows}


def of_texts(candidates: Sequence[Candidate], text: str) -> dict[str, float]:
    """Scores of entries that no index holds, by their key."""
    wanted = _words(text)
    if not wanted or not candidates:
        return {}
    connection = coldstart.connect(":memory:", isolation_level=None)
    try:
        _fill(connection, candidates)
        weight = _weight([_stem(word) for word in wanted], _counts(connection), len(candidates))
        rows = connection.execute("SELECT rowid, bm25(entry, 4.0, 1.0) FROM entry WHERE entry MATCH ?", (_any(wanted),))
        return {candidates[place].key: -rank / weight for place, rank in rows}
    finally:
        connection.close()


def _fill(connection: coldstart.Connection, candidates: Sequence[Candidate]) -> None:
    try:
        connection.execute(
            "CREATE VIRTUAL TABLE entry USING fts5(title, body, content='', tokenize='porter unicode61')"
        )
    except coldstart.SqliteError as error:
        if "fts5" not in str(error):
            raise
        raise Unavailable from error
    connection.execute("BEGIN")
    rows = [(place, _searchable(one.title), _searchable(one.text)) for place, one in enumerate(candidates)]
    connection.executemany("INSERT INTO entry (rowid, title, body) VALUES (?, ?, ?)", rows)


def _searchable(text: str) -> str:
    """SQLite splits and stems plain text faster than we do; scripts without spaces need our own analysis."""
    return text.replace("\0", " ") if text.isascii() else " ".join(terms.stream(text))


def _words(text: str) -> list[str]:
    words = [word.lower() for word in terms.words(text)]
    stop = stopwords.of(words)
    kept = [word for word in dict.fromkeys(words) if word not in stop and query.carries_meaning(word)]
    return [term for word in kept for term in ((word,) if word.isascii() else terms.of_word(word))][:MOST_WORDS]


def _any(wanted: Sequence[str]) -> str:
    # Every word is quoted, so that none can be FTS5 syntax.
    return " OR ".join(f'"{word}"' for word in wanted)


def _counts(connection: coldstart.Connection) -> dict[str, int]:
    connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(entry, row)")
    return dict(connection.execute("SELECT term, doc FROM vocabulary").fetchall())


def _stem(word: str) -> str:
    return terms.of_word(word)[0] if word.isascii() else word


def _weight(wanted: Sequence[str], counts: Mapping[str, int], total: int) -> float:
    """What the whole query would weigh: the sum of its terms' rarity as FTS5 has it, never below its floor."""
    holders = (counts.get(term, 0) for term in wanted)
    return sum(max(math.log((total - found + 0.5) / (found + 0.5)), _LEAST) for found in holders)

"""Which entries a digest shows: relevance to the work blended with prominence, every category given its share.

Relevance is BM25 by SQLite's FTS5, made comparable between stores: a score counts in the rarity of its own store's
words, so each is divided by what the whole query would weigh there. A store of five entries and one of five thousand
then have comparable scores.
"""

from __future__ import annotations

import math

from recollect import coldstart
from recollect.categories import BY_NAME
from recollect.coldstart import NamedTuple
from recollect.search import query, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.search.index import Index

FEWEST_PER_CATEGORY = 3
BALANCED_FROM = 9
"""Entries from which on every category gets its share; with fewer the best entries alone count."""

MOST_WORDS = 48
"""Words of a query that are searched for: the time FTS5 takes grows with each."""

_LEAST = 1e-6
"""What FTS5 gives a word that nearly every entry has, so that no score is negative."""

_BANK_HEADINGS = {
    "anti_pattern": (15, "What bit us before"),
    "pattern": (40, "Patterns"),
    "heuristic": (50, "Heuristics"),
}
"""Rank among the categories, and heading, of what knowledge banks hold."""

_RANKED = {**{name: (each.digest_rank, each.heading) for name, each in BY_NAME.items()}, **_BANK_HEADINGS}
HEADINGS = {category: heading for category, (_, heading) in sorted(_RANKED.items(), key=lambda item: item[1])}
PRIORITY = tuple(HEADINGS)
_PLACES = {category: place for place, category in enumerate(PRIORITY)}


class Candidate(NamedTuple):
    """An entry that a digest could show. Confidence goes from 0 to 3; `updated` sorts as text."""

    key: str
    category: str
    title: str
    text: str
    path: str
    is_local: bool
    observations: int = 1
    confidence: float = 2.0
    updated: str = ""
    files: Sequence[str] = ()
    urgency: str = ""
    """Why it is shown as soon as one of its files is changed, or nothing."""


class Pick(NamedTuple):
    """A candidate that was chosen, and the numbers that decided."""

    candidate: Candidate
    relevance: float
    prominence: float
    score: float
    reason: str = ""


class Unavailable(Exception):
    """This Python's SQLite has no FTS5."""


def rank(candidates: Sequence[Candidate], relevance: Mapping[str, float] | None, weight: float) -> list[Pick]:
    """All candidates, best first. Without relevance, or without weight on it, prominence alone decides."""
    matched = relevance or {}
    weight = weight if matched else 0.0
    best = max(matched.values(), default=0.0)
    picks = []
    for candidate, prominent in zip(candidates, prominence(candidates)):
        relevant = matched.get(candidate.key, 0.0) / best if best else 0.0
        picks.append(Pick(candidate, relevant, prominent, weight * relevant + (1 - weight) * prominent))
    return sorted(picks, key=_order)


def prominence(candidates: Sequence[Candidate]) -> list[float]:
    """How much each entry stands out by itself: often observed, sure, and recent."""
    most = max((each.observations for each in candidates), default=1) or 1
    moments = sorted({each.updated for each in candidates})
    places = {moment: place / len(moments) for place, moment in enumerate(moments, 1)}
    return [
        0.5 * each.observations / most + 0.3 * min(each.confidence, 3.0) / 3 + 0.2 * places[each.updated]
        for each in candidates
    ]


def choose(ranked: Sequence[Pick], limit: int, pinned: Sequence[Pick] = ()) -> list[Pick]:
    """The best entries within the limit: what is pinned, then each category's share, then the rest by score."""
    chosen = list(pinned)[:limit]
    taken = {pick.candidate.key for pick in chosen}
    free = [pick for pick in ranked if pick.candidate.key not in taken]
    if limit >= BALANCED_FROM:
        shared = _shares(free, chosen, limit)
        chosen += shared
        taken |= {pick.candidate.key for pick in shared}
        free = [pick for pick in free if pick.candidate.key not in taken]
    chosen += free[: limit - len(chosen)]
    return chosen[: len(pinned)] + sorted(chosen[len(pinned) :], key=_order)


def _shares(free: Sequence[Pick], chosen: Sequence[Pick], limit: int) -> list[Pick]:
    """What brings every category that has entries up to three of them, or to an equal share if that is less."""
    kinds = {pick.candidate.category for pick in (*free, *chosen)}
    fewest = min(FEWEST_PER_CATEGORY, limit // len(kinds)) if kinds else 0
    counts = dict.fromkeys(kinds, 0)
    for pick in chosen:
        counts[pick.candidate.category] += 1
    shares: list[Pick] = []
    for pick in free:
        kind = pick.candidate.category
        if counts[kind] < fewest and len(chosen) + len(shares) < limit:
            counts[kind] += 1
            shares.append(pick)
    return shares


def _order(pick: Pick) -> tuple[float, int, str]:
    return (-round(pick.score, 9), _PLACES.get(pick.candidate.category, len(_PLACES)), pick.candidate.key)


def relevance_of_records(index: Index, text: str, most: int) -> dict[int, float]:
    """Scores of the most relevant records of a store by their number in the index."""
    if not index.has_words:
        raise Unavailable
    wanted = query.parse(text).terms[:MOST_WORDS]
    counts = {term: count[0] for term, count in index.term_counts(wanted).items()} if wanted else {}
    if not counts:
        return {}
    (total,) = index.connection.execute("SELECT records FROM total").fetchone()
    weight = _weight(wanted, counts, total)
    rows = index.connection.execute(
        "SELECT rowid, rank FROM word WHERE word MATCH ? ORDER BY rank LIMIT ?", (_any(list(counts)), most)
    )
    return {n: -rank / weight for n, rank in rows}


def relevance_of_texts(candidates: Sequence[Candidate], text: str) -> dict[str, float]:
    """Scores of entries that no index holds, by their key."""
    wanted = _words(text)
    if not wanted or not candidates:
        return {}
    connection = coldstart.connect(":memory:", isolation_level=None)
    try:
        _fill(connection, candidates)
        connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(entry, row)")
        counts = dict(connection.execute("SELECT term, doc FROM vocabulary").fetchall())
        stems = [terms.of_word(word)[0] if word.isascii() else word for word in wanted]
        weight = _weight(stems, counts, len(candidates))
        rows = connection.execute("SELECT rowid, bm25(entry, 4.0, 1.0) FROM entry WHERE entry MATCH ?", (_any(wanted),))
        return {candidates[place].key: -rank / weight for place, rank in rows}
    finally:
        connection.close()


def _fill(connection: coldstart.Connection, candidates: Sequence[Candidate]) -> None:
    columns = "title, body, content='', tokenize='porter unicode61'"
    try:
        connection.execute(f"CREATE VIRTUAL TABLE entry USING fts5({columns})")
    except coldstart.SqliteError as error:
        if "fts5" not in str(error):
            raise
        raise Unavailable from error
    connection.execute("BEGIN")
    rows = [(place, _searchable(each.title), _searchable(each.text)) for place, each in enumerate(candidates)]
    connection.executemany("INSERT INTO entry (rowid, title, body) VALUES (?, ?, ?)", rows)


def _searchable(text: str) -> str:
    """SQLite splits and stems plain text faster than we do; scripts without spaces need our own analysis."""
    return text.replace("\0", " ") if text.isascii() else " ".join(terms.stream(text))


def _words(text: str) -> list[str]:
    words = [word.lower() for word in terms.words(text)]
    stop = query.stop_words(words)
    distinctive = [word for word in dict.fromkeys(words) if word not in stop and query.carries_meaning(word)]
    return [term for word in distinctive for term in ((word,) if word.isascii() else terms.of_word(word))][:MOST_WORDS]


def _any(wanted: Sequence[str]) -> str:
    # Every word is quoted, so that none can be FTS5 syntax.
    return " OR ".join(f'"{word}"' for word in wanted)


def _weight(wanted: Sequence[str], counts: Mapping[str, int], total: int) -> float:
    """What the whole query would weigh: the sum of its terms' rarity as FTS5 has it, never below its floor."""
    holders = (counts.get(term, 0) for term in wanted)
    return sum(max(math.log((total - count + 0.5) / (count + 0.5)), _LEAST) for count in holders)

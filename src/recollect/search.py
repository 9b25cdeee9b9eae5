"""A query and an index make ranked matches, each with the probability that it is relevant."""

from __future__ import annotations

from recollect import features, gate, lean, query, sweep
from recollect.features import Look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.config import Settings
    from recollect.index import Index, Row
    from recollect.query import Query

POOL = 48
"""Candidates whose features are looked at."""

MOST_SOUGHT = 32
_WORK = 30_000
"""Occurrences a search may visit before it leaves the commoner terms out: what bounds it in a large store."""

_SHORTEST_PREFIX = 4
_PRIORITY = ("decision", "constraint", "preference", "runbook", "tech_debt", "session_summary")
_ALIAS_COST = 0.1


class Match:
    """A memory that answers a query, and how probably."""

    __slots__ = (
        "id", "category", "title", "path", "tags", "status", "updated_at", "essence", "score", "probability",
        "confidence", "features", "via", "root", "query",
    )  # fmt: skip

    def __init__(self, row: Row, root: str, asked: Query | None) -> None:
        self.id: str = row.id
        self.category: str = row.category
        self.title: str = row.title
        self.path: str = row.path
        self.tags: tuple[str, ...] = tuple(row.tags.split("\n")) if row.tags else ()
        self.status: str = row.status
        self.updated_at: str = row.updated_at
        self.essence: str = row.essence
        self.root = root
        self.query = asked
        self.score = 0.0
        self.probability = 1.0
        self.confidence = "high"
        self.features: dict[str, float] = {}
        self.via: tuple[str, str, str] | None = None
        """Id, title and date of the superseded record whose text matched."""

    def snippet(self, mark: tuple[str, str] = ("**", "**")) -> str:
        """The passage of the record that matches best, the words that were asked for marked."""
        from recollect import snippet

        return snippet.of(self, mark)


def find(
    index: Index,
    text: str,
    *,
    limit: int = 10,
    mode: str = "search",
    categories: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    include_retired: bool = False,
    borrowed: str = "",
    now: str | None = None,
    settings: Settings | None = None,
) -> list[Match]:
    """The best matches, best first. In `auto` mode only what may be told unasked; the gate is the caller's."""
    asked = query.parse(text, borrowed)
    if not asked:
        return []
    wanted = _Wanted(mode == "auto", categories, tags, include_retired, now, settings)
    try:
        return _find_fresh(index, asked, wanted, limit)
    except lean.SqliteError:
        index.renew(hook=wanted.auto)
        return _find_fresh(index, asked, wanted, limit)


def current(index: Index, path: str) -> Match | None:
    """The record at a path as it is now, or what has replaced it."""
    rows = index.rows("WHERE path = ?", (path,))
    head = _head(index, rows[0]) if rows else None
    return Match(head, index.root, None) if head and head.status == "active" else None


class _Wanted:
    """Which records may be shown."""

    __slots__ = ("auto", "categories", "include_retired", "now", "settings", "tags")

    def __init__(
        self,
        auto: bool,
        categories: Sequence[str] | None,
        tags: Sequence[str] | None,
        include_retired: bool,
        now: str | None,
        settings: Settings | None,
    ) -> None:
        self.auto = auto
        self.categories = frozenset(categories or ())
        self.tags = frozenset(tags or ())
        self.include_retired = include_retired
        self.now = now
        self.settings = settings

    def admits(self, row: Row) -> bool:
        if self.categories and row.category not in self.categories:
            return False
        if self.tags and self.tags.isdisjoint(row.tags.split("\n")):
            return False
        if row.status != "active" and not self.include_retired:
            return False
        return not self.auto or self._is_tellable(row)

    def _is_tellable(self, row: Row) -> bool:
        if row.void or (row.expires and row.expires[:10] < self._now()[:10]):
            return False
        if self.settings is None:
            return True
        days = self.settings.retention_days(row.category)
        return self.settings.is_enabled(row.category) and (not days or row.updated_at >= self._days_ago(days))

    def _now(self) -> str:
        from recollect import moment

        self.now = self.now or moment.now()
        return self.now

    def _days_ago(self, days: int) -> str:
        from recollect import moment

        return moment.days_before(self._now(), days)


def _find_fresh(index: Index, asked: Query, wanted: _Wanted, limit: int) -> list[Match]:
    """Matches whose files are as they were indexed; one that was edited meanwhile is indexed and ranked again."""
    matches = _find(index, asked, wanted)[:limit]
    stale = [match.path for match in matches if not _is_fresh(index, match)]
    if stale and _reread(index, stale):
        matches = _find(index, asked, wanted)[:limit]
    return [match for match in matches if _is_fresh(index, match)] if stale else matches


def _find(index: Index, asked: Query, wanted: _Wanted) -> list[Match]:
    strategy = wanted.settings.text("retrieval.match_strategy") if wanted.settings else ""
    if not index.has_words or strategy == "title_tags":
        from recollect import legacy

        return legacy.find(index, asked, wanted.admits, wanted.now, wanted.settings)
    look, expression = _look(index, asked)
    if not expression:
        return []
    return _ranked(index, asked, look, _candidates(index, expression, wanted), wanted)


def _look(index: Index, asked: Query) -> tuple[Look, str]:
    """The query weighed by this index, and the expression that finds candidates: rare terms first, bounded."""
    corpus = index.corpus(asked.terms)
    alike = _alike(index, asked, corpus.frequency, corpus.title_frequency)
    look = Look(asked, corpus, alike)
    known = [term for term in look.concept if corpus.frequency.get(term)]
    known.sort(key=lambda term: corpus.frequency[term])
    sought: list[str] = []
    work = 0
    for term in known[:MOST_SOUGHT]:
        work += corpus.frequency[term]
        if work > _WORK and sought:
            break
        sought.append(f'"{term}"')
    return look, " OR ".join(sought)


def _alike(
    index: Index, asked: Query, frequency: dict[str, int], title_frequency: dict[str, int]
) -> dict[str, list[str]]:
    """For words the index does not have, those that begin alike: `auth` stands for `authentication`, and back."""
    found: dict[str, list[str]] = {}
    parts = {part for pair in asked.compounds for part in pair}
    for term in asked.terms:
        if term in frequency or term in parts or len(term) < _SHORTEST_PREFIX or not term.isalpha():
            continue
        counts = index.terms_like(term, 6)
        counts.update(index.term_counts(term[:end] for end in range(_SHORTEST_PREFIX, len(term))))
        if counts:
            found[term] = list(counts)
            frequency.update((other, count) for other, (count, _) in counts.items())
            title_frequency.update((other, titles) for other, (_, titles) in counts.items())
    return found


def _candidates(index: Index, expression: str, wanted: _Wanted) -> list[Row]:
    filters, values = _filters(wanted)
    rows = index.candidates(expression, POOL, past=False, filters=filters, values=values)
    if not rows and not filters:
        # The terms were counted in active records, so an empty answer means a full-text table that lost its content.
        sweep.rebuild(index, hook=wanted.auto)
        rows = index.candidates(expression, POOL, past=False)
    if wanted.include_retired:
        rows += index.candidates(expression, POOL, past=True, filters=filters, values=values)
    return rows


def _filters(wanted: _Wanted) -> tuple[str, Sequence[str]]:
    """A condition on categories and tags, wide enough to keep superseded records, whose successors may qualify."""
    parts: list[str] = []
    values: list[str] = []
    if wanted.categories:
        parts.append(f"category IN ({','.join('?' * len(wanted.categories))})")
        values += sorted(wanted.categories)
    if wanted.tags:
        parts.append("(" + " OR ".join(["instr(char(10) || tags || char(10), ?)"] * len(wanted.tags)) + ")")
        values += [f"\n{tag}\n" for tag in sorted(wanted.tags)]
    if not parts:
        return "", ()
    return f"(({' AND '.join(parts)}) OR id IN (SELECT old FROM succession))", values


def _ranked(index: Index, asked: Query, look: Look, rows: Iterable[Row], wanted: _Wanted) -> list[Match]:
    best: dict[int, tuple[float, list[float], Row, Row]] = {}
    for row in rows:
        head = _head(index, row)
        if head is None and not wanted.auto and wanted.admits(row):
            head = row
        if head is None or not wanted.admits(head):
            continue
        seen = features.of(look, row.title_terms, row.tag_terms, row.trigger_terms, row.body_terms)
        points = gate.score(seen) + _priority(head.category, asked.intent) - (_ALIAS_COST if head is not row else 0)
        if head.n not in best or points > best[head.n][0]:
            best[head.n] = (points, seen, head, row)
    ordered = sorted(best.values(), key=lambda one: (-one[0], one[2].path))
    standings = gate.standings([one[0] for one in ordered])
    return [_match(index.root, asked, *one, standing) for one, standing in zip(ordered, standings)]


def _match(
    root: str, asked: Query, points: float, seen: list[float], head: Row, row: Row, standing: tuple[float, ...]
) -> Match:
    match = Match(head, root, asked)
    match.score = points
    match.probability = gate.probability(seen, standing)
    match.confidence = gate.confidence(match.probability)
    match.features = dict(zip((*features.NAMES, *gate.STANDING), (*seen, *standing)))
    if row is not head:
        match.via = (row.id, row.title, head.updated_at)
    return match


def _priority(category: str, intent: str) -> float:
    """A touch that settles ties by category, and a little more for the category the words of intent point to."""
    place = 0.0 if category == intent else _PRIORITY.index(category) + 1.0
    return -0.002 * place + (0.05 if category == intent else 0.0)


def _head(index: Index, row: Row) -> Row | None:
    """The record that holds in place of this one: itself, or the end of its chain; None if the chain leads nowhere."""
    here, seen = row, {row.id}
    while True:
        heirs = [heir for heir in index.heirs(here.id) if heir != here.id]
        if not heirs:
            return here
        rows = [one for heir in heirs for one in index.rows("WHERE id = ? AND status <> 'broken'", (heir,))]
        if not rows:
            return None
        newest = max(rows, key=lambda one: (one.status == "active", one.updated_at, one.path))
        if newest.id in seen:
            return _newest_of(index, seen)
        here = newest
        seen.add(newest.id)


def _newest_of(index: Index, ids: set[str]) -> Row:
    """Of records that replace each other in a circle, the one written last."""
    rows = [row for one in sorted(ids) for row in index.rows("WHERE id = ?", (one,))]
    return max(rows, key=lambda row: (row.status == "active", row.updated_at, row.path))


def _is_fresh(index: Index, match: Match) -> bool:
    known = index.connection.execute("SELECT mtime, size FROM record WHERE path = ?", (match.path,)).fetchone()
    return known is not None and sweep.stamp(index.root, match.path) == known


def _reread(index: Index, names: list[str]) -> bool:
    try:
        index.reread(names)
    except lean.SqliteError:
        return False
    return True

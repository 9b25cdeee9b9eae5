"""A query and an index make ranked matches, each with the probability that it is relevant."""

from __future__ import annotations

from recollect import coldstart
from recollect.categories import BY_NAME
from recollect.search import candidates, features, gate, query, refresh, successors
from recollect.search.filters import Admission

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.search.features import Look
    from recollect.search.index import Index, Row
    from recollect.search.query import Query
    from recollect.settings import Settings

_PRIORITY = tuple(BY_NAME)
_ALIAS_COST = 0.1


class Match:
    """A memory that answers a query, and how probably."""

    __slots__ = (
        "anchors",
        "category",
        "confidence",
        "essence",
        "features",
        "id",
        "path",
        "probability",
        "query",
        "root",
        "score",
        "status",
        "tags",
        "title",
        "updated_at",
        "via",
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
        self.anchors: str = row.anchors
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
        from recollect.search import snippet

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
    admission = Admission(
        auto=mode == "auto",
        categories=categories,
        tags=tags,
        include_retired=include_retired,
        now=now,
        settings=settings,
    )
    try:
        return _find_fresh(index, asked, admission, limit)
    except coldstart.SqliteError:
        index.renew(hook=admission.auto)
        return _find_fresh(index, asked, admission, limit)


def current(index: Index, path: str) -> Match | None:
    """The record at a path as it is now, or what has replaced it."""
    rows = index.rows("WHERE path = ?", (path,))
    head = successors.heads(index, rows)[rows[0].n] if rows else None
    return Match(head, index.root, None) if head and head.status == "active" else None


def _find_fresh(index: Index, asked: Query, admission: Admission, limit: int) -> list[Match]:
    """Matches whose files are as they were indexed; one that was edited meanwhile is indexed and ranked again."""
    matches = _find(index, asked, admission)[:limit]
    stale = [match.path for match in matches if not _is_fresh(index, match)]
    if stale and _reread(index, stale):
        matches = _find(index, asked, admission)[:limit]
    return [match for match in matches if _is_fresh(index, match)] if stale else matches


def _find(index: Index, asked: Query, admission: Admission) -> list[Match]:
    settings = admission.settings
    if not index.has_words or (settings and settings.text("retrieval.match_strategy") == "title_tags"):
        from recollect.search import keyword_scorer

        return keyword_scorer.find(index, asked, admission)
    look = candidates.look(index, asked)
    return _ranked(index, asked, look, candidates.candidates(index, look, admission), admission)


def _ranked(index: Index, asked: Query, look: Look, rows: Sequence[Row], admission: Admission) -> list[Match]:
    best: dict[int, tuple[float, list[float], Row, Row]] = {}
    replaced: dict[int, list[Row]] = {}
    heads = successors.heads(index, rows)
    for row in rows:
        head = heads[row.n] or (None if admission.auto else row)
        if head is None or not admission.admits(head):
            continue
        seen = features.of(look, row.title_terms, row.tag_terms, row.trigger_terms, row.body_terms)
        points = gate.score(seen) + _priority(head.category, asked.intent) - (_ALIAS_COST if head is not row else 0)
        if head is not row and admission.admits(row):
            replaced.setdefault(head.n, []).append(row)
        if head.n not in best or points > best[head.n][0]:
            best[head.n] = (points, seen, head, row)
    ordered = sorted(best.values(), key=lambda one: (-one[0], one[2].path))
    standings = gate.standings([one[0] for one in ordered])
    matches: list[Match] = []
    for one, standing in zip(ordered, standings):
        match = _match(index.root, asked, one, standing)
        matches += [match] if admission.auto else [match, *_behind(match, replaced.get(one[2].n, ()))]
    return matches


def _behind(successor: Match, rows: Sequence[Row]) -> list[Match]:
    """The records that a match replaces, for one who searches: marked, and as probable as what replaced them."""
    found = []
    for row in rows:
        match = Match(row, successor.root, successor.query)
        match.status = "superseded" if row.status == "active" else row.status
        match.score, match.probability = successor.score, successor.probability
        match.confidence, match.features = successor.confidence, successor.features
        found.append(match)
    return found


def _match(root: str, asked: Query, found: tuple[float, list[float], Row, Row], standing: tuple[float, ...]) -> Match:
    points, seen, head, row = found
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


def _is_fresh(index: Index, match: Match) -> bool:
    known = index.connection.execute("SELECT mtime, size FROM record WHERE path = ?", (match.path,)).fetchone()
    return known is not None and refresh.stamp(index.root, match.path) == known


def _reread(index: Index, names: list[str]) -> bool:
    try:
        index.reread(names)
    except coldstart.SqliteError:
        return False
    return True

"""The keyword scorer of the earlier plugin: points for words in title, tags and body.

It serves `match_strategy: title_tags` and a Python without FTS5.
"""

from __future__ import annotations

from onrecord.search import gate, rank, terms
from onrecord.search.index import NOT_REPLACED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.search.candidates import Filter
    from onrecord.search.index import Index, Row
    from onrecord.search.query import Query
    from onrecord.search.rank import Match
    from onrecord.settings import Settings

_SHORTEST_PREFIX = 4
_MOST_DESCRIBED = 2
_RECENT_DAYS = 30

_PER_POINT, _PER_TERM, _PER_LEAD, _BASE = 0.219, -0.041, 0.254, -2.639
"""Log odds of relevance: of each point, each term of the prompt, each point before the next record.

Fitted on the best three for the written prompts of six life sets, with and without triggers, 2026-11-16. On bevy and
pandas .87 of what reaches a probability of .5 is relevant, and .71 of what reaches .3.
"""

_LARGEST_LEAD = 8.0
"""Points: in a store of a few records the next may have none."""


def find(index: Index, query: Query, filter: Filter) -> list[Match]:
    """All records that have points, best first; superseded ones do not take part."""
    wanted, since = set(query.terms), filter.days_ago(_RECENT_DAYS)
    scored: list[tuple[float, Row]] = []
    for row in index._select(f"WHERE status <> 'broken' AND {NOT_REPLACED}"):
        count = points(wanted, row, filter.settings) if filter.accepts(row) else 0
        if count:
            scored.append((count + (row.updated_at >= since), row))
    scored.sort(key=lambda each: (-each[0], each[1].path))
    return [_match(index.root, query, scored, place) for place in range(len(scored))]


def _match(root: str, query: Query, scored: list[tuple[float, Row]], place: int) -> Match:
    count, row = scored[place]
    rival = scored[0 if place else 1][0] if len(scored) > 1 else 0.0
    lead = min(count - rival, _LARGEST_LEAD)
    logits = _BASE + _PER_POINT * count + _PER_TERM * len(query.terms) + _PER_LEAD * lead
    measured = {"query": query, "score": count, "features": {"keywords": count, "lead": lead}}
    return rank.match(row, root, **measured, probability=gate.shifted(0.5, logits))


def points(wanted: set[str], row: Row, settings: Settings | None = None) -> int:
    """Title word 2, tag 3, the beginning of either 1, description at most 2, body at most 3."""
    title, tags = set(row.title_terms.split()), set(row.tag_terms.split())
    count = 2 * len(wanted & title) + 3 * len(wanted & tags)
    count += sum(_begins_alike(term, title | tags) for term in wanted - title - tags)
    count += min(3, len(wanted.intersection(row.body_terms.split())))
    if count and settings:
        description = terms.stream(settings.text(f"categories.{row.category}.description"))
        count += min(_MOST_DESCRIBED, len(wanted.intersection(description)))
    return count


def _begins_alike(term: str, others: set[str]) -> bool:
    longer = (other for other in others if len(other) >= _SHORTEST_PREFIX <= len(term))
    return any(other.startswith(term) or term.startswith(other) for other in longer)

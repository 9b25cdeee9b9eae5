"""The keyword scorer of the earlier plugin, for `match_strategy: title_tags` and for a Python without FTS5."""

from __future__ import annotations

from math import exp

from recollect import timestamps
from recollect.search import gate, rank, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.search.filters import Admission
    from recollect.search.index import Index, Row
    from recollect.search.query import Query
    from recollect.settings import Settings

_SHORTEST_PREFIX = 4
_RECENT_DAYS = 30

_SLOPE, _MIDDLE = 0.23, 18.0
"""How probability grows with the score, and where it is one half: fitted on two of our projects, 2026-11-15.

Keywords tell little: most of what they find is beside the point, and a prompt is seldom answered by them alone.
"""


def find(index: Index, asked: Query, admission: Admission) -> list[rank.Match]:
    """All records that score, best first; superseded ones do not take part."""
    wanted = set(asked.terms)
    since = timestamps.days_before(admission.now, _RECENT_DAYS)
    found: list[rank.Match] = []
    for row in index.rows("WHERE status <> 'broken' AND id NOT IN (SELECT old FROM succession)"):
        if not admission.admits(row):
            continue
        points = score(wanted, row, admission.settings)
        if points:
            found.append(_match(index, asked, row, points + (row.updated_at >= since)))
    found.sort(key=lambda match: (-match.score, match.path))
    return found


def score(wanted: set[str], row: Row, settings: Settings | None = None) -> int:
    """Title word 2, tag 3, the beginning of either 1, description at most 2, body at most 3."""
    title, tags = set(row.title_terms.split()), set(row.tag_terms.split())
    points = 2 * len(wanted & title) + 3 * len(wanted & tags)
    points += sum(_begins_alike(term, title | tags) for term in wanted - title - tags)
    points += min(3, len(wanted.intersection(row.body_terms.split())))
    if points and settings:
        description = terms.stream(settings.text(f"categories.{row.category}.description"))
        points += min(2, len(wanted.intersection(description)))
    return points


def _begins_alike(term: str, others: set[str]) -> bool:
    if len(term) < _SHORTEST_PREFIX:
        return False
    return any(
        other.startswith(term) or (len(other) >= _SHORTEST_PREFIX and term.startswith(other)) for other in others
    )


def _match(index: Index, asked: Query, row: Row, points: float) -> rank.Match:
    match = rank.Match(row, index.root, asked)
    match.score = points
    match.probability = 1 / (1 + exp(-_SLOPE * (points - _MIDDLE)))
    match.confidence = gate.confidence(match.probability)
    match.features = {"keywords": points}
    return match

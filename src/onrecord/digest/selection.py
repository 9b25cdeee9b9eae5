"""The choice of entries for a map that has not room for all: prominence, score, and a share for each category."""

from __future__ import annotations

from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MIN_PER_CATEGORY = 3
MIN_BALANCED = 9
"""Entries from which on every category gets its share; with fewer the best entries alone count."""

_BANK_RANKS = {"anti_pattern": 90, "pattern": 91, "heuristic": 92}
"""Rank of the entries of knowledge banks among the categories."""

_RANKS = {**{name: category.digest_rank for name, category in CATEGORIES.items()}, **_BANK_RANKS}
PRIORITY = tuple(sorted(_RANKS, key=lambda category: _RANKS[category]))
_PLACES = {category: place for place, category in enumerate(PRIORITY)}


class Unavailable(Exception):
    """This Python's SQLite has no FTS5, so relevance cannot be measured."""


class DigestCandidate(NamedTuple):
    """An entry that a session could be shown when it starts. Confidence goes from 0 to 3; `updated` sorts as text."""

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
    shared: str = ""
    """The name of the shared store that it is in, or nothing."""
    line: str = ""
    """Its rule in a line, if that is not the title."""
    mark: str = ""
    """What is not plain about it: proposed, high severity, expires."""
    areas: Sequence[str] = ()
    name: str = ""
    """The name by which `onrecord show` finds it: its id until the shortest one is known."""


class Pick(NamedTuple):
    """A candidate with its numbers, and once it is picked, the reason."""

    candidate: DigestCandidate
    relevance: float
    prominence: float
    score: float
    reason: str = ""
    """Why it is shown, in words."""
    caution: str = ""
    """Warning that the files it is about have changed since."""


def order(candidates: Sequence[DigestCandidate], relevance: Mapping[str, float], weight: float) -> list[Pick]:
    """Return all candidates, best first. Without relevance, or weight on it, prominence alone decides."""
    weight = weight if relevance else 0.0
    picks = []
    for candidate, prominent in zip(candidates, prominence(candidates)):
        relevant = relevance.get(candidate.key, 0.0)
        picks.append(Pick(candidate, relevant, prominent, weight * relevant + (1 - weight) * prominent, "", ""))
    return sorted(picks, key=_order)


def prominence(candidates: Sequence[DigestCandidate]) -> list[float]:
    """Return the prominence of each entry by itself: often observed, sure, and recent."""
    most = max((candidate.observations for candidate in candidates), default=1) or 1
    moments = sorted({candidate.updated for candidate in candidates})
    recency = {moment: position / len(moments) for position, moment in enumerate(moments, 1)}
    return [
        0.5 * candidate.observations / most
        + 0.3 * min(candidate.confidence, 3.0) / 3
        + 0.2 * recency[candidate.updated]
        for candidate in candidates
    ]


def choose(all_picks: Sequence[Pick], limit: int, pinned: Sequence[Pick] = ()) -> list[Pick]:
    """Return the best entries within the limit, in the order in which they deserve a place.

    First come pinned ones, then three of each category, then the rest by score. So if there is less room than expected,
    the first of them are the choice for that, down to nine: with fewer the best alone count.
    """
    picks = list(pinned)[:limit]
    keys = {pick.candidate.key for pick in picks}
    free = [pick for pick in all_picks if pick.candidate.key not in keys]
    shared = _shares(free, picks) if limit >= MIN_BALANCED else []
    keys |= {pick.candidate.key for pick in shared}
    return [*picks, *shared, *(pick for pick in free if pick.candidate.key not in keys)][:limit]


def _shares(free: Sequence[Pick], picks: Sequence[Pick]) -> list[Pick]:
    """Return the entries by which every category has three: the first of each, then the second, then the third."""
    counts: dict[str, int] = {}
    for pick in picks:
        counts[pick.candidate.category] = counts.get(pick.candidate.category, 0) + 1
    rounds: list[list[Pick]] = [[] for _ in range(MIN_PER_CATEGORY)]
    for pick in free:
        place = counts.get(pick.candidate.category, 0)
        if place < MIN_PER_CATEGORY:
            rounds[place].append(pick)
            counts[pick.candidate.category] = place + 1
    return [pick for picks_of_round in rounds for pick in picks_of_round]


def _order(pick: Pick) -> tuple[float, int, str]:
    return (-round(pick.score, 9), _PLACES.get(pick.candidate.category, len(_PLACES)), pick.candidate.key)

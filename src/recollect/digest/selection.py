"""Which entries a digest shows: relevance to the work blended with prominence, every category given its share. Pure."""

from __future__ import annotations

from recollect.categories import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FEWEST_PER_CATEGORY = 3
BALANCED_FROM = 9
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


class Candidate:
    """An entry that a digest could show. Confidence goes from 0 to 3; `updated` sorts as text."""

    __slots__ = (
        "category", "confidence", "files", "is_local", "key", "observations", "path", "text", "title", "updated",
        "urgency",
    )  # fmt: skip

    def __init__(
        self,
        key: str,
        category: str,
        title: str,
        text: str,
        path: str,
        *,
        is_local: bool,
        observations: int = 1,
        confidence: float = 2.0,
        updated: str = "",
        files: Sequence[str] = (),
        urgency: str = "",
    ) -> None:
        self.key = key
        self.category = category
        self.title = title
        self.text = text
        self.path = path
        self.is_local = is_local
        self.observations = observations
        self.confidence = confidence
        self.updated = updated
        self.files = files
        self.urgency = urgency
        """Why it is shown as soon as one of its files is in play, or nothing."""


class Pick:
    """A candidate that was chosen, and the numbers that decided."""

    __slots__ = ("candidate", "prominence", "reason", "relevance", "score")

    def __init__(
        self, candidate: Candidate, relevance: float, prominence: float, score: float, reason: str = ""
    ) -> None:
        self.candidate = candidate
        self.relevance = relevance
        self.prominence = prominence
        self.score = score
        self.reason = reason


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
    most = max((one.observations for one in candidates), default=1) or 1
    moments = sorted({one.updated for one in candidates})
    places = {moment: place / len(moments) for place, moment in enumerate(moments, 1)}
    return [
        0.5 * one.observations / most + 0.3 * min(one.confidence, 3.0) / 3 + 0.2 * places[one.updated]
        for one in candidates
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
    have = dict.fromkeys(kinds, 0)
    for pick in chosen:
        have[pick.candidate.category] += 1
    found: list[Pick] = []
    for pick in free:
        kind = pick.candidate.category
        if have[kind] < fewest and len(chosen) + len(found) < limit:
            have[kind] += 1
            found.append(pick)
    return found


def _order(pick: Pick) -> tuple[float, int, str]:
    return (-round(pick.score, 9), _PLACES.get(pick.candidate.category, len(_PLACES)), pick.candidate.key)

"""The selection of entries: the reason to show one, and the order, in which every category gets its share.

Words alone mislead: the names of changed files match records about the same area that are of no use for the change.
So two things must speak for a record, for example a changed file that it names and the name of the branch. The
thresholds were chosen on three projects and measured on nine others: `python -m bench digest`, docs/how-it-works.md.
They are low because a list of words is no prompt: the model for prompts is far less sure of it.
"""

from __future__ import annotations

from onrecord import globs
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.search import coefficients

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MIN_PER_CATEGORY = 3
MIN_BALANCED = 9
"""Entries from which on every category gets its share; with fewer the best entries alone count."""

_BANK_RANKS = {"anti_pattern": 15, "pattern": 40, "heuristic": 50}
"""Rank of the entries of knowledge banks among the categories."""

_RANKS = {**{name: category.digest_rank for name, category in CATEGORIES.items()}, **_BANK_RANKS}
PRIORITY = tuple(sorted(_RANKS, key=lambda category: _RANKS[category]))
_PLACES = {category: place for place, category in enumerate(PRIORITY)}

MIN_INTENT = 0.2
"""Relevance to what is being done (branch, own commits, feature) that counts beside a changed file."""

MIN_ABOUT = 0.2
"""Relevance to all words of the work that must come with it."""

MIN_BINDING = 0.2
"""The same for a rule that binds every change of its files, whatever the intent."""

MIN_SHARE = 0.5
"""Share of the changed files that such a rule must be about: what touches one file of many is seldom what matters."""

MIN_CERTAIN = 0.9
"""Relevance to all words that needs no changed file beside it."""

MIN_WORDS = min(MIN_ABOUT, MIN_BINDING, MIN_CERTAIN)
"""Relevance to all words below which nothing is shown, however relevant it is to what is being done."""


class Unavailable(Exception):
    """This Python's SQLite has no FTS5, so relevance cannot be measured."""


class DigestCandidate(NamedTuple):
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
    shared: str = ""
    """The name of the shared store that it is in, or nothing."""


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


def rank(candidates: Sequence[DigestCandidate], relevance: Mapping[str, float], weight: float) -> list[Pick]:
    """Return all candidates, best first. Without relevance, or weight on it, prominence alone decides."""
    weight = weight if relevance else 0.0
    picks = []
    for candidate, prominent in zip(candidates, prominence(candidates)):
        relevant = relevance.get(candidate.key, 0.0)
        picks.append(Pick(candidate, relevant, prominent, weight * relevant + (1 - weight) * prominent))
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
    """Return the best entries within the limit: pinned ones, then each category's share, then the rest by score."""
    picks = list(pinned)[:limit]
    keys = {pick.candidate.key for pick in picks}
    free = [pick for pick in all_picks if pick.candidate.key not in keys]
    if limit >= MIN_BALANCED:
        shared = _shares(free, picks, limit)
        picks += shared
        keys |= {pick.candidate.key for pick in shared}
        free = [pick for pick in free if pick.candidate.key not in keys]
    picks += free[: limit - len(picks)]
    return picks[: len(pinned)] + sorted(picks[len(pinned) :], key=_order)


def _shares(free: Sequence[Pick], picks: Sequence[Pick], limit: int) -> list[Pick]:
    """Return the entries by which every category has three, or an equal share if that is less."""
    kinds = {pick.candidate.category for pick in (*free, *picks)}
    fewest = min(MIN_PER_CATEGORY, limit // len(kinds)) if kinds else 0
    counts = dict.fromkeys(kinds, 0)
    for pick in picks:
        counts[pick.candidate.category] += 1
    shares: list[Pick] = []
    for pick in free:
        kind = pick.candidate.category
        if counts[kind] < fewest and len(picks) + len(shares) < limit:
            counts[kind] += 1
            shares.append(pick)
    return shares


def _order(pick: Pick) -> tuple[float, int, str]:
    return (-round(pick.score, 9), _PLACES.get(pick.candidate.category, len(_PLACES)), pick.candidate.key)


class Relevance(NamedTuple):
    """Probabilities that a record is relevant to what is being done, and to all words of the work with file names."""

    intent: float = 0.0
    words: float = 0.0


def reason(category: str, patterns: Sequence[str], probabilities: Relevance, files: Sequence[str]) -> str:
    """Return why an entry of this category that is about `patterns` is shown; empty if it is not."""
    if category not in CATEGORIES:
        # Entries of knowledge banks name no files; `knowledge_bank.relevance` returns only those that have most words.
        return "most words of the branch are in it" if probabilities.intent else ""
    if not files:
        # A new branch: its name is all there is, and is taken for a prompt.
        return "the branch is about it" if probabilities.intent >= coefficients.THRESHOLD else ""
    touched = _touched(patterns, files) if probabilities.words >= MIN_ABOUT else []
    if touched and probabilities.intent >= MIN_INTENT:
        return f"the branch is about it, and it names {touched[0]}"
    if (
        CATEGORIES[category].binds_files
        and probabilities.words >= MIN_BINDING
        and len(touched) >= MIN_SHARE * len(files)
    ):
        return f"a rule for {touched[0]}" if touched else ""
    return "all words of the work are about it" if probabilities.words >= MIN_CERTAIN else ""


def _touched(patterns: Sequence[str], files: Sequence[str]) -> list[str]:
    return [file for file in files if any(globs.matches(pattern, file) for pattern in patterns)]

"""From features to a score and to P(relevant): the probability that a record is what the prompt needs."""

from __future__ import annotations

from math import exp, log

from recollect import coefficients

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

THRESHOLD = coefficients.THRESHOLD
"""Below this probability a prompt brings nothing up."""

FIRST_PROMPT_THRESHOLD = coefficients.FIRST_PROMPT_THRESHOLD
"""The same for the first prompt of a session, which states its goal."""

HIGH, MEDIUM = 0.85, 0.5

_RIVALS = 12
"""Hits that share what there is to share: the same however many candidates were looked at."""

STANDING = ("share", "log_share", "score", "lead")
"""How a hit stands among the others, beside the features of its own."""


def score(features: Sequence[float]) -> float:
    """By how much a record should come before others."""
    return sum(weight * value for weight, value in zip(coefficients.RANK, features)) - coefficients.RANK_MEAN


def standings(scores: Sequence[float]) -> list[tuple[float, ...]]:
    """How each of some scores, best first, stands among them all."""
    if not scores:
        return []
    best = scores[0]
    total = sum(exp(max(one - best, -50.0)) for one in scores[:_RIVALS])
    found: list[tuple[float, ...]] = []
    for place, one in enumerate(scores):
        share = exp(max(one - best, -50.0)) / total
        behind = scores[place + 1] if place + 1 < len(scores) else one - 2.0
        lead = min(one - behind, 3.0) if place == 0 else one - best
        found.append((share, log(share), one, lead))
    return found


def probability(features: Sequence[float], standing: Sequence[float]) -> float:
    """P(relevant), as far as the text tells."""
    odds = coefficients.GATE_BASE
    for weight, value in zip(coefficients.GATE, (*features, *standing)):
        odds += weight * value
    return 1 / (1 + exp(-max(min(odds, 30.0), -30.0)))


def shifted(probability: float, evidence: float) -> float:
    """A probability in the light of evidence from outside the text, in log odds."""
    if not evidence:
        return probability
    odds = log(max(probability, 1e-9) / max(1 - probability, 1e-9)) + evidence
    return 1 / (1 + exp(-odds))


def confidence(probability: float) -> str:
    """A probability in one word."""
    return "high" if probability >= HIGH else "medium" if probability >= MEDIUM else "low"

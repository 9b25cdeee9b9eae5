"""From the features of a record for a prompt: a score to rank it by, and the probability that it is relevant."""

from __future__ import annotations

from math import exp, log

from onrecord import coldstart
from onrecord.search import coefficients, meaning, word_features

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

THRESHOLD = coefficients.THRESHOLD
"""Nothing is shown for a prompt below this probability."""

HIGH, MEDIUM = 0.85, 0.5

NAMES = (*word_features.NAMES, *meaning.NAMES)
"""All features of a record for a prompt, which ranking and gate weigh, in order."""

RELATIVE = ("share", "log_share", "score", "lead")
"""How a score compares with those of the other matches, beside the features of the record itself."""

_RIVALS = 12
"""Matches whose scores are compared: the same however many candidates were ranked."""

_LEAST_SHARE = 0.25
"""The share of a prompt's words that must have a vector for meaning to count: below it the text is in a language that
the table hardly has, and what little is found by meaning is chance."""


class Weights(coldstart.NamedTuple):
    """The weights of the features in the ranking and in the gate, and what is added to both."""

    base: tuple[float, float]
    rank: list[float]
    gate: list[float]


def weights(vector_share: float) -> Weights:
    """The weights for a prompt, given the share of its words that have a vector: 0 where there is no table."""
    table = coefficients.WITH_MEANING if vector_share >= _LEAST_SHARE else coefficients.WORDS_ONLY
    base, *rows = table.values()
    return Weights(base, [row[0] for row in rows[: -len(RELATIVE)]], [row[1] for row in rows])


def score(weights: Weights, values: Sequence[float]) -> float:
    """By how much a record should come before others, given its features."""
    return weights.base[0] + sum([weight * value for weight, value in zip(weights.rank, values)])


def relative(scores: Sequence[float]) -> list[tuple[float, ...]]:
    """How each of some scores, best first, compares with the others."""
    if not scores:
        return []
    best = scores[0]
    total = sum(exp(max(score - best, -50.0)) for score in scores[:_RIVALS])
    compared: list[tuple[float, ...]] = []
    for place, score in enumerate(scores):
        share = exp(max(score - best, -50.0)) / total
        behind = scores[place + 1] if place + 1 < len(scores) else score - 2.0
        lead = min(score - behind, 3.0) if place == 0 else score - best
        compared.append((share, log(share), score, lead))
    return compared


def probability(weights: Weights, values: Sequence[float], compared: Sequence[float]) -> float:
    """P(relevant), as far as the text shows it."""
    logit = weights.base[1]
    for weight, value in zip(weights.gate, (*values[: len(weights.rank)], *compared)):
        logit += weight * value
    return 1 / (1 + exp(-max(min(logit, 30.0), -30.0)))


def shifted(probability: float, logits: float) -> float:
    """A probability in the light of evidence from outside the text."""
    logit = log(max(probability, 1e-9) / max(1 - probability, 1e-9)) + logits
    return 1 / (1 + exp(-logit))


def confidence(probability: float) -> str:
    """A probability in one word."""
    return "high" if probability >= HIGH else "medium" if probability >= MEDIUM else "low"

"""From features to a score and to P(relevant): the probability that a record is what the prompt needs."""

from __future__ import annotations

from math import exp, log

from recollect.search import coefficients
from recollect.search.features import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

THRESHOLD = coefficients.THRESHOLD
"""Below this probability a prompt brings nothing up."""

HIGH, MEDIUM = 0.85, 0.5

_RIVALS = 12
"""Hits that share what there is to share: the same however many candidates were looked at."""

_MATCHES, _TRIGGER_ASKED, _IN_TRIGGER, _STORE = (
    NAMES.index(name) for name in ("matches", "trigger_asked", "in_trigger", "store")
)
_ONE, _TWO = log(1 + 1) + 1e-9, log(1 + 2) + 1e-9

_SMALL, _LARGE = 80, 300
_IN_A_SMALL_STORE = 2.3
"""Log odds, chosen on harbor and lumen: it lets their prompts be served at the bar that large stores need."""

_PROMISED, _GOOD_PART = 3.0, 0.3

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
    odds = coefficients.GATE_BASE + circumstances(features)
    for weight, value in zip(coefficients.GATE, (*features, *standing)):
        odds += weight * value
    return 1 / (1 + exp(-max(min(odds, 30.0), -30.0)))


def circumstances(features: Sequence[float]) -> float:
    """What the fitted weights cannot know, in log odds: how crowded the store is, and what an author foresaw."""
    return _room(features) + (_PROMISED if _is_promised(features) else 0.0)


def _is_promised(features: Sequence[float]) -> bool:
    """Whether all that a trigger says was asked for, and is a good part of what was asked."""
    return features[_TRIGGER_ASKED] >= 1.0 and features[_IN_TRIGGER] >= _GOOD_PART and features[_MATCHES] > _ONE


def _room(features: Sequence[float]) -> float:
    """What speaks for a hit in a small store: what looks like the answer has few relatives there that look like it too.

    A hit on one or two words is as likely to be chance in a small store as in a large one.
    """
    if features[_MATCHES] <= _TWO:
        return 0.0
    crowd = (features[_STORE] - log(_SMALL)) / (log(_LARGE) - log(_SMALL))
    return _IN_A_SMALL_STORE * (1.0 - min(max(crowd, 0.0), 1.0))


def shifted(probability: float, evidence: float) -> float:
    """A probability in the light of evidence from outside the text, in log odds."""
    if not evidence:
        return probability
    odds = log(max(probability, 1e-9) / max(1 - probability, 1e-9)) + evidence
    return 1 / (1 + exp(-odds))


def confidence(probability: float) -> str:
    """A probability in one word."""
    return "high" if probability >= HIGH else "medium" if probability >= MEDIUM else "low"

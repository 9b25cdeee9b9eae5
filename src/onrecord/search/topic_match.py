"""How well a record answers a question about the past: what must be in it is the topic of the question.

The features are those of a search and two of the topic itself. The probability is absolute: where no record has the
topic, all are improbable, however close the closest is. `python -m bench past --fit` fits the weights.
"""

from __future__ import annotations

from onrecord.search import past_coefficients as fitted
from onrecord.search import relevance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.search.candidates import WeightedQuery
    from onrecord.search.index import Row
    from onrecord.search.query import Query

NAMES = (*relevance.NAMES, "apart", "unknown")
"""The features: those of a prompt; the share of the topic's compound names whose parts the record has not together;
and the weight of those of its words that no record has."""

_MAX_FEATURE = 8.0
_VECTOR_SHARE = NAMES.index("vector_share")


def measure(features: Sequence[float], query: Query, weighted: WeightedQuery, row: Row) -> list[float]:
    """Return the features of a record, given those that it has for any prompt."""
    return [*features, _apart(query, row), _unknown(weighted)]


def score(features: Sequence[float]) -> float:
    """Return the log odds that a record answers, by its words alone where no word of the topic has a vector."""
    base, weights = fitted.BASE, fitted.WEIGHTS
    if not features[_VECTOR_SHARE]:
        base, weights = fitted.WORDS_BASE, fitted.WORDS_WEIGHTS
    bounded = (min(max(feature, -_MAX_FEATURE), _MAX_FEATURE) for feature in features)
    return base + sum(weights.get(name, 0.0) * feature for name, feature in zip(NAMES, bounded))


def _apart(query: Query, row: Row) -> float:
    if not query.compounds:
        return 0.0
    fields = [f" {field} " for field in (row.title_terms, row.tag_terms, row.trigger_terms, row.body_terms)]
    apart = sum(not any(f" {first} {second} " in field for field in fields) for first, second in query.compounds)
    return apart / len(query.compounds)


def _unknown(weighted: WeightedQuery) -> float:
    frequency = weighted.corpus.frequency
    on_file = {concept for term, concept in weighted.concept.items() if frequency.get(term)}
    return sum(weight for concept, weight in enumerate(weighted.weights) if concept not in on_file) / 10

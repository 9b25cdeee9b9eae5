"""How well a record answers a search. A search is short, and somebody waits for what it brings.

It serves `onrecord search` and questions about the past; for prompts there is `gate`.
"""

from __future__ import annotations

from onrecord.search import gate
from onrecord.search import search_coefficients as fitted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.search.candidates import WeightedQuery
    from onrecord.search.index import Row
    from onrecord.search.query import Query

_BY_BEGINNING = 1.0
"""What it costs a record, in logits, that it has all words of a search only with another ending."""

_IN_PARTS = 2.0
"""What it costs that the parts of an identifier do not stand together in it: `user_id` is not the id of any user."""

_LARGEST = 8.0
"""Of a feature: of what was fitted on only `meaning_z` comes near it, and that of a retired record means nothing."""

_VECTOR_SHARE = gate.NAMES.index("vector_share")


def score(values: Sequence[float]) -> float:
    """Log odds, given the features of a record; by its words alone where no word of the search has a vector."""
    base, weights = fitted.BASE, fitted.WEIGHTS
    if not values[_VECTOR_SHARE]:
        base, weights = fitted.WORDS_BASE, fitted.WORDS_WEIGHTS
    bounded = (min(max(value, -_LARGEST), _LARGEST) for value in values)
    return base + sum(weights.get(name, 0.0) * value for name, value in zip(gate.NAMES, bounded))


def cost(asked: Query, weighed: WeightedQuery, row: Row) -> float:
    """What counts against a record in a search and is no feature of prompts: other endings, identifiers in parts."""
    if not asked.compounds and len(weighed.concept) == len(asked.terms):
        return 0.0
    fields = [f" {field} " for field in (row.title_terms, row.tag_terms, row.trigger_terms, row.body_terms)]
    apart = sum(not any(f" {left} {right} " in field for field in fields) for left, right in asked.compounds)
    present = {term for field in fields for term in field.split()}
    begun = {weighed.concept[term] for term in present.intersection(weighed.concept)}
    whole = {weighed.concept[term] for term in asked.terms if term in present}
    in_parts = _IN_PARTS * apart / max(len(asked.compounds), 1)
    return in_parts + _BY_BEGINNING * len(begun - whole) / len(asked.terms)

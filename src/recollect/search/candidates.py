"""The candidates of a search: the few records worth looking at closely, found by their rarest terms."""

from __future__ import annotations

from recollect.search import refresh
from recollect.search.features import Look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.search.filters import Admission
    from recollect.search.index import Index, Row
    from recollect.search.query import Query

AUTO, SEARCH = 20, 48
"""Candidates looked at for a prompt, and for a question somebody asked."""

_MOST_TERMS = 32
_WORK = 4_000
"""Occurrences visited before the commoner terms are left out: what bounds a search in a large store."""

_SHORTEST_PREFIX = 4


def look(index: Index, query: Query) -> Look:
    """The query weighed by what the index holds."""
    corpus = index.corpus(query.terms)
    alike = _alike(index, query, corpus.frequency, corpus.head_frequency)
    return Look(query, corpus, alike)


def candidates(index: Index, seen: Look, admission: Admission) -> list[Row]:
    """The best records by the weight of the terms they have, counted twice in title and triggers."""
    scores = _scores(index, seen)
    if scores is None:
        refresh.rebuild(index, hook=admission.auto)
        scores = _scores(index, seen) or {}
    if admission.include_retired:
        _add_past(index, seen, scores)
    best = sorted(scores, key=lambda n: (-scores[n], n))
    most = AUTO if admission.auto else SEARCH
    return _fetch(index, best[:400] if admission.is_narrow else best[:most])


def _scores(index: Index, seen: Look) -> dict[int, float] | None:
    """The weight found in each record; None if the full-text table does not hold what was counted into it."""
    frequency, heads = seen.corpus.frequency, seen.corpus.head_frequency
    known = sorted((term for term in seen.concept if frequency.get(term)), key=lambda term: frequency[term])
    scores: dict[int, float] = {}
    work = 0
    for term in known[:_MOST_TERMS]:
        work += frequency[term]
        if work > _WORK and scores:
            break
        found = index.holders(term)
        if len(found) != frequency[term]:
            return None
        weight = seen.weights[seen.concept[term]]
        for n in found:
            scores[n] = scores.get(n, 0.0) + weight
        for n in index.holders(term, heads=True) if heads.get(term) else ():
            scores[n] += weight
    return scores


def _add_past(index: Index, seen: Look, scores: dict[int, float]) -> None:
    for term, concept in list(seen.concept.items())[:_MOST_TERMS]:
        for n in index.holders(term, past=True):
            scores[n] = scores.get(n, 0.0) + seen.weights[concept]


def _fetch(index: Index, numbers: list[int]) -> list[Row]:
    return index.rows(f"WHERE n IN ({','.join(map(str, numbers))})") if numbers else []


def _alike(index: Index, query: Query, frequency: dict[str, int], heads: dict[str, int]) -> dict[str, list[str]]:
    """For words the index does not have, those that begin alike: `auth` stands for `authentication`, and back."""
    found: dict[str, list[str]] = {}
    parts = {part for pair in query.compounds for part in pair}
    for term in query.terms:
        if term in frequency or term in parts or len(term) < _SHORTEST_PREFIX or not term.isalpha():
            continue
        counts = index.terms_like(term, 6)
        counts.update(index.term_counts(term[:end] for end in range(_SHORTEST_PREFIX, len(term))))
        if counts:
            found[term] = list(counts)
            frequency.update((other, count) for other, (count, _) in counts.items())
            heads.update((other, count) for other, (_, count) in counts.items())
    return found

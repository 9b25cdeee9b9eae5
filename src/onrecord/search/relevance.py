"""The relevance of a record: a score to rank it by, and the probability that it is relevant, given its features.

There are four models: for prompts, for searches, for questions about the past, and the keyword scorer of the earlier
plugin, which serves `match_strategy: title_tags` and a Python without FTS5.
"""

from __future__ import annotations

from math import exp, log

from onrecord import coldstart
from onrecord.search import coefficients, word_features

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onrecord.search.candidates import Filter, WeightedQuery
    from onrecord.search.index import Index, Row
    from onrecord.search.query import Query
    from onrecord.settings import Settings


class Meaning(coldstart.NamedTuple):
    """Semantic features of a record for a prompt. The names are those of the features that the models weigh."""

    meaning: float = 0.0
    """The mean of `whole_meaning` and the best of title, trigger and sentence."""
    title_meaning: float = 0.0
    """The cosine of the prompt and the title."""
    trigger_meaning: float = 0.0
    """That of the closest trigger; 0 if there is none."""
    sentence_meaning: float = 0.0
    whole_meaning: float = 0.0
    meaning_lead: float = 0.0
    """By how much `meaning` is more than that of the closest other record; negative for all but the closest."""
    meaning_z: float = 0.0
    """By how many standard deviations the record's gist is closer than that of the average record of the store."""
    soft_coverage: float = 0.0
    """The share of the prompt's words, each counted by its similarity to the most similar word of the record."""
    soft_lead: float = 0.0
    """By how much `soft_coverage` is more than that of the best other candidate; negative for all but the best."""
    vector_share: float = 0.0
    """The share of the prompt's words that have a vector: where it is low, all others mean little."""
    foreign: float = 0.0
    """The share of the words that no record has of a prompt that is not English: near 1 where words cannot match; 0 for
    an English prompt."""
    foreign_meaning: float = 0.0
    """`meaning` by that share: where words cannot match, meaning has to say all."""
    foreign_soft: float = 0.0
    """`soft_coverage` by that share."""


MEANING_NAMES = Meaning._fields
"""The features by name, in order. They follow those of words."""

NO_MEANING = Meaning()
"""Of a record without vectors, and of all records where there is no table."""

THRESHOLD = coefficients.THRESHOLD
"""Nothing is shown for a prompt below this probability."""

HIGH, MEDIUM = 0.85, 0.5

NAMES = (*word_features.NAMES, *MEANING_NAMES)
"""All features of a record for a prompt, which ranking and relevance model weigh, in order."""

RELATIVE = ("share", "log_share", "score", "lead")
"""Features that compare a score with those of the other matches, beside the features of the record itself."""

_MAX_RIVALS = 12
"""Matches with which a score is compared: the same number however many candidates there are."""

_MIN_VECTOR_SHARE = 0.25
"""The share of a prompt's words that must have a vector for meaning to count: below it the text is in a language that
the table hardly has, and what little is found by meaning is chance."""


class Weights(coldstart.NamedTuple):
    """The weights of the features in the ranking and in the relevance model, and the constants of both."""

    base: tuple[float, float]
    rank: list[float]
    relevance: list[float]


def weights(vector_share: float) -> Weights:
    """Return the weights for a prompt, by the share of its words that have a vector (0 without a table)."""
    table = coefficients.WITH_MEANING if vector_share >= _MIN_VECTOR_SHARE else coefficients.WORDS_ONLY
    base, *rows = table.values()
    return Weights(base, [row[0] for row in rows[: -len(RELATIVE)]], [row[1] for row in rows])


def score(weights: Weights, features: Sequence[float]) -> float:
    """Return the ranking score of a record."""
    return weights.base[0] + sum([weight * feature for weight, feature in zip(weights.rank, features)])


def relative(scores: Sequence[float], subjects: Sequence[object]) -> list[tuple[float, ...]]:
    """Return, for each of `scores`, best first, how it compares with the others.

    Records on one subject do not compete: one with six records is asked for no less than one with a single record.
    """
    if not scores:
        return []
    best, rivals = scores[0], dict[object, float]()
    for score, subject in zip(scores[:_MAX_RIVALS], subjects):
        rivals.setdefault(subject, exp(max(score - best, -50.0)))
    total = sum(rivals.values())
    next_score = next((score for score, subject in zip(scores, subjects) if subject != subjects[0]), best - 2.0)
    relative_scores: list[tuple[float, ...]] = []
    for score, subject in zip(scores, subjects):
        weight = exp(max(score - best, -50.0))
        share = weight / (total - rivals.get(subject, 0.0) + weight)
        lead = min(score - next_score, 3.0) if subject == subjects[0] else score - best
        relative_scores.append((share, log(share), score, lead))
    return relative_scores


def probability(weights: Weights, features: Sequence[float], relative_scores: Sequence[float]) -> float:
    """Return the probability that the record is relevant, by its text."""
    logit = weights.base[1]
    for weight, feature in zip(weights.relevance, (*features[: len(weights.rank)], *relative_scores)):
        logit += weight * feature
    return 1 / (1 + exp(-max(min(logit, 30.0), -30.0)))


def shifted(probability: float, logits: float) -> float:
    """Return a probability shifted by evidence in logits."""
    logit = log(max(probability, 1e-9) / max(1 - probability, 1e-9)) + logits
    return 1 / (1 + exp(-logit))


def confidence(probability: float) -> str:
    """Return a probability in one word."""
    return "high" if probability >= HIGH else "medium" if probability >= MEDIUM else "low"


_ENDING_COST = 1.0
"""Cost in logits for a record that has all words of a search only with another ending."""

_PARTS_COST = 2.0
"""Cost in logits if the parts of an identifier are not together in it: `user_id` is not the id of any user."""

_MAX_FEATURE = 8.0
"""Of a feature: of what was fitted on only `meaning_z` comes near it, and that of a retired record means nothing."""

_VECTOR_SHARE = NAMES.index("vector_share")
PAST_NAMES = (*NAMES, "apart", "unknown")
"""For a question about the past there are two more: the share of the topic's compound names whose parts the record has
not together; and the weight of those of its words that no record has."""


def search_score(features: Sequence[float]) -> float:
    """Return the log odds of a record, by its words alone where no word of the search has a vector."""
    if features[_VECTOR_SHARE]:
        return _log_odds(features, NAMES, coefficients.SEARCH_BASE, coefficients.SEARCH_WEIGHTS)
    return _log_odds(features, NAMES, coefficients.SEARCH_WORDS_BASE, coefficients.SEARCH_WORDS_WEIGHTS)


def past_features(features: Sequence[float], query: Query, weighted: WeightedQuery, row: Row) -> list[float]:
    """Return the features of a record for a question about the past, given those that it has for any prompt."""
    return [*features, _apart(query, row), _unknown(weighted)]


def past_score(features: Sequence[float]) -> float:
    """Return the log odds that a record answers a question about the past: what must be in it is the topic.

    They are absolute: where no record has the topic, all are improbable, however close the closest is.
    """
    if features[_VECTOR_SHARE]:
        return _log_odds(features, PAST_NAMES, coefficients.PAST_BASE, coefficients.PAST_WEIGHTS)
    return _log_odds(features, PAST_NAMES, coefficients.PAST_WORDS_BASE, coefficients.PAST_WORDS_WEIGHTS)


def _log_odds(
    features: Sequence[float], names: Sequence[str], intercept: float, feature_weights: Mapping[str, float]
) -> float:
    bounded = (min(max(feature, -_MAX_FEATURE), _MAX_FEATURE) for feature in features)
    return intercept + sum(feature_weights.get(name, 0.0) * feature for name, feature in zip(names, bounded))


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


def search_cost(query: Query, weighted: WeightedQuery, row: Row) -> float:
    """Return the cost of what is no feature of prompts: other word endings, identifiers in parts."""
    if not query.compounds and len(weighted.concept) == len(query.terms):
        return 0.0
    fields = [f" {field} " for field in (row.title_terms, row.tag_terms, row.trigger_terms, row.body_terms)]
    apart = sum(not any(f" {first} {second} " in field for field in fields) for first, second in query.compounds)
    present = {term for field in fields for term in field.split()}
    begun = {weighted.concept[term] for term in present.intersection(weighted.concept)}
    whole = {weighted.concept[term] for term in query.terms if term in present}
    in_parts = _PARTS_COST * apart / max(len(query.compounds), 1)
    return in_parts + _ENDING_COST * len(begun - whole) / len(query.terms)


_MIN_PREFIX = 4
_MAX_DESCRIBED = 2
_RECENT_DAYS = 30

_PER_POINT, _PER_TERM, _PER_LEAD, _KEYWORD_BASE = 0.219, -0.041, 0.254, -2.639
"""Log odds of relevance: of each point, each term of the prompt, each point before the next record.

Fitted on the best three for the written prompts of six life sets, with and without triggers, 2026-11-16. On bevy and
pandas .87 of what reaches a probability of .5 is relevant, and .71 of what reaches .3.
"""

_MAX_LEAD = 8.0
"""Points: in a store of a few records the next may have none."""


class KeywordScore(coldstart.NamedTuple):
    """A record with points."""

    row: Row
    points: float
    lead: float
    """Points more than the next record has; negative for all but the best."""
    probability: float


def keyword_scores(index: Index, query: Query, filter: Filter) -> list[KeywordScore]:
    """Return all records that have points, best first; superseded ones do not take part."""
    query_terms, since = frozenset(query.terms), filter.days_ago(_RECENT_DAYS)
    points_and_rows: list[tuple[float, Row]] = []
    for row in (row.respelled(query_terms, query.names) for row in index.not_replaced()):
        points = keyword_points(query_terms, row, filter.settings) if filter.accepts(row) else 0
        if points:
            points_and_rows.append((points + (row.updated_at >= since), row))
    points_and_rows.sort(key=lambda pair: (-pair[0], pair[1].path))
    return [_keyword_score(len(query.terms), points_and_rows, position) for position in range(len(points_and_rows))]


def _keyword_score(term_count: int, points_and_rows: list[tuple[float, Row]], position: int) -> KeywordScore:
    points, row = points_and_rows[position]
    rival = points_and_rows[0 if position else 1][0] if len(points_and_rows) > 1 else 0.0
    lead = min(points - rival, _MAX_LEAD)
    logits = _KEYWORD_BASE + _PER_POINT * points + _PER_TERM * term_count + _PER_LEAD * lead
    return KeywordScore(row, points, lead, shifted(0.5, logits))


def keyword_points(query_terms: frozenset[str], row: Row, settings: Settings | None = None) -> int:
    """Return the points of a record: title word 2, tag 3, prefix of either 1, description up to 2, body up to 3."""
    title, tags = set(row.title_terms.split()), set(row.tag_terms.split())
    count = 2 * len(query_terms & title) + 3 * len(query_terms & tags)
    count += sum(_begins_alike(term, title | tags) for term in query_terms - title - tags)
    count += min(3, len(query_terms.intersection(row.body_terms.split())))
    if count and settings:
        from onrecord.search import terms

        description = terms.stream(settings.text(f"categories.{row.category}.description"))
        count += min(_MAX_DESCRIBED, len(query_terms.intersection(description)))
    return count


def _begins_alike(term: str, others: set[str]) -> bool:
    longer = (other for other in others if len(other) >= _MIN_PREFIX <= len(term))
    return any(other.startswith(term) or term.startswith(other) for other in longer)

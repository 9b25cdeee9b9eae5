"""A query and an index make ranked matches, each with the probability that it is relevant."""

from __future__ import annotations

from onrecord import coldstart
from onrecord.categories import CATEGORIES
from onrecord.search import candidates, coefficients, indexing, relevance, word_features
from onrecord.search.candidates import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from onrecord.search.candidates import WeightedQuery
    from onrecord.search.index import Index, Row
    from onrecord.search.query import Query
    from onrecord.search.relevance import Weights
    from onrecord.search.semantic import Nearby
    from onrecord.settings import Settings

_PRIORITY = tuple(CATEGORIES)
_PRIORITY_STEP, _DESCRIBED_BONUS = 0.002, 0.05
"""Enough to settle ties by category, and a little more for a word of the category's description in the settings."""

INTENT_BONUS = 0.5
"""In logits, for the category that the query's words of intent ask for: it moves the order of records that are close.

Chosen by `python -m bench intent --choose`.
"""

_MAX_DESCRIBED = 2
"""Words of a category's description that count, as in the keyword scorer."""

_PREDECESSOR_COST = 0.1
"""Subtracted from the score of a record that was found by the text of one it replaces."""

SURE = 0.95
"""The lowest probability of a record one of whose triggers was typed word for word."""

_MIN_TRIGGER_TERMS = 2
"""Terms of a prompt that may be a trigger: one word alone is no sentence that somebody would type again."""

_MIN_TAGGED = 0.9
"""The share of the words of a prompt that are on any record from which on a record with these tags is pointed to."""

_TITLE_ASKED = relevance.NAMES.index("title_asked")
_MIN_ASKED = 0.3
"""The share of a title's words from which on it names the subject that was asked for."""

_NONE: Mapping[str, float] = {}
_EVERYTHING = Filter()


class _RecordScore(coldstart.NamedTuple):
    """A current record, scored by its own text or by that of a record it replaces."""

    score: float
    features: list[float]
    row: Row
    text_row: Row
    """The record whose text matched: itself, or one it replaces."""
    own: float
    """The score of its text alone, without what settles ties: log odds for a search."""
    matched: frozenset[int] = frozenset()
    """The concepts of the prompt that it has; empty in a search."""
    floor: float = 0.0
    """The lowest probability that it may have."""

    @property
    def siblings(self) -> object:
        """A value that records on one subject share: their title and text have the same words of the prompt."""
        title_share = self.features[_TITLE_ASKED]
        return (self.matched, round(title_share, 2)) if self.matched and title_share >= _MIN_ASKED else self.row.path


class Match(coldstart.NamedTuple):
    """A record that matches a query, and how probably it is relevant."""

    id: str
    category: str
    title: str
    path: str
    tags: tuple[str, ...]
    status: str
    updated_at: str
    summary_line: str
    anchors: str
    root: str
    """The store that it is in."""
    query: Query | None = None
    score: float = 0.0
    probability: float = 1.0
    features: Mapping[str, float] = _NONE
    via: tuple[str, str, str] | None = None
    """Id, title and date of the superseded record whose text matched."""
    scope: str = ""
    """Where it applies, as `scopes.unpack` reads it; empty for everywhere."""
    subject: object = ""
    """What records have in common that a prompt's words do not tell apart."""
    mark: str = ""
    """What is not plain about it, such as `proposed`; the summary line begins with it."""

    @property
    def confidence(self) -> str:
        """The probability in one word."""
        return relevance.confidence(self.probability)

    @property
    def is_by_keywords(self) -> bool:
        """True if the keyword scorer ranked it."""
        return "keywords" in self.features

    def snippet(self, mark: tuple[str, str] = ("**", "**")) -> str:
        """Return the passage of the record that matches best, with the query's words marked."""
        from onrecord.search import document

        terms = frozenset((*self.query.terms, *self.query.names)) if self.query else frozenset()
        return document.snippet(self.root, self.path, terms, mark) or self.summary_line


def match(row: Row, root: str, **scores: Any) -> Match:
    """Return a record of the index as a match; `scores` are its query, score and features, if it was searched for."""
    tags = tuple(row.tags.split("\n")) if row.tags else ()
    head = (row.id, row.category, row.title, row.path, tags, row.status)
    return Match(*head, row.updated_at, row.summary_line, row.anchors, root, scope=row.scope, mark=row.mark, **scores)


def find(index: Index, query: Query, filter: Filter = _EVERYTHING, limit: int = 10) -> list[Match]:
    """Return the best matches that `filter` accepts, best first; the caller applies its own threshold."""
    if not query.terms:
        return []
    return index.run(_find_unchanged, query, filter, limit, hook=filter.in_force_only)


def current(index: Index, path: str) -> Match | None:
    """Return the record at a path as it is now, or the record that has replaced it."""
    rows = index._select("WHERE path = ?", (path,))
    row = candidates.successors(index, rows)[rows[0].n] if rows else None
    return match(row, index.root) if row and row.status == "active" else None


def newest(index: Index, category: str, limit: int) -> list[Match]:
    """Return the records of a category, the ones that were changed last first, retired ones too."""
    rows = index._select(
        "WHERE category = ? AND status IN ('active', 'retired') AND NOT void ORDER BY updated_at DESC, path LIMIT ?",
        (category, limit),
    )
    return [match(row, index.root) for row in rows if indexing.is_unchanged(index, row.path)]


def is_void(index: Index, match: Match, settings: Settings) -> bool:
    """True if a record is not in force: retired, replaced, expired or void by its own words."""
    rows = index._select("WHERE path = ?", (match.path,))
    return match.status != "active" or not any(Filter("past", settings=settings).accepts(row) for row in rows)


def _find_unchanged(index: Index, query: Query, filter: Filter, limit: int) -> list[Match]:
    """Return matches whose files are as they were indexed; one edited since is indexed and ranked again."""
    matches = _find(index, query, filter)[:limit]
    changed = [hit.path for hit in matches if not indexing.is_unchanged(index, hit.path)]
    if not changed:
        return matches
    try:
        indexing.reread(index, changed)
        matches = _find(index, query, filter)[:limit]
    except coldstart.SqliteError:
        pass
    return [hit for hit in matches if indexing.is_unchanged(index, hit.path)]


def _find(index: Index, query: Query, filter: Filter) -> list[Match]:
    settings = filter.settings
    if not index.has_words or (settings and settings.text("retrieval.match_strategy") == "title_tags"):
        return by_keywords(index, query, filter)
    return _by_passages(index, query, filter)


def _by_passages(index: Index, query: Query, filter: Filter) -> list[Match]:
    """Return the matches of a query and of each of its passages; each record once, with its highest probability."""
    matches = _by_features(index, query, filter)
    if not query.passages:
        return matches
    best = {hit.path: hit for hit in matches}
    for passage in query.passages:
        for hit in _by_features(index, passage, filter):
            if hit.path not in best or hit.probability > best[hit.path].probability:
                best[hit.path] = hit
    return sorted(best.values(), key=lambda hit: (-hit.probability, -hit.score, hit.path))


def by_keywords(index: Index, query: Query, filter: Filter) -> list[Match]:
    """Return all records that the keyword scorer gives points, best first."""
    return [
        match(
            keyword_score.row,
            index.root,
            query=query,
            score=keyword_score.points,
            probability=keyword_score.probability,
            features={"keywords": keyword_score.points, "lead": keyword_score.lead},
        )
        for keyword_score in relevance.keyword_scores(index, query, filter)
    ]


def _by_features(index: Index, query: Query, filter: Filter) -> list[Match]:
    weighted = candidates.weigh(index, query, is_typed=filter.is_search and not filter.in_force_only)
    rows, nearby = _candidates(index, query, weighted, filter)
    accepted_rows = _accepted(index, rows, filter)
    words = {row.n: word_features.measure(weighted, *row[-4:]) for row, _ in accepted_rows}
    meanings = nearby.measure(rows, weighted, words) if nearby and words else {}
    weights = relevance.weights(max((meaning.vector_share for meaning in meanings.values()), default=0.0))
    described = {name: _described(name, query, filter.settings) for name in _PRIORITY}
    best: dict[int, _RecordScore] = {}
    replaced: dict[int, list[Row]] = {}
    own_score = _own_score(filter, query, weighted, weights)
    for row, current in accepted_rows:
        features, own = own_score([*words[row.n], *meanings.get(row.n, relevance.NO_MEANING)], row)
        score = own + _priority(current.category, query.intent) + described[current.category]
        if current is not row:
            score -= _PREDECESSOR_COST
            if not filter.in_force_only and filter.accepts(row):
                replaced.setdefault(current.n, []).append(row)
        if current.n not in best or score > best[current.n].score:
            best[current.n] = _RecordScore(score, features, current, row, own)
            if not filter.is_search:
                matched = frozenset(word_features.matched(weighted, row))
                best[current.n] = best[current.n]._replace(matched=matched, floor=_floor(query, weighted, row))
    record_scores = sorted(best.values(), key=lambda record_score: (-record_score.score, record_score.row.path))
    return list(_matches(index.root, query, record_scores, replaced, None if filter.is_search else weights))


def _accepted(index: Index, rows: list[Row], filter: Filter) -> list[tuple[Row, Row]]:
    """Return the candidates that may be shown, each with the record that is current."""
    successors = candidates.successors(index, rows)
    holding = ((row, successors[row.n] or (None if filter.in_force_only else row)) for row in rows)
    return [(row, current) for row, current in holding if current is not None and filter.accepts(current)]


def _candidates(index: Index, query: Query, weighted: WeightedQuery, filter: Filter) -> tuple[list[Row], Nearby | None]:
    """Return the candidates by words and by meaning, and the comparison by meaning if there is a table."""
    from onrecord.search import semantic

    numbers = candidates.find(index, weighted, filter)
    nearby = semantic.compare(index, query)
    if nearby is not None:
        numbers += nearby.nearest(numbers, is_search=not filter.in_force_only, is_narrow=filter.is_narrow)
    return [row.respelled(weighted.concept, weighted.names) for row in index.rows(numbers)], nearby


def _matches(
    root: str,
    query: Query,
    record_scores: list[_RecordScore],
    replaced: Mapping[int, list[Row]],
    weights: Weights | None,
) -> Iterator[Match]:
    """Yield each match; in a search, then the records it replaces, as probable as it, and marked."""
    subjects = [record_score.siblings for record_score in record_scores]
    relative_scores = relevance.relative([record_score.score for record_score in record_scores], subjects)
    for record_score, subject, relative in zip(record_scores, subjects, relative_scores):
        score, features, row, text_row, own, _, floor = record_score
        probability = relevance.probability(weights, features, relative) if weights else relevance.shifted(0.5, own)
        scores = {
            "query": query,
            "score": score,
            "probability": max(probability, floor),
            "subject": subject,
            "features": _named(features, relative),
        }
        via = None if text_row is row else (text_row.id, text_row.title, row.updated_at)
        yield match(row, root, **scores, via=via)
        for old in replaced.get(row.n, ()):
            status = "superseded" if old.status == "active" else old.status
            yield match(old._replace(status=status), root, **scores)


def _floor(query: Query, weighted: WeightedQuery, row: Row) -> float:
    """Return the lowest probability for a prompt: of its trigger, or of hardly any word on record but its tags."""
    if _is_trigger(query, row):
        return SURE
    recorded = {concept for term, concept in weighted.concept.items() if weighted.corpus.frequency.get(term)}
    tagged = recorded.intersection(weighted.concept[term] for term in row.tag_terms.split() if term in weighted.concept)
    total, share = (sum(weighted.weights[concept] for concept in concepts) for concepts in (recorded, tagged))
    return coefficients.POINTER if total and not query.others and share >= _MIN_TAGGED * total else 0.0


def _is_trigger(query: Query, row: Row) -> bool:
    """True if a prompt is a trigger of the record or its title, but for numbers and punctuation."""
    typed = [term for term in query.terms if not term.isdigit()]
    if len(typed) < _MIN_TRIGGER_TERMS:
        return False
    from onrecord.search.query import ENGLISH

    title = " ".join(term for term in row.title_terms.split() if term not in ENGLISH)
    texts = (dict.fromkeys(text.split()) for text in (title, *row.trigger_terms.split("|")))
    return any(typed == [term for term in text if not term.isdigit()] for text in texts)


def _named(features: list[float], relative: tuple[float, ...]) -> dict[str, float]:
    """Return features by name; those of a question about the past are more."""
    by_name = dict(zip(relevance.NAMES, features))
    by_name.update(zip(relevance.RELATIVE, relative))
    if len(features) > len(relevance.NAMES):
        by_name.update(zip(relevance.PAST_NAMES, features))
    return by_name


def _own_score(
    filter: Filter, query: Query, weighted: WeightedQuery, weights: Weights
) -> Callable[[list[float], Row], tuple[list[float], float]]:
    """Return the function that gives a record's features and its score: for a prompt, a search or a past question."""
    if filter.mode == "past":

        def of_topic(features: list[float], row: Row) -> tuple[list[float], float]:
            features = relevance.past_features(features, query, weighted, row)
            return features, relevance.past_score(features)

        return of_topic
    if filter.is_search:
        return lambda features, row: (
            features,
            relevance.search_score(features) - relevance.search_cost(query, weighted, row),
        )
    return lambda features, row: (features, relevance.score(weights, features))


def _priority(category: str, intent: str) -> float:
    return INTENT_BONUS if category == intent else -_PRIORITY_STEP * (_PRIORITY.index(category) + 1.0)


def _described(category: str, query: Query, settings: Settings | None) -> float:
    """Return the bonus for a category whose description in the settings has words of the query."""
    key = f"categories.{category}.description"
    if not settings or not settings.is_set(key):
        return 0.0
    from onrecord.search import terms

    shared = len(set(query.terms).intersection(terms.stream(settings.text(key))))
    return _DESCRIBED_BONUS * min(shared, _MAX_DESCRIBED)

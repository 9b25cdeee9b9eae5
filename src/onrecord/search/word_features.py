"""Features of the words that a record and a query have in common, which the models of relevance weigh."""

from __future__ import annotations

from math import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from onrecord.search.candidates import WeightedQuery
    from onrecord.search.index import Row

NAMES = (
    "coverage", "window", "window_title", "matches", "title_asked", "in_title", "title_both", "in_tags", "adjacent",
    "rarest", "bm25_title", "bm25_body", "length", "early", "mass", "window_mass", "title_mass", "trigger_asked",
    "in_trigger", "title_concepts", "bm25_fields", "fields_share", "trigger_scarcity", "filler", "store",
    "others", "printed", "tags_alone",
)  # fmt: skip
"""The features, in the order of `measure`."""

WINDOW = 12
_MAX_STORE = 1_000
"""Records beyond which a store is simply large: the sets that the weights were fitted on have no more."""

_K1, _B = 1.2, 0.75
"""The usual parameters of BM25."""

_IN_TITLE, _IN_TAGS = 3, 3
"""Times that a word of the title and of the tags counts, against one in a trigger or in the body."""

_OTHER_TERMS = 30
"""Length that tags and triggers add to that of an average record: the index counts the terms of titles and bodies."""

_MIN_TRIGGER_TERMS = 4
"""Words added to the length of a trigger, so that one of two common words is not as good as one of six rare ones."""


_SURE_MASS = 6.0
"""The weight of words from which on a trigger is covered by more than chance: about that of two rare ones."""


def measure(query: WeightedQuery, title_text: str, tag_text: str, trigger_text: str, body_text: str) -> list[float]:
    """Return the word features of one record, given its analysed fields."""
    concept, weights, total, corpus = query.concept, query.weights, query.total, query.corpus
    title_terms, body_terms, tag_terms = title_text.split(), body_text.split(), tag_text.split()
    in_title, in_body = _positions(concept, title_terms), _positions(concept, body_terms)
    in_tags = {concept[term] for term in tag_terms if term in concept}
    phrases = [trigger.split() for trigger in trigger_text.split("|")] if trigger_text else []
    trigger_asked, trigger_share, scarcity, best_trigger = _best_triggers(query, phrases)
    in_triggers = {concept[term] for phrase in phrases for term in phrase if term in concept}
    title_asked, titled = _title_asked(title_terms, concept), {c for _, c in in_title}
    concepts, in_texts = (titled.union((c for _, c in in_body), tags, in_triggers) for tags in (in_tags, ()))
    window, inside, start = _window(in_body, weights)
    title_mass, window_mass, mass = (_mass(part, weights) for part in (titled, inside | titled, concepts))
    length = _IN_TITLE * len(title_terms) + _IN_TAGS * len(tag_terms) + len(body_terms)
    fields = _bm25_fields(query, _times(query, in_title, in_body, (*tag_terms * _IN_TAGS, *best_trigger)), length)
    return [
        mass / total,
        max(window, title_mass) / total,
        window_mass / total,
        log(1 + len(concepts)),
        title_asked,
        title_mass / total,
        title_asked * title_mass / total,
        _mass(in_tags, weights) / total,
        _adjacent(query, in_title, in_body),
        max((weights[i] for i in concepts), default=0.0) / log(corpus.records + 101),
        _bm25(in_title, weights, len(title_terms) / corpus.title_length) / total,
        _bm25(in_body, weights, len(body_terms) / corpus.body_length) / total,
        log(1 + len(weights)),
        1 / (1 + start / 40) if in_body else 0.0,
        mass / 10,
        window_mass / 10,
        title_mass / 10,
        trigger_asked,
        trigger_share,
        _title_word_share(query, titled | in_triggers),
        fields / 10,
        fields / (sum(query.scarcity) or 1.0),
        scarcity,
        *_of_query(query),
        _mass(in_tags - in_texts, weights) / total,
    ]


def _of_query(query: WeightedQuery) -> tuple[float, ...]:
    """Return the features that all records have in common: of the query, and the size of the store."""
    return query.filler, log(1 + min(query.corpus.records, _MAX_STORE)), log(1 + query.others), query.printed


def _title_word_share(query: WeightedQuery, concepts: set[int]) -> float:
    """Return the share that `concepts` have of the query's weight in words that occur in titles of the store."""
    in_any_title = _mass(query.titled, query.weights)
    return _mass(concepts.intersection(query.titled), query.weights) / in_any_title if in_any_title else 0.0


def coverage(query: WeightedQuery, row: Row) -> float:
    """Return the first of these features alone, in a fraction of the time."""
    return _mass(matched(query, row), query.weights) / query.total


def matched(query: WeightedQuery, row: Row) -> set[int]:
    """Return the concepts of the query that a record has anywhere."""
    # In the order of `measure`: sums over a set that was filled in another order differ in their last digit.
    text, concept = f"{row.title_terms} {row.body_terms} {row.tag_terms} {row.trigger_terms}", query.concept
    return {concept[term] for term in text.split() if term in concept}


def _positions(concept: dict[str, int], stream: list[str]) -> list[tuple[int, int]]:
    get = concept.get
    return [(position, c) for position, term in enumerate(stream) if (c := get(term)) is not None]


def _mass(concepts: Collection[int], weights: list[float]) -> float:
    return sum(weights[i] for i in concepts)


def _window(positions: list[tuple[int, int]], weights: list[float]) -> tuple[float, set[int], int]:
    """Return the heaviest stretch of WINDOW words: its mass, its concepts and where it begins."""
    best, inside, start = 0.0, set[int](), 0
    mass, low = 0.0, 0
    times: dict[int, int] = {}
    for position, concept in positions:
        if not times.get(concept):
            mass += weights[concept]
        times[concept] = times.get(concept, 0) + 1
        while positions[low][0] <= position - WINDOW:
            outside = positions[low][1]
            times[outside] -= 1
            if not times[outside]:
                mass -= weights[outside]
            low += 1
        if mass > best + 1e-9:
            best, start = mass, positions[low][0]
            inside = {c for c, count in times.items() if count}
    return best, inside, start


def _title_asked(title: list[str], concept: dict[str, int]) -> float:
    """Return the share of the title's distinctive terms that are in the query."""
    distinctive = {term for term in title if len(term) > 2 or not term.isascii()} or set(title)
    return sum(term in concept for term in distinctive) / (len(distinctive) or 1)


def _best_triggers(query: WeightedQuery, phrases: list[list[str]]) -> tuple[float, float, float, list[str]]:
    """Return the most that one trigger has in common with the query, in three respects, and the trigger that has most.

    That is the share of it that was asked for, less for common words; its share of the query; and how scarce its words
    are for its length.
    Each is the best of its kind, so that more triggers never make it less.
    """
    concept = query.concept
    coverage = share = scarce = most = 0.0
    best: list[str] = []
    for phrase in phrases:
        concepts = {concept[term] for term in phrase if term in concept}
        if not concepts:
            continue
        length, mass = len(set(phrase)), _mass(concepts, query.weights)
        share_asked = len(concepts) / max(length, 2)
        coverage = max(coverage, share_asked * min(mass / _SURE_MASS, 1.0))
        share = max(share, mass / query.total)
        scarce = max(scarce, _mass(concepts, query.scarcity) / (length + _MIN_TRIGGER_TERMS))
        if share_asked * mass > most:
            most, best = share_asked * mass, phrase
    return coverage, share, scarce, best


def _adjacent(query: WeightedQuery, *fields: list[tuple[int, int]]) -> float:
    """Return the share of neighbouring query terms that are neighbours here too."""
    if not query.pairs:
        return 0.0
    pairs = {
        (concept, next_concept)
        for positions in fields
        for (position, concept), (after, next_concept) in zip(positions, positions[1:])
        if after == position + 1 and (concept, next_concept) in query.pairs
    }
    return sum(query.pairs[pair] for pair in pairs) / sum(query.pairs.values())


def _bm25(positions: list[tuple[int, int]], weights: list[float], length: float) -> float:
    times: dict[int, int] = {}
    for _, concept in positions:
        times[concept] = times.get(concept, 0) + 1
    scale = _K1 * (1 - _B + _B * length)
    return sum(weights[c] * n * (_K1 + 1) / (n + scale) for c, n in times.items())


def _times(
    query: WeightedQuery, in_title: list[tuple[int, int]], in_body: list[tuple[int, int]], others: Iterable[str]
) -> dict[int, int]:
    """Return how often each concept occurs in the record, where words of the title count several times."""
    times: dict[int, int] = {}
    for positions, count in ((in_title, _IN_TITLE), (in_body, 1)):
        for _, c in positions:
            times[c] = times.get(c, 0) + count
    for term in others:
        c = query.concept.get(term, -1)
        if c >= 0:
            times[c] = times.get(c, 0) + 1
    return times


def _bm25_fields(query: WeightedQuery, times: dict[int, int], length: int) -> float:
    """Return BM25 of the record as one text."""
    corpus = query.corpus
    average = _IN_TITLE * corpus.title_length + corpus.body_length + _OTHER_TERMS
    scale = _K1 * (1 - _B + _B * length / average)
    return sum([query.scarcity[c] * n * (_K1 + 1) / (n + scale) for c, n in times.items()])

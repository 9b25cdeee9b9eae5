"""What the words of a record and of a query have in common, as numbers that ranking and gate weigh."""

from __future__ import annotations

from math import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from recollect.search.candidates import WeightedQuery

NAMES = (
    "coverage", "window", "window_title", "matches", "title_asked", "in_title", "title_both", "in_tags", "adjacent",
    "rarest", "bm25_title", "bm25_body", "length", "early", "mass", "window_mass", "title_mass", "trigger_asked",
    "in_trigger", "title_concepts", "bm25_fields", "fields_share", "trigger_scarcity", "triggers", "filler", "store",
)  # fmt: skip
"""The features, in the order of `measure`."""

WINDOW = 12
_LARGEST_STORE = 1_000
"""Records beyond which a store is simply large: the sets that the weights were fitted on have no more."""

_K1, _B = 1.2, 0.75
"""The usual parameters of BM25."""

_IN_TITLE, _IN_TAGS = 3, 2
"""How often a word of the title and of the tags counts, against one in a trigger or in the body."""

_OTHER_TERMS = 30
"""What tags and triggers add to the length of an average record: the index counts the terms of titles and bodies."""

_SHORTEST_TRIGGER = 4
"""Words added to the length of a trigger, so that one of two common words is not as good as one of six rare ones."""


def measure(query: WeightedQuery, title: str, tags: str, triggers: str, body: str) -> list[float]:
    """The features of words of one record, given its analysed fields."""
    concept, weights, total, corpus = query.concept, query.weights, query.total, query.corpus
    title_terms, body_terms = title.split(), body.split()
    in_title, in_body = _positions(concept, title_terms), _positions(concept, body_terms)
    in_tags = {concept[term] for term in tags.split() if term in concept}
    trigger_asked, trigger_share, in_triggers = _best_trigger(query, triggers)
    titled = {c for _, c in in_title}
    matched = titled.union((c for _, c in in_body), in_tags, in_triggers)
    window, inside, start = _window(in_body, weights)
    title_mass, window_mass, mass = (_mass(part, weights) for part in (titled, inside | titled, matched))
    title_asked = _title_asked(title_terms, concept)
    in_any_title = _mass(query.titled, weights)
    fields = _bm25_fields(query, title_terms, tags.split(), triggers.replace("|", " ").split(), body_terms)
    return [
        mass / total,
        max(window, title_mass) / total,
        window_mass / total,
        log(1 + len(matched)),
        title_asked,
        title_mass / total,
        title_asked * title_mass / total,
        _mass(in_tags, weights) / total,
        _adjacent(query, in_title, in_body),
        max((weights[i] for i in matched), default=0.0) / log(corpus.records + 101),
        _bm25(in_title, weights, len(title_terms) / corpus.title_length) / total,
        _bm25(in_body, weights, len(body_terms) / corpus.body_length) / total,
        log(1 + len(weights)),
        1 / (1 + start / 40) if in_body else 0.0,
        mass / 10,
        window_mass / 10,
        title_mass / 10,
        trigger_asked,
        trigger_share,
        _mass((titled | in_triggers).intersection(query.titled), weights) / in_any_title if in_any_title else 0.0,
        fields / 10,
        fields / (sum(query.scarcity) or 1.0),
        _trigger_scarcity(query, triggers),
        log(1 + triggers.count("|") + bool(triggers)),
        query.filler,
        log(1 + min(corpus.records, _LARGEST_STORE)),
    ]


def _positions(concept: dict[str, int], stream: list[str]) -> list[tuple[int, int]]:
    get = concept.get
    return [(place, c) for place, term in enumerate(stream) if (c := get(term)) is not None]


def _mass(concepts: Collection[int], weights: list[float]) -> float:
    return sum(weights[i] for i in concepts)


def _window(places: list[tuple[int, int]], weights: list[float]) -> tuple[float, set[int], int]:
    """The heaviest stretch of WINDOW words: its mass, its concepts and where it begins."""
    best, inside, start = 0.0, set[int](), 0
    mass, low = 0.0, 0
    times: dict[int, int] = {}
    for place, concept in places:
        if not times.get(concept):
            mass += weights[concept]
        times[concept] = times.get(concept, 0) + 1
        while places[low][0] <= place - WINDOW:
            left = places[low][1]
            times[left] -= 1
            if not times[left]:
                mass -= weights[left]
            low += 1
        if mass > best + 1e-9:
            best, start = mass, places[low][0]
            inside = {c for c, count in times.items() if count}
    return best, inside, start


def _title_asked(title: list[str], concept: dict[str, int]) -> float:
    """The share of the title's distinctive terms that the query asks for."""
    distinctive = {term for term in title if len(term) > 2 or not term.isascii()} or set(title)
    return sum(term in concept for term in distinctive) / (len(distinctive) or 1)


def _best_trigger(query: WeightedQuery, triggers: str) -> tuple[float, float, set[int]]:
    """Of the triggers, the share of the best one that was asked for, its share of the query, and all their concepts."""
    best, share, everywhere = 0.0, 0.0, set[int]()
    most = 0.0
    for trigger in triggers.split("|") if triggers else ():
        terms = set(trigger.split())
        matched = {query.concept[term] for term in terms if term in query.concept}
        everywhere |= matched
        asked, mass = len(matched) / max(len(terms), 2), _mass(matched, query.weights)
        if asked * mass > most:
            most, best, share = asked * mass, asked, mass / query.total
    return best, share, everywhere


def _adjacent(query: WeightedQuery, *fields: list[tuple[int, int]]) -> float:
    """The share of neighbouring query terms that are neighbours here too."""
    if not query.pairs:
        return 0.0
    matched = {
        (left, right)
        for places in fields
        for (place, left), (after, right) in zip(places, places[1:])
        if after == place + 1 and (left, right) in query.pairs
    }
    return sum(query.pairs[pair] for pair in matched) / sum(query.pairs.values())


def _bm25(places: list[tuple[int, int]], weights: list[float], length: float) -> float:
    times: dict[int, int] = {}
    for _, concept in places:
        times[concept] = times.get(concept, 0) + 1
    scale = _K1 * (1 - _B + _B * length)
    return sum(weights[c] * n * (_K1 + 1) / (n + scale) for c, n in times.items())


def _bm25_fields(
    query: WeightedQuery, title: list[str], tags: list[str], triggers: list[str], body: list[str]
) -> float:
    """BM25 of the record as one text, in which words of the title and the tags stand several times."""
    get, corpus = query.concept.get, query.corpus
    times: dict[int, int] = {}
    for terms, count in ((title, _IN_TITLE), (tags, _IN_TAGS), (triggers, 1), (body, 1)):
        for term in terms:
            concept = get(term)
            if concept is not None:
                times[concept] = times.get(concept, 0) + count
    length = _IN_TITLE * len(title) + _IN_TAGS * len(tags) + len(triggers) + len(body)
    scale = _K1 * (1 - _B + _B * length / (_IN_TITLE * corpus.title_length + corpus.body_length + _OTHER_TERMS))
    return sum(query.scarcity[c] * n * (_K1 + 1) / (n + scale) for c, n in times.items())


def _trigger_scarcity(query: WeightedQuery, triggers: str) -> float:
    """How scarce the words of the query are in the best trigger, for its length."""
    best = 0.0
    for trigger in triggers.split("|") if triggers else ():
        terms = set(trigger.split())
        matched = {query.concept[term] for term in terms if term in query.concept}
        best = max(best, _mass(matched, query.scarcity) / (len(terms) + _SHORTEST_TRIGGER))
    return best

"""What a record and a query have in common, as numbers; from those a score, and the probability of relevance."""

from __future__ import annotations

from math import exp, log

from recollect.search import coefficients, meaning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from recollect.search.candidates import WeightedQuery

THRESHOLD = coefficients.THRESHOLD
"""A prompt brings up nothing below this probability."""

HIGH, MEDIUM = 0.85, 0.5

WORDS = (
    "coverage", "window", "window_title", "matches", "title_asked", "in_title", "title_both", "in_tags", "adjacent",
    "rarest", "bm25_title", "bm25_body", "length", "early", "mass", "window_mass", "title_mass", "trigger_asked",
    "in_trigger", "title_concepts", "store",
)  # fmt: skip
"""The features of words, in the order of `features`."""

NAMES = (*WORDS, *meaning.NAMES)
"""All features of a record for a prompt, which ranking and gate weigh, in order."""

RELATIVE = ("share", "log_share", "score", "lead")
"""How a score compares with those of the other matches, beside the features of the record itself."""

WINDOW = 12
_LARGEST_STORE = 1_000
"""Records beyond which a store is simply large: the sets that the weights were fitted on have no more."""

_K1, _B = 1.2, 0.75
"""The usual parameters of BM25."""

_RIVALS = 12
"""Matches whose scores are compared: the same however many candidates were ranked."""

_MATCHES, _TRIGGER_ASKED, _IN_TRIGGER, _STORE = map(NAMES.index, ("matches", "trigger_asked", "in_trigger", "store"))
_ONE_MATCH, _TWO_MATCHES = log(1 + 1) + 1e-9, log(1 + 2) + 1e-9

_SMALL, _LARGE = 80, 300
_SMALL_STORE_BONUS = 2.3
"""Logits, chosen on harbor and lumen: it lets their prompts be served at the bar that large stores need."""

_TRIGGER_BONUS, _GOOD_PART = 3.0, 0.3


def features(query: WeightedQuery, title: str, tags: str, triggers: str, body: str) -> list[float]:
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


def score(values: Sequence[float]) -> float:
    """By how much a record should come before others, given its features."""
    return sum(weight * value for weight, value in zip(coefficients.RANK, values)) - coefficients.RANK_MEAN


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


def probability(values: Sequence[float], compared: Sequence[float]) -> float:
    """P(relevant), as far as the text shows it."""
    logit = coefficients.GATE_BASE + circumstances(values)
    for weight, value in zip(coefficients.GATE, (*values, *compared)):
        logit += weight * value
    return 1 / (1 + exp(-max(min(logit, 30.0), -30.0)))


def circumstances(values: Sequence[float]) -> float:
    """What the fitted weights cannot express, in logits: the size of the store, and a trigger that was meant for this.

    All of a trigger must be asked for, and be a good part of what was asked.
    """
    is_trigger = values[_TRIGGER_ASKED] >= 1.0 and values[_IN_TRIGGER] >= _GOOD_PART and values[_MATCHES] > _ONE_MATCH
    return _small_store_bonus(values) + (_TRIGGER_BONUS if is_trigger else 0.0)


def _small_store_bonus(values: Sequence[float]) -> float:
    """Bonus in small stores, where few other records compete with a good match.

    A match on one or two words is as likely to be chance in a small store as in a large one.
    """
    if values[_MATCHES] <= _TWO_MATCHES:
        return 0.0
    size = (values[_STORE] - log(_SMALL)) / (log(_LARGE) - log(_SMALL))
    return _SMALL_STORE_BONUS * (1.0 - min(max(size, 0.0), 1.0))


def shifted(probability: float, logits: float) -> float:
    """A probability in the light of evidence from outside the text."""
    logit = log(max(probability, 1e-9) / max(1 - probability, 1e-9)) + logits
    return 1 / (1 + exp(-logit))


def confidence(probability: float) -> str:
    """A probability in one word."""
    return "high" if probability >= HIGH else "medium" if probability >= MEDIUM else "low"

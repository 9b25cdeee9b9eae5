"""What can be seen of how a record answers a query, as a few numbers. Pure, and cheap enough for every prompt."""

from __future__ import annotations

from math import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.search.query import Query

NAMES = (
    "coverage", "window", "window_title", "matches", "title_asked", "in_title", "title_both", "in_tags", "adjacent",
    "rarest", "bm25_title", "bm25_body", "length", "early", "mass", "window_mass", "title_mass", "trigger_asked",
    "in_trigger", "title_concepts", "store",
)  # fmt: skip

WINDOW = 12
_LARGE = 1_000
"""Records beyond which a store is simply large: the sets that were learnt from have no more."""

_K1, _B = 1.2, 0.75


class Corpus:
    """What must be known of all records: how many, how long, and in how many each asked-for term occurs."""

    __slots__ = ("body_length", "count", "frequency", "head_frequency", "title_length")

    def __init__(
        self,
        count: int,
        title_length: float,
        body_length: float,
        frequency: dict[str, int],
        head_frequency: dict[str, int],
    ) -> None:
        self.count = count
        self.title_length = max(title_length, 1.0)
        self.body_length = max(body_length, 1.0)
        self.frequency = frequency
        self.head_frequency = head_frequency


def rarity(frequency: int, count: int) -> float:
    """How telling a term is: its inverse document frequency, as if there were 100 more records without it.

    The 100 keep a store of three records from taking every word it knows for a common one.
    """
    return log(1 + (count + 100) / (frequency + 1))


class Look:
    """A query made ready to be held against records: concepts, their weights, and which neighbours belong together."""

    __slots__ = ("concept", "corpus", "pairs", "titled", "total", "weights")

    def __init__(self, query: Query, corpus: Corpus, alike: dict[str, list[str]]) -> None:
        self.corpus = corpus
        self.concept = {term: i for i, term in enumerate(query.terms)}
        self.weights = [rarity(_frequency(corpus, term, alike), corpus.count) for term in query.terms]
        self.total = sum(self.weights) or 1.0
        self.titled = [
            i
            for i, term in enumerate(query.terms)
            if any(corpus.head_frequency.get(t) for t in (term, *alike.get(term, ())))
        ]
        self.pairs = self._pairs(query.sequence)
        for term, others in alike.items():
            for other in others:
                self.concept.setdefault(other, self.concept[term])

    def _pairs(self, sequence: list[str]) -> dict[tuple[int, int], float]:
        concept, weights = self.concept, self.weights
        found: dict[tuple[int, int], float] = {}
        for left, right in zip(sequence, sequence[1:]):
            if left in concept and right in concept and left != right:
                pair = (concept[left], concept[right])
                found[pair] = weights[pair[0]] + weights[pair[1]]
        return found


def _frequency(corpus: Corpus, term: str, alike: dict[str, list[str]]) -> int:
    return sum(corpus.frequency.get(t, 0) for t in (term, *alike.get(term, ())))


def of(look: Look, title: str, tags: str, triggers: str, body: str) -> list[float]:
    """The features of one record, given its analysed fields."""
    concept, weights, total, corpus = look.concept, look.weights, look.total, look.corpus
    title_terms, body_terms = title.split(), body.split()
    in_title = _positions(concept, title_terms)
    in_body = _positions(concept, body_terms)
    in_tags = {concept[term] for term in tags.split() if term in concept}
    asked, share, in_trigger = _best_trigger(look, triggers)
    titled, found = {c for _, c in in_title}, {c for _, c in in_body}
    matched = titled | found | in_tags | in_trigger
    window, inside, where = _window(in_body, weights)
    title_mass = _mass(titled, weights)
    window_mass = _mass(inside | titled, weights)
    mass = _mass(matched, weights)
    asked_for = _title_asked(title_terms, concept)
    concepts = _mass(look.titled, weights)
    return [
        mass / total,
        max(window, title_mass) / total,
        window_mass / total,
        log(1 + len(matched)),
        asked_for,
        title_mass / total,
        asked_for * title_mass / total,
        _mass(in_tags, weights) / total,
        _adjacent(look, in_title, in_body),
        max((weights[i] for i in matched), default=0.0) / log(corpus.count + 101),
        _bm25(in_title, weights, len(title_terms) / corpus.title_length) / total,
        _bm25(in_body, weights, len(body_terms) / corpus.body_length) / total,
        log(1 + len(weights)),
        1 / (1 + where / 40) if in_body else 0.0,
        mass / 10,
        window_mass / 10,
        title_mass / 10,
        asked,
        share,
        _mass((titled | in_trigger).intersection(look.titled), weights) / concepts if concepts else 0.0,
        log(1 + min(corpus.count, _LARGE)),
    ]


def _positions(concept: dict[str, int], stream: list[str]) -> list[tuple[int, int]]:
    get = concept.get
    return [(place, found) for place, term in enumerate(stream) if (found := get(term)) is not None]


def _mass(concepts: object, weights: list[float]) -> float:
    return sum(weights[i] for i in concepts)  # type: ignore[attr-defined]


def _window(places: list[tuple[int, int]], weights: list[float]) -> tuple[float, set[int], int]:
    """The heaviest stretch of WINDOW words: its mass, its concepts and where it begins."""
    best, inside, where = 0.0, set(), 0  # type: tuple[float, set[int], int]
    mass, low = 0.0, 0
    held: dict[int, int] = {}
    for place, concept in places:
        if not held.get(concept):
            mass += weights[concept]
        held[concept] = held.get(concept, 0) + 1
        while places[low][0] <= place - WINDOW:
            left = places[low][1]
            held[left] -= 1
            if not held[left]:
                mass -= weights[left]
            low += 1
        if mass > best + 1e-9:
            best, where = mass, places[low][0]
            inside = {c for c, times in held.items() if times}
    return best, inside, where


def _title_asked(title: list[str], concept: dict[str, int]) -> float:
    """The share of the title's telling terms that the query asks for."""
    telling = {term for term in title if len(term) > 2 or not term.isascii()} or set(title)
    return sum(term in concept for term in telling) / (len(telling) or 1)


def _best_trigger(look: Look, triggers: str) -> tuple[float, float, set[int]]:
    """Of the triggers, the share of the best one that was asked for, its share of the query, and all their concepts."""
    best, share, everywhere = 0.0, 0.0, set()  # type: tuple[float, float, set[int]]
    most = 0.0
    for trigger in triggers.split("|") if triggers else ():
        terms = set(trigger.split())
        found = {look.concept[term] for term in terms if term in look.concept}
        everywhere |= found
        asked, mass = len(found) / max(len(terms), 2), _mass(found, look.weights)
        if asked * mass > most:
            most, best, share = asked * mass, asked, mass / look.total
    return best, share, everywhere


def _adjacent(look: Look, *fields: list[tuple[int, int]]) -> float:
    """The share of neighbouring query terms that are neighbours here too."""
    if not look.pairs:
        return 0.0
    found = set()
    for places in fields:
        for (place, left), (after, right) in zip(places, places[1:]):
            if after == place + 1 and (left, right) in look.pairs:
                found.add((left, right))
    return sum(look.pairs[pair] for pair in found) / sum(look.pairs.values())


def _bm25(places: list[tuple[int, int]], weights: list[float], length: float) -> float:
    times: dict[int, int] = {}
    for _, concept in places:
        times[concept] = times.get(concept, 0) + 1
    scale = _K1 * (1 - _B + _B * length)
    return sum(weights[c] * n * (_K1 + 1) / (n + scale) for c, n in times.items())

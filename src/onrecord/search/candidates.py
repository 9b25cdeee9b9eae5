"""The candidates of a search: the few records worth comparing closely, found by their rarest terms and filtered."""

from __future__ import annotations

from math import log

from onrecord import coldstart
from onrecord.search import terms as analysis

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onrecord.search.index import Index, Row
    from onrecord.search.query import Query
    from onrecord.settings import Settings

MAX_FOR_PROMPT, MAX_FOR_SEARCH = 16, 48
"""Candidates compared for a prompt, and for a search."""

_MAX_FILTERED = 400
"""Candidates compared where a filter may refuse most of them."""

_SCOPES_AT_ONCE = 50
"""Candidates whose scope is read at once; more only where too few of them apply here."""

_MAX_TERMS = 32
_MAX_OCCURRENCES = 4_000
"""Occurrences visited before the commoner terms are left out: what bounds a search in a large store."""

_MIN_RECORDS = 60
"""Records that a store counts as having at least: in one of three records every word would be a common one."""

_MIN_PREFIX_LETTERS = 4
_MAX_TYPED_TERMS = 3
"""Terms of a search up to which each may be the beginning of a word: in a sentence, words are not abbreviated."""

_MAX_CHAIN = 200
"""Successors followed from one record: what bounds the work for a store made of links."""


class Corpus(coldstart.NamedTuple):
    """All records in numbers: how many, how long, and in how many each term of a query occurs."""

    records: int
    title_length: float
    body_length: float
    frequency: dict[str, int]
    title_frequency: dict[str, int]
    """In how many titles or triggers."""


class WeightedQuery(coldstart.NamedTuple):
    """Query terms with weights and adjacent pairs. Terms that begin alike are one concept."""

    corpus: Corpus
    concept: dict[str, int]
    """The number of the concept of a term."""
    weights: list[float]
    total: float
    titled: list[int]
    """The concepts that occur in any title or trigger."""
    pairs: dict[tuple[int, int], float]
    scarcity: list[float]
    """The inverse document frequency of each concept as BM25 has it: next to nothing for what every record has."""
    filler: float
    """The share of the query's words that name no topic."""
    others: int
    """Of a passage: how many others its prompt has."""
    printed: float
    """The share of it that a program printed."""
    names: Mapping[str, str]
    """The joined words of the query's names, each with its parts."""


class Filter(coldstart.NamedTuple):
    """The records that a search may show."""

    mode: str = "search"
    """`search` for an explicit search; `auto` for a prompt, `past` for a prompt that asks about the past; `similar` for
    the text of another record."""
    categories: Sequence[str] = ()
    tags: Sequence[str] = ()
    include_retired: bool = False
    now: str = ""
    settings: Settings | None = None
    fits: Callable[[str], bool] | None = None
    """True for the scope of a record that applies here; None if all records do."""

    @property
    def in_force_only(self) -> bool:
        """True for a prompt: only records that are in force now may be shown."""
        return self.mode in ("auto", "past")

    @property
    def is_search(self) -> bool:
        """True for an explicit search or a question about the past."""
        return self.mode in ("search", "past")

    @property
    def is_narrow(self) -> bool:
        """True if it may refuse most records."""
        return bool(self.categories or self.tags)

    def accepts(self, row: Row) -> bool:
        if self.fits and row.scope and not self.fits(row.scope):
            return False
        if self.categories and row.category not in self.categories:
            return False
        if self.tags and not any(tag in self.tags for tag in row.tags.split("\n")):
            return False
        if row.status != "active" and not self.include_retired:
            return False
        return not self.in_force_only or self._is_in_force(row)

    def _is_in_force(self, row: Row) -> bool:
        """True if a record may be shown for a prompt: it holds, its category is in use, and it is not too old."""
        from onrecord.record import validity

        if validity.is_over(bool(row.void), row.expires, self.at):
            return False
        if self.settings is None:
            return True
        days = self.settings.retention_days(row.category)
        return self.settings.is_enabled(row.category) and (not days or row.updated_at >= self.days_ago(days))

    @property
    def at(self) -> str:
        """The moment of the search."""
        from onrecord import timestamps

        return self.now or timestamps.now()

    def days_ago(self, days: int) -> str:
        from onrecord import timestamps

        return timestamps.days_before(self.at, days)


def rarity(frequency: int, records: int) -> float:
    """Return the weight of a term: its inverse document frequency, as if there were 100 more records without it.

    The 100 keep a store of three records from taking every word it has for a common one.
    """
    return log(1 + (records + 100) / (frequency + 1))


def _scarcity(frequency: int, records: int) -> float:
    return log(1 + (max(records, _MIN_RECORDS, frequency) - frequency + 0.5) / (frequency + 0.5))


def weigh(index: Index, query: Query, *, is_typed: bool = False) -> WeightedQuery:
    """Return the query weighed by the index; each of a few typed words may be the beginning of a longer one."""
    records, title_terms, body_terms = index.totals()
    counts = index.term_counts((*query.terms, *query.names))
    alike = _alike(index, query, counts, is_typed=is_typed and len(query.terms) <= _MAX_TYPED_TERMS)
    corpus = Corpus(
        records,
        max(title_terms / (records or 1), 1.0),
        max(body_terms / (records or 1), 1.0),
        {term: count for term, (count, _) in counts.items()},
        {term: count for term, (_, count) in counts.items()},
    )
    return weighted(query, corpus, alike)


def weighted(query: Query, corpus: Corpus, alike: dict[str, list[str]]) -> WeightedQuery:
    """Return the query weighed by a corpus; `alike` has, for a term, the terms that begin alike."""
    variants = [(term, *alike.get(term, ())) for term in query.terms]
    frequencies = [sum(corpus.frequency.get(t, 0) for t in terms) for terms in variants]
    for name, place in _places(query.names, query.terms):
        frequencies[place] = max(frequencies[place], corpus.frequency.get(name, 0))
        variants[place] = (*variants[place], name)
    weights = [rarity(frequency, corpus.records) for frequency in frequencies]
    titled = [i for i, terms in enumerate(variants) if any(corpus.title_frequency.get(t) for t in terms)]
    concept = {term: i for i, term in enumerate(query.terms)}
    pairs = {
        (concept[first], concept[second]): weights[concept[first]] + weights[concept[second]]
        for first, second in zip(query.sequence, query.sequence[1:])
        if first in concept and second in concept and first != second
    }
    for term, others in alike.items():
        for other in others:
            concept.setdefault(other, concept[term])
    scarce = [_scarcity(frequency, corpus.records) for frequency in frequencies]
    return WeightedQuery(
        corpus,
        concept,
        weights,
        sum(weights) or 1.0,
        titled,
        pairs,
        scarce,
        query.filler,
        query.others,
        query.printed,
        query.names,
    )


def _places(names: Mapping[str, str], query_terms: list[str]) -> list[tuple[str, int]]:
    """Return each name with the place of each of its parts among the terms of the query."""
    return [
        (name, query_terms.index(part))
        for name, parts in names.items()
        for part in dict.fromkeys(parts.split())
        if part in query_terms
    ]


def _alike(
    index: Index, query: Query, term_counts: dict[str, tuple[int, int]], *, is_typed: bool
) -> dict[str, list[str]]:
    """Return, for terms that the index does not have, those that begin alike: `conn` for `connection`, and back.

    A known abbreviation also stands for its word where the index has both.
    Of what was typed, only for the longest shorter one: `authoriz` is `author`, the stem of authorization, not `auth`.
    """
    alike = _abbreviated(index, query.terms, term_counts)
    parts = {part for pair in query.compounds for part in pair}
    for term in query.terms:
        if (
            term in parts
            or len(term) < _MIN_PREFIX_LETTERS
            or not term.isalpha()
            or (term in term_counts and not is_typed)
        ):
            continue
        similar = index.terms_like(term, 6)
        if term not in term_counts:
            shorter = index.term_counts(term[:end] for end in range(_MIN_PREFIX_LETTERS, len(term)))
            similar.update({other: shorter[other] for other in sorted(shorter, key=len)[-1 if is_typed else 0 :]})
        if similar:
            alike[term] = list(dict.fromkeys((*alike.get(term, ()), *similar)))
            term_counts.update(similar)
    return alike


def _abbreviated(index: Index, query_terms: list[str], term_counts: dict[str, tuple[int, int]]) -> dict[str, list[str]]:
    """Return the terms of the index that are abbreviations of those of a query, or that these abbreviate."""
    variants = {term: others for term in query_terms if (others := analysis.variants(term))}
    if not variants:
        return {}
    term_counts.update(index.term_counts({other for others in variants.values() for other in others}))
    present = {term: [other for other in others if other in term_counts] for term, others in variants.items()}
    return {term: others for term, others in present.items() if others}


def find(index: Index, query: WeightedQuery, filter: Filter) -> list[int]:
    """Return the numbers of the best records by the weight of their terms, counted twice in title and triggers."""
    scores = _scores(index, query)
    if filter.include_retired:
        for term, weight in list(_term_weights(query).items())[:_MAX_TERMS]:
            for n in index.records_with(term, retired=True):
                scores[n] = scores.get(n, 0.0) + weight
    limit = _MAX_FILTERED if filter.is_narrow else MAX_FOR_PROMPT if filter.in_force_only else MAX_FOR_SEARCH
    best = sorted(scores, key=lambda n: (-scores[n], int(n)))
    return [int(n) for n in (_fitting(index, best, filter.fits, limit) if filter.fits else best[:limit])]


def best_by_terms(index: Index, query: WeightedQuery, limit: int) -> dict[int, float]:
    """Return the weight of the terms of the best records, by number."""
    scores = _scores(index, query)
    return {int(n): scores[n] for n in sorted(scores, key=lambda n: (-scores[n], int(n)))[:limit]}


def _fitting(index: Index, numbers: list[str], fits: Callable[[str], bool], limit: int) -> list[str]:
    """Return the first that apply here: most records of a shared store may be for other projects."""
    fitting: list[str] = []
    start = 0
    while start < min(len(numbers), _MAX_FILTERED):
        # Nearly always the first ones apply, and no more are read than without scopes.
        batch = numbers[start : start + (_SCOPES_AT_ONCE if start else limit)]
        start += len(batch)
        limited = f"SELECT n, scope FROM record WHERE scope <> '' AND n IN ({','.join(batch)})"
        elsewhere = {str(n) for n, scope in index._connection.execute(limited) if not fits(scope)}
        fitting += [n for n in batch if n not in elsewhere]
        if len(fitting) >= limit:
            break
    return fitting[:limit]


def _scores(index: Index, query: WeightedQuery) -> dict[str, float]:
    """Return the weight of each record, by its number. Raises ValueError if the tables disagree."""
    frequency, titles = query.corpus.frequency, query.corpus.title_frequency
    weights = _term_weights(query)
    present = sorted((term for term in weights if frequency.get(term)), key=lambda term: frequency[term])
    scores: dict[str, float] = {}
    occurrences = 0
    for term in present[:_MAX_TERMS]:
        occurrences += frequency[term]
        if occurrences > _MAX_OCCURRENCES and scores:
            break
        numbers = index.records_with(term)
        if len(numbers) != frequency[term]:
            raise ValueError(f"the index counts {frequency[term]} records with {term}, and has {len(numbers)}")
        weight = weights[term]
        for n in numbers:
            scores[n] = scores.get(n, 0.0) + weight
        for n in index.records_with(term, in_title=True) if titles.get(term) else ():
            scores[n] += weight
    return scores


def _term_weights(query: WeightedQuery) -> dict[str, float]:
    """Return the weight of each term; a joined word has those of its parts."""
    weights = {term: query.weights[concept] for term, concept in query.concept.items()}
    for name, parts in query.names.items():
        weights[name] = sum(query.weights[query.concept[part]] for part in parts.split() if part in query.concept)
    return weights


def successors(index: Index, rows: Sequence[Row]) -> dict[int, Row | None]:
    """Return, for each record, the current one: itself, or the end of its chain; None if the chain leads nowhere."""
    replaced = index.replaced(row.n for row in rows)
    return {row.n: _successor(index, row) if row.n in replaced else row for row in rows}


def _successor(index: Index, row: Row) -> Row | None:
    """Follow the successors; of records that replace each other in a circle, return the active one written last.

    An id that two files have leads nowhere: either could be a stranger's.
    """
    chain: list[Row] = []
    while row not in chain and len(chain) < _MAX_CHAIN:
        chain.append(row)
        new_id = index.replaced([row.n]).get(row.n)
        if new_id is None:
            return row
        rows = index._select("WHERE id = ? AND status <> 'broken'", [new_id])
        if len(rows) != 1:
            return None
        (row,) = rows
    circle = chain[chain.index(row) :] if row in chain else []
    return max(circle, key=lambda row: (row.status == "active", row.updated_at, row.path), default=None)

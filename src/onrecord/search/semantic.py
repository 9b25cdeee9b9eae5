"""The records of a store that are near to a prompt in meaning, and the semantic features of each.

Every active record is compared by its gist, the mean of the vector of the whole record and that of its title with its
triggers: the product is then the mean of the two products. The gists are in blocks of records, column by column; in a
store of more than `_MAX_EXACT_BLOCKS` blocks only the dimensions of the heads are compared, which vary most. The best
of these, and the records found by words, are compared text by text. Soft coverage is the share of a prompt that a
record has, where a similar word counts by its similarity.
"""

from __future__ import annotations

from math import hypot, sqrt

from onrecord import coldstart
from onrecord.search import terms, vectors, word_features
from onrecord.search.relevance import Meaning
from onrecord.search.vectors import DIMENSIONS, WORD_DIMENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from onrecord.search.candidates import WeightedQuery
    from onrecord.search.index import Index, Row
    from onrecord.search.query import Query
    from onrecord.search.vectors import Vectorizer

MAX_NEAREST, MAX_NEAREST_IN_SEARCH = 5, 12
"""Records that are candidates by their meaning alone: for a prompt, and for a search. A prompt in another language is
like a search: words find little for it."""

_MIN_MEANING, _MIN_MEANING_IN_SEARCH = 0.25, 0.4
"""The `meaning` that makes a record a candidate. The relevance model filters those of a prompt, but a search shows
them all: below 0.4 one in a hundred without a common word is relevant."""

_MAX_BY_TEXT = 32
"""Records that are compared text by text, beside those found by words: of 430 they include .97 of the five closest."""

_MAX_SOFT = 8
"""Candidates whose words are compared one by one: the others are never shown."""

_CHUNK = 16
_HEAD_WORDS, _TAIL_WORDS = 110, 50
"""Words read from the beginning and from the end of a long prompt: the question is at either."""

_SQUARE = vectors.LENGTH * vectors.LENGTH

_MAX_LEAD, _MAX_SOFT_LEAD = 0.2, 0.35
"""Leads over the next record that count: more have only records of a store that has hardly any others."""

_MIN_SIMILARITY = 0.45
"""The minimum similarity of two words that counts: below it most pairs have nothing to do with each other."""

_MAX_SOFT_WORDS = 12
"""Words of a prompt for which similar ones are looked for: the rarest."""

BLOCK, HEAD = 512, 32
"""Records of a block, which has 64 KB and is written again when one of them changes; and dimensions of its head."""

PARTS = (("vector_head", 0, HEAD), ("vector_tail", HEAD, DIMENSIONS))
"""The two parts of a block: the table it is in, and its dimensions."""

_MAX_EXACT_BLOCKS = 12
"""Blocks up to which all dimensions are compared: 6,144 records."""

_MAX_BLOCKS = 128
"""Blocks that are compared at all, those of the newest records: 65,536 of them."""


class _Texts(coldstart.NamedTuple):
    """Products of the prompt with the texts of one record, and the rows of its words."""

    title: int
    whole: int
    trigger: int
    sentence: int
    words: bytes

    @property
    def meaning(self) -> int:
        return self.whole + max(self.title, self.trigger, self.sentence)


class Nearby:
    """The records near to a prompt in one store."""

    def __init__(self, index: Index, vectorizer: Vectorizer, query: Query, values: list[int]) -> None:
        self._index = index
        self._vectorizer = vectorizer
        self._query = query
        self._values = values
        self._first, self._gists = compare_gists(index, values)
        self._best = [place + self._first for place in _largest(self._gists, _MAX_BY_TEXT)]
        self._texts: dict[int, _Texts] = {}

    def nearest(
        self, excluded_numbers: Collection[int], *, is_search: bool = False, is_narrow: bool = False
    ) -> list[int]:
        """Return the numbers of the closest records, best first, without `excluded_numbers`.

        Those are compared by text, too. If a filter may refuse most records, return all that are close enough.
        """
        self._texts = _by_text(self._index, {*self._best, *excluded_numbers}, self._values)
        is_wide = is_search or self._query.is_foreign
        minimum = 2 * _SQUARE * (_MIN_MEANING_IN_SEARCH if is_search else _MIN_MEANING)
        close = [n for n, texts in self._texts.items() if texts.meaning >= minimum and n not in excluded_numbers]
        close.sort(key=lambda n: (-self._texts[n].meaning, n))
        return close if is_narrow else close[: MAX_NEAREST_IN_SEARCH if is_wide else MAX_NEAREST]

    def measure(
        self, rows: Sequence[Row], query: WeightedQuery, word_values: Mapping[int, Sequence[float]]
    ) -> dict[int, Meaning]:
        """Return the features of the records in `word_values`, by number; all rows are compared with each other.

        `word_values` are the word features of each record.
        """
        texts = {row.n: self._texts[row.n] for row in rows if row.n in self._texts}
        coverage = {
            row.n: word_values[row.n][0] if row.n in word_values else word_features.coverage(query, row) for row in rows
        }
        soft = self._soft(rows, query, coverage, texts)
        crossing = _crossing(self._vectorizer, self._query.text, query)
        share = _vector_share(self._vectorizer, self._query.text, query, crossing)
        foreign = _unseen(query, crossing) if self._query.is_foreign else 0.0
        leads, soft_leads = _leads({n: text.meaning for n, text in self._texts.items()}), _leads(soft)
        mean, spread = _distribution(self._gists, self._index.totals()[0])
        features = {}
        for n, text in ((n, text) for n, text in texts.items() if n in word_values):
            products = (text.meaning / 2, text.title, text.trigger, text.sentence, text.whole, leads[n] / 2)
            meaning, title, trigger, sentence, whole, lead = (product / _SQUARE for product in products)
            z = (self._product(n) - mean) / spread
            lead, soft_lead = min(lead, _MAX_LEAD), min(soft_leads[n], _MAX_SOFT_LEAD)
            near = (meaning, title, trigger, sentence, whole, lead, z, soft[n], soft_lead, share)
            features[n] = Meaning(*near, foreign, foreign * meaning, foreign * soft[n])
        return features

    def _soft(
        self,
        rows: Sequence[Row],
        query: WeightedQuery,
        coverage: Mapping[int, float],
        record_texts: Mapping[int, _Texts],
    ) -> dict[int, float]:
        """Return the soft coverage of the best records by words and meaning; of the others, their coverage by words."""
        soft = {n: coverage[n] for n in record_texts}
        best = sorted(record_texts, key=lambda n: (-coverage[n] - record_texts[n].meaning / 2 / _SQUARE, n))[:_MAX_SOFT]
        word_rows = {n: record_texts[n].words for n in best}
        best_rows = [row for row in rows if row.n in word_rows]
        soft.update(_soft_coverage(self._vectorizer, self._query.text, query, best_rows, word_rows))
        return soft

    def _product(self, n: int) -> int:
        place = n - self._first
        return self._gists[place] if 0 <= place < len(self._gists) else 0


def compare(index: Index, query: Query) -> Nearby | None:
    """Return the comparison with a prompt; None without a table, or if no word of the prompt is in it.

    Raises ValueError if the index has vectors of another table.
    """
    try:
        vectorizer = vectors.shared()
    except (OSError, ValueError):
        return None
    row = index._connection.execute("SELECT identity FROM vector_source").fetchone()
    if row is None:
        return None
    if row[0] != vectorizer.table.hash:
        raise ValueError("the vectors of the index were made with another table")
    words = vectorizer.words(query.text)
    if len(words) > _HEAD_WORDS + _TAIL_WORDS:
        words = [*words[:_HEAD_WORDS], *words[-_TAIL_WORDS:]]
    vector = vectorizer.vector(words)
    return Nearby(index, vectorizer, query, vectors.signed(vector)) if vector else None


def _largest(values: list[int], limit: int) -> list[int]:
    """Return the places of the largest values above 0, largest first: they are in chunks with the largest maxima."""
    peaks = [max(values[start : start + _CHUNK]) for start in range(0, len(values), _CHUNK)]
    chunks = sorted(sorted(range(len(peaks)), key=peaks.__getitem__, reverse=True)[:limit])
    places = [place for chunk in chunks for place in range(chunk * _CHUNK, min((chunk + 1) * _CHUNK, len(values)))]
    places.sort(key=values.__getitem__, reverse=True)
    return [place for place in places[:limit] if values[place] > 0]


def _by_text(index: Index, numbers: Iterable[int], values: list[int]) -> dict[int, _Texts]:
    """Return the products with each text of the records."""
    numbers_text = ",".join(map(str, sorted(numbers)))
    rows = index._connection.execute(
        f"SELECT n, triggers, vectors, words FROM vector WHERE n IN ({numbers_text})"
    ).fetchall()
    if any(len(row[2]) < 2 * DIMENSIONS or len(row[2]) % DIMENSIONS for row in rows):
        raise ValueError("the vectors of a record are damaged")
    joined = b"".join([row[2] for row in rows])
    products = vectors.products(values, vectors.columns(joined, DIMENSIONS), len(joined) // DIMENSIONS)
    start, texts = 0, {}
    for n, triggers, text_vectors, words in rows:
        end = start + len(text_vectors) // DIMENSIONS
        title, whole, *rest = products[start:end]
        texts[n] = _Texts(title, whole, max(rest[:triggers], default=0), max(rest[triggers:], default=0), words)
        start = end
    return texts


def _leads(scores: Mapping[int, float]) -> dict[int, float]:
    """Return by how much each value exceeds the largest of the others."""
    first, second = (*sorted(scores.values(), reverse=True), 0.0, 0.0)[:2]
    return {n: score - (first if score < first else second) for n, score in scores.items()}


def _distribution(products: list[int], records: int) -> tuple[float, float]:
    """Return mean and standard deviation over the records; a lane without a record is 0 and adds nothing."""
    count = max(records, 1)
    mean = sum(products) / count
    variance = sum([product * product for product in products]) / count - mean * mean
    return mean, sqrt(max(variance, 1.0))


def compare_gists(index: Index, values: list[int]) -> tuple[int, list[int]]:
    """Return the number of the first record compared, and the products with the gists beginning there."""
    # With its usual 2 MB SQLite takes four times as long to read the blocks of 5,000 records.
    index._connection.execute("PRAGMA cache_size=-8000")
    heads = _read_blocks(index, 0)
    if index.totals()[0] and not heads:
        raise ValueError("the blocks of vectors are missing")
    tails = _read_blocks(index, 1) if len(heads) <= _MAX_EXACT_BLOCKS else {}
    if tails and list(tails) != list(heads):
        raise ValueError("a block of vectors is missing")
    query_values = values if tails else values[:HEAD]
    columns = _columns(list(heads.values()), list(tails.values()))
    return next(iter(heads), 0) * BLOCK, vectors.products(query_values, columns, len(heads) * BLOCK)


def _read_blocks(index: Index, part_number: int) -> dict[int, bytes]:
    """Return one part of the newest blocks in order. Raises ValueError if one is missing or damaged."""
    table, start, end = PARTS[part_number]
    query = f"SELECT block, gists FROM {table} ORDER BY block DESC LIMIT {_MAX_BLOCKS}"
    rows = index._connection.execute(query).fetchall()[::-1]
    first = rows[0][0] if len(rows) == _MAX_BLOCKS else 0
    for place, (block, gists) in enumerate(rows, first):
        if block != place or len(gists) != (end - start) * BLOCK:
            raise ValueError("a block of vectors is missing or damaged")
    return dict(rows)


def _columns(*parts: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the columns of `parts`, each over all blocks."""
    for blocks in parts:
        for start in range(0, len(blocks[0]) if blocks else 0, BLOCK):
            yield b"".join([block[start : start + BLOCK] for block in blocks])


def _soft_coverage(
    vectorizer: Vectorizer, text: str, query: WeightedQuery, rows: Sequence[Row], word_rows: Mapping[int, bytes]
) -> dict[int, float]:
    """Return the share of the query's weight that each record has, by the rows of its words in the table."""
    word_vectors = _vectors(vectorizer, text, query)
    numbers = {n: _unpacked(vectorizer, packed) for n, packed in word_rows.items()}
    similarities = _similarities(
        vectorizer, word_vectors, {row: length for rows in numbers.values() for row, length in rows}
    )
    total = query.total - sum(query.weights[concept] for concept in _crossing(vectorizer, text, query))
    return {
        row.n: _covered(query, row, [number for number, _ in numbers[row.n]], similarities) / (total or 1.0)
        for row in rows
    }


def _vector_share(vectorizer: Vectorizer, text: str, query: WeightedQuery, crossing: Collection[int]) -> float:
    """Return the share of the query's concepts whose word is in the table; pieces of a word say little."""
    count = len(query.weights) - len(crossing)
    spelled = _spelled(vectorizer, text, query).values()
    return sum(vectorizer.word(word).length > 0 for word in spelled) / count if count else 0.0


def _unseen(query: WeightedQuery, crossing: Collection[int]) -> float:
    """Return the share of the query's concepts that no record has: nearly all in another language than theirs."""
    frequency = query.corpus.frequency
    seen = {concept for term, concept in query.concept.items() if frequency.get(term)}
    count = len(query.weights) - len(crossing)
    return 1 - len(seen.difference(crossing)) / count if count else 0.0


def _crossing(vectorizer: Vectorizer, text: str, query: WeightedQuery) -> frozenset[int]:
    """Return the concepts that are no words: pairs of characters where one word ends and the next begins.

    Neither the table nor a record has them.
    """
    pairs = {
        concept: term
        for term, concept in query.concept.items()
        if not term.isascii() and terms.is_unspaced(term[0]) and not query.corpus.frequency.get(term)
    }
    if not pairs:
        return frozenset()
    spelled = _spelled(vectorizer, text, query)
    return frozenset(
        concept for concept in pairs if concept not in spelled or not vectorizer.word(spelled[concept]).length
    )


def _spelled(vectorizer: Vectorizer, text: str, query: WeightedQuery) -> dict[int, str]:
    """Return, by concept, the words of the prompt as they are spelled there; a name is the word of all its parts."""
    spelled: dict[int, str] = {}
    for word in dict.fromkeys(vectorizer.words(text)):
        for term in terms.of_word(word):
            for part in query.names[term].split() if term in query.names else (term,):
                if part in query.concept:
                    spelled[query.concept[part]] = word
    return spelled


def _vectors(vectorizer: Vectorizer, text: str, query: WeightedQuery) -> dict[int, list[int]]:
    """Return the vectors of the prompt's rarest words, by concept."""
    spelled = sorted(_spelled(vectorizer, text, query).items(), key=lambda pair: -query.weights[pair[0]])
    word_vectors = {
        concept: vectors.signed(vectorizer.vector([word])[:WORD_DIMENSIONS])
        for concept, word in spelled[:_MAX_SOFT_WORDS]
    }
    return {concept: values for concept, values in word_vectors.items() if any(values)}


def _unpacked(vectorizer: Vectorizer, packed: bytes) -> list[tuple[int, int]]:
    """Return rows and their lengths. Raises ValueError if they are not of this table."""
    numbers = list(memoryview(packed).cast("H"))
    half = len(numbers) // 2
    rows, lengths = numbers[:half], numbers[half:]
    if rows and (max(rows) >= vectorizer.table.count or not all(lengths)):
        raise ValueError("the words of a record are not in the table")
    return list(zip(rows, lengths))


def _similarities(
    vectorizer: Vectorizer, word_vectors: Mapping[int, list[int]], row_lengths: Mapping[int, int]
) -> dict[int, dict[int, float]]:
    """Return, for each concept, the rows of the table that are similar enough, and their similarity."""
    columns = vectors.columns(vectorizer.stored_rows(row_lengths), WORD_DIMENSIONS)
    similarities: dict[int, dict[int, float]] = {}
    for (concept, values), products in zip(
        word_vectors.items(), vectors.products_of_each(word_vectors.values(), columns, len(row_lengths))
    ):
        minimum = _MIN_SIMILARITY * hypot(*values)
        close = [(row, p / length) for (row, length), p in zip(row_lengths.items(), products) if p >= minimum * length]
        similarities[concept] = {row: min(_MIN_SIMILARITY * product / minimum, 1.0) for row, product in close}
    return similarities


def _covered(
    query: WeightedQuery, row: Row, word_rows: list[int], similarities: Mapping[int, Mapping[int, float]]
) -> float:
    """Return the weight of the query that a record covers, by its words or by similar ones."""
    concepts = word_features.matched(query, row)
    covered = sum(query.weights[concept] for concept in concepts)
    for concept, cosines in similarities.items():
        if concept not in concepts and cosines:
            covered += query.weights[concept] * max(
                (cosines.get(row_number, 0.0) for row_number in word_rows), default=0.0
            )
    return covered

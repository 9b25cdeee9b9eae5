"""The records of a store that are near to a prompt in meaning, and the features of each.

Every active record is compared by its gist. The best of these, and the records found by words, are compared text by
text.
"""

from __future__ import annotations

from math import sqrt

from onrecord import coldstart
from onrecord.search import lanes, soft_coverage, vector_blocks, vectors, word_features
from onrecord.search.meaning import Meaning
from onrecord.search.word_table import DIMENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from onrecord.search.candidates import WeightedQuery
    from onrecord.search.index import Index, Row
    from onrecord.search.query import Query
    from onrecord.search.vectors import Vectors

NEAREST, NEAREST_ASKED = 5, 12
"""Records that are candidates by their meaning alone: for a prompt, and for a question somebody asked."""

_LEAST, _LEAST_ASKED = 0.25, 0.4
"""The `meaning` that makes a record a candidate. A prompt's candidates have to pass the gate, but who asks sees them
all: below 0.4 one in a hundred without a common word is relevant."""

_FIRST = 32
"""Records that are compared text by text, beside those found by words: of 430 they hold .97 of the five closest."""

_SOFT = 8
"""Candidates whose words are compared one by one: the others are never shown."""

_CHUNK = 16
_HEAD_WORDS, _TAIL_WORDS = 110, 50
"""Words read from the beginning and from the end of a long prompt: the question stands at either."""

_SQUARE = vectors.LENGTH * vectors.LENGTH


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

    def __init__(self, index: Index, made: Vectors, asked: Query, values: list[int]) -> None:
        self._index = index
        self._made = made
        self._asked = asked
        self._values = values
        self._first, self._gists = vector_blocks.compare(index, values)
        self._best = [place + self._first for place in _largest(self._gists, _FIRST)]
        self._texts: dict[int, _Texts] = {}

    def nearest(self, others: Collection[int], *, is_asked: bool = False, is_narrow: bool = False) -> list[int]:
        """The numbers of the closest records, best first, but for `others`, which are compared text by text, too.

        Where a filter may refuse most of them, all that are close enough.
        """
        self._texts = _by_text(self._index, {*self._best, *others}, self._values)
        least = 2 * _SQUARE * (_LEAST_ASKED if is_asked else _LEAST)
        close = [n for n, texts in self._texts.items() if texts.meaning >= least and n not in others]
        close.sort(key=lambda n: (-self._texts[n].meaning, n))
        return close if is_narrow else close[: NEAREST_ASKED if is_asked else NEAREST]

    def measure(
        self, rows: Sequence[Row], query: WeightedQuery, words: Mapping[int, Sequence[float]]
    ) -> dict[int, Meaning]:
        """The features of the records that have `words`, their features of words, by number; all rows compete."""
        texts = {row.n: self._texts[row.n] for row in rows if row.n in self._texts}
        coverage = {row.n: words[row.n][0] if row.n in words else word_features.coverage(query, row) for row in rows}
        soft = self._soft_coverage(rows, query, coverage, texts)
        share = soft_coverage.vector_share(self._made, self._asked.text, query)
        leads, soft_leads = _leads({n: each.meaning for n, each in self._texts.items()}), _leads(soft)
        mean, spread = _distribution(self._gists, self._index.totals()[0])
        measured = {}
        for n, each in ((n, each) for n, each in texts.items() if n in words):
            products = (each.meaning / 2, each.title, each.trigger, each.sentence, each.whole, leads[n] / 2)
            meaning, title, trigger, sentence, whole, lead = (product / _SQUARE for product in products)
            z = (self._product(n) - mean) / spread
            measured[n] = Meaning(meaning, title, trigger, sentence, whole, lead, z, soft[n], soft_leads[n], share)
        return measured

    def _soft_coverage(
        self, rows: Sequence[Row], query: WeightedQuery, coverage: Mapping[int, float], texts: Mapping[int, _Texts]
    ) -> dict[int, float]:
        """The soft coverage of the best records by words and meaning together; of the others, what words cover."""
        soft = {n: coverage[n] for n in texts}
        best = sorted(texts, key=lambda n: (-coverage[n] - texts[n].meaning / 2 / _SQUARE, n))[:_SOFT]
        words = {n: texts[n].words for n in best}
        compared = [row for row in rows if row.n in words]
        soft.update(soft_coverage.measure(self._made, self._asked.text, query, compared, words))
        return soft

    def _product(self, n: int) -> int:
        place = n - self._first
        return self._gists[place] if 0 <= place < len(self._gists) else 0


def compare(index: Index, asked: Query) -> Nearby | None:
    """What is near to a prompt; None where there is no table, or no word of the prompt is in it.

    ValueError if the index has vectors of another table.
    """
    try:
        made = vectors.shared()
    except (OSError, ValueError):
        return None
    row = index._connection.execute("SELECT identity FROM vector_source").fetchone()
    if row is None:
        return None
    if row[0] != made.table.identity:
        raise ValueError("the vectors of the index were made with another table")
    words = vectors.words(asked.text)
    if len(words) > _HEAD_WORDS + _TAIL_WORDS:
        words = [*words[:_HEAD_WORDS], *words[-_TAIL_WORDS:]]
    vector = made.of(words)
    return Nearby(index, made, asked, lanes.signed(vector)) if vector else None


def _largest(values: list[int], most: int) -> list[int]:
    """The places of the largest values above 0, largest first: they are in the chunks with the largest maxima."""
    peaks = [max(values[start : start + _CHUNK]) for start in range(0, len(values), _CHUNK)]
    chunks = sorted(sorted(range(len(peaks)), key=peaks.__getitem__, reverse=True)[:most])
    places = [place for chunk in chunks for place in range(chunk * _CHUNK, min((chunk + 1) * _CHUNK, len(values)))]
    places.sort(key=values.__getitem__, reverse=True)
    return [place for place in places[:most] if values[place] > 0]


def _by_text(index: Index, numbers: Iterable[int], values: list[int]) -> dict[int, _Texts]:
    """The products with each text of some records."""
    listed = ",".join(map(str, sorted(numbers)))
    rows = index._connection.execute(f"SELECT n, triggers, vectors, words FROM vector WHERE n IN ({listed})").fetchall()
    if any(len(row[2]) < 2 * DIMENSIONS or len(row[2]) % DIMENSIONS for row in rows):
        raise ValueError("the vectors of a record are damaged")
    joined = b"".join([row[2] for row in rows])
    products = lanes.products(values, lanes.columns(joined, DIMENSIONS), len(joined) // DIMENSIONS)
    start, texts = 0, {}
    for n, triggers, stored, words in rows:
        end = start + len(stored) // DIMENSIONS
        title, whole, *rest = products[start:end]
        texts[n] = _Texts(title, whole, max(rest[:triggers], default=0), max(rest[triggers:], default=0), words)
        start = end
    return texts


def _leads(values: Mapping[int, float]) -> dict[int, float]:
    """By how much each value is more than the largest of the others."""
    first, second = (*sorted(values.values(), reverse=True), 0.0, 0.0)[:2]
    return {n: value - (first if value < first else second) for n, value in values.items()}


def _distribution(products: list[int], records: int) -> tuple[float, float]:
    """Mean and standard deviation over the records; a lane without a record holds 0 and adds nothing."""
    count = max(records, 1)
    mean = sum(products) / count
    variance = sum([each * each for each in products]) / count - mean * mean
    return mean, sqrt(max(variance, 1.0))

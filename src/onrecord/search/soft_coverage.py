"""Soft coverage: how much of a prompt a record has, where a similar word counts by its similarity."""

from __future__ import annotations

from math import hypot

from onrecord.search import lanes, terms, vectors, word_features
from onrecord.search.vectors import WORD_DIMENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onrecord.search.candidates import WeightedQuery
    from onrecord.search.index import Row
    from onrecord.search.vectors import Vectors

_SIMILAR = 0.45
"""The least similarity of two words that counts: below it most pairs have nothing to do with each other."""

_MOST_WORDS = 12
"""Words of a prompt for which similar ones are looked for: the rarest."""


def measure(
    made: Vectors, text: str, query: WeightedQuery, rows: Sequence[Row], words: Mapping[int, bytes]
) -> dict[int, float]:
    """The share of the query's weight that each record has, given the rows of its words in the table."""
    asked = _vectors(made, text, query)
    numbers = {n: _unpacked(made, packed) for n, packed in words.items()}
    similar = _similarities(made, asked, {row: length for each in numbers.values() for row, length in each})
    return {row.n: _covered(query, row, [number for number, _ in numbers[row.n]], similar) for row in rows}


def vector_share(made: Vectors, text: str, query: WeightedQuery) -> float:
    """The share of the query's concepts whose word is in the table as it is; pieces of a word say little."""
    concepts = {concept: word for word, concept in _spelled(text, query).items()}
    count = len(query.weights)
    return sum(made.word(word).length > 0 for word in concepts.values()) / count if count else 0.0


def _spelled(text: str, query: WeightedQuery) -> dict[str, int]:
    """Words of the prompt, as they stand there, with the concept that each is."""
    spelled: dict[str, int] = {}
    for word in dict.fromkeys(vectors.words(text)):
        for term in terms.of_word(word):
            if term in query.concept:
                spelled[word] = query.concept[term]
    return spelled


def _vectors(made: Vectors, text: str, query: WeightedQuery) -> dict[int, list[int]]:
    """The vectors of the prompt's rarest words, by concept."""
    spelled = sorted(_spelled(text, query).items(), key=lambda each: -query.weights[each[1]])
    asked = {concept: lanes.signed(made.of([word])[:WORD_DIMENSIONS]) for word, concept in spelled[:_MOST_WORDS]}
    return {concept: values for concept, values in asked.items() if any(values)}


def _unpacked(made: Vectors, packed: bytes) -> list[tuple[int, int]]:
    """Rows and their lengths; ValueError if they are not of this table."""
    numbers = list(memoryview(packed).cast("H"))
    half = len(numbers) // 2
    rows, lengths = numbers[:half], numbers[half:]
    if rows and (max(rows) >= made.table.count or not all(lengths)):
        raise ValueError("the words of a record are not in the table")
    return list(zip(rows, lengths))


def _similarities(
    made: Vectors, asked: Mapping[int, list[int]], rows: Mapping[int, int]
) -> dict[int, dict[int, float]]:
    """For each concept the similarities, as far as they count, to rows of the table of some lengths."""
    columns = lanes.columns(made.stored_rows(rows, WORD_DIMENSIONS), WORD_DIMENSIONS)
    similar: dict[int, dict[int, float]] = {}
    for (concept, values), products in zip(asked.items(), lanes.products_of_each(asked.values(), columns, len(rows))):
        least = _SIMILAR * hypot(*values)
        close = [(row, p / length) for (row, length), p in zip(rows.items(), products) if p >= least * length]
        similar[concept] = {row: min(_SIMILAR * product / least, 1.0) for row, product in close}
    return similar


def _covered(query: WeightedQuery, row: Row, words: list[int], similar: Mapping[int, Mapping[int, float]]) -> float:
    matched = word_features.matched(query, row)
    covered = sum(query.weights[concept] for concept in matched)
    for concept, cosines in similar.items():
        if concept not in matched and cosines:
            covered += query.weights[concept] * max((cosines.get(word, 0.0) for word in words), default=0.0)
    return covered / query.total

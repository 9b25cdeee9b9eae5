"""Exact products of one vector with many, by the arithmetic of large integers.

One integer holds a column of the vectors: the values that all of them have in one dimension, each in a lane of its own.
Multiplied by the query's value in that dimension and added up over the dimensions, it holds all the products. That
takes a few hundred operations for any number of vectors.
"""

from __future__ import annotations

from recollect.search.word_table import read_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LANE = 4
"""Bytes: a product of 128 dimensions is less than 2 to the 23rd."""

_BIAS = 1 << 23
"""Added to each product, so that no lane is negative."""


def signed(vector: bytes) -> list[int]:
    """The values of a stored vector."""
    return [value - 128 for value in vector]


def transposed(vectors: bytes, size: int) -> bytes:
    """Vectors of some size behind each other as columns behind each other."""
    return b"".join([vectors[dimension::size] for dimension in range(size)])


def products(query: Sequence[int], columns: bytes) -> list[int]:
    """The product of a query with each of some vectors, given column by column as stored bytes."""
    count = len(columns) // len(query)
    quarter = -(-count // _LANE)
    mask = int.from_bytes(b"\xff\0\0\0" * quarter, "little")
    first = second = third = fourth = 0
    view = memoryview(columns)
    for dimension, value in enumerate(query):
        if value:
            # Every fourth byte at a time gets room for its product.
            column = int.from_bytes(view[dimension * count : (dimension + 1) * count], "little")
            first += (column & mask) * value
            second += (column >> 8 & mask) * value
            third += (column >> 16 & mask) * value
            fourth += (column >> 24 & mask) * value
    bias = _BIAS * int.from_bytes(b"\1\0\0\0" * quarter, "little")
    answer = [0] * (_LANE * quarter)
    for place, lanes in enumerate((first, second, third, fourth)):
        answer[place::_LANE] = read_numbers((lanes + bias).to_bytes(_LANE * quarter, "little"), "I")
    surplus = _BIAS + 128 * sum(query)
    return [value - surplus for value in answer[:count]]

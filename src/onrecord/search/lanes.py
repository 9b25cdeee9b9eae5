"""Exact products of one vector with many, by the arithmetic of large integers.

One integer holds a column of the vectors: the values that all of them have in one dimension, each in a lane of its own.
Multiplied by the query's value in that dimension and added up over the dimensions, it holds all the products. That
takes a thousand operations for any number of vectors, where plain sums take a hundred for each.
"""

from __future__ import annotations

from onrecord.search.word_table import read_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_MOST = 257
"""What the query's values may add up to before narrow lanes are emptied into wide ones: 257 times 255 fill 16 bits."""


def signed(vector: bytes) -> list[int]:
    """The values of a stored vector."""
    return [value - 128 for value in vector]


def columns(vectors: bytes, size: int) -> Iterator[bytes]:
    """The columns of vectors of some size that are stored behind each other."""
    return (vectors[dimension::size] for dimension in range(size))


def products(query: Sequence[int], columns: Iterable[bytes], count: int) -> list[int]:
    """The product of a query with each of some vectors, given as columns of stored bytes."""
    return _Products(count).of(query, _split(columns, count))


def products_of_each(queries: Iterable[Sequence[int]], columns: Iterable[bytes], count: int) -> list[list[int]]:
    """The same for several queries, for which the columns are made ready once."""
    pairs = list(_split(columns, count))
    return [_Products(count).of(query, pairs) for query in queries]


def _split(columns: Iterable[bytes], count: int) -> Iterator[tuple[int, int]]:
    """Each column as two integers of every second byte, which gets the room of two."""
    narrow = _repeated(b"\xff\0", 2 * -(-count // 2))
    for stored in columns:
        column = int.from_bytes(stored, "little")
        yield column & narrow, column >> 8 & narrow


class _Products:
    """The products of a query with a number of vectors, adding up."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._size = 4 * -(-count // 4)
        self._totals = [0, 0, 0, 0]
        self._surplus = 0

    def of(self, query: Sequence[int], columns: Iterable[tuple[int, int]]) -> list[int]:
        even = odd = heavy = below = 0
        for value, (evens, odds) in zip(query, columns):
            size = -value if value < 0 else value
            if heavy + size > _MOST:
                self._add(even, odd, below)
                even = odd = heavy = below = 0
            even += evens * value
            odd += odds * value
            heavy += size
            if value < 0:
                below += size
        self._add(even, odd, below)
        self._surplus += 128 * sum(query)
        answer = [0] * self._size
        for place, total in enumerate(self._totals):
            answer[place::4] = self._unpacked(total)
        return answer[: self._count]

    def _add(self, even: int, odd: int, below: int) -> None:
        """Add narrow lanes to wide ones, with a surplus by which none is negative."""
        bias = 255 * below * _repeated(b"\1\0", self._size)
        wide = _repeated(b"\xff\xff\0\0", self._size)
        for place, lanes in enumerate((even + bias, odd + bias)):
            self._totals[place] += lanes & wide
            self._totals[place + 2] += lanes >> 16 & wide
        self._surplus += 255 * below

    def _unpacked(self, total: int) -> list[int]:
        """Wide lanes as numbers without the surplus: the highest bit of each is turned, and then is that of a sign."""
        half, ones = 1 << 31, _repeated(b"\1\0\0\0", self._size)
        lanes = (total + (half - self._surplus) * ones) ^ half * ones
        return list(read_numbers(lanes.to_bytes(self._size, "little"), "i"))


def _repeated(pattern: bytes, size: int) -> int:
    return int.from_bytes(pattern * (size // len(pattern)), "little")

"""Texts as vectors of 128 signed bytes: the sum of the vectors of their words, brought to one length.

Three parts follow each other: the table of word vectors, texts as vectors, and products of one vector with many.

The table ships with the package: `words.vec`, read piece by piece and never as a whole. The file, little-endian: 8
bytes `RCLVEC02`; u32 number of tokens; u32 dimensions; the tokens' CRC-32, sorted (u32); their scales (f32); their rows
(80 bytes). A dimension of a row has five bits, 16 more than its value, which counts 8 times: the upper four are half of
one of the first 64 bytes, its lower half for the first 64 dimensions, and bit k of byte j of the other 16 is the lowest
bit of dimension j + 16 k. A token's vector is its scale times its row. Whole words are tokens as they are; a piece
that continues a word of ASCII letters begins with `##`. How it was trained: docs/how-it-works-inside.md.

Sums are whole numbers and exact. One large integer is a vector, a lane of 32 bits for each dimension, so that adding
two vectors is one addition. A vector is stored as 128 bytes, each 128 more than its value.

For products, one integer is a column of the vectors: the values that all of them have in one dimension, each in a
lane of its own. Multiplied by the query's value in that dimension and added up over the dimensions, it holds all the
products. That takes a thousand operations for any number of vectors, where plain sums take a hundred for each.
"""

from __future__ import annotations

import os
import sys
from binascii import crc32
from math import dist

from onrecord import coldstart
from onrecord.search import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "words.vec")
"""The table that ships with the package."""

DIMENSIONS = 128

_MAGIC = b"RCLVEC02"
_HEADER = 16
_MAX_TABLE_TOKENS = 65_536
"""Tokens of a table: the index stores row numbers in two bytes."""

_MAX_SCALE = 64.0
"""A vector whose largest dimension is 1 has a scale of 1/127: ten thousand times that is a damaged file."""

_SAMPLED_SCALES, _LARGE_WEIGHT = 128, 2_000
"""Scales that are looked at, and the weight that the largest of them gets: no other has more than twice that."""

_HALVES, _ROW = 64, 80
"""Bytes of a row that hold two dimensions each, and all bytes of a row."""

_SAMPLE = 4_096
"""Bytes of the scales and of the rows that tell one table from another: training again changes nearly all of them."""

LENGTH = 200
"""Of a vector. A dimension then fits into a byte unless it is more than 0.63 of the whole, and rounding to bytes
changes a cosine by less than 0.01."""

WORD_DIMENSIONS = 64
"""Dimensions in which single words are compared: with all of them soft coverage tells no more (AUC .946 either way)."""

MAX_TOKENS = 160
_MAX_WORDS = 400
"""Words of a text that are looked at: twice as many as the longest text has that is made of ordinary words."""

_MAX_WORD_CHARACTERS, _MAX_PIECE_CHARACTERS = 40, 18
"""Characters: a longer word is a hash or encoded data, and the word pieces of the teacher are no longer."""

_MAX_PIECES, _MAX_CUT_WORDS = 8, 48
"""Pieces of a word, and words of a text that are cut into pieces: cutting one takes up to 144 lookups."""

_MIN_BEGINNING = 4
"""Letters that another ending may follow, where words are not of ASCII letters."""

_MAX_CACHE = 60_000
_LANE = 4
_ONES = int.from_bytes((b"\1" + bytes(_LANE - 1)) * DIMENSIONS, "little")
_MAX_WEIGHT = 4_095
"""So the vectors of 4,000 tokens can be added up: each adds up to 255 times 4,095 to a lane of 32 bits."""

_FRACTION = 16
"""Binary places below the byte that is stored."""

_ROUNDED = ((256 + 128 << _FRACTION) + (1 << _FRACTION - 1)) * _ONES
"""In each lane 128, a half for rounding, and a mark above them that shows if a value fits into its byte."""

_PRECISE = 13
"""Bits of a length: with as many a step of a stored byte is 40 steps of a lane, and products fit into lanes."""

_MIDDLE = [128] * WORD_DIMENSIONS
_ALL_FIT = b"\1" * DIMENSIONS
_MIN_IDENTIFIER = 4
"""Small letters with which an identifier in mixed case begins; a name begins with fewer (`iOS`, `macOS`)."""

_AROUND = ".,:;!?()[]{}<>'\"`*"
"""What may stand before and after a word."""

_LOWER, _UPPER = bytes([16 * (byte & 15) for byte in range(256)]), bytes([byte & 240 for byte in range(256)])
"""The two dimensions that share a byte, each as it is stored in vectors, but for its lowest bit."""

_COARSE = bytes([byte + 4 for byte in _LOWER])
"""The first of them with the mean of that bit: enough to compare words."""

_BIT = int.from_bytes(b"\1" * 16, "little")

_SHAPES = " " * 48 + "a" * 10 + " " * 7 + "A" * 26 + " " * 6 + "a" * 26 + " " * 5
"""The class of each ASCII character: small letter or digit, capital letter, or other."""

_SPACED = " " * 48 + "0123456789" + " " * 39 + "abcdefghijklmnopqrstuvwxyz" + " " * 5

_MAX_NARROW = 257
"""Sum of the query's values before narrow lanes are emptied into wide ones: 257 times 255 fill 16 bits."""


class BadTable(ValueError):
    """The file is not a table of word vectors."""


class WordTable:
    """An open table."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        header = self._read(0, _HEADER)
        count, dimensions = (int.from_bytes(header[start : start + 4], "little") for start in (8, 12))
        if header[:8] != _MAGIC or dimensions != DIMENSIONS or not 0 < count <= _MAX_TABLE_TOKENS:
            raise BadTable(f"not a table of word vectors of {DIMENSIONS} dimensions")
        self.count = count
        self._rows = _HEADER + 8 * count
        size = os.fstat(descriptor).st_size
        if size != self._rows + _ROW * count:
            raise BadTable(f"{size} bytes, not the {self._rows + _ROW * count} that its header says")
        self.hashes: Sequence[int] = read_numbers(self._read(_HEADER, 4 * count), "I")
        self._scales = _HEADER + 4 * count
        sample = self._read(self._scales, min(_SAMPLE, 4 * count))
        self.hash = coldstart.content_hash(header + sample + self._read(max(size - _SAMPLE, 0), _SAMPLE))
        """Hash that differs between tables."""
        scales = read_numbers(sample, "f")[:_SAMPLED_SCALES]
        self.unit = _LARGE_WEIGHT / max(filter(_is_sensible, scales), default=1.0)
        """Factor that makes a scale a weight, a whole number."""
        self._find_hash: Callable[[Sequence[int], int], int] = _find_hash

    def row_of(self, token: str) -> int:
        """Return the number of a token's row; -1 if the table does not have it."""
        token_hash = crc32(token.encode("utf-8", "surrogatepass"))
        position = self._find_hash(self.hashes, token_hash)
        return position if position < self.count and self.hashes[position] == token_hash else -1

    def expect_many(self) -> None:
        """Make searching faster, which takes a moment: it pays from two hundred searches on, more than a prompt has."""
        from bisect import bisect_left

        self._find_hash = bisect_left

    def scale(self, row_number: int) -> float:
        """Return the factor of a row; 0 where a damaged file has no sensible one."""
        scale: float = read_numbers(self._read(self._scales + 4 * row_number, 4), "f")[0]
        return scale if _is_sensible(scale) else 0.0

    def rows(self, row_numbers: Iterable[int]) -> bytes:
        """Return rows one after the other, as they are in the file."""
        return b"".join([_pread(self._descriptor, _ROW, self._rows + row_number * _ROW) for row_number in row_numbers])

    def check(self) -> None:
        """Look at all of the table; BadTable if tokens cannot be found in it."""
        hashes = list(self.hashes)
        if any(first >= second for first, second in zip(hashes, hashes[1:])):
            raise BadTable("the tokens are not in order")

    def close(self) -> None:
        os.close(self._descriptor)

    def _read(self, start: int, size: int) -> bytes:
        return _pread(self._descriptor, size, start)


def open_table(file: str) -> WordTable:
    """Return the table in a file. Raises OSError or BadTable."""
    # Not mapped into memory: a file that shrinks while it is mapped would end the process.
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        return WordTable(descriptor)
    except BaseException:
        os.close(descriptor)
        raise


def _seek_and_read(descriptor: int, size: int, start: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    return os.read(descriptor, size)


# Windows has no `pread`.
_pread: Callable[[int, int, int], bytes] = getattr(os, "pread", _seek_and_read)


def _find_hash(hashes: Sequence[int], token_hash: int) -> int:
    """Return the position of the first hash that is not less than `token_hash`."""
    low, high = 0, len(hashes)
    while low < high:
        middle = (low + high) // 2
        if hashes[middle] < token_hash:
            low = middle + 1
        else:
            high = middle
    return low


def _is_sensible(scale: float) -> bool:
    return 0 < scale < _MAX_SCALE


def read_numbers(data: bytes, kind: str) -> Any:
    """Return little-endian numbers as a sequence, of `array` kind I, H or f."""
    if sys.byteorder == "little":
        return memoryview(data).cast(kind)  # type: ignore[call-overload]
    from array import array

    numbers = array(kind, data)
    numbers.byteswap()
    return numbers


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, `camelCase` as two: runs of ASCII letters and digits, or others.

    Latin letters lose their accents. Chinese characters become overlapping pairs, as they do in `terms`; Japanese
    particles and endings are left out.
    """
    shapes, start, parts = text.translate(_SHAPES), 0, []
    while (hump := shapes.find("aA", start)) >= 0:
        parts.append(text[start : hump + 1])
        start = hump + 1
    parts.append(text[start:])
    lowered = " ".join(parts).lower()
    spaced = (lowered if lowered.isascii() else terms.plain_letters(lowered)).translate(_SPACED)
    if spaced.isascii():
        return spaced.split()
    return [run for word in spaced.split() for run in ([word] if word.isascii() else terms.by_script(word))]


class _Word(coldstart.NamedTuple):
    """A word as the table has it."""

    lanes: int
    """The vectors of its tokens added up, 128 more in each dimension for each unit of weight."""
    weight: int
    tokens: int
    row: int
    """Its row in the table; -1 if it was cut into pieces."""
    length: int
    """Of that row, in the dimensions in which words are compared; 0 if it was cut."""


class Vectorizer:
    """Texts as vectors by one table, with the words looked up so far."""

    def __init__(self, table: WordTable) -> None:
        self.table = table
        self._words: dict[str, _Word] = {}
        self._rows: dict[int, tuple[int, int, bytes]] = {}

    def vector(self, words: list[str]) -> bytes:
        """Return the vector of `words`; empty if none has one."""
        return stored(*self.sum(words))

    def words(self, text: str) -> list[str]:
        """Return the words of a text; a name in mixed case that the table has is one word: `iOS`, `LaTeX`."""
        if "aA" not in text.translate(_SHAPES):
            return words(text)
        chunks = [chunk.strip(_AROUND) for chunk in text.split()]
        names = [chunk for chunk in chunks if "aA" in chunk.translate(_SHAPES) and chunk.isalnum()]
        for name in dict.fromkeys(names):
            # `userId` is an identifier, which others write as two words.
            if not name[:_MIN_IDENTIFIER].islower() and self.word(name.lower()).length:
                text = text.replace(name, name.lower())
        return words(text)

    def sum(self, words: list[str]) -> tuple[int, int]:
        """Return the sum of the vectors of `words`, which can be added to others: its lanes and its weight."""
        lanes = weight = tokens = cut = 0
        looked_up = self._words.get
        for word in words[:_MAX_WORDS]:
            more, heavier, count, _, _ = looked_up(word) or self.word(word)
            tokens += count
            cut += count != 1
            if tokens > MAX_TOKENS or cut > _MAX_CUT_WORDS:
                break
            lanes += more
            weight += heavier
        return lanes, weight

    def word(self, word: str) -> _Word:
        """Return a word as the table has it."""
        if word in self._words:
            return self._words[word]
        if len(self._words) >= _MAX_CACHE:
            self._words.clear()
            self._rows.clear()
        rows = pieces(self.table, word)
        sums = [self._rows.get(row) or self._weighted(row) for row in rows]
        if len(sums) == 1:
            lanes, weight, values = sums[0]
            entry = _Word(lanes, weight, 1, rows[0], round(dist(values, _MIDDLE)))
        else:
            entry = _Word(
                sum([lanes for lanes, _, _ in sums]), sum([weight for _, weight, _ in sums]), len(rows), -1, 0
            )
        self._words[word] = entry
        return entry

    def whole(self, words: Iterable[str]) -> list[tuple[int, int]]:
        """Return the rows, and their lengths, of those of `words` that are in the table as a whole."""
        looked_up = self._words.get
        return [entry[3:] for word in words if (entry := looked_up(word) or self.word(word))[4]]

    def stored_rows(self, row_numbers: Iterable[int]) -> bytes:
        """Return rows of the table as vectors are stored, in the dimensions in which words are compared."""
        rows = self.table.rows(row_numbers)
        halves = [rows[start : start + _HALVES] for start in range(0, len(rows), _ROW)]
        return b"".join(halves).translate(_COARSE)

    def _weighted(self, row_number: int) -> tuple[int, int, bytes]:
        """Return a row times its weight, a lane for each dimension; the weight; and the values for comparing words."""
        weight = min(round(self.table.scale(row_number) * self.table.unit), _MAX_WEIGHT)
        row, spread = self.table.rows([row_number]), bytearray(_LANE * DIMENSIONS)
        values = _row_values(row)
        spread[::_LANE] = values
        self._rows[row_number] = weighted = (
            weight * int.from_bytes(spread, "little"),
            weight,
            values[:WORD_DIMENSIONS],
        )
        return weighted


def _row_values(row_bytes: bytes) -> bytes:
    """Return a row of the table as vectors are stored."""
    halves, bits = row_bytes[:_HALVES], int.from_bytes(row_bytes[_HALVES:], "little")
    lowest = sum([(bits >> plane & _BIT) << 128 * plane for plane in range(8)]) << 3
    upper = int.from_bytes(halves.translate(_LOWER) + halves.translate(_UPPER), "little")
    return (upper | lowest).to_bytes(DIMENSIONS, "little")


def pieces(table: WordTable, word: str) -> list[int]:
    """Return the rows of a word's tokens: its own, or its longest pieces from the left; none if it cannot be cut."""
    if len(word) > _MAX_WORD_CHARACTERS:
        return []
    row = table.row_of(word)
    if row >= 0:
        return [row]
    if not word.isascii():
        return _beginning(table, word)
    rows: list[int] = []
    start = 0
    while start < len(word) and len(rows) <= _MAX_PIECES:
        for end in range(min(len(word), start + _MAX_PIECE_CHARACTERS), start, -1):
            row = table.row_of(("##" if start else "") + word[start:end])
            if row >= 0:
                break
        else:
            return []
        rows.append(row)
        start = end
    return rows if len(rows) <= _MAX_PIECES else []


def _beginning(table: WordTable, word: str) -> list[int]:
    """Return the row of the longest beginning of a word: its other endings, and the particles of Korean, follow it."""
    shortest = 2 if terms.script_of(word[0]) == "hangul" else _MIN_BEGINNING
    for end in range(len(word) - 1, max(shortest, len(word) // 2) - 1, -1):
        row = table.row_of(word[:end])
        if row >= 0:
            return [row]
    return []


def stored(lanes: int, weight: int) -> bytes:
    """Return a sum at length `LENGTH`, rounded, 128 more in each byte; empty if it has no direction."""
    # Every row was added with 128 in each dimension, so that lanes are never negative.
    offset = 128 * weight
    sums = read_numbers(lanes.to_bytes(_LANE * DIMENSIONS, "little"), "I").tolist()
    length = dist(sums, [offset] * DIMENSIONS)
    if not length:
        return b""
    dropped = max(int(length).bit_length() - _PRECISE, 0)
    precise = lanes >> dropped & ((1 << 8 * _LANE - dropped) - 1) * _ONES
    factor = round((LENGTH << _FRACTION + dropped) / length)
    scaled = (precise - (offset >> dropped) * _ONES) * factor + _ROUNDED
    spread = scaled.to_bytes(_LANE * DIMENSIONS, "little")
    values, marks = spread[2::_LANE], spread[3::_LANE]
    return values if marks == _ALL_FIT else _cut(values, marks)


def _cut(vector: bytes, marks: bytes) -> bytes:
    """Return the values, those that do not fit cut: their mark is 0 below, 2 above."""
    return bytes([(0, value, 255)[mark] for value, mark in zip(vector, marks)])


_vectorizers: dict[str, Vectorizer] = {}


def shared() -> Vectorizer:
    """Return the vectors by the table of the package, opened once. Raises OSError or BadTable."""
    file = FILE
    if file not in _vectorizers:
        _vectorizers[file] = Vectorizer(open_table(file))
    return _vectorizers[file]


def signed(vector: bytes) -> list[int]:
    """Return the values of a stored vector."""
    return [value - 128 for value in vector]


def columns(vectors: bytes, size: int) -> Iterator[bytes]:
    """Yield the columns of vectors of `size` dimensions that are stored one after the other."""
    return (vectors[dimension::size] for dimension in range(size))


def products(query_values: Sequence[int], columns: Iterable[bytes], count: int) -> list[int]:
    """Return the product of a query with each vector, given as columns of stored bytes."""
    return _Products(count).compute(query_values, _split(columns, count))


def products_of_each(queries: Iterable[Sequence[int]], columns: Iterable[bytes], count: int) -> list[list[int]]:
    """Return the products for several queries; the columns are prepared once."""
    split_columns = list(_split(columns, count))
    return [_Products(count).compute(query_values, split_columns) for query_values in queries]


def _split(columns: Iterable[bytes], count: int) -> Iterator[tuple[int, int]]:
    """Yield each column as two integers of every second byte, which gets the room of two."""
    narrow = _repeated(b"\xff\0", 2 * -(-count // 2))
    for column_bytes in columns:
        column = int.from_bytes(column_bytes, "little")
        yield column & narrow, column >> 8 & narrow


class _Products:
    """The products of a query with a number of vectors, adding up."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._size = 4 * -(-count // 4)
        self._totals = [0, 0, 0, 0]
        self._surplus = 0

    def compute(self, query_values: Sequence[int], split_columns: Iterable[tuple[int, int]]) -> list[int]:
        even = odd = heavy = below = 0
        for value, (evens, odds) in zip(query_values, split_columns):
            size = -value if value < 0 else value
            if heavy + size > _MAX_NARROW:
                self._add(even, odd, below)
                even = odd = heavy = below = 0
            even += evens * value
            odd += odds * value
            heavy += size
            if value < 0:
                below += size
        self._add(even, odd, below)
        self._surplus += 128 * sum(query_values)
        products = [0] * self._size
        for number, total in enumerate(self._totals):
            products[number::4] = self._unpacked(total)
        return products[: self._count]

    def _add(self, even: int, odd: int, below: int) -> None:
        """Add narrow lanes to wide ones, with a surplus by which none is negative."""
        bias = 255 * below * _repeated(b"\1\0", self._size)
        wide = _repeated(b"\xff\xff\0\0", self._size)
        for number, lanes in enumerate((even + bias, odd + bias)):
            self._totals[number] += lanes & wide
            self._totals[number + 2] += lanes >> 16 & wide
        self._surplus += 255 * below

    def _unpacked(self, total: int) -> list[int]:
        """Return wide lanes as numbers without the surplus: the highest bit of each is flipped and becomes the sign."""
        half, ones = 1 << 31, _repeated(b"\1\0\0\0", self._size)
        lanes = (total + (half - self._surplus) * ones) ^ half * ones
        return list(read_numbers(lanes.to_bytes(self._size, "little"), "i"))


def _repeated(lane: bytes, size: int) -> int:
    return int.from_bytes(lane * (size // len(lane)), "little")

"""Texts as vectors of 128 signed bytes: the sum of the vectors of their words, brought to one length.

Sums are whole numbers and exact. One large integer holds a vector, a lane of 64 bits for each dimension, so that adding
two vectors is one addition. A vector is stored as 128 bytes, each 128 more than its value.
"""

from __future__ import annotations

from math import dist

from recollect.search import word_table
from recollect.search.word_table import DIMENSIONS, WordTable, read_numbers

LENGTH = 200
"""Of a vector. A dimension then fits into a byte unless it is more than 0.63 of the whole, and rounding to bytes
changes a cosine by less than 0.01."""

MOST_TOKENS = 160
_MOST_WORDS = 400
"""Words of a text that are looked at: twice as many as the longest text has that is made of ordinary words."""

_LONGEST_WORD, _LONGEST_PIECE = 40, 18
"""Characters: a longer word is a hash or encoded data, and the word pieces of the teacher are no longer."""

_MOST_PIECES, _MOST_CUT = 8, 48
"""Pieces of a word, and words of a text that are cut into pieces: cutting one takes up to 144 lookups."""

_LARGEST_CACHE = 20_000
_LANE = 8
_ONES = int.from_bytes((b"\1" + bytes(_LANE - 1)) * DIMENSIONS, "little")
_UNIT = 1 << 24
"""Steps in which a scale of 1 is counted: 160 tokens of the largest scale fill 46 bits of a lane, the least useful ones
are still told apart by hundredths."""

_FRACTION = 48
"""Binary places below the byte that is stored: enough for the factor of the longest sum to have 11 bits."""

_ROUNDED = ((256 + 128 << _FRACTION) + (1 << _FRACTION - 1)) * _ONES
"""In each lane 128, a half for rounding, and a mark above them that shows whether a value fits into its byte."""

_ALL_FIT = b"\1" * DIMENSIONS
_OFFSET = bytes((value + 128) % 256 for value in range(256))
_ASCII = [chr(code) for code in range(128)]
_SHAPES = "".join("a" if c.islower() or c.isdigit() else "A" if c.isupper() else " " for c in _ASCII)
_SPACED = "".join(c if c.islower() or c.isdigit() else " " for c in _ASCII)


def words(text: str) -> list[str]:
    """The words of a text in lower case, `camelCase` as two: runs of ASCII letters and digits, and of other letters.

    Latin letters lose their accents: the table has none.
    """
    shapes, start, parts = text.translate(_SHAPES), 0, []
    while (hump := shapes.find("aA", start)) >= 0:
        parts.append(text[start : hump + 1])
        start = hump + 1
    parts.append(text[start:])
    lowered = " ".join(parts).lower()
    listed = (lowered if lowered.isascii() else _folded(lowered)).translate(_SPACED).split(" ")
    return [run for word in listed if word for run in ([word] if word.isascii() else _runs(word))]


def _folded(text: str) -> str:
    import unicodedata

    apart = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _runs(word: str) -> list[str]:
    """The stretches of a word that are, or are not, ASCII."""
    runs = [word[0]]
    for character in word[1:]:
        if character.isascii() == runs[-1].isascii():
            runs[-1] += character
        else:
            runs.append(character)
    return runs


class Vectors:
    """Texts as vectors by one table, with the words looked up so far."""

    def __init__(self, table: WordTable) -> None:
        self.table = table
        self._sums: dict[str, tuple[int, int, int]] = {}
        self._rows: dict[str, tuple[int, int]] = {}

    def of(self, text: str) -> bytes:
        """The vector of a text; empty if none of its words has one."""
        return self.of_words(words(text))

    def of_words(self, listed: list[str]) -> bytes:
        """The vector of some words."""
        lanes = weight = tokens = cut = 0
        for word in listed[:_MOST_WORDS]:
            more, heavier, count = self._sums.get(word) or self._sum(word)
            tokens += count
            cut += count != 1
            if tokens > MOST_TOKENS or cut > _MOST_CUT:
                break
            lanes += more
            weight += heavier
        return _stored(lanes, weight)

    def has(self, word: str) -> bool:
        """Whether a word has a vector."""
        return (self._sums.get(word) or self._sum(word))[2] > 0

    def row(self, word: str) -> tuple[int, int]:
        """The row of a word that the table has as it is, and the length of that row; length 0 for other words."""
        cached = self._rows.get(word)
        if cached is None:
            row = self.table.row_of(word) if len(word) <= _LONGEST_WORD else -1
            cached = self._rows[word] = (row, _length(self.stored_row(row)) if row >= 0 else 0)
        return cached

    def stored_row(self, row: int) -> bytes:
        """A row of the table as vectors are stored, at its own length."""
        return self.table.row(row).translate(_OFFSET)

    def _sum(self, word: str) -> tuple[int, int, int]:
        """The vectors of a word's tokens added up, their weights added up, and how many they are."""
        lanes = weight = 0
        rows = pieces(self.table, word)
        for row in rows:
            scale = round(self.table.scale(row) * _UNIT)
            spread = bytearray(_LANE * DIMENSIONS)
            spread[::_LANE] = self.stored_row(row)
            lanes += scale * int.from_bytes(spread, "little")
            weight += scale
        if len(self._sums) >= _LARGEST_CACHE:
            self._sums.clear()
            self._rows.clear()
        self._sums[word] = (lanes, weight, len(rows))
        return self._sums[word]


def pieces(table: WordTable, word: str) -> list[int]:
    """The rows of a word's tokens: its own, or those of its longest pieces from the left; none if it cannot be cut."""
    if len(word) > _LONGEST_WORD:
        return []
    row = table.row_of(word)
    if row >= 0:
        return [row]
    rows: list[int] = []
    start = 0
    while start < len(word) and len(rows) <= _MOST_PIECES:
        for end in range(min(len(word), start + _LONGEST_PIECE), start, -1):
            row = table.row_of(("##" if start else "") + word[start:end])
            if row >= 0:
                break
        else:
            return []
        rows.append(row)
        start = end
    return rows if len(rows) <= _MOST_PIECES else []


def _stored(lanes: int, weight: int) -> bytes:
    """A sum brought to length and rounded, 128 more in each byte; empty if it has no direction."""
    size = _LANE * DIMENSIONS
    # Every row was added with 128 in each dimension, so that lanes are never negative.
    offset = 128 * weight
    values = list(read_numbers(lanes.to_bytes(size, "little"), "Q"))
    length = dist(values, [offset] * DIMENSIONS)
    if not length:
        return b""
    factor = int((LENGTH << _FRACTION) / length)
    scaled = (lanes - offset * _ONES) * factor + _ROUNDED
    spread = scaled.to_bytes(size + 1, "little", signed=True)
    if spread[7:size:_LANE] == _ALL_FIT:
        return spread[6:size:_LANE]
    return bytes(max(0, min(255, 128 + round((value - offset) * LENGTH / length))) for value in values)


_opened: dict[str, Vectors] = {}


def shared() -> Vectors:
    """The vectors by the table of the package, opened once; OSError or BadTable if there is none."""
    file = word_table.FILE
    if file not in _opened:
        _opened[file] = Vectors(word_table.open(file))
    return _opened[file]


def _length(vector: bytes) -> int:
    return round(dist(vector, [128] * DIMENSIONS))

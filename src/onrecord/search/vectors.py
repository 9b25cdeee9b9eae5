"""Texts as vectors of 128 signed bytes: the sum of the vectors of their words, brought to one length.

Sums are whole numbers and exact. One large integer holds a vector, a lane of 32 bits for each dimension, so that adding
two vectors is one addition. A vector is stored as 128 bytes, each 128 more than its value.
"""

from __future__ import annotations

from math import dist

from onrecord import coldstart
from onrecord.search import word_table
from onrecord.search.word_table import DIMENSIONS, WordTable, read_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LENGTH = 200
"""Of a vector. A dimension then fits into a byte unless it is more than 0.63 of the whole, and rounding to bytes
changes a cosine by less than 0.01."""

WORD_DIMENSIONS = 64
"""Dimensions in which single words are compared: with all of them soft coverage tells no more (AUC .946 either way)."""

MOST_TOKENS = 160
_MOST_WORDS = 400
"""Words of a text that are looked at: twice as many as the longest text has that is made of ordinary words."""

_LONGEST_WORD, _LONGEST_PIECE = 40, 18
"""Characters: a longer word is a hash or encoded data, and the word pieces of the teacher are no longer."""

_MOST_PIECES, _MOST_CUT = 8, 48
"""Pieces of a word, and words of a text that are cut into pieces: cutting one takes up to 144 lookups."""

_LARGEST_CACHE = 20_000
_LANE = 4
_ONES = int.from_bytes((b"\1" + bytes(_LANE - 1)) * DIMENSIONS, "little")
_LARGEST_WEIGHT = 4_095
"""So the vectors of 4,000 tokens can be added up: each adds up to 255 times 4,095 to a lane of 32 bits."""

_FRACTION = 16
"""Binary places below the byte that is stored."""

_ROUNDED = ((256 + 128 << _FRACTION) + (1 << _FRACTION - 1)) * _ONES
"""In each lane 128, a half for rounding, and a mark above them that shows whether a value fits into its byte."""

_PRECISE = 13
"""Bits of a length: with as many a step of a stored byte is 40 steps of a lane, and products fit into lanes."""

_MIDDLE = [128] * WORD_DIMENSIONS
_ALL_FIT = b"\1" * DIMENSIONS
_OFFSET = bytes(range(128, 256)) + bytes(range(128))
_SHAPES = " " * 48 + "a" * 10 + " " * 7 + "A" * 26 + " " * 6 + "a" * 26 + " " * 5
"""For each ASCII character whether it is a small letter or a digit, a capital letter, or something else."""

_SPACED = " " * 48 + "0123456789" + " " * 39 + "abcdefghijklmnopqrstuvwxyz" + " " * 5


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
    spaced = (lowered if lowered.isascii() else _folded(lowered)).translate(_SPACED)
    if spaced.isascii():
        return spaced.split()
    return [run for word in spaced.split(" ") if word for run in ([word] if word.isascii() else _runs(word))]


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


class Vectors:
    """Texts as vectors by one table, with the words looked up so far."""

    def __init__(self, table: WordTable) -> None:
        self.table = table
        self._words: dict[str, _Word] = {}
        self._rows: dict[int, tuple[int, int, bytes]] = {}

    def of(self, listed: list[str]) -> bytes:
        """The vector of some words; empty if none has one."""
        return stored(*self.sum(listed))

    def sum(self, listed: list[str]) -> tuple[int, int]:
        """The sum of the vectors of some words, which can be added to others: its lanes and its weight."""
        lanes = weight = tokens = cut = 0
        looked_up = self._words.get
        for word in listed[:_MOST_WORDS]:
            more, heavier, count, _, _ = looked_up(word) or self.word(word)
            tokens += count
            cut += count != 1
            if tokens > MOST_TOKENS or cut > _MOST_CUT:
                break
            lanes += more
            weight += heavier
        return lanes, weight

    def word(self, word: str) -> _Word:
        """A word as the table has it."""
        if word in self._words:
            return self._words[word]
        if len(self._words) >= _LARGEST_CACHE:
            self._words.clear()
            self._rows.clear()
        rows = pieces(self.table, word)
        sums = [self._rows.get(row) or self._weighted(row) for row in rows]
        if len(sums) == 1:
            lanes, weight, values = sums[0]
            made = _Word(lanes, weight, 1, rows[0], round(dist(values, _MIDDLE)))
        else:
            made = _Word(sum([each[0] for each in sums]), sum([each[1] for each in sums]), len(rows), -1, 0)
        self._words[word] = made
        return made

    def whole(self, listed: Iterable[str]) -> list[tuple[int, int]]:
        """The rows, and their lengths, of those of some words that the table has as they are."""
        looked_up = self._words.get
        return [made[3:] for word in listed if (made := looked_up(word) or self.word(word))[4]]

    def stored_rows(self, rows: Iterable[int], size: int = DIMENSIONS) -> bytes:
        """Rows of the table as vectors are stored, up to some dimension, each at its own length."""
        return self.table.rows(rows, size).translate(_OFFSET)

    def _weighted(self, row: int) -> tuple[int, int, bytes]:
        """A row times its weight, a lane for each dimension; the weight; and the values in which words are compared."""
        weight = min(round(self.table.scale(row) * self.table.unit), _LARGEST_WEIGHT)
        values, spread = self.stored_rows([row]), bytearray(_LANE * DIMENSIONS)
        spread[::_LANE] = values
        self._rows[row] = weighted = (weight * int.from_bytes(spread, "little"), weight, values[:WORD_DIMENSIONS])
        return weighted


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


def stored(lanes: int, weight: int) -> bytes:
    """A sum brought to length and rounded, 128 more in each byte; empty if it has no direction."""
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


def _cut(values: bytes, marks: bytes) -> bytes:
    """The values with those that do not fit cut: their mark is 0 below, 2 above."""
    return bytes([(0, value, 255)[mark] for value, mark in zip(values, marks)])


_opened: dict[str, Vectors] = {}


def shared() -> Vectors:
    """The vectors by the table of the package, opened once; OSError or BadTable if there is none."""
    file = word_table.FILE
    if file not in _opened:
        _opened[file] = Vectors(word_table.open(file))
    return _opened[file]

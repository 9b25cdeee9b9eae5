"""The table of word vectors that ships with the package: `words.vec`, read piece by piece and never as a whole.

The file, little-endian: 8 bytes `RCLVEC01`; u32 number of tokens; u32 dimensions; the tokens' CRC-32, sorted (u32);
their scales (f32); their rows (int8). A token's vector is its scale times its row. Whole words are tokens as they
are; a piece that continues a word begins with `##`. How it was trained: docs/how-it-works.md.
"""

from __future__ import annotations

import os
import sys
from binascii import crc32

from onrecord import coldstart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "words.vec")
"""The table that ships with the package."""

DIMENSIONS = 128

_MAGIC = b"RCLVEC01"
_HEADER = 16
_MOST_TOKENS = 65_536
"""Tokens of a table: the index stores row numbers in two bytes, and 6 MB hold no more than 45,000."""

_LARGEST_SCALE = 64.0
"""A vector whose largest dimension is 1 has a scale of 1/127: ten thousand times that is a damaged file."""

_SAMPLED_SCALES, _LARGE_WEIGHT = 128, 2_000
"""Scales that are looked at, and the weight that the largest of them gets: no other has more than twice that."""

_SAMPLE = 4_096
"""Bytes of the scales and of the rows that tell one table from another: training again changes nearly all of them."""


class BadTable(ValueError):
    """The file is not a table of word vectors."""


class WordTable:
    """An open table."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        header = self._read(0, _HEADER)
        count, dimensions = (int.from_bytes(header[at : at + 4], "little") for at in (8, 12))
        if header[:8] != _MAGIC or dimensions != DIMENSIONS or not 0 < count <= _MOST_TOKENS:
            raise BadTable(f"not a table of word vectors of {DIMENSIONS} dimensions")
        self.count = count
        self._rows = _HEADER + 8 * count
        size = os.fstat(descriptor).st_size
        if size != self._rows + DIMENSIONS * count:
            raise BadTable(f"{size} bytes, not the {self._rows + DIMENSIONS * count} that its header says")
        self.hashes: Sequence[int] = read_numbers(self._read(_HEADER, 4 * count), "I")
        self._scales = _HEADER + 4 * count
        sample = self._read(self._scales, min(_SAMPLE, 4 * count))
        self.identity = coldstart.digest(header + sample + self._read(max(size - _SAMPLE, 0), _SAMPLE))
        """What tells this table from others."""
        scales = read_numbers(sample, "f")[:_SAMPLED_SCALES]
        self.unit = _LARGE_WEIGHT / max(filter(_is_sensible, scales), default=1.0)
        """What a scale is multiplied by to make it a weight, a whole number."""
        self._search: Callable[[Sequence[int], int], int] = _search

    def row_of(self, token: str) -> int:
        """The number of a token's row; -1 if the table does not have it."""
        wanted = crc32(token.encode("utf-8", "surrogatepass"))
        place = self._search(self.hashes, wanted)
        return place if place < self.count and self.hashes[place] == wanted else -1

    def expect_many(self) -> None:
        """Make searching faster, which takes a moment: it pays from two hundred searches on, more than a prompt has."""
        from bisect import bisect_left

        self._search = bisect_left

    def scale(self, row: int) -> float:
        """What a row is multiplied by; 0 where a damaged file has no sensible one."""
        scale: float = read_numbers(self._read(self._scales + 4 * row, 4), "f")[0]
        return scale if _is_sensible(scale) else 0.0

    def rows(self, rows: Iterable[int], size: int = DIMENSIONS) -> bytes:
        """Some rows behind each other, up to some dimension, as they are in the file: signed bytes."""
        return b"".join([_pread(self._descriptor, size, self._rows + row * DIMENSIONS) for row in rows])

    def check(self) -> None:
        """Look at all of the table; BadTable if tokens cannot be found in it."""
        hashes = list(self.hashes)
        if any(first >= second for first, second in zip(hashes, hashes[1:])):
            raise BadTable("the tokens are not in order")

    def close(self) -> None:
        os.close(self._descriptor)

    def _read(self, start: int, size: int) -> bytes:
        return _pread(self._descriptor, size, start)


def open(file: str) -> WordTable:
    """The table in a file; OSError or BadTable if there is none."""
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


def _search(hashes: Sequence[int], wanted: int) -> int:
    """The place of the first hash that is not less."""
    low, high = 0, len(hashes)
    while low < high:
        middle = (low + high) // 2
        if hashes[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def _is_sensible(scale: float) -> bool:
    return 0 < scale < _LARGEST_SCALE


def read_numbers(data: bytes, kind: str) -> Any:
    """Little-endian numbers as a sequence: of `array` kind I, H or f."""
    if sys.byteorder == "little":
        return memoryview(data).cast(kind)  # type: ignore[call-overload]
    from array import array

    numbers = array(kind, data)
    numbers.byteswap()
    return numbers

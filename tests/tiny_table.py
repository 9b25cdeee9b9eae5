"""Tables of word vectors made for tests: words of one meaning have nearly the same vector, others have not."""

from __future__ import annotations

import random
import string
import struct
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

DIMENSIONS = 128
STEP = 8
"""The values of a row are multiples of it."""


def write(path: Path, tokens: Mapping[str, tuple[float, list[int]]]) -> Path:
    """Write `tokens`, each with its scale and row, to a file of the documented format. Return its path."""
    ordered = sorted(tokens, key=lambda token: zlib.crc32(token.encode()))
    count = len(ordered)
    path.write_bytes(
        b"RCLVEC02"
        + struct.pack("<II", count, DIMENSIONS)
        + struct.pack(f"<{count}I", *(zlib.crc32(token.encode()) for token in ordered))
        + struct.pack(f"<{count}f", *(tokens[token][0] for token in ordered))
        + b"".join(_packed(tokens[token][1]) for token in ordered)
    )
    return path


def tokens(meanings: Iterable[str], seed: int = 1) -> dict[str, tuple[float, list[int]]]:
    """Return tokens for groups of words that mean the same, and single letters for all other words."""
    rng = random.Random(seed)
    table = {}
    for group in meanings:
        # As in a trained table the first dimensions vary most.
        base = [rng.gauss(0, 60 / (1 + dimension / 16)) for dimension in range(DIMENSIONS)]
        for word in group.split():
            table[word] = (rng.uniform(0.002, 0.01), _row(value + rng.gauss(0, 4) for value in base))
    for letter in string.ascii_lowercase + string.digits:
        for piece in (letter, "##" + letter):
            table.setdefault(piece, (0.0005, _row(rng.gauss(0, 40) for _ in range(DIMENSIONS))))
    return table


def _row(values: Iterable[float]) -> list[int]:
    return [STEP * max(-15, min(15, round(value / STEP))) for value in values]


def _packed(row: list[int]) -> bytes:
    steps = [value // STEP + 16 for value in row]
    half = DIMENSIONS // 2
    halves = [first // 2 + 16 * (second // 2) for first, second in zip(steps[:half], steps[half:])]
    return bytes(halves + [sum((steps[j + 16 * k] & 1) << k for k in range(8)) for j in range(16)])

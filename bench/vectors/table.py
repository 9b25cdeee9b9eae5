"""The file of the table of word vectors, written and read plainly; `onrecord.search` has the reader that hooks use."""

from __future__ import annotations

import re
import struct
import unicodedata
import zlib
from pathlib import Path
from typing import Any

import numpy

MAGIC, SHIPPED_MAGIC = b"RCLVEC01", b"RCLVEC02"
STEP, MOST_STEPS = 8, 15
"""What a step of five bits counts, so that a row is as long as one of whole bytes, and the largest value."""

DIMS = 128
MOST_IN_TEXT = 160
_WORD = re.compile(r"[a-z0-9]+|[^\x00-\x7f]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def words(text: str) -> list[str]:
    return _WORD.findall(folded(_HUMP.sub(" ", text).lower()))


def folded(text: str) -> str:
    """Return Latin letters without their accents: the table has no others."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def is_token(piece: str) -> bool:
    """True if a piece can be part of a word."""
    return bool(_WORD.fullmatch(piece))


def token_numbers(text: str, number: dict[str, int]) -> list[int]:
    """Return the numbers of the tokens of a text: whole words, or the longest pieces from the left."""
    out: list[int] = []
    for word in words(text)[:MOST_IN_TEXT]:
        out += _pieces(word, number)
    return out[:MOST_IN_TEXT]


def _pieces(word: str, number: dict[str, int]) -> list[int]:
    if word in number:
        return [number[word]]
    out: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        end = next((end for end in range(len(word), start, -1) if mark + word[start:end] in number), 0)
        if not end:
            return []
        out.append(number[mark + word[start:end]])
        start = end
    return out


def write(path: Path, tokens: list[str], vectors: Any) -> None:
    """Write the table: hashes in order, a scale and a row of bytes for each token."""
    hashes = numpy.array([zlib.crc32(token.encode()) for token in tokens], numpy.uint32)
    # Of two tokens with one hash the more frequent word stays: it comes first.
    _, first = numpy.unique(hashes, return_index=True)
    scales = numpy.abs(vectors).max(1)[first] / 127
    scales[scales == 0] = 1
    rows = numpy.round(vectors[first] / scales[:, None]).astype(numpy.int8)
    head = MAGIC + struct.pack("<II", len(first), vectors.shape[1])
    body = hashes[first].astype("<u4").tobytes() + scales.astype("<f4").tobytes() + rows.tobytes()
    path.write_bytes(head + body)


def read(path: Path) -> tuple[Any, Any]:
    """Return the hashes of a table that `write` wrote, and its vectors."""
    data = path.read_bytes()
    count, dims = struct.unpack_from("<II", data, len(MAGIC))
    at = len(MAGIC) + 8
    scales = numpy.frombuffer(data, "<f4", count, at + 4 * count)
    rows = numpy.frombuffer(data, numpy.int8, count * dims, at + 8 * count).reshape(count, dims)
    return numpy.frombuffer(data, "<u4", count, at), (rows * scales[:, None]).astype(numpy.float32)


def write_small(path: Path, hashes: Any, vectors: Any) -> None:
    """Write the table that ships: five bits a dimension, so that it holds half as many words again."""
    _, first = numpy.unique(hashes, return_index=True)
    chosen = vectors[first]
    largest = numpy.maximum(numpy.abs(chosen).max(1), 1e-9)
    best_scale, best_error = largest / MOST_STEPS, numpy.full(len(first), numpy.inf)
    # The largest value of a row is an outlier: cutting it makes the steps of all others smaller.
    for share in numpy.arange(0.5, 1.01, 0.05):
        scale = share * largest / MOST_STEPS
        error = ((_steps(chosen, scale) * scale[:, None] - chosen) ** 2).sum(1)
        better = error < best_error
        best_scale, best_error = numpy.where(better, scale, best_scale), numpy.where(better, error, best_error)
    steps = (_steps(chosen, best_scale) + MOST_STEPS + 1).astype(numpy.uint8)
    half, upper, lowest = DIMS // 2, steps >> 1, steps & 1
    planes = [lowest[:, 16 * plane : 16 * plane + 16] << plane for plane in range(8)]
    rows = numpy.concatenate([upper[:, :half] | upper[:, half:] << 4, sum(planes)], axis=1).astype(numpy.uint8)
    head = SHIPPED_MAGIC + struct.pack("<II", len(first), DIMS)
    scales = (best_scale / STEP).astype("<f4")
    path.write_bytes(head + hashes[first].astype("<u4").tobytes() + scales.tobytes() + rows.tobytes())


def _steps(vectors: Any, scale: Any) -> Any:
    return numpy.clip(numpy.round(vectors / scale[:, None]), -MOST_STEPS, MOST_STEPS)

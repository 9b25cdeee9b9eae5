"""The vectors that every prompt is compared with, in blocks of records that are stored column by column.

A record is compared by its gist, the mean of the vector of the whole record and that of its title with its triggers:
the product is then the mean of the two products. In a store of more than `_EXACT` blocks only the dimensions of the
heads are compared, which vary most.
"""

from __future__ import annotations

from onrecord.search import lanes
from onrecord.search.word_table import DIMENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onrecord.search.index import Index

BLOCK, HEAD = 512, 32
"""Records of a block, which has 64 KB and is written again when one of them changes; and dimensions of its head."""

PARTS = (("vector_head", 0, HEAD), ("vector_tail", HEAD, DIMENSIONS))
"""The two parts of a block: the table it is in, and its dimensions."""

_EXACT = 12
"""Blocks up to which all dimensions are compared: 6,144 records."""

_MOST_BLOCKS = 128
"""Blocks that are compared at all, those of the newest records: 65,536 of them."""


def compare(index: Index, values: list[int]) -> tuple[int, list[int]]:
    """The number of the first record compared, and the products with the gists from it on."""
    # With its usual 2 MB SQLite takes four times as long to read the blocks of 5,000 records.
    index._connection.execute("PRAGMA cache_size=-8000")
    heads = _read(index, 0)
    if index.totals()[0] and not heads:
        raise ValueError("the blocks of vectors are missing")
    tails = _read(index, 1) if len(heads) <= _EXACT else {}
    if tails and list(tails) != list(heads):
        raise ValueError("a block of vectors is missing")
    compared = values if tails else values[:HEAD]
    columns = _columns(list(heads.values()), list(tails.values()))
    return next(iter(heads), 0) * BLOCK, lanes.products(compared, columns, len(heads) * BLOCK)


def _read(index: Index, part: int) -> dict[int, bytes]:
    """One part of the newest blocks in order; ValueError if one is missing or damaged."""
    table, start, end = PARTS[part]
    query = f"SELECT block, gists FROM {table} ORDER BY block DESC LIMIT {_MOST_BLOCKS}"
    rows = index._connection.execute(query).fetchall()[::-1]
    first = rows[0][0] if len(rows) == _MOST_BLOCKS else 0
    for place, (block, gists) in enumerate(rows, first):
        if block != place or len(gists) != (end - start) * BLOCK:
            raise ValueError("a block of vectors is missing or damaged")
    return dict(rows)


def _columns(*parts: Sequence[bytes]) -> Iterator[bytes]:
    """The columns of some parts, each over all blocks."""
    for blocks in parts:
        for start in range(0, len(blocks[0]) if blocks else 0, BLOCK):
            yield b"".join([block[start : start + BLOCK] for block in blocks])

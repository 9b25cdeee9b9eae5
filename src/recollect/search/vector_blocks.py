"""The vectors that every prompt is compared with, in blocks of records that are stored column by column.

A record is compared by two vectors: of itself as a whole, and of its title with its triggers. Products are exact. In a
store of more than `_EXACT` blocks only the dimensions of the heads are compared, which vary most.
"""

from __future__ import annotations

from recollect.search import lanes
from recollect.search.word_table import DIMENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.search.index import Index

BLOCK, HEAD = 512, 32
"""Records of a block, which has 128 KB and is written again when one of them changes; and dimensions of its head."""

PARTS = (("vector_head", 0, HEAD), ("vector_tail", HEAD, DIMENSIONS))
"""The two parts of a block: the table it is in, and its dimensions."""

_EXACT = 12
"""Blocks up to which all dimensions are compared: 6,144 records."""

_MOST_BLOCKS = 128
"""Blocks that are compared at all, those of the newest records: 65,536 of them."""


def compare(index: Index, values: list[int]) -> tuple[int, list[int], list[int]]:
    """The number of the first record compared, and the products with whole records, and with titles and triggers."""
    # With its usual 2 MB SQLite takes four times as long to read the blocks of 5,000 records.
    index.connection.execute("PRAGMA cache_size=-8000")
    heads = _read(index, 0)
    if index.totals()[0] and not heads:
        raise ValueError("the blocks of vectors are missing")
    tails = _read(index, 1) if len(heads) <= _EXACT else []
    if tails and [row[0] for row in tails] != [row[0] for row in heads]:
        raise ValueError("a block of vectors is missing")
    first, count = heads[0][0] * BLOCK if heads else 0, len(heads) * BLOCK
    whole = _columns([row[1] for row in heads], [row[1] for row in tails])
    topic = _columns([row[2] for row in heads], [row[2] for row in tails])
    return first, lanes.products(values, whole, count), lanes.products(values, topic, count)


def _read(index: Index, part: int) -> list[tuple[int, bytes, bytes]]:
    """One part of the newest blocks in order; ValueError if one is missing or damaged."""
    table, start, end = PARTS[part]
    query = f"SELECT block, whole, topic FROM {table} ORDER BY block DESC LIMIT {_MOST_BLOCKS}"
    rows = index.connection.execute(query).fetchall()[::-1]
    first = rows[0][0] if len(rows) == _MOST_BLOCKS else 0
    size = (end - start) * BLOCK
    for place, (block, whole, topic) in enumerate(rows, first):
        if block != place or len(whole) != size or len(topic) != size:
            raise ValueError("a block of vectors is missing or damaged")
    return rows


def _columns(*parts: Sequence[bytes]) -> Iterator[bytes]:
    """The columns of some parts, each over all blocks."""
    for blocks in parts:
        for start in range(0, len(blocks[0]) if blocks else 0, BLOCK):
            yield b"".join([block[start : start + BLOCK] for block in blocks])

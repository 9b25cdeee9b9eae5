"""Progress of long work, on standard error, where somebody is watching it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

STEP = 500
"""How many items pass between two signs of life; shorter work shows none."""

Item = TypeVar("Item")


def watched(items: Iterable[Item], what: str) -> Iterator[Item]:
    """The items as they are, with a running count on a terminal."""
    stream = sys.stderr
    if not stream.isatty():
        yield from items
        return
    count = 0
    for count, item in enumerate(items, 1):
        if count % STEP == 0:
            stream.write(f"\r{what}: {count:,} …")
            stream.flush()
        yield item
    if count >= STEP:
        stream.write("\r\033[K")
        stream.flush()

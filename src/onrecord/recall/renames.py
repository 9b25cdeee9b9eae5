"""The records about a file that git shows under another path now.

Nearly always no file is lost, and then this costs one look at each file that a record names. Git is asked about lost
files only, once for each commit that is checked out: `freshness` remembers its verdicts.
"""

from __future__ import annotations

import os

from onrecord import coldstart
from onrecord.freshness.check import Freshness, IndexedAnchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from onrecord.search.index import Index

_MOST_PLACES = 1_000
"""Files looked at, which takes about 2 ms."""

_MOST_LOST = 100
"""Lost files that are checked; a store that has lost more is one that nobody keeps."""

_PATIENCE = 0.25
"""Seconds that git may take in all while a tool waits; what is left is asked at the next file."""

_PLACES = f"SELECT DISTINCT pattern FROM place WHERE name != '' LIMIT {_MOST_PLACES}"
_RECORDS = """
SELECT record.n, gravity, anchors FROM place JOIN record USING (n) WHERE pattern = ? AND anchors != ''
"""


def renamed_to(index: Index, project: str, path: str) -> list[tuple[int, int]]:
    """The number and gravity of the records about a file that was renamed to this path."""
    root = os.path.join(project, "")
    lost = [name for (name,) in index.connection.execute(_PLACES) if not os.path.lexists(root + name)]
    freshness = Freshness(project, _PATIENCE)
    ending = os.path.splitext(path)[1]
    # Git may not get through all of them: a renamed file mostly has the same ending.
    lost.sort(key=lambda name: not name.endswith(ending))
    return [
        (n, gravity)
        for name in lost[:_MOST_LOST]
        for n, gravity, anchors in index.connection.execute(_RECORDS, (name,)).fetchall()
        if any(freshness.check(anchor).now == path for anchor in _anchors(anchors, name))
    ]


def _anchors(anchors: str, path: str) -> Iterator[IndexedAnchor]:
    for parts in coldstart.loads(anchors):
        anchor = IndexedAnchor(*parts)
        if anchor.path == path:
            yield anchor

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

    from onrecord.search.index import Index, RecordFile

_MOST_LOST = 100
"""Lost files that are checked; a store that has lost more is one that nobody keeps."""

_PATIENCE = 0.25
"""Seconds that git may take in all while a tool waits; what is left is asked at the next file."""


def renamed_to(index: Index, project: str, path: str) -> list[RecordFile]:
    """Return the record files that were renamed to `path`."""
    root = os.path.join(project, "")
    lost = [name for name in index.file_paths() if not os.path.lexists(root + name)]
    freshness = Freshness(project, _PATIENCE)
    ending = os.path.splitext(path)[1]
    # Git may not get through all of them: a renamed file mostly has the same ending.
    lost.sort(key=lambda name: not name.endswith(ending))
    return [
        file
        for name in lost[:_MOST_LOST]
        for file, anchors in index.anchored_at(name)
        if any(freshness.check(anchor).now == path for anchor in _anchors(anchors, name))
    ]


def _anchors(anchors: str, path: str) -> Iterator[IndexedAnchor]:
    for parts in coldstart.loads(anchors):
        anchor = IndexedAnchor(*parts)
        if anchor.path == path:
            yield anchor

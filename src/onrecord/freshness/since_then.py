"""What changed in a file since a record about it was saved, line by line. No hook loads this."""

from __future__ import annotations

import difflib
import time

from onrecord.freshness import project_files
from onrecord.freshness.check import Verdict
from onrecord.git import repository

_PATIENCE = 2.0
_LARGEST = 400_000
"""Characters of either side; comparing larger files could take many seconds."""

_MOST_LINES = 200


def lines(root: str, verdict: Verdict) -> list[str]:
    """The changed lines with a few around them, as a unified diff; empty where git no longer has the old text."""
    around = repository.around(root)
    now = project_files.read(root, verdict.now)
    if around is None or now is None or not repository.is_commit(verdict.anchor.id):
        return []
    then = around.ask("cat-file", "blob", verdict.anchor.id, deadline=time.monotonic() + _PATIENCE)
    if not then.is_good or max(len(then.output), len(now)) > _LARGEST:
        return []
    old, new = (data.decode("utf-8", "replace").splitlines() for data in (then.output, now))
    changes = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    more = [f"… {len(changes) - _MOST_LINES} more lines"] if len(changes) > _MOST_LINES else []
    return [*changes[:_MOST_LINES], *more]

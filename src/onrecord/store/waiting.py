"""How many drafts wait in a store's inbox, in the line that the digest, `list`, `doctor` and a status line show.

A session's start asks it: names are counted, no draft is read.
"""

from __future__ import annotations

import os
from itertools import islice

from onrecord import files, paths
from onrecord.errors import UnsafePath

_MOST = 1_000
"""Files that are looked at: "1,000 drafts" says as much as any larger number."""


def count(store_root: str) -> int:
    """How many drafts wait in a store."""
    try:
        with os.scandir(files.inside(store_root, paths.INBOX)) as entries:
            return sum(entry.name.endswith(".json") and entry.name[0] != "." for entry in islice(entries, _MOST))
    except (OSError, UnsafePath):
        return 0


def line(store_root: str, command: str = "onrecord review") -> str:
    """What to tell somebody about the drafts of a store, and the command to review them; empty if none waits."""
    waiting = sentence(store_root)
    return f"{waiting}: {command}" if waiting else ""


def sentence(store_root: str) -> str:
    """How many drafts wait in a store, in words; empty if none does."""
    waiting = count(store_root)
    return f"{waiting:,} {'draft is' if waiting == 1 else 'drafts are'} waiting" if waiting else ""

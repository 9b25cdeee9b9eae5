"""Counts the drafts that wait in a store's inbox, for the digest, `list`, `doctor` and the status line.

This runs at the start of every session, so it only counts files and does not import the module `inbox`.
"""

from __future__ import annotations

import os
from itertools import islice

from onrecord import files, paths
from onrecord.errors import UnsafePath

_MAX_FILES = 1_000
"""Counting stops here: to a user, "1,000 drafts" says as much as any larger number."""


def names(store_root: str) -> list[str]:
    """Return the names of the drafts in a store, in order, up to a limit. Raises Unwritable."""
    try:
        with os.scandir(files.inside(store_root, paths.INBOX)) as entries:
            first = [entry.name for entry in islice(entries, _MAX_FILES)]
    except UnsafePath:
        return []
    except OSError as error:
        if files.is_absent(error):
            return []
        raise files.unreadable(os.path.join(store_root, paths.INBOX), error) from error
    return sorted(name[:-5] for name in first if name.endswith(".json") and name[0] != ".")


def count(store_root: str) -> int:
    """Return the number of drafts in a store. Raises Unwritable if they cannot be listed."""
    return len(names(store_root))


def line(store_root: str, command: str = "onrecord review") -> str:
    """Return the number of drafts in words, with the `command` to review them; empty if there are none."""
    text = sentence(store_root)
    return f"{text}: {command}" if text else ""


def sentence(store_root: str) -> str:
    """Return the number of drafts in words; empty if there are none."""
    number = count(store_root)
    return f"{number:,} {'draft is' if number == 1 else 'drafts are'} waiting" if number else ""

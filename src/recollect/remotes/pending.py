"""What waits in a replica: changes that the remote does not have yet, and conflicts that somebody must settle."""

from __future__ import annotations

from recollect import files, paths
from recollect.errors import UnsafePath
from recollect.record import memory
from recollect.remotes.replica import Replica
from recollect.store import record_files

CONFLICT = "conflict-"
"""How the name of a draft begins that holds one side of a conflict."""


def changes(replica: Replica) -> list[str]:
    """The paths in the store that differ from what the remote has: the next sync pushes them."""
    ours, theirs = set(_files(replica.store)), set(_files(replica.base))
    changed = [path for path in ours & theirs if _read(replica.store, path) != _read(replica.base, path)]
    return sorted([*(ours ^ theirs), *changed])


def conflicts(replica: Replica) -> list[str]:
    """The names of the drafts that hold the other side of a conflict."""
    names = record_files.names_in(replica.store, paths.INBOX)
    return [name[: -len(".json")] for name in names if name.startswith(CONFLICT)]


def _files(root: str) -> list[str]:
    """The relative paths of records and drafts."""
    drafts = (f"{paths.INBOX}/{name}" for name in record_files.names_in(root, paths.INBOX))
    return [*record_files.every(root), *drafts]


def _read(root: str, path: str) -> bytes | None:
    try:
        return files.read_inside(root, path, memory.LARGEST_FILE + 1)
    except (OSError, UnsafePath):
        return None

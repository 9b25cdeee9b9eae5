"""Keeping the index in step with the files: what was added, removed or edited since the last time.

A store of thousands is not checked file by file before every prompt. A hook checks the folders' times, which
show added and removed files, and a slice of the files; a record about to be shown is always checked.
"""

from __future__ import annotations

import os
import time

from onrecord import coldstart
from onrecord.search.index import FOLDERS, Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onrecord.search.index import Watch

HOOK_SECONDS = 1.5
"""How long a hook may index; what is left is for the next one."""

SLICE, LARGER_SLICE = 64, 512
"""Files that a hook checks when no folder has changed, and when one has: then others were probably edited too."""

_MOST_CHECKED = 50_000
"""Files that a command checks: all in any store but a huge one, where checking them would take seconds."""

_LARGE = 8_000
"""Bytes of a file that is larger than nearly all records."""

_YOUNG = 2_000_000_000
"""Nanoseconds: a folder changed this recently may change again within the same tick of its clock."""


def refresh(index: Index, *, hook: bool, watch: Watch = iter) -> bool:
    """Bring the index in step; whether anything changed. A hook leaves it as it is while another process writes."""
    before = _folder_times(index)
    now = {folder: _folder_time(index.root, folder) for folder in FOLDERS}
    moved = [folder for folder in FOLDERS if now[folder] != before.get(folder)]
    edited = _edited(index, (LARGER_SLICE if moved else SLICE) if hook else _MOST_CHECKED)
    if not moved and not edited:
        return False
    try:
        index._connection.execute("BEGIN IMMEDIATE")
    except coldstart.SqliteError:
        if hook and before:
            return False
        raise
    with index._connection:
        changed = [*edited, *(path for folder in moved for path in _added_and_removed(index, folder))]
        deadline = time.monotonic() + HOOK_SECONDS if hook else None
        _apply(index, watch(dict.fromkeys(changed)), {folder: now[folder] for folder in moved}, deadline)
    return True


def is_complete(index: Index) -> bool:
    """Whether every file there is was indexed: a hook that ran out of time has left some for the next one."""
    indexed = _folder_times(index)
    return all(indexed.get(folder, 0) in (-1, _folder_time(index.root, folder)) for folder in FOLDERS)


def is_unchanged(index: Index, path: str) -> bool:
    """Whether a file is as it was indexed."""
    indexed = index._connection.execute("SELECT mtime, size FROM record WHERE path = ?", (path,)).fetchone()
    return indexed is not None and stamp(index.root, path) == indexed


def changed_since(index: Index, record_paths: Sequence[str]) -> list[str]:
    """Return those of these paths whose file is not as it was indexed; paths that are not indexed are left out."""
    query = f"SELECT path, mtime, size FROM record WHERE path IN ({','.join('?' * len(record_paths))})"
    rows = index._connection.execute(query, record_paths).fetchall()
    return [path for path, mtime, size in rows if stamp(index.root, path) != (mtime, size)]


def reread(index: Index, names: Iterable[str]) -> None:
    """Index some records again, whatever the index has of them."""
    from onrecord.search import indexing

    index._connection.execute("BEGIN IMMEDIATE")
    with index._connection:
        indexing.replace(index, names, None)


def stamp(root: str, path: str) -> tuple[int, int] | None:
    """What tells one version of a file from another without reading it; None if there is no file."""
    try:
        # Joined by hand: this is done for every record of a store, and `os.path.join` takes as long as the rest.
        status = os.stat(root + os.sep + path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def _folder_times(index: Index) -> dict[str, int]:
    return dict(index._connection.execute("SELECT name, mtime FROM folder").fetchall())


def _folder_time(root: str, folder: str) -> int:
    try:
        return os.stat(os.path.join(root, folder)).st_mtime_ns
    except OSError:
        return 0


def _edited(index: Index, most: int) -> list[str]:
    """Records whose file is not the one that was indexed, among a slice that moves with the clock."""
    execute = index._connection.execute
    last = execute("SELECT max(n) FROM record").fetchone()[0] or 0
    start = time.time_ns() // 1_000_000 % last if last > most else 0
    rows = execute("SELECT path, mtime, size FROM record WHERE n >= ? LIMIT ?", (start, most))
    return [path for path, mtime, size in rows.fetchall() if stamp(index.root, path) != (mtime, size)]


def _apply(index: Index, changed: Iterable[str], folders: dict[str, int], deadline: float | None) -> None:
    from onrecord.search import indexing

    if indexing.replace(index, changed, deadline):
        settled = time.time_ns() - _YOUNG
        index._connection.executemany(
            "INSERT OR REPLACE INTO folder VALUES (?, ?)",
            [(folder, mtime if mtime < settled else -1) for folder, mtime in folders.items()],
        )


def _added_and_removed(index: Index, folder: str) -> list[str]:
    from onrecord.store import record_files

    # The names of records are ASCII; another could have bytes that are no text, which SQLite refuses.
    there = {f"{folder}/{name}" for name in record_files.names_in(index.root, folder) if name.isascii()}
    rows = index._connection.execute(
        "SELECT path FROM record WHERE path > ? AND path < ?", (folder + "/", folder + "0")
    ).fetchall()
    changed = there.symmetric_difference(path for (path,) in rows)
    # In order, so that equal stores have equal indexes: ties in a search are settled by the number of a record. Large
    # ones last: one that takes all of a hook's time must not keep the others out.
    return sorted(changed, key=lambda path: ((stamp(index.root, path) or (0, 0))[1] > _LARGE, path))

"""Bringing an index in step with the files of its store: within the limits of a hook, or completely.

A store of thousands is not checked file by file before every prompt. A hook checks the folders' times, which show added
and removed files, and a slice of the files. What it has no time for is left to the next one, and to `search.builder`.
"""

from __future__ import annotations

import time

from onrecord import coldstart
from onrecord.search import command_filter, indexing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from onrecord.search.index import Index

    MayGoOn = Callable[[int], bool]

HOOK_SECONDS = 1.5
"""Time that a hook may spend on indexing; what is left is for the next one."""

SLICE, LARGER_SLICE = 64, 512
"""Files that a hook checks when no folder has changed, and when one has: then others were probably edited too."""

_MAX_CHECKED_FILES = 50_000
"""Files that a command checks: all in any store but a huge one, where checking them would take seconds."""

BATCH = 500
"""Records that are committed at once, after some 0.4 s: hooks read them from then on."""

_CACHE_KILOBYTES = 65_536
"""Memory for pages of the index while many records are put into it."""

_MAX_IN_ORDER = 100
"""Changed files that a hook indexes in the order of their names: it has time for all of them."""

_MAX_LOOKS = 800
"""Files that a hook looks at to find the most urgent ones, in some 0.02 s."""

_MAX_STORE = 1_000_000
"""Files that are brought into the order of their urgency; no store has more."""

_YOUNG_NANOSECONDS = 2_000_000_000
"""Nanoseconds: a folder changed this recently may change again within the same tick of its clock."""

HOOK_CPU_SECONDS = 0.12
"""Seconds of computing that a hook may spend reading records: some 100. Writing them takes half as long again, and a
whole hook must stay below 60 bare interpreters, on machines where one takes 8 ms, too."""

_MAX_FILTERED_BY_HOOK = 600
"""Records from which a hook makes a missing filter, in some 0.1 s."""

_FILTER_CHUNK = 500
"""Records whose keys are gathered before their bits are set: those of a large store would take a gigabyte."""

unfinished: dict[str, int] = {}
"""The stores whose index a hook in this process could not complete, each with the number of its records."""


def refresh(index: Index, *, hook: bool) -> bool:
    """Bring the index in step, within a hook's limits or completely; True if anything changed."""
    if hook:
        return _refresh_some(index)
    if index.in_memory or not _moved(index, command_filter.folder_times(index.root)):
        return complete(index)
    from onrecord.search import build_lock

    with build_lock.held(index.file):
        return complete(index)


def _refresh_some(index: Index) -> bool:
    """Index as much as a hook has time for; nothing while another process writes, or completes the index."""
    now = command_filter.folder_times(index.root)
    moved = _moved(index, now)
    if moved and _is_being_built(index):
        return False
    edited = _edited(index, LARGER_SLICE if moved else SLICE)
    if not moved and not edited:
        _confirm_filter(index, hook=True)
        return False
    try:
        index._connection.execute("BEGIN IMMEDIATE")
    except coldstart.SqliteError:
        if indexing.folder_times(index) or _count(index):
            return False
        raise
    with index._connection:
        paths_by_folder = _added_and_removed(index, moved, is_strict=False)
        changed = _changed(paths_by_folder, edited)
        most_cpu = time.process_time() + HOOK_CPU_SECONDS
        if not index.in_memory:
            # Noted first: the hook's time may be up at any moment.
            unfinished[index.root] = len(changed)
        ordered = _in_order(index.root, changed, is_urgent=len(changed) > _MAX_IN_ORDER, max_looks=_MAX_LOOKS)
        left = indexing.replace(index, ordered, time.monotonic() + HOOK_SECONDS, most_cpu)
        if not left:
            _note_folders(index, {folder: now[folder] for folder in paths_by_folder})
    index.records = _count(index) + left
    if left and not index.in_memory:
        unfinished[index.root] = index.records
        return True
    unfinished.pop(index.root, None)
    _confirm_filter(index, hook=True)
    return True


def complete(index: Index, *, may_go_on: MayGoOn = lambda records: True, is_urgent: bool = False) -> bool:
    """Index all that has changed, in batches; True if anything has.

    A command counts on its terminal. `may_go_on` is asked after each batch. `is_urgent` puts the most urgent first, and
    leaves out what the disk does not give; otherwise that raises Unwritable.
    """
    from onrecord import budget

    now = command_filter.folder_times(index.root)
    moved = _moved(index, now)
    edited = _edited(index, _MAX_CHECKED_FILES)
    if not moved and not edited:
        _confirm_filter(index, hook=False)
        return False
    paths_by_folder = _added_and_removed(index, moved, is_strict=not is_urgent)
    changed = _in_order(index.root, _changed(paths_by_folder, edited), is_urgent=is_urgent, max_looks=_MAX_STORE)
    if len(changed) > BATCH and not index.in_memory:
        index._connection.execute(f"PRAGMA cache_size={-_CACHE_KILOBYTES}")
        # What was written is in the file after each batch: hooks read it meanwhile, and must not be locked out.
        index._connection.execute("PRAGMA cache_spill=OFF")
        # The filter is too small for so many; the right one is made at the end.
        command_filter.discard(index.root)
    batch: list[str] = []
    for path in budget.counted(changed, "indexing records"):
        batch.append(path)
        if len(batch) >= BATCH:
            _index_batch(index, batch, is_strict=not is_urgent)
            if not may_go_on(len(batch)):
                return True
            batch.clear()
    _finish(index, batch, {folder: now[folder] for folder in paths_by_folder}, is_strict=not is_urgent)
    return True


def _index_batch(index: Index, record_paths: Iterable[str], *, is_strict: bool) -> None:
    index._connection.execute("BEGIN IMMEDIATE")
    with index._connection:
        indexing.replace(index, record_paths, is_part=True, is_strict=is_strict)


def _finish(index: Index, record_paths: Sequence[str], folders: dict[str, int], *, is_strict: bool) -> None:
    """Index the last batch, and note that the index is complete, together with its filter."""
    index._connection.execute("BEGIN IMMEDIATE")
    with index._connection:
        indexing.replace(index, record_paths, is_strict=is_strict)
        _note_folders(index, folders)
        if index.in_memory:
            return
        if command_filter.exists(index.root):
            _write_times(index)
        else:
            _make_filter(index)


def _is_being_built(index: Index) -> bool:
    """True while another process completes the index; it would have to wait for this one, and this one for it."""
    if index.in_memory:
        return False
    from onrecord.search import build_lock

    state = build_lock.state(build_lock.file_of(index.file))
    index.records = state.records
    return state.is_running


def _moved(index: Index, times: dict[str, int]) -> list[str]:
    """Return the folders with added or removed files."""
    before = indexing.folder_times(index)
    return [folder for folder in indexing.FOLDERS if times[folder] != before.get(folder)]


def _changed(folder_changes: Mapping[str, Sequence[str]], edited: Iterable[str]) -> list[str]:
    """Return the paths of the edited files, and of those that were added to or removed from a folder."""
    return list(dict.fromkeys([*edited, *(path for added in folder_changes.values() for path in added)]))


def _in_order(root: str, record_paths: Sequence[str], *, is_urgent: bool, max_looks: int) -> list[str]:
    """Return the paths in their order, or the most urgent ones first. Large ones come last: one that takes all of a
    hook's time must not keep the others out.
    """
    if not is_urgent:
        return sorted(record_paths, key=lambda path: (indexing.stamp(root, path) or (0, 0))[1] > indexing.LARGE_BYTES)
    from onrecord.search import urgency

    return urgency.order(root, record_paths, max_looks)


def _confirm_filter(index: Index, *, hook: bool) -> None:
    """Bring the filter of commands in step with the index; make a missing one, unless another process writes."""
    if index.in_memory:
        return None
    if command_filter.exists(index.root):
        return _write_times(index)
    # A hook has no time for a large store: the builder or a command makes its filter.
    if hook and _count(index) > _MAX_FILTERED_BY_HOOK:
        return None
    try:
        index._connection.execute("BEGIN IMMEDIATE")
    except coldstart.SqliteError:
        return None
    with index._connection:
        return _make_filter(index)


def _make_filter(index: Index) -> None:
    """Make the filter from what is indexed. The caller holds the index's lock."""
    try:
        command_filter.make(index.root, _all_keys(index), _count(index))
        _write_times(index)
    except OSError:
        # Without a filter the index is opened for every command.
        command_filter.discard(index.root)


def _write_times(index: Index) -> None:
    """Write into the filter which states of the folders it covers."""
    try:
        command_filter.confirm(index.root, indexing.folder_times(index))
    except OSError:
        command_filter.discard(index.root)


def _all_keys(index: Index) -> Iterator[set[str]]:
    """Yield the keys of all records for the filter, those of some hundred records at once."""
    execute = index._connection.execute
    last = execute("SELECT max(n) FROM record").fetchone()[0] or 0
    for start in range(0, last + 1, _FILTER_CHUNK):
        within = f"n >= {start} AND n < {start + _FILTER_CHUNK}"
        files: dict[int, list[tuple[str, int]]] = {}
        for pattern, gravity, n in execute(f"SELECT pattern, gravity, n FROM record_file WHERE {within}"):
            files.setdefault(n, []).append((pattern, gravity))
        rows = execute(
            f"SELECT n, title_terms, trigger_terms, body_terms FROM record WHERE status = 'active' AND {within}"
        )
        keys: set[str] = set()
        for n, title, triggers, body in rows:
            keys |= command_filter.record_keys(title, triggers, body, files.get(n, ()))
        yield keys
    yield command_filter.check_keys(word for (word,) in execute("SELECT DISTINCT word FROM record_check"))


def progress(index: Index) -> tuple[int, int]:
    """Return how many files of the store are indexed, and how many there are; the two are equal if all are."""
    indexed = _count(index)
    if indexing.is_complete(index):
        return indexed, indexed
    if not index.records:
        names = (_record_names(index.root, folder, is_strict=False) for folder in indexing.FOLDERS)
        index.records = sum(len(each or ()) for each in names)
    return indexed, max(index.records, indexed + 1)


def _count(index: Index) -> int:
    count: int = index._connection.execute("SELECT count(*) FROM record").fetchone()[0]
    return count


def _edited(index: Index, limit: int) -> list[str]:
    """Return the records whose file is not the indexed one, in a slice that moves with the clock."""
    execute = index._connection.execute
    last = execute("SELECT max(n) FROM record").fetchone()[0] or 0
    start = time.time_ns() // 1_000_000 % last if last > limit else 0
    rows = execute("SELECT path, mtime, size FROM record WHERE n >= ? LIMIT ?", (start, limit))
    return [path for path, mtime, size in rows.fetchall() if indexing.stamp(index.root, path) != (mtime, size)]


def _note_folders(index: Index, folders: dict[str, int]) -> None:
    """Note that all that was in these folders at these times is indexed."""
    settled = time.time_ns() - _YOUNG_NANOSECONDS
    index._connection.executemany(
        "INSERT OR REPLACE INTO folder VALUES (?, ?)",
        [(folder, mtime if mtime < settled else -1) for folder, mtime in folders.items()],
    )


def _added_and_removed(index: Index, moved: Iterable[str], *, is_strict: bool) -> dict[str, list[str]]:
    """Return the paths that are new or gone, by folder, without folders that cannot be listed: what is indexed of them
    stays, and a command will say what is wrong. With `is_strict` such a folder raises Unwritable.
    """
    paths_by_folder: dict[str, list[str]] = {}
    for folder in moved:
        names = _record_names(index.root, folder, is_strict=is_strict)
        if names is None:
            continue
        # The names of records are ASCII; another could have bytes that are no text, which SQLite refuses.
        there = {f"{folder}/{name}" for name in names if name.isascii()}
        rows = index._connection.execute(
            "SELECT path FROM record WHERE path > ? AND path < ?", (folder + "/", folder + "0")
        ).fetchall()
        # In order, so that equal stores have equal indexes: ties in a search are settled by the number of a record.
        paths_by_folder[folder] = sorted(there.symmetric_difference(path for (path,) in rows))
    return paths_by_folder


def _record_names(root: str, folder: str, *, is_strict: bool) -> list[str] | None:
    """Return the names of the record files in a folder; None if it cannot be listed, or raise with `is_strict`."""
    from onrecord.errors import Unwritable
    from onrecord.store import record_names

    try:
        return record_names.in_folder(root, folder)
    except Unwritable:
        if is_strict:
            raise
        return None

"""The builder: a process that completes the index of a store for which a hook had no time.

A hook starts it after its reply, at most one for an index, and does not wait. The builder has a lock, limits and a low
priority, prints nothing, opens no network connection, and ends by itself: when the index is complete, when its time is
up, when the store or the index is gone, or when a command takes over.
"""

from __future__ import annotations

import os
import time

from onrecord import detached, files, paths
from onrecord.search import build_lock, index, indexing, refresh
from onrecord.search.build_lock import BuilderState

OFF_VARIABLE = "ONRECORD_NO_BACKGROUND"
"""The environment variable that keeps hooks from starting a builder."""

SETTING = "retrieval.background_index"

MAX_SECONDS = 300
"""Time limit on the clock, and of computing: five times as long as a store of 50,000 records takes."""

MAX_RECORDS = 250_000
"""Records that one builder indexes."""

_MAX_PASSES = 3
"""Passes over a store that is changed while it is read."""

_MAX_STARTS, _PAUSE_SECONDS = 3, 3_600
"""Builders that may end early, one after the other, before none is started for an hour."""

_NICENESS = 5
"""Low, but not the lowest: on a busy machine a session would wait for its records for minutes."""

_TASK = "complete an index"
_PROGRAM = "from onrecord.search import builder; builder.run(sys.argv[1])"


def start_unfinished() -> int:
    """Start a builder for each index that was left unfinished in this process; return how many were started."""
    unfinished = dict(refresh.unfinished)
    refresh.unfinished.clear()
    if os.environ.get(OFF_VARIABLE):
        return 0
    return sum(start(root, records) for root, records in unfinished.items())


def start(store_root: str, records: int) -> bool:
    """Start the builder of a store's index, unless one runs, too many died, or the user has turned it off."""
    from onrecord.settings import load_settings

    if not load_settings(store_root).flag(SETTING):
        return False
    handle = files.open_regular(_lock_file(store_root), os.O_RDWR | os.O_CREAT)
    try:
        if not files.lock(handle, 0):
            return False
        before, now = build_lock.read(handle), int(time.time())
        if before.starts >= _MAX_STARTS and 0 <= now - before.moment < _PAUSE_SECONDS:
            return False
        build_lock.write(handle, BuilderState(store_root, records, before.starts % _MAX_STARTS + 1, now))
        command = detached.python_command(_PROGRAM, store_root)
        detached.start(command, paths.cache_dir(), handle)
    finally:
        # The builder has inherited the lock, so no second one can start in between.
        os.close(handle)
    return True


def _lock_file(store_root: str) -> str:
    return build_lock.file_of(index.file_of(store_root))


class _Limits:
    """The limits of a builder: it goes on as long as nothing speaks against it."""

    def __init__(self, store_root: str, handle: int) -> None:
        self._root = store_root
        self._handle = handle
        self._deadline = time.monotonic() + MAX_SECONDS
        self._index_file = os.stat(index.file_of(store_root))
        self._records = 0

    def has_time(self) -> bool:
        """True if neither time nor records have reached the limit."""
        return time.monotonic() < self._deadline and self._records < MAX_RECORDS

    def is_wanted(self) -> bool:
        """True if the store is there, and the index and its lock are still those that the builder began with."""
        try:
            is_ours = _is_same(self._index_file, index.file_of(self._root))
        except OSError:
            return False
        return is_ours and _has_lock(self._handle, self._root) and os.path.isdir(self._root)

    def may_go_on(self, records: int) -> bool:
        """True if another batch may be indexed after one of so many records."""
        self._records += records
        return self.has_time() and self.is_wanted()


def _is_same(file_status: os.stat_result, path: str) -> bool:
    return os.path.samestat(file_status, os.stat(path))


def _has_lock(handle: int, store_root: str) -> bool:
    """True if an open file is still the lock file: a command that takes over, or cleans up, removes it."""
    try:
        return _is_same(os.fstat(handle), _lock_file(store_root))
    except OSError:
        return False


def run(store_root: str) -> None:
    """Index all records of a store: what the process does. Raises nothing; failures go to the log."""
    try:
        _limit()
        handle = _lock(store_root)
        if handle >= 0:
            _complete(store_root, handle)
    except BaseException as error:
        # Without its store, or without the folder of its index, it has failed at nothing that anybody wants.
        if os.path.isdir(store_root) and os.path.exists(index.file_of(store_root)):
            _log(store_root, f"{type(error).__name__}: {error}")
    # Nothing is left to be flushed, and a large heap takes long to be freed.
    os._exit(0)


def _limit() -> None:
    """Run with a low priority; let the system end the process if one record should take for ever."""
    try:
        import resource
    except ImportError:
        return
    os.nice(_NICENESS)
    _, hardest = resource.getrlimit(resource.RLIMIT_CPU)
    limit = MAX_SECONDS if hardest == resource.RLIM_INFINITY else min(MAX_SECONDS, hardest)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hardest))


def _lock(store_root: str) -> int:
    """Return the open lock file, which the hook has locked, or where it cannot, this process; -1 if another has it."""
    if detached.CAN_INHERIT_LOCK:
        return detached.LOCK_HANDLE if _has_lock(detached.LOCK_HANDLE, store_root) else -1
    handle = files.open_regular(_lock_file(store_root), os.O_RDWR | os.O_CREAT)
    return handle if files.lock(handle, 1.0) else -1


def _complete(store_root: str, handle: int) -> None:
    search_index = index.open_file(store_root)
    limits = _Limits(store_root, handle)
    for _ in range(_MAX_PASSES):
        refresh.complete(search_index, may_go_on=limits.may_go_on, is_urgent=True)
        if indexing.is_complete(search_index) or not limits.may_go_on(0):
            break
    if indexing.is_complete(search_index) or not limits.is_wanted():
        build_lock.write(handle, None)
    elif not limits.has_time():
        indexed, records = refresh.progress(search_index)
        _log(store_root, f"stopped at its limit, after {indexed:,} of {records:,} records")
    search_index.close()


def _log(store_root: str, reason: str) -> None:
    from onrecord import state_file

    state_file.log_failure(f"{_TASK}, {store_root}", reason)

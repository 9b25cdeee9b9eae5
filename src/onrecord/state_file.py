"""Small files outside the repository that concurrent hooks share (ledgers, counts, logs), and the log of failures.

Losing one loses no record. All are private to the user (0600 in a folder of 0700), read up to a limit, appended to in
one write under a lock with a time limit, cut when they grow too large, and replaced atomically. Errors are not raised
but written to the failure log, which is such a file itself.
"""

from __future__ import annotations

import os
import stat
import time

from onrecord import files, paths
from onrecord.text import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

_LOCK_SECONDS = 0.25
"""Seconds to wait for the lock, which a process keeps for a millisecond. After that, write without it: at worst, a line
is lost."""

_MAX_REOPENS = 5
LIFETIMES = {
    "sessions": 30,
    "usage/sessions": 30,
    "usage": 365,
    "events": 100,
    "suggestions": 180,
    "languages": 180,
    "holdout": 3_650,
    "history": 365,
    "imports": 3_650,
    "judge": 30,
    "listings": 1,
    "forms": 30,
    "theme": 365,
    "failures.log": 90,
}
"""Days after its last change until a file is deleted; docs/what-is-stored.md describes each file."""

INDEX_DAYS = 30
"""Days after its last use until a file of an index is deleted: of a store that is gone, or of another version."""

_INDEX_SUFFIXES = ("sqlite", "words", "building")
_HASH_CHARS = 32

PRUNED = "pruned"
"""The file whose modification time is that of the last `prune`."""

_DAY = 86_400
_MAX_FILES = 10_000
"""Files of one folder that `prune` checks: a hook has no time for more."""

MAX_LOG_BYTES = 200_000
"""Bytes of the failure log above which the older half is dropped; a few hundred failures are left."""

_lacking: dict[str, None] = {}
"""What the disk did not give to this process, which went on without it, in words."""

_MAX_CHARACTERS = 600
"""Characters of a task and of an error in the log, so that one failure does not crowd out the others."""

_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND


def newer_half(data: bytes) -> bytes:
    """Return the lines in the second half of `data`, which a file keeps when it is too large."""
    return data[data.find(b"\n", len(data) // 2) + 1 :]


def state_path(name: str) -> str:
    """Return the path of `name` in the state folder."""
    return os.path.join(paths.state_dir(), *name.split("/"))


class StateFile:
    """One state file. Inside a `with` it stays locked from the first read to the last write."""

    __slots__ = ("_handle", "_max_bytes", "_owner", "_shrink", "path")

    def __init__(
        self, path: str, max_bytes: int, owner: str, shrink: Callable[[bytes], bytes] | None = newer_half
    ) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._owner = owner
        """The feature that uses the file, for the failure log; empty for the failure log itself."""
        self._shrink = shrink
        self._handle = -1

    def __enter__(self) -> StateFile:
        try:
            self._handle = self._open_locked()
        except OSError as error:
            self._report("cannot open", error)
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def read(self, *, is_strict: bool = False) -> bytes:
        """Return the content, up to twice the size limit; nothing if there is no file.

        Raises Unwritable with `is_strict` if the disk does not give it.
        """
        try:
            return files.read(self.path, 2 * self._max_bytes)
        except FileNotFoundError:
            return b""
        except OSError as error:
            if is_strict and files.is_fault(error):
                raise files.unreadable(self.path, error) from error
            self._report("cannot read", error)
            return b""

    def lines(self, *, is_strict: bool = False) -> list[str]:
        """Return the complete lines; a last line that was only partly written is left out. Raises as `read` does."""
        return self.read(is_strict=is_strict).decode("utf-8", "replace").split("\n")[:-1]

    def append(self, text: str) -> int:
        """Append `text` in one write. Return the size of the file after it, or -1 on failure."""
        if self._handle < 0:
            with self:
                return self._append(text) if self._handle >= 0 else -1
        return self._append(text)

    def replace(self, data: bytes) -> bool:
        """Replace the content, without waiting for the disk. Return False on failure."""
        temporary = f"{self.path}.{os.getpid()}.tmp"
        try:
            if files.IS_WINDOWS and self._handle >= 0:
                return self._overwrite(data)
            _make_folder(self.path)
            handle = files.open_regular(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with open(handle, "wb") as file:
                file.write(data)
            files.replace(temporary, self.path)
            if self._handle >= 0:
                # The lock was on the old file; processes that waited for it now compete for the new one.
                self.__exit__(None, None, None)
                self._handle = self._open_locked()
        except OSError as error:
            self._report("cannot write", error)
            return False
        return True

    def _overwrite(self, data: bytes) -> bool:
        """Overwrite the content in place: Windows cannot replace a file that is open."""
        os.ftruncate(self._handle, 0)
        return os.write(self._handle, data) == len(data)

    def _append(self, text: str) -> int:
        try:
            os.write(self._handle, text.encode("utf-8", "backslashreplace"))
            size = os.fstat(self._handle).st_size
        except OSError as error:
            self._report("cannot write", error)
            return -1
        if size > self._max_bytes and self._shrink:
            self._shorten(self._shrink)
        return size

    def _shorten(self, shrink: Callable[[bytes], bytes]) -> None:
        """Leave out what is old; where the file cannot be read, nothing of it is lost."""
        try:
            data = files.read(self.path, 2 * self._max_bytes)
        except OSError as error:
            self._report("cannot read", error)
        else:
            self.replace(shrink(data))

    def _open_locked(self) -> int:
        """Open and lock the file; open it again if another process replaced it meanwhile."""
        handle = _open(self.path)
        # Limited, because on a file system with unstable inodes the two would never be the same.
        for _ in range(_MAX_REOPENS):
            try:
                files.lock(handle, _LOCK_SECONDS)
                if _is_same(handle, self.path):
                    return handle
            except OSError:
                # The file system has no locks: writing without one is better than not writing.
                return handle
            os.close(handle)
            handle = _open(self.path)
        return handle

    def _report(self, problem: str, error: OSError) -> None:
        if self._owner:
            log_failure(self._owner, f"{problem} {self.path}: {error}")


def prune() -> None:
    """Delete files past their lifetime, and make all others private. Hooks call it once a day."""
    state = paths.state_dir()
    if not os.path.isdir(state):
        return
    # Written first, so that concurrent hooks do not prune as well.
    StateFile(os.path.join(state, PRUNED), 100, "prune").replace(b"")
    for name, days in LIFETIMES.items():
        path = state_path(name)
        for file in _files_in(path) if os.path.isdir(path) else [path]:
            _delete_if_older(file, time.time() - days * _DAY)
    for file in _files_in(paths.cache_dir()):
        if _is_of_index(os.path.basename(file)):
            _delete_if_older(file, time.time() - INDEX_DAYS * _DAY)
    for folder in (state, paths.cache_dir()):
        for path in (folder, *_files_in(folder)):
            _make_private(path)


def _is_of_index(name: str) -> bool:
    """True if we gave a file of an index this name: the folder may have others."""
    head, _, rest = name.partition(".")
    is_hash = len(head) == _HASH_CHARS and not head.strip("0123456789abcdef")
    return is_hash and rest.endswith(_INDEX_SUFFIXES)


def is_pruned() -> bool:
    """True if `prune` ran within a day."""
    try:
        return 0 <= time.time() - os.stat(os.path.join(paths.state_dir(), PRUNED)).st_mtime < _DAY
    except OSError:
        return False


def _files_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            first = [entry for _, entry in zip(range(_MAX_FILES), entries)]
            return [entry.path for entry in first if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []


def _delete_if_older(path: str, moment: float) -> None:
    try:
        if os.lstat(path).st_mtime < moment:
            os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        log_failure("prune", f"cannot delete {path}: {error}")


def _make_private(path: str) -> None:
    try:
        mode = os.lstat(path).st_mode
        if mode & 0o077 and not stat.S_ISLNK(mode):
            os.chmod(path, mode & 0o700)
    except OSError:
        pass


def _open(path: str) -> int:
    try:
        return files.open_regular(path, _APPEND)
    except FileNotFoundError:
        _make_folder(path)
        return files.open_regular(path, _APPEND)


def _make_folder(path: str) -> None:
    files.make_folder(os.path.dirname(path), is_private=True)


def _is_same(handle: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def log_file() -> str:
    return state_path("failures.log")


def log_failure(task: str, error: str) -> None:
    """Write one failure to the log. Raises nothing, because the caller is failing already."""
    try:
        from onrecord import timestamps

        _log().append("\t".join((timestamps.now(), _flat(task), _flat(error))) + "\n")
    except Exception:
        # Whatever is wrong with the log, the failure itself must still be reported by the caller.
        pass


def go_without(task: str, reason: str) -> None:
    """Note that the disk did not give something and that the work goes on without it: in the log, for the user.

    What hooks and commands share may not fail in a hook. A command says at its end what its answer lacks.
    """
    if reason not in _lacking:
        _lacking[reason] = None
        log_failure(task, reason)


def take_lacking() -> list[str]:
    """Return what this process went without since the last call, each once."""
    reasons = list(_lacking)
    _lacking.clear()
    return reasons


def recent_failures(limit: int = 20) -> list[tuple[str, str, str]]:
    """Return the last failures, oldest first: time, task and error."""
    rows = [line.split("\t") for line in _log().lines()]
    return [(row[0], row[1], row[2]) for row in rows if len(row) == 3][-limit:]


def _log() -> StateFile:
    return StateFile(log_file(), MAX_LOG_BYTES, owner="")


def _flat(text: str) -> str:
    readable = text.encode("utf-8", "backslashreplace").decode()
    return " ".join(flat(readable).split())[:_MAX_CHARACTERS]

"""Small files outside the repository that racing hooks share: ledgers, counts, logs. Losing one loses no record.

All of them are private to the user (0600 in a folder of 0700), read within a bound, appended to in one write under a
lock with a limit, cut when they grow too large, and replaced whole. No failure raises: it goes to the failure log.
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

_PATIENCE = 0.25
"""Seconds to wait for the lock. A holder needs a millisecond; without the lock a line may at worst be lost."""

_REOPENED = 5
LIFETIMES = {
    "sessions": 30,
    "usage/sessions": 30,
    "usage": 365,
    "suggestions": 180,
    "history": 365,
    "imports": 3_650,
    "judge": 30,
    "listings": 1,
    "forms": 30,
    "failures.log": 90,
    "last-digest.json": 30,
}
"""Days after its last change in which a file is deleted; docs/what-is-stored.md says what each holds."""

PRUNED = "pruned"
"""The file whose time says when that was last done."""

_DAY = 86_400
_MOST_FILES = 10_000
"""Files of one folder that are looked at in a day: a hook has no time for more."""

_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND


def newer_half(data: bytes) -> bytes:
    """The lines in the second half of a file: what is left of one that has grown too large."""
    return data[data.find(b"\n", len(data) // 2) + 1 :]


def state_path(name: str) -> str:
    """Return the path of `name` in the state folder."""
    return os.path.join(paths.state_dir(), *name.split("/"))


class StateFile:
    """One such file. In a `with` the lock is held from the first read to the last write."""

    __slots__ = ("_handle", "_largest", "_owner", "_shrink", "path")

    def __init__(
        self, path: str, largest: int, owner: str, shrink: Callable[[bytes], bytes] | None = newer_half
    ) -> None:
        self.path = path
        self._largest = largest
        self._owner = owner
        """Who keeps the file, in words for the failure log; empty for the failure log itself."""
        self._shrink = shrink
        self._handle = -1

    def __enter__(self) -> StateFile:
        try:
            self._handle = self._open_locked()
        except OSError as error:
            self._report("cannot open", error)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def read(self) -> bytes:
        """What the file holds, up to twice its largest size; nothing if there is no such file."""
        try:
            return files.read(self.path, 2 * self._largest)
        except FileNotFoundError:
            return b""
        except OSError as error:
            self._report("cannot read", error)
            return b""

    def lines(self) -> list[str]:
        """Its whole lines; the end of one whose writer died is left out."""
        return self.read().decode("utf-8", "replace").split("\n")[:-1]

    def append(self, text: str) -> int:
        """Add text, as a rule whole lines, in one write; the size of the file after it, or -1 if that failed."""
        if self._handle < 0:
            with self:
                return self._append(text) if self._handle >= 0 else -1
        return self._append(text)

    def replace(self, data: bytes) -> bool:
        """Put other content in its place; whether that worked. Nothing waits for the disk."""
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
                # The lock was on the file that is gone; whoever waited for it now competes for the new one.
                self.__exit__(None, None, None)
                self._handle = self._open_locked()
        except OSError as error:
            self._report("cannot write", error)
            return False
        return True

    def _overwrite(self, data: bytes) -> bool:
        """The same in place: Windows replaces no file that is open, not even by whoever has locked it."""
        os.ftruncate(self._handle, 0)
        return os.write(self._handle, data) == len(data)

    def _append(self, text: str) -> int:
        try:
            os.write(self._handle, text.encode("utf-8", "backslashreplace"))
            size = os.fstat(self._handle).st_size
        except OSError as error:
            self._report("cannot write", error)
            return -1
        if size > self._largest and self._shrink:
            self.replace(self._shrink(self.read()))
        return size

    def _open_locked(self) -> int:
        """The file, opened and locked; opened again where another process has replaced it meanwhile."""
        handle = _open(self.path)
        # More than one replacement while we wait is rare, and a file system with unstable inodes would never match.
        for _ in range(_REOPENED):
            try:
                files.lock(handle, _PATIENCE)
                if _is_same(handle, self.path):
                    return handle
            except OSError:
                # A file system without locks: better unlocked than not at all.
                return handle
            os.close(handle)
            handle = _open(self.path)
        return handle

    def _report(self, what: str, error: OSError) -> None:
        if self._owner:
            log_failure(self._owner, f"{what} {self.path}: {error}")


def prune() -> None:
    """Delete what is past its lifetime, and close what is open to other users. Hooks ask for it once a day."""
    state = paths.state_dir()
    if not os.path.isdir(state):
        return
    # First of all, so that racing hooks do not do the same.
    StateFile(os.path.join(state, PRUNED), 100, "prune").replace(b"")
    for name, days in LIFETIMES.items():
        path = state_path(name)
        for file in _files_in(path) if os.path.isdir(path) else [path]:
            _delete_if_older(file, time.time() - days * _DAY)
    for folder in (state, paths.cache_dir()):
        for path in (folder, *_files_in(folder)):
            _close_to_others(path)


def is_pruned() -> bool:
    """Whether that was done within a day."""
    try:
        return 0 <= time.time() - os.stat(os.path.join(paths.state_dir(), PRUNED)).st_mtime < _DAY
    except OSError:
        return False


def _files_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            listed = [entry for _, entry in zip(range(_MOST_FILES), entries)]
            return [entry.path for entry in listed if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []


def _delete_if_older(path: str, limit: float) -> None:
    try:
        if os.lstat(path).st_mtime < limit:
            os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        log_failure("prune", f"cannot delete {path}: {error}")


def _close_to_others(path: str) -> None:
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


MAX_LOG_BYTES = 200_000
"""Bytes at which the older half is dropped: some hundred failures are left."""

_LONGEST = 600
"""Characters of what was being done and of what went wrong, so that no failure crowds out the others."""


def log_file() -> str:
    return state_path("failures.log")


def log_failure(what: str, error: str) -> None:
    """Note one failure. Never raises: whoever calls this is failing already."""
    from onrecord import timestamps

    # Not even a failure is reported: the place for reports is this one.
    try:
        _state_file().append("\t".join((timestamps.now(), _flat(what), _flat(error))) + "\n")
    except ValueError:
        pass


def recent_failures(most: int = 20) -> list[tuple[str, str, str]]:
    """The newest failures, oldest first: when, what was being done, and what went wrong."""
    rows = [line.split("\t") for line in _state_file().lines()]
    return [(row[0], row[1], row[2]) for row in rows if len(row) == 3][-most:]


def _state_file() -> StateFile:
    return StateFile(log_file(), MAX_LOG_BYTES, owner="")


def _flat(text: str) -> str:
    readable = text.encode("utf-8", "backslashreplace").decode()
    return " ".join(flat(readable).split())[:_LONGEST]

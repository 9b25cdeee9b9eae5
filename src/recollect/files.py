"""Files written so that a reader never sees half of one, and a lock that is never ignored."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from recollect import paths
from recollect.errors import Locked, UnsafePath, Unwritable

PATIENCE = 10.0
"""Seconds to wait for the lock before giving up with an error."""

_TEMPORARY = ".tmp-"


def write(path: str, data: bytes, *, lasting: bool = True) -> None:
    """Replace a file whole: readers see the old bytes or the new ones; what can be derived again need not last."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f"{_TEMPORARY}{os.getpid()}-{time.monotonic_ns()}-{name[-40:]}")
    try:
        os.makedirs(folder, exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            if lasting:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        _forget(temporary)
        raise _unwritable(path, error) from error


def remove(path: str) -> None:
    """Delete a file; one that is gone already is no error."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unwritable(path, error) from error


def inside(root: str, path: str) -> str:
    """The real path of something in `root`; UnsafePath if it leads out of it."""
    full = os.path.join(root, path)
    if "\0" in path or not paths.is_within(root, full):
        raise UnsafePath(f"{path!r} leads out of {root}", fix="remove the link, or keep the file in the store")
    return os.path.realpath(full)


def is_leftover(name: str) -> bool:
    """Whether a file name is that of a writer which died before it finished."""
    return name.startswith(_TEMPORARY)


@contextmanager
def locked(path: str, patience: float | None = None) -> Iterator[None]:
    """Hold a lock file. The system releases it when the process ends, however it ends."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # A lock that is a link is not ours: opening it would create a file wherever it leads.
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        _wait(handle, path, PATIENCE if patience is None else patience)
        yield
    finally:
        os.close(handle)


def _wait(handle: int, path: str, patience: float) -> None:
    deadline = time.monotonic() + patience
    pause = 0.001
    while not _try_lock(handle):
        if time.monotonic() > deadline:
            raise Locked(
                f"another process has held {path} for {patience:g} seconds",
                fix="wait for it to finish and try again; nothing was written",
            )
        time.sleep(pause)
        pause = min(pause * 1.5, 0.01)


def _try_lock(handle: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return _try_lock_windows(handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES, errno.EINTR):
            return False
        raise
    return True


def _try_lock_windows(handle: int) -> bool:
    import msvcrt

    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return False
    return True


def _unwritable(path: str, error: OSError) -> Unwritable:
    reason = error.strerror or str(error)
    return Unwritable(f"cannot write {path}: {reason}", fix="check the disk's space and the folder's permissions")


def _forget(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass

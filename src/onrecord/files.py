"""Reading a file that may be hostile, replacing one so that nobody sees half of it, and a lock nobody ignores."""

from __future__ import annotations

import os
import stat
import sys
import time

from onrecord import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from onrecord.errors import Unwritable

LOCK_SECONDS = 10.0
"""Seconds to wait for the lock before giving up with an error."""

_MANY = 50
_TEMPORARY = ".tmp-"
_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
IS_WINDOWS = os.name == "nt"
_READERS_ARE_DONE = 1.0
"""Seconds in which any reader has closed a file: reading one takes milliseconds, a virus scanner somewhat longer."""


def open_regular(path: str, flags: int, mode: int = 0o600) -> int:
    """An open regular file; OSError for anything else: opening a FIFO would block, and a device never ends.

    A link is followed to read, never to write: what it points to is not ours.
    """
    if flags & (os.O_WRONLY | os.O_RDWR):
        flags |= _NO_LINK
    handle = os.open(path, flags | _BINARY | getattr(os, "O_NONBLOCK", 0), mode)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError("not a regular file")


def is_file(path: str) -> bool:
    """Whether there is a file of this name; a name that no file can have is none."""
    try:
        return os.path.isfile(path)
    except ValueError:
        return False


def read(path: str, most: int) -> bytes:
    """The first `most` bytes of a regular file; OSError for anything else."""
    handle = open_regular(path, os.O_RDONLY)
    with open(handle, "rb") as file:
        return file.read(most)


def read_inside(root: str, path: str, most: int) -> bytes:
    """The first `most` bytes of a regular file in a folder; UnsafePath if a link leads out of it.

    The one way to read what lies in a store: a repository's links could lead to whatever the user may read.
    """
    full = os.path.join(root, path)
    if os.path.dirname(path) or "\0" in path or os.path.islink(full):
        full = inside(root, path)
    with open(open_regular(full, os.O_RDONLY | _NO_LINK), "rb") as file:
        return file.read(most)


def write(path: str, data: bytes, *, lasting: bool = True, mode: int | None = None) -> None:
    """Replace a file whole: readers see the old bytes or the new ones; what can be derived again need not last.

    What lasts is on the disk, under its name, when this returns. Permissions are ours to choose unless `mode` has them.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f"{_TEMPORARY}{os.getpid()}-{time.monotonic_ns()}-{name[-40:]}")
    try:
        make_folder(folder)
        # Of what lies in a repository git decides who may read it, with the user's own mask.
        handle = os.open(temporary, _CREATE, 0o600 if paths.is_private(path) else 0o666)
        with open(handle, "wb") as file:
            if mode is not None:
                os.chmod(temporary, mode)
            file.write(data)
            file.flush()
            if lasting:
                os.fsync(handle)
        replace(temporary, path)
        if lasting:
            _sync_folder(folder)
    except OSError as error:
        _forget(temporary)
        raise _unwritable(path, error) from error


def waits_for_each(count: int) -> bool:
    """Whether each of some files is to wait for the disk; if not, `os.sync` after all of them does.

    Each wait takes milliseconds. Only Linux waits for the disk in `sync`.
    """
    return count < _MANY or sys.platform != "linux"


def make_folder(folder: str, *, is_private: bool = False) -> None:
    """Make a folder that is not there yet; only the user may look into one outside of repositories."""
    if os.path.isdir(folder):
        return
    # `makedirs` gives its mode to the last folder only, so those above it need the mask.
    before = os.umask(0o077) if is_private or paths.is_private(folder) else None
    try:
        os.makedirs(folder, exist_ok=True)
    finally:
        if before is not None:
            os.umask(before)


def _sync_folder(folder: str) -> None:
    """Wait until the names in a folder are on the disk: after a power failure a new name may otherwise be gone."""
    if IS_WINDOWS:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        import errno

        # Some file systems (FUSE, SMB) cannot do this for folders, and say so.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(handle)


def replace(source: str, path: str) -> None:
    """Rename a file over another one. Windows refuses while anybody has that one open, so there it is tried again."""
    deadline = time.monotonic() + _READERS_ARE_DONE
    while True:
        try:
            return os.replace(source, path)
        except PermissionError:
            if not IS_WINDOWS or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


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
        from onrecord.errors import UnsafePath

        raise UnsafePath(f"{path!r} leads out of {root}", fix="remove the link, or keep the file in the store")
    return os.path.realpath(full)


def is_leftover(name: str) -> bool:
    """Whether a file name is that of a writer which died before it finished."""
    return name.startswith(_TEMPORARY)


class locked:  # noqa: N801
    """Holds a lock file in a `with`. The system releases it when the process ends, however it ends."""

    def __init__(self, path: str, patience: float | None = None) -> None:
        self._path = path
        self._patience = LOCK_SECONDS if patience is None else patience
        self._handle = -1

    def __enter__(self) -> None:
        try:
            make_folder(os.path.dirname(self._path))
            # A lock that is a link is not ours: opening it would create a file wherever it leads.
            mode = 0o600 if paths.is_private(self._path) else 0o666
            self._handle = open_regular(self._path, os.O_RDWR | os.O_CREAT | _NO_LINK, mode)
        except OSError as error:
            raise _unwritable(self._path, error) from error
        try:
            has_lock = lock(self._handle, self._patience)
        except OSError as error:
            self.__exit__(None, None, None)
            raise _unlockable(self._path, error) from error
        if not has_lock:
            self.__exit__(None, None, None)
            from onrecord.errors import Locked

            raise Locked(
                f"another process has held {self._path} for {self._patience:g} seconds",
                fix="wait for it to finish and try again; nothing was written",
            )

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def lock(handle: int, patience: float) -> bool:
    """Wait for the lock on an open file, at most `patience` seconds; closing the file releases it."""
    deadline = time.monotonic() + patience
    # Holders are done in about a millisecond; a longer wait need not be so exact.
    pause = 0.001
    while not _try_lock(handle):
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, 0.01)
    return True


def _try_lock(handle: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return _try_lock_windows(handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, InterruptedError, PermissionError):
        return False
    return True


def _try_lock_windows(handle: int) -> bool:
    import msvcrt

    # Windows locks bytes, and no one else can read a locked byte: one far behind the end of any file serves.
    os.lseek(handle, 1 << 40, os.SEEK_SET)
    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return False
    return True


def _unwritable(path: str, error: OSError) -> Unwritable:
    reason = error.strerror or str(error)
    from onrecord.errors import Unwritable

    return Unwritable(f"cannot write {path}: {reason}", fix="check the disk's space and the folder's permissions")


def _unlockable(path: str, error: OSError) -> Unwritable:
    from onrecord.errors import Unwritable

    fix = "keep the store on a file system that has file locks; nothing was written"
    return Unwritable(f"cannot lock {path}: {error.strerror or error}", fix=fix)


def _forget(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass

"""Files: reading regular files up to a size limit, atomic replacement, and locks."""

from __future__ import annotations

import os
import stat
import sys
import time

from onrecord import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from onrecord.errors import Unwritable

LOCK_SECONDS = 10.0
"""Seconds to wait for a lock before Locked is raised."""

LEFT = "written before that, and left so"
"""Said of files that a failing disk does not let us put back."""

_MANY_FILES = 50
_TEMPORARY = ".tmp-"
_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
IS_WINDOWS = os.name == "nt"
_REPLACE_SECONDS = 1.0
"""Seconds to wait for readers to close a file: reading takes milliseconds, a virus scanner somewhat longer."""


def open_regular(path: str, open_flags: int, mode: int = 0o600) -> int:
    """Open a regular file. Raises OSError for anything else: opening a FIFO would block, and a device never ends.

    A link is followed to read, never to write: its target is not ours.
    """
    if open_flags & (os.O_WRONLY | os.O_RDWR):
        open_flags |= _NO_LINK
    handle = os.open(path, open_flags | _BINARY | getattr(os, "O_NONBLOCK", 0), mode)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError("not a regular file")


def is_file(path: str) -> bool:
    """True if `path` is a file; False for a name that no file can have."""
    try:
        return os.path.isfile(path)
    except ValueError:
        return False


def status(path: str) -> os.stat_result | None:
    """Return the status of what has this name, or None if nothing can. A link is followed. Raises Unwritable.

    `os.path.exists` and its like also say no where the disk fails: a record that cannot be seen would be written over.
    """
    return _status(path, os.stat)


def is_there(path: str) -> bool:
    """True if something has this name, even a broken link. Raises Unwritable if that cannot be told."""
    return _status(path, os.lstat) is not None


def is_regular(path: str) -> bool:
    """True if `path` is a file; a link is followed. Raises Unwritable if that cannot be told."""
    result = status(path)
    return result is not None and stat.S_ISREG(result.st_mode)


def is_folder(path: str) -> bool:
    """True if `path` is a folder; a link is followed. Raises Unwritable if that cannot be told."""
    result = status(path)
    return result is not None and stat.S_ISDIR(result.st_mode)


def _status(path: str, ask: Callable[[str], os.stat_result]) -> os.stat_result | None:
    try:
        return ask(path)
    except ValueError:
        return None
    except OSError as error:
        if is_absent(error):
            return None
        raise unreadable(path, error) from error


def is_fault(error: OSError) -> bool:
    """True for an error of the machine (a failing or full disk, too many open files), not of a file's type or owner."""
    import errno

    names = ("EIO", "EMFILE", "ENFILE", "ENOMEM", "ENOSPC", "EDQUOT", "EROFS", "ENOLCK", "ESTALE", "ETIMEDOUT")
    return error.errno in [getattr(errno, name, -1) for name in names]


def is_absent(error: OSError) -> bool:
    """True for an error that says that nothing has a name, or can have it: a repository can bring about no others."""
    import errno

    return error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)


def unreadable(path: str, error: OSError) -> Unwritable:
    """Return the error for a file or folder that is there but cannot be read."""
    from onrecord.errors import Unwritable

    fix = "check the disk, and the type and the permissions of this path"
    return Unwritable(f"cannot read {path}: {error.strerror or error}", fix=fix)


def names_in(folder: str) -> list[str]:
    """Return the sorted names in a folder; none if there is no such folder. Raises Unwritable if it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        if is_absent(error):
            return []
        raise unreadable(folder, error) from error


def walk(folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Return what `os.walk` does. Raises Unwritable where the disk fails; what the user may not list is left out."""

    def refuse(error: OSError) -> None:
        if is_fault(error):
            raise unreadable(error.filename or folder, error) from error

    return os.walk(folder, onerror=refuse)


def read(path: str, max_bytes: int) -> bytes:
    """Return the first `max_bytes` bytes of a regular file. Raises OSError."""
    handle = open_regular(path, os.O_RDONLY)
    with open(handle, "rb") as file:
        return file.read(max_bytes)


def read_if_there(path: str, max_bytes: int) -> bytes:
    """Return the first `max_bytes` bytes of a regular file; nothing if there is none. Raises Unwritable.

    What is changed and written again is read with this: taken for empty, the rest of it would be lost.
    """
    try:
        return read(path, max_bytes)
    except OSError as error:
        if is_absent(error):
            return b""
        raise unreadable(path, error) from error


def read_inside(root: str, path: str, max_bytes: int) -> bytes:
    """Return the first `max_bytes` bytes of a regular file in `root`. Raises OSError, and UnsafePath outside of it.

    All files of a store are read by this function: links in a repository could lead to any file that the user may read.
    """
    with open(_open_inside(root, path), "rb") as file:
        return file.read(max_bytes)


def _open_inside(root: str, path: str) -> int:
    # To resolve the whole path of each of 50,000 records takes as long as reading them.
    if _NO_LINK and _is_plain(root, path):
        full = os.path.join(root, path)
        try:
            return open_regular(full, os.O_RDONLY | _NO_LINK)
        except OSError:
            if not os.path.islink(full):
                raise
    return open_regular(inside(root, path), os.O_RDONLY | _NO_LINK)


def _is_plain(root: str, path: str) -> bool:
    """True if a relative path does not lead up, and no folder in it is a link: nearly all paths in stores are so."""
    *folders, name = path.split("/")
    if IS_WINDOWS or "\0" in path or not {"", ".", ".."}.isdisjoint((*folders, name)):
        return False
    here = root
    for folder in folders:
        here = f"{here}/{folder}"
        if os.path.islink(here):
            return False
    return True


def write(path: str, data: bytes, *, lasting: bool = True, mode: int | None = None) -> bool:
    """Replace a file atomically: readers see the old bytes or the new ones. Raises Unwritable if they see the old ones.

    With `lasting`, wait until the file and its name are on the disk; a file that can be derived again does not need
    that. Return False if the file was replaced, but the disk did not confirm the new name. `mode` sets its
    permissions; None means the default ones.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f"{_TEMPORARY}{os.getpid()}-{time.monotonic_ns()}-{name[-40:]}")
    try:
        make_folder(folder)
        # In a repository, git and the user's umask decide who may read a file.
        handle = os.open(temporary, _CREATE, 0o600 if paths.is_private(path) else 0o666)
        with open(handle, "wb") as file:
            if mode is not None:
                os.chmod(temporary, mode)
            file.write(data)
            file.flush()
            if lasting:
                os.fsync(handle)
        replace(temporary, path)
    except OSError as error:
        _forget(temporary)
        raise _unwritable(path, error) from error
    return not lasting or _sync_folder(folder)


def waits_for_each(count: int) -> bool:
    """True if each of `count` files should be synced by itself, False if one `os.sync` at the end is faster.

    Each sync takes milliseconds. Only on Linux does `os.sync` wait for the disk.
    """
    return count < _MANY_FILES or sys.platform != "linux"


def make_folder(folder: str, *, is_private: bool = False) -> None:
    """Create a folder unless it exists; outside of repositories only the user may read it."""
    if os.path.isdir(folder):
        return
    # `makedirs` applies a mode to the last folder only; a umask applies to its parents too.
    old_umask = os.umask(0o077) if is_private or paths.is_private(folder) else None
    try:
        os.makedirs(folder, exist_ok=True)
    finally:
        if old_umask is not None:
            os.umask(old_umask)


def _sync_folder(folder: str) -> bool:
    """Wait until the names in a folder are on the disk, and return False if they may not be.

    After a power failure, a new name may then be lost. That is no failure to write: the file was already replaced.
    """
    if IS_WINDOWS:
        return True
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        return _is_unconfirmed(folder, error)
    try:
        os.fsync(handle)
    except OSError as error:
        import errno

        # Some file systems (FUSE, SMB) report that they cannot do this for folders.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            return _is_unconfirmed(folder, error)
    finally:
        os.close(handle)
    return True


def _is_unconfirmed(folder: str, error: OSError) -> bool:
    """Log that the disk did not confirm the names in a folder, and return False."""
    from onrecord import state_file

    state_file.log_failure("disk", f"did not confirm the new names in {folder}: {error.strerror or error}")
    return False


def replace(source: str, path: str) -> None:
    """Rename `source` to `path`, replacing it. Windows refuses while `path` is open, so it is tried again there."""
    deadline = time.monotonic() + _REPLACE_SECONDS
    while True:
        try:
            return os.replace(source, path)
        except PermissionError:
            if not IS_WINDOWS or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def remove(path: str) -> None:
    """Delete a file, if it exists. Raises Unwritable."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unwritable(path, error) from error


def inside(root: str, path: str) -> str:
    """Return the real path of `path` in `root`. Raises UnsafePath."""
    full = os.path.join(root, path)
    if "\0" in path or not paths.is_within(root, full):
        from onrecord.errors import UnsafePath

        raise UnsafePath(f"{path!r} leads out of {root}", fix="remove the link, or keep the file in the store")
    return os.path.realpath(full)


def is_leftover(name: str) -> bool:
    """True for the name of a temporary file, left by a writer that died before it finished."""
    return name.startswith(_TEMPORARY)


class temporary_folder:  # noqa: N801
    """A folder among the system's temporary files, deleted at the end of a `with`, unless it is kept.

    Raises Unwritable. Python calls it not found if the disk is full, or every such folder read-only.
    """

    def __init__(self, prefix: str, *, is_kept: bool = False) -> None:
        self._prefix = prefix
        self._is_kept = is_kept
        self._folder = ""

    def __enter__(self) -> str:
        import tempfile

        try:
            self._folder = tempfile.mkdtemp(prefix=self._prefix)
        except OSError as error:
            from onrecord.errors import Unwritable

            fix = "check the disk's space, or set TMPDIR to a folder of yours"
            raise Unwritable(f"cannot make a temporary folder: {error.strerror or error}", fix=fix) from error
        return self._folder

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        import shutil

        if not self._is_kept:
            shutil.rmtree(self._folder, ignore_errors=True)


class locked:  # noqa: N801
    """A lock file, locked inside a `with`; the end of the process unlocks it too. Raises Locked, Unwritable."""

    def __init__(self, path: str, seconds: float | None = None) -> None:
        self._path = path
        self._seconds = LOCK_SECONDS if seconds is None else seconds
        self._handle = -1

    def __enter__(self) -> None:
        try:
            make_folder(os.path.dirname(self._path))
            # A lock file that is a link is not ours: opening it would create the file that it points to.
            mode = 0o600 if paths.is_private(self._path) else 0o666
            self._handle = open_regular(self._path, os.O_RDWR | os.O_CREAT | _NO_LINK, mode)
        except OSError as error:
            raise _unwritable(self._path, error) from error
        try:
            has_lock = lock(self._handle, self._seconds)
        except OSError as error:
            self.__exit__(None, None, None)
            raise _unlockable(self._path, error) from error
        if not has_lock:
            self.__exit__(None, None, None)
            from onrecord.errors import Locked

            raise Locked(
                f"another process has held {self._path} for {self._seconds:g} seconds",
                fix="wait for it to finish and try again; nothing was written",
            )

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def lock(handle: int, seconds: float) -> bool:
    """Lock an open file, waiting at most `seconds`. Return False if it is still locked; closing the file unlocks it."""
    deadline = time.monotonic() + seconds
    # A lock is usually released in about a millisecond; after that, less frequent checks are enough.
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

    # Windows locks bytes, and other processes cannot read them, so lock a byte far beyond the end of any file.
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

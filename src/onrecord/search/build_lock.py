"""The lock of the process that completes an index, and what its file says about it.

A builder empties the file when it has succeeded. If there is a text in it and it is not locked, the builder died: the
next hook starts another one, which goes on from there, and `onrecord doctor` reports it.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

SUFFIX = ".building"
_MAX_BYTES = 10_000
_MAX_LISTED = 1_000


class BuilderState(coldstart.NamedTuple):
    """The state of a builder, as its lock file has it."""

    root: str = ""
    records: int = 0
    """Records of the store when the builder was started."""
    starts: int = 0
    """How many builders were started since the index was last complete."""
    moment: int = 0
    """When the last one was started, in seconds."""
    is_running: bool = False


def file_of(index_file: str) -> str:
    """Return the lock file of an index."""
    return f"{index_file.rpartition('.')[0]}{SUFFIX}"


def state(lock_path: str) -> BuilderState:
    """Return what a lock file says; nothing if there is none."""
    try:
        handle = files.open_regular(lock_path, os.O_RDWR)
    except OSError:
        return BuilderState()
    try:
        is_running = not files.lock(handle, 0)
        return read(handle)._replace(is_running=is_running)
    except OSError:
        return BuilderState()
    finally:
        os.close(handle)


def unfinished_states() -> list[BuilderState]:
    """Return the state of each index that is not complete since a builder was started for it."""
    try:
        names = sorted(name for name in os.listdir(paths.cache_dir()) if name.endswith(SUFFIX))
    except OSError:
        return []
    states = (state(os.path.join(paths.cache_dir(), name)) for name in names[:_MAX_LISTED])
    return [builder_state for builder_state in states if builder_state.starts]


def read(handle: int) -> BuilderState:
    """Return the state in an open lock file; nothing if it is empty or damaged."""
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        root, records, starts, moment = coldstart.loads(os.read(handle, _MAX_BYTES).decode())
        return BuilderState(str(root), int(records), int(starts), int(moment))
    except (ValueError, TypeError):
        return BuilderState()


def write(handle: int, builder_state: BuilderState | None) -> None:
    """Replace the content of an open lock file; None empties it."""
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    if builder_state:
        os.write(handle, coldstart.dumps(builder_state[:4]).encode())


class held:  # noqa: N801
    """The builder's lock, taken by a command for as long as it completes the index itself; a running builder ends."""

    def __init__(self, index_file: str) -> None:
        self._path = file_of(index_file)
        self._handle = -1

    def __enter__(self) -> None:
        try:
            self._handle = files.open_regular(self._path, os.O_RDWR | os.O_CREAT)
            if not files.lock(self._handle, 0):
                # A builder that finds its lock file replaced ends within a second.
                self._close()
                os.unlink(self._path)
                self._handle = files.open_regular(self._path, os.O_RDWR | os.O_CREAT)
                files.lock(self._handle, 0)
        except OSError:
            # Without a lock the two do some of the work twice, and nothing else.
            return

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._handle >= 0:
            if error is None:
                write(self._handle, None)
            self._close()

    def _close(self) -> None:
        os.close(self._handle)
        self._handle = -1

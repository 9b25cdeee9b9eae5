"""Start a sync in the background at the start of a session, as a process that no hook waits for.

Only the user's own config turns it on, for each remote. The process runs `onrecord sync --automatic`: it prints
nothing, ends after a time limit, and writes failures to the failure log. Hooks load this module.
"""

from __future__ import annotations

import os
import sys
import time

from onrecord import files, paths
from onrecord.shared import remotes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_SECONDS_BETWEEN = 600
"""Seconds between two automatic syncs, however many sessions start."""

_NOTE = ".automatic"
"""A file with the path of the Python that can sync; its time is the start of the last sync."""

_MAX_PATH_BYTES = 4_096
_MAX_OPEN_FILES = 1_024
"""File descriptors that are closed in the child: an inherited pipe could keep the hook's caller waiting."""

_PROGRAM = "import sys; sys.path[0] = sys.argv.pop(1); from onrecord.__main__ import main; sys.exit(main())"


def start(project: str) -> bool:
    """Start a sync if one is due and the user syncs a remote automatically; return True if it was started."""
    if remotes.is_planted(project) or not _is_due() or not any(remote.auto for remote in remotes.usable()):
        return False
    python = _read_python() or sys.executable
    _write_python(python)
    _detach((python, "-E", "-c", _PROGRAM, _source_folder(), "sync", "--automatic"), paths.replicas())
    return True


def note_python() -> None:
    """Save the path of the running Python, which can sync; the Python of a hook may lack psycopg."""
    if _read_python() != sys.executable:
        _write_python(sys.executable)


def _write_python(python: str) -> None:
    files.make_folder(paths.replicas(), is_private=True)
    files.write(_file(), os.fsencode(python), lasting=False)


def _is_due() -> bool:
    """True if the last start is long enough ago. A time in the future is from another clock and does not count."""
    try:
        return not 0 <= time.time() - os.stat(_file()).st_mtime < MIN_SECONDS_BETWEEN
    except OSError:
        return True


def _file() -> str:
    return os.path.join(paths.replicas(), _NOTE)


def _read_python() -> str:
    """Return the noted Python; empty if it is gone."""
    try:
        python = os.fsdecode(files.read(_file(), _MAX_PATH_BYTES))
    except OSError:
        return ""
    return python if os.path.isabs(python) and os.access(python, os.X_OK) else ""


def _source_folder() -> str:
    """Return the folder of the package `onrecord`."""
    return os.path.dirname(os.path.dirname(os.path.realpath(paths.__file__)))


def _detach(command: Sequence[str], folder: str) -> None:
    """Run a program that inherits no terminal, no open file, no session and no folder of this process."""
    if not hasattr(os, "fork"):
        return _detach_on_windows(command, folder)
    if os.fork():
        return None
    try:
        os.setsid()
        for stream in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        os.closerange(3, _MAX_OPEN_FILES)
        os.chdir(folder)
        os.execv(command[0], list(command))
    finally:
        os._exit(127)


def _detach_on_windows(command: Sequence[str], folder: str) -> None:
    import subprocess

    flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    nothing = subprocess.DEVNULL
    subprocess.Popen(command, cwd=folder, stdin=nothing, stdout=nothing, stderr=nothing, creationflags=flags)

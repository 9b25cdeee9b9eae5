"""The sync that the start of a session begins: a process of its own, which no hook waits for.

Only the user's own config asks for it, for each remote. The process runs `onrecord sync --automatic`: it prints
nothing, ends after a time limit, and leaves what went wrong in the failure log. Hooks load this module.
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

EVERY = 600
"""Seconds in which no second sync is started, however many sessions begin."""

_NOTE = ".automatic"
"""The file whose time says when the last sync was started; it holds the path of the Python that syncs."""

_LONGEST_PATH = 4_096
_MOST_INHERITED = 1_024
"""Open files of the hook's caller that are closed: a pipe left open could keep the caller waiting."""

_PROGRAM = "import sys; sys.path[0] = sys.argv.pop(1); from onrecord.__main__ import main; sys.exit(main())"


def start(project: str) -> bool:
    """Start a sync in the background if the user syncs a remote automatically; whether one was started."""
    if remotes.is_planted(project) or not _is_due() or not any(each.auto for each in remotes.usable()):
        return False
    python = _noted() or sys.executable
    _note(python)
    _detach((python, "-E", "-c", _PROGRAM, _source(), "sync", "--automatic"), paths.replicas())
    return True


def note_python() -> None:
    """Note that the Python that runs this can sync: a hook's own may lack the library for Postgres."""
    if _noted() != sys.executable:
        _note(sys.executable)


def _note(python: str) -> None:
    files.make_folder(paths.replicas(), is_private=True)
    files.write(_file(), os.fsencode(python), lasting=False)


def _is_due() -> bool:
    """Whether none was started for a while. A time that lies ahead is that of another clock, and does not count."""
    try:
        return not 0 <= time.time() - os.stat(_file()).st_mtime < EVERY
    except OSError:
        return True


def _file() -> str:
    return os.path.join(paths.replicas(), _NOTE)


def _noted() -> str:
    """The noted Python, as long as it is there."""
    try:
        python = os.fsdecode(files.read(_file(), _LONGEST_PATH))
    except OSError:
        return ""
    return python if os.path.isabs(python) and os.access(python, os.X_OK) else ""


def _source() -> str:
    """The folder that holds this package."""
    return os.path.dirname(os.path.dirname(os.path.realpath(paths.__file__)))


def _detach(command: Sequence[str], folder: str) -> None:
    """Run a program that has nothing of this process: no terminal, no open file, no session, not the same folder."""
    if not hasattr(os, "fork"):
        return _detach_elsewhere(command, folder)
    if os.fork():
        return None
    try:
        os.setsid()
        for stream in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        os.closerange(3, _MOST_INHERITED)
        os.chdir(folder)
        os.execv(command[0], list(command))
    finally:
        os._exit(127)


def _detach_elsewhere(command: Sequence[str], folder: str) -> None:
    """The same on Windows."""
    import subprocess

    flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    nothing = subprocess.DEVNULL
    subprocess.Popen(command, cwd=folder, stdin=nothing, stdout=nothing, stderr=nothing, creationflags=flags)

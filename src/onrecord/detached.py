"""Start a program that goes on when a hook has ended: nobody waits for it, and it shares nothing with its caller."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LOCK_HANDLE = 3
"""The file descriptor under which a program gets the lock that its caller took for it."""

_MAX_OPEN_FILES = 1_024
"""File descriptors that are closed in the child: an inherited pipe could keep the hook's caller waiting."""

CAN_INHERIT_LOCK = hasattr(os, "fork")


def python_command(program: str, *arguments: str, python: str = "", needs_packages: bool = False) -> list[str]:
    """Return the command that runs a line of Python with this package on its path: `sys.argv[1:]` are `arguments`.

    Without `needs_packages` it has the standard library alone, as hooks do.
    """
    source = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    first = "import sys; sys.path[0] = sys.argv.pop(1)"
    options = ["-E"] if needs_packages else ["-S", "-E"]
    return [python or sys.executable, *options, "-c", f"{first}; {program}", source, *arguments]


def start(command: Sequence[str], folder: str, lock: int = -1) -> None:
    """Run a program that inherits no terminal, no open file, no session and no folder of this process.

    If the open file `lock` is given, the program inherits it as LOCK_HANDLE, and so the lock on it.
    """
    if not CAN_INHERIT_LOCK:
        return _start_on_windows(command, folder)
    if os.fork():
        return None
    try:
        os.setsid()
        if lock >= 0:
            _move(lock)
        for stream in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        os.closerange(LOCK_HANDLE + (lock >= 0), _MAX_OPEN_FILES)
        os.chdir(folder)
        os.execv(command[0], list(command))
    finally:
        os._exit(127)


def _move(lock: int) -> None:
    """Give an open file the number LOCK_HANDLE, and let the next program inherit it."""
    import fcntl

    # First out of the way of the streams: it could have the number of one that is closed.
    above = fcntl.fcntl(lock, fcntl.F_DUPFD, LOCK_HANDLE)
    if above == LOCK_HANDLE:
        os.set_inheritable(above, True)
    else:
        os.dup2(above, LOCK_HANDLE)


def _start_on_windows(command: Sequence[str], folder: str) -> None:
    import subprocess

    flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    nothing = subprocess.DEVNULL
    subprocess.Popen(command, cwd=folder, stdin=nothing, stdout=nothing, stderr=nothing, creationflags=flags)

"""A fault at one file call of a process: killed there, or answered with an error of the system.

`inject` replaces the functions of `os`, `fcntl` and `builtins` through which the package uses files. Python's own
import system does not use these, so only the package's calls count.
"""

from __future__ import annotations

import builtins
import errno
import fcntl
import io
import os
import signal
from collections.abc import Callable
from typing import Any, NamedTuple

_WRITING = os.O_WRONLY | os.O_RDWR
_READ = ("EIO", "KILL")
_OPEN = ("EIO", "EMFILE", "KILL")
_CHANGE = ("EIO", "ENOSPC", "EROFS", "KILL")
_NAMES = ("EIO", "EROFS", "KILL")
FAULTS: dict[str, tuple[str, ...]] = {
    "stat": _READ,
    "lstat": _READ,
    "fstat": _READ,
    "access": ("KILL",),
    "readlink": _READ,
    "listdir": _OPEN,
    "scandir": _OPEN,
    "open to read": _OPEN,
    "open to write": ("EIO", "EMFILE", "ENOSPC", "EROFS", "KILL"),
    "read": _READ,
    "write": ("EIO", "ENOSPC", "KILL"),
    "ftruncate": ("EIO", "KILL"),
    "fsync": ("EIO", "ENOSPC", "KILL"),
    "sync": ("KILL",),
    "replace": _CHANGE,
    "rename": _CHANGE,
    "link": _CHANGE,
    "symlink": _CHANGE,
    "unlink": _NAMES,
    "rmdir": _NAMES,
    "mkdir": _CHANGE,
    "chmod": _NAMES,
    "utime": _NAMES,
    "flock": ("ENOLCK", "EIO", "KILL"),
}
"""The faults that each kind of call can have."""

LASTING = ("ENOSPC", "EROFS", "EMFILE", "ENOLCK")
"""Faults that may also stay: from one call on, every call that can have it has it."""


class Fault(NamedTuple):
    """What goes wrong, at which file call of the process (from 1), and whether it stays."""

    name: str
    number: int
    stays: bool = False

    def __str__(self) -> str:
        return f"{self.name} {'from' if self.stays else 'at'} call {self.number}"


class Calls:
    """Counts the file calls of this process, and lets one fail."""

    def __init__(self, fault: Fault | None) -> None:
        self.kinds: list[str] = []
        self.is_on = True
        self._fault = fault

    def count(self, kind: str, path: object = "") -> None:
        if not self.is_on:
            return
        self.kinds.append(kind)
        fault = self._fault
        if fault is None or fault.name not in FAULTS[kind]:
            return
        if len(self.kinds) == fault.number or (fault.stays and len(self.kinds) > fault.number):
            if fault.name == "KILL":
                os.kill(os.getpid(), signal.SIGKILL)
            number = getattr(errno, fault.name)
            raise OSError(number, os.strerror(number), path if isinstance(path, str) else None)


class _File(io.FileIO):
    """A file whose reads and writes are counted."""

    calls: Calls

    def readinto(self, buffer: Any) -> Any:
        self.calls.count("read")
        return super().readinto(buffer)

    def readall(self) -> Any:
        self.calls.count("read")
        return super().readall()

    def write(self, data: Any) -> Any:
        self.calls.count("write")
        return super().write(data)


def inject(fault: Fault | None) -> Calls:
    """Count all file calls of this process from now on, with a fault at one of them. There is no way back."""
    calls = Calls(fault)
    _File.calls = calls
    for name in FAULTS:
        if hasattr(os, name) and name not in ("read", "write"):
            setattr(os, name, _counted(calls, name, getattr(os, name)))
    for name in ("read", "write"):
        setattr(os, name, _counted_handle(calls, name, getattr(os, name)))
    real_open = os.open

    def os_open(path: Any, flags: int, *arguments: Any, **options: Any) -> int:
        calls.count("open to write" if flags & _WRITING else "open to read", path)
        return real_open(path, flags, *arguments, **options)

    os.open = os_open
    fcntl.flock = _counted(calls, "flock", fcntl.flock)  # type: ignore[assignment]
    builtins.open = _opener(calls)  # type: ignore[assignment]
    return calls


def _counted(calls: Calls, kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def counted(*arguments: Any, **options: Any) -> Any:
        calls.count(kind, arguments[0] if arguments else "")
        return real(*arguments, **options)

    return counted


def _counted_handle(calls: Calls, kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def counted(handle: int, *arguments: Any) -> Any:
        # Standard streams are no files of ours.
        if handle > 2:
            calls.count(kind)
        return real(handle, *arguments)

    return counted


def _opener(calls: Calls) -> Callable[..., Any]:
    real_open = builtins.open

    def opened(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if not isinstance(file, int):
            calls.count("open to read" if mode.strip("bt") == "r" else "open to write", file)
        if mode == "rb":
            return io.BufferedReader(_File(file, "rb"))
        if mode in ("wb", "ab", "xb"):
            return io.BufferedWriter(_File(file, mode))
        return real_open(file, mode, *arguments, **options)

    return opened

"""Traces that failures leave for `recollect doctor`.

Hooks use it on every failure and load it on every run, so it imports next to nothing (see `lean`).
"""

from __future__ import annotations

import os

from recollect import paths, timestamps

LARGEST = 200_000
"""Bytes at which the log is set aside and a new one begun."""

_LONGEST = 600


def log_file() -> str:
    return os.path.join(paths.state_dir(), "trace.log")


def leave(what: str, error: str) -> None:
    """Note one failure. Never raises: whoever calls this is failing already."""
    try:
        _append(log_file(), "\t".join((timestamps.now(), _flat(what), _flat(error))))
    except (OSError, ValueError):
        pass


def recent(most: int = 20) -> list[tuple[str, str, str]]:
    """The newest traces, oldest first: when, what was being done, and what went wrong."""
    lines: list[str] = []
    for path in (log_file() + ".1", log_file()):
        lines += _lines(path)
    parted = [line.split("\t") for line in lines]
    return [(when, what, error) for when, what, error in (p for p in parted if len(p) == 3)][-most:]


def _append(path: str, line: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # One write to a file opened for appending: lines of racing processes do not mix.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
    try:
        os.write(handle, (line + "\n").encode("utf-8", "backslashreplace"))
        size = os.fstat(handle).st_size
    finally:
        os.close(handle)
    if size > LARGEST:
        os.replace(path, path + ".1")


def _lines(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            return file.read(2 * LARGEST).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def _flat(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]

"""Failures of hooks and commands, noted for `onrecord doctor`. Losing one loses nothing else."""

from __future__ import annotations

from onrecord import timestamps
from onrecord.state_file import StateFile, located
from onrecord.text import flat

LARGEST = 200_000
"""Bytes at which the older half is dropped: some hundred failures are left."""

_LONGEST = 600
"""Characters of what was being done and of what went wrong, so that no failure crowds out the others."""


def log_file() -> str:
    return located("failures.log")


def leave(what: str, error: str) -> None:
    """Note one failure. Never raises: whoever calls this is failing already."""
    # Not even a failure is reported: the place for reports is this one.
    try:
        _state_file().append("\t".join((timestamps.now(), _flat(what), _flat(error))) + "\n")
    except ValueError:
        pass


def recent(most: int = 20) -> list[tuple[str, str, str]]:
    """The newest failures, oldest first: when, what was being done, and what went wrong."""
    rows = [line.split("\t") for line in _state_file().lines()]
    return [(row[0], row[1], row[2]) for row in rows if len(row) == 3][-most:]


def _state_file() -> StateFile:
    return StateFile(log_file(), LARGEST, owner="")


def _flat(text: str) -> str:
    readable = text.encode("utf-8", "backslashreplace").decode()
    return " ".join(flat(readable).split())[:_LONGEST]

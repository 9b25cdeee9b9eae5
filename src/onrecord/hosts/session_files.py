"""What the sessions of several hosts have in common: where to look for files, and tool calls under the names we use."""

from __future__ import annotations

import os

from onrecord import coldstart, files, timestamps
from onrecord.hosts.events import POWERSHELL, READ, SHELL, WRITE, HostEvent
from onrecord.session.transcript import Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

MOST = 200
"""Files of one host that are looked at, the newest."""

_LATEST = 4_000_000_000_000
"""Milliseconds: a later moment is none."""

_MOST_LISTED = 20_000
_HEAD = 100_000
"""Bytes at the start of a file in which a host says where the session is held."""


def newest(folder: str, ending: str, *, depth: int) -> list[str]:
    """The newest files with such an ending in a folder and so many levels below it."""
    files_below = []
    for path in _below(folder, depth):
        if path.endswith(ending):
            try:
                files_below.append((os.stat(path).st_mtime, path))
            except OSError:
                continue
    return [path for _, path in sorted(files_below, reverse=True)[:MOST]]


def _below(folder: str, depth: int) -> Iterator[str]:
    waiting, count = [(folder, depth)], 0
    while waiting and count < _MOST_LISTED:
        here, left = waiting.pop()
        try:
            # The names of folders begin with dates, or do not matter: the newest are taken first.
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError:
            continue
        count += len(entries)
        yield from (entry.path for entry in entries if not entry.is_dir(follow_symlinks=False))
        if left:
            waiting += [(entry.path, left - 1) for entry in entries if entry.is_dir(follow_symlinks=False)]


def names(path: str, project: str, before: str, size: int = _HEAD) -> bool:
    """Whether a session's file names a project, or a folder in it, after such a text."""
    try:
        head = files.read(path, size).decode("utf-8", "replace")
    except (OSError, ValueError):
        return False
    # Some hosts write letters beyond ASCII as they are, others escape them.
    spellings = {coldstart.dumps(project)[1:-1], project.replace("\\", "\\\\").replace('"', '\\"')}
    places = [f"{each}{spelt}" for each in (before, before.replace('":"', '": "')) for spelt in spellings]
    return any(f"{place}{end}" in head for place in places for end in ('"', "/", "\\"))


def moment(milliseconds: object) -> str:
    """A moment as we write it; empty for what is none."""
    is_moment = isinstance(milliseconds, int) and 0 < milliseconds < _LATEST
    return timestamps.from_seconds(milliseconds / 1000) if is_moment else ""  # type: ignore[operator]


def tool_use(event: HostEvent, name: str, arguments: Mapping[str, Any]) -> Iterator[Message]:
    """A tool call under the names that Claude Code has for it; a patch of several files is a call for each."""
    called = {READ: "Read", WRITE: "Edit", SHELL: "Bash", POWERSHELL: "PowerShell"}.get(event.tool, name)
    if event.command:
        arguments = {**arguments, "command": event.command}
    for file in event.files or ("",):
        yield Message("assistant", "tool_use", "", called, {**arguments, "file_path": file} if file else arguments)

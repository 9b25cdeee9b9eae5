"""Finding the session files of a project, and tool calls of sessions under common names, for several hosts."""

from __future__ import annotations

import os

from onrecord import coldstart, files, timestamps
from onrecord.hosts.events import MAX_SESSIONS, POWERSHELL, READ, SHELL, WRITE, HostEvent, Payload, common_event
from onrecord.session.action import edits_of, text_added, text_removed
from onrecord.session.transcript import Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_MAX_MILLISECONDS = 4_000_000_000_000
"""Latest time that is accepted, in the year 2096."""

_MAX_ENTRIES = 20_000
"""Entries of folders that are listed."""

_HEAD_BYTES = 100_000
"""Bytes at the start of a file in which a host writes the session's folder."""


def newest(folder: str, ending: str, *, depth: int, limit: int = MAX_SESSIONS) -> list[str]:
    """Return the newest files in `folder` and up to `depth` levels below it whose names end with `ending`."""
    files_below = []
    for path in _below(folder, depth):
        if path.endswith(ending):
            try:
                files_below.append((os.stat(path).st_mtime, path))
            except OSError:
                continue
    return [path for _, path in sorted(files_below, reverse=True)[:limit]]


def of_project(
    project: str, folder: str, ending: str, *, depth: int, limit: int, prefix: str = '"cwd":"', size: int = _HEAD_BYTES
) -> list[str]:
    """Return the newest files of a folder with the sessions of all projects that name this one after `prefix`."""
    files_below = newest(folder, ending, depth=depth, limit=limit)
    return [file for file in files_below if names_project(file, project, prefix, size)]


def _below(folder: str, depth: int) -> Iterator[str]:
    pending, count = [(folder, depth)], 0
    while pending and count < _MAX_ENTRIES:
        current, levels = pending.pop()
        try:
            # Where names of folders begin with dates, the newest are listed first.
            entries = sorted(os.scandir(current), key=lambda entry: entry.name)
        except OSError:
            continue
        count += len(entries)
        yield from (entry.path for entry in entries if not entry.is_dir(follow_symlinks=False))
        if levels:
            pending += [(entry.path, levels - 1) for entry in entries if entry.is_dir(follow_symlinks=False)]


def names_project(path: str, project: str, prefix: str, size: int = _HEAD_BYTES) -> bool:
    """True if a session's file names `project`, or a folder in it, after `prefix`."""
    try:
        head = files.read(path, size).decode("utf-8", "replace")
    except (OSError, ValueError):
        return False
    # Some hosts escape letters beyond ASCII, others do not.
    spellings = {coldstart.dumps(project)[1:-1], project.replace("\\", "\\\\").replace('"', '\\"')}
    prefixes = (prefix, prefix.replace('":"', '": "'))
    starts = [f"{start}{spelling}" for start in prefixes for spelling in spellings]
    return any(f"{start}{end}" in head for start in starts for end in ('"', "/", "\\"))


def timestamp(milliseconds: object) -> str:
    """Return a timestamp in our form; empty if `milliseconds` is no time."""
    is_time = isinstance(milliseconds, int) and 0 < milliseconds < _MAX_MILLISECONDS
    return timestamps.from_seconds(milliseconds / 1000) if is_time else ""  # type: ignore[operator]


def call(name: str, arguments: Mapping[str, Any], tools: Mapping[str, str]) -> Iterator[Message]:
    """Yield a tool call, given the kinds of the host's tools by their names."""
    return tool_use(common_event("", Payload({"tool_name": name, "tool_input": arguments}), tools), name, arguments)


def tool_use(event: HostEvent, name: str, arguments: Mapping[str, Any]) -> Iterator[Message]:
    """Yield a tool call under Claude Code's name for the tool, once for each file of a patch."""
    tool = {READ: "Read", WRITE: "Edit", SHELL: "Bash", POWERSHELL: "PowerShell"}.get(event.tool, name)
    if event.command:
        arguments = {**arguments, "command": event.command}
    for file in event.files or ("",):
        if event.tool == WRITE:
            edits = edits_of(event.edits, file)
            old_text, new_text = text_removed(edits), text_added(edits)
            texts = {"content": new_text} if event.is_whole_file else {"old_string": old_text, "new_string": new_text}
            arguments = {**arguments, **texts}
        yield Message("assistant", "tool_use", "", tool, {**arguments, "file_path": file} if file else arguments)

"""Checks record files that got past the guard, after the tool has run.

A file that is not JSON, and that the agent's own file tool has just written, is renamed: no record is lost. Any other
file that cannot be read as a record is only reported. A shell command such as `git pull` may have written it with other
people's content, and git would take a renamed file for a deleted one.
"""

from __future__ import annotations

import os
import time

from onrecord import files, paths
from onrecord.errors import BadRecord, OnrecordError
from onrecord.record import memory
from onrecord.store import record_names
from onrecord.store.store import Store

_RECENT_SECONDS = 120.0
"""A file that changed in this time may have been written by the last command: hosts stop one after two minutes."""

_MAX_FILES = 20
"""Files that are checked after a command: a checkout may write thousands."""


def check(root: str, file: str = "", now: float | None = None) -> list[str]:
    """Return the problems of `file`, which a tool wrote; without it, of the files that a command may have written."""
    store = Store(root)
    if file and not paths.is_within(root, file):
        return []
    if file:
        path = os.path.relpath(os.path.realpath(file), os.path.realpath(root)).replace(os.sep, "/")
        sentences = [_set_aside(root, path) or _problem(store, path)] if path in record_names.paths(root) else []
    else:
        sentences = [_problem(store, path) for path in _recent(root, time.time() if now is None else now)]
    return [sentence for sentence in sentences if sentence]


def _problem(store: Store, path: str) -> str:
    """Return the reason why a file cannot be read as a record; empty if it can."""
    try:
        store.read(path)
    except OnrecordError as error:
        return f"{error.message} ({error.fix})."
    return ""


def _set_aside(root: str, path: str) -> str:
    """Rename a file that is not JSON, and return a sentence about it; empty for JSON."""
    full = os.path.join(root, path)
    try:
        memory.decode(files.read_inside(root, path, memory.MAX_FILE_BYTES + 1), path)
    except BadRecord as error:
        aside = _free_name(root, path)
        os.rename(full, os.path.join(root, aside))
        return (
            f"{error.message}. It was moved to {aside}, nothing is lost. Save it again with"
            " `onrecord save`, which says what is missing."
        )
    except OSError:
        return ""
    return ""


def _free_name(root: str, path: str) -> str:
    number = 0
    while True:
        aside = f"{path}.invalid" + (f"-{number}" if number else "")
        if not os.path.lexists(os.path.join(root, aside)):
            return aside
        number += 1


def _recent(root: str, now: float) -> list[str]:
    """Return the record files that were changed just now, the newest first."""
    changed = []
    for path in record_names.paths(root):
        try:
            changed.append((os.lstat(os.path.join(root, path)).st_mtime, path))
        except OSError:
            continue
    return [path for when, path in sorted(changed, reverse=True)[:_MAX_FILES] if when > now - _RECENT_SECONDS]

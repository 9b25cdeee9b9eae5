"""Records written past the guard are checked after the tool has run.

Only what is not JSON, and was written just now by the agent's own file tool, is set aside: no record is in it to lose.
Whatever else cannot be read as a record is reported and left where it is: a shell command such as `git pull` brings
files that other people wrote, and to git a renamed file is a deleted one.
"""

from __future__ import annotations

import os
import time

from onrecord import files, paths
from onrecord.errors import BadRecord, OnrecordError
from onrecord.record import memory
from onrecord.store import record_names
from onrecord.store.store import Store

_RECENT = 120.0
"""Seconds since a change that a command which has just ended may have made: hosts stop a command after two minutes."""

_MOST = 20
"""Files looked at after a command, so that a checkout of thousands costs a hook no more than a few."""


def check(root: str, written: str = "", now: float | None = None) -> list[str]:
    """What is wrong with the file that a tool wrote, or with those that a command may have: a sentence for each."""
    store = Store(root)
    if written and not paths.is_within(root, written):
        return []
    if written:
        path = os.path.relpath(os.path.realpath(written), os.path.realpath(root)).replace(os.sep, "/")
        sentences = [_set_aside(root, path) or _problem(store, path)] if path in record_names.paths(root) else []
    else:
        sentences = [_problem(store, path) for path in _recent(root, time.time() if now is None else now)]
    return [sentence for sentence in sentences if sentence]


def _problem(store: Store, path: str) -> str:
    """Why a file cannot be read as a record; empty for a record, however flawed."""
    try:
        store.read(path)
    except OnrecordError as error:
        return f"{error.message} ({error.fix})."
    return ""


def _set_aside(root: str, path: str) -> str:
    """Rename a file that is not JSON, so that nothing reads it as a record; the sentence that says so."""
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
    """The record files that changed last, if they did so just now."""
    changed = []
    for path in record_names.paths(root):
        try:
            changed.append((os.lstat(os.path.join(root, path)).st_mtime, path))
        except OSError:
            continue
    return [path for when, path in sorted(changed, reverse=True)[:_MOST] if when > now - _RECENT]

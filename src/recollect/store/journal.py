"""Several files changed as one step: written down first, then done, so that the next writer can finish it.

The journal is a file like any other. What no batch could have written is not done, and neither is a step on a
file that somebody has changed since.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Union

from recollect import coldstart, files, paths
from recollect.errors import RecollectError, Unwritable
from recollect.record import memory, schema

_NAME = ".journal"
_LARGEST = 1 << 30

Changes = Mapping[str, Union[str, None]]
"""The new text of each file, or None for a file that goes."""


def is_open(root: str) -> bool:
    """Whether a writer began a change and has not ended it."""
    return os.path.lexists(_file(root))


def begin(root: str, changes: Changes) -> None:
    """Write down what will change, and change it; where the first change fails, nothing has happened."""
    steps = {path: [_state(root, path), text] for path, text in changes.items()}
    files.write(_file(root), json.dumps(steps).encode("utf-8"))
    done = 0
    try:
        for path, text in changes.items():
            _make(os.path.join(root, path), text)
            done += 1
    except Unwritable as error:
        if not done:
            end(root)
            raise
        raise Unwritable(error.message, fix=f"{error.fix}; the next command will finish the change") from error


def end(root: str) -> None:
    files.remove(_file(root))


def finish(root: str) -> None:
    """Do what is left of a change that was begun."""
    for path, step in _steps(root).items():
        if _is_ours(root, path, step) and _state(root, path) == step[0]:
            _make(os.path.join(root, path), step[1])


def _steps(root: str) -> dict[str, list[str]]:
    file = _file(root)
    if os.path.islink(file) or not os.path.isfile(file):
        return {}
    try:
        steps = json.loads(files.read_inside(root, _NAME, _LARGEST).decode("utf-8"))
    except OSError as error:
        raise Unwritable(f"cannot read {file}: {error.strerror}", fix=f"chmod u+rw {file}") from error
    except (ValueError, RecursionError):
        return {}
    return steps if isinstance(steps, dict) else {}


def _is_ours(root: str, path: str, step: object) -> bool:
    """Whether a batch could have written this step."""
    folder, _, name = path.partition("/")
    if "/" in name or not name.endswith(".json") or name[0] == "." or not isinstance(step, list) or len(step) != 2:
        return False
    # A draft only ever goes: it becomes a record, or part of one.
    is_draft = folder == paths.INBOX and step[1] is None
    if (folder not in schema.FOLDERS.values() and not is_draft) or os.path.isdir(os.path.join(root, path)):
        return False
    try:
        files.inside(root, path)
        return step[1] is None or memory.parse(step[1].encode("utf-8"), path).path == path
    except (AttributeError, UnicodeEncodeError, RecollectError):
        return False


def _state(root: str, path: str) -> str:
    """A fingerprint of what a file holds now; empty if there is none."""
    try:
        return coldstart.digest(files.read_inside(root, path, memory.LARGEST_FILE + 1))
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Unwritable(
            f"cannot read {os.path.join(root, path)}: {error}", fix="check what it is, and its permissions"
        ) from error


def _make(path: str, text: str | None) -> None:
    if text is None:
        files.remove(path)
    else:
        files.write(path, text.encode("utf-8"))


def _file(root: str) -> str:
    return os.path.join(root, _NAME)

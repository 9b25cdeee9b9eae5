"""Several files changed as one step: written down first, then done, so that the next writer can finish it.

The journal is a file like any other. What no batch could have written is not done, and neither is a step on a
file that somebody has changed since.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Union

from onrecord import coldstart, files, paths
from onrecord.errors import OnrecordError, Unwritable
from onrecord.record import drafts, memory, schema
from onrecord.store import history
from onrecord.store.history import FileChange

_NAME = ".journal"
_LARGEST = 1 << 30
Changes = Mapping[str, Union[str, None]]
"""The new text of each file, or None for a file that goes."""


def is_open(root: str) -> bool:
    """Whether a writer began a change and has not ended it."""
    return os.path.lexists(_file(root))


def begin(root: str, changes: Changes, action: str, undoes: str = "") -> str:
    """Write down what will change, and change it; where the first change fails, nothing has happened.

    The id that the change has in the history.
    """
    steps = {path: [state(root, path), new] for path, new in changes.items()}
    change_id = history.begin(root, action, tuple(_logged(root, changes)), undoes)
    files.write(_file(root), json.dumps(steps).encode("utf-8"))
    done = 0
    # What is not on the disk yet is in the journal, which is.
    is_lasting = files.waits_for_each(len(changes))
    try:
        for path, new in changes.items():
            _make(os.path.join(root, path), new, is_lasting)
            done += 1
    except Unwritable as error:
        if not done:
            end(root)
            raise
        raise Unwritable(error.message, fix=f"{error.fix}; the next command will finish the change") from error
    if not is_lasting:
        os.sync()
    return change_id


def end(root: str, change_id: str = "") -> None:
    files.remove(_file(root))
    if change_id:
        history.end(root, change_id)


def _logged(root: str, changes: Changes) -> Iterator[FileChange]:
    for path, new in changes.items():
        before = text(root, path)
        title = history.title_in(new) or history.title_in(before)
        yield FileChange(path, before, fingerprint(new), title)


def finish(root: str) -> None:
    """Do what is left of a change that was begun."""
    for path, step in _steps(root).items():
        if _is_ours(root, path, step) and state(root, path) == step[0]:
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
    is_draft = folder == paths.INBOX
    if (folder not in schema.FOLDERS.values() and not is_draft) or os.path.isdir(os.path.join(root, path)):
        return False
    try:
        files.inside(root, path)
        return step[1] is None or _is_at_home(step[1].encode("utf-8"), path, is_draft)
    except (AttributeError, UnicodeEncodeError, OnrecordError):
        return False


def _is_at_home(data: bytes, path: str, is_draft: bool) -> bool:
    """Whether a text is a draft, or a record that belongs at this path."""
    return bool(drafts.parse(path, data)) if is_draft else memory.parse(data, path).path == path


def fingerprint(text: str | None) -> str:
    """The fingerprint of a file that holds a text; empty for no file."""
    return "" if text is None else coldstart.digest(text.encode("utf-8"))


def state(root: str, path: str) -> str:
    """A fingerprint of what a file holds now; empty if there is none."""
    data = _read(root, path)
    return "" if data is None else coldstart.digest(data)


def text(root: str, path: str) -> str | None:
    """What a file holds now; None if there is none."""
    data = _read(root, path)
    return None if data is None else data.decode("utf-8", "replace")


def _read(root: str, path: str) -> bytes | None:
    try:
        return files.read_inside(root, path, memory.LARGEST_FILE + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unwritable(
            f"cannot read {os.path.join(root, path)}: {error}", fix="check what it is, and its permissions"
        ) from error


def _make(path: str, text: str | None, is_lasting: bool = True) -> None:
    if text is None:
        files.remove(path)
    else:
        files.write(path, text.encode("utf-8"), lasting=is_lasting)


def _file(root: str) -> str:
    return os.path.join(root, _NAME)

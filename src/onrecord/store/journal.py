"""The journal of a store: a change is written here first, so that the next writer can finish it after a crash.

The journal is an ordinary file that anyone may edit. So a step is skipped if no batch could have written it, or if its
file was changed since.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from onrecord import files, paths
from onrecord.errors import OnrecordError, Unwritable
from onrecord.record import drafts, memory, schema
from onrecord.store import history
from onrecord.store.history import LoggedFile, NewTexts, current_hash, current_text, text_hash

_NAME = ".journal"
_MAX_BYTES = 1 << 30


def is_open(root: str) -> bool:
    """True if a writer began a change and did not end it."""
    return os.path.lexists(_file(root))


def begin(root: str, new_texts: NewTexts, action: str, undoes: str = "") -> str:
    """Write the journal, then the files of `new_texts`, and return the id of the change in the history.

    Raises Unwritable. If the first file cannot be written, nothing was changed.
    """
    steps = {path: [current_hash(root, path), text] for path, text in new_texts.items()}
    change_id = history.begin(root, action, tuple(_logged_files(root, new_texts)), undoes)
    files.write(_file(root), json.dumps(steps).encode("utf-8"))
    count = 0
    # A crash loses nothing: the journal is on the disk before the first file is written.
    is_lasting = files.waits_for_each(len(new_texts))
    try:
        for path, text in new_texts.items():
            _write(os.path.join(root, path), text, is_lasting)
            count += 1
    except Unwritable as error:
        if not count:
            end(root)
            raise
        raise Unwritable(error.message, fix=f"{error.fix}; the next command will finish the change") from error
    if not is_lasting:
        os.sync()
    return change_id


def end(root: str, change_id: str = "") -> None:
    """Delete the journal, and log in the history that the change was made."""
    files.remove(_file(root))
    if change_id:
        history.end(root, change_id)


def _logged_files(root: str, new_texts: NewTexts) -> Iterator[LoggedFile]:
    for path, text in new_texts.items():
        before = current_text(root, path)
        title = history.title_in(text) or history.title_in(before)
        yield LoggedFile(path, before, text_hash(text), title)


def finish(root: str) -> None:
    """Make the remaining steps of an interrupted change."""
    for path, step in _steps(root).items():
        if _is_ours(root, path, step) and current_hash(root, path) == step[0]:
            _write(os.path.join(root, path), step[1])


def _steps(root: str) -> dict[str, list[str]]:
    file = _file(root)
    if os.path.islink(file) or not os.path.isfile(file):
        return {}
    try:
        steps = json.loads(files.read_inside(root, _NAME, _MAX_BYTES).decode("utf-8"))
    except OSError as error:
        raise Unwritable(f"cannot read {file}: {error.strerror}", fix=f"chmod u+rw {file}") from error
    except (ValueError, RecursionError):
        return {}
    return steps if isinstance(steps, dict) else {}


def _is_ours(root: str, path: str, value: Any) -> bool:
    """True if a batch could have written `value` as the step for `path`."""
    folder, _, name = path.partition("/")
    if "/" in name or not name.endswith(".json") or name[0] == "." or not isinstance(value, list) or len(value) != 2:
        return False
    is_draft = folder == paths.INBOX
    if (folder not in schema.FOLDERS.values() and not is_draft) or os.path.isdir(os.path.join(root, path)):
        return False
    try:
        files.inside(root, path)
        return value[1] is None or _belongs_at(value[1].encode("utf-8"), path, is_draft)
    except (AttributeError, UnicodeEncodeError, OnrecordError):
        return False


def _belongs_at(data: bytes, path: str, is_draft: bool) -> bool:
    """True if `data` is a draft, or a record whose path is `path`."""
    return bool(drafts.parse(path, data)) if is_draft else memory.parse(data, path).path == path


def _write(path: str, text: str | None, is_lasting: bool = True) -> None:
    if text is None:
        files.remove(path)
    else:
        files.write(path, text.encode("utf-8"), lasting=is_lasting)


def _file(root: str) -> str:
    return os.path.join(root, _NAME)

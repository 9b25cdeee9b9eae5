"""The journal of a store: a change is written here first, so that the next writer can finish it after a crash.

The journal is an ordinary file that anyone may edit. So a step is skipped if no batch could have written it, or if its
file was changed since.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from typing import Any

from onrecord import files, paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError, Unwritable
from onrecord.record import drafts, memory, schema
from onrecord.store import history
from onrecord.store.history import LoggedFile, NewTexts, current_data, current_hash, data_hash, text_hash

_MAX_BYTES = 1 << 30
UNFINISHED = "the next change will finish this one"
"""Part of the fix if some files of a change are written and others are not."""


_last_made = [""]


def last_made() -> str:
    """Return the id of the last change that this command made; empty if it made none."""
    return _last_made[0]


def forget_made() -> None:
    """Forget it: another command begins in the same process."""
    _last_made[0] = ""


def is_open(root: str) -> bool:
    """True if a writer began a change and did not end it. Raises Unwritable."""
    return files.is_there(_file(root))


class BegunChange(NamedTuple):
    """A change whose files are all written: its id in the history, and what the disk did not confirm."""

    id: str
    warning: str


def begin(root: str, new_texts: NewTexts, action: str, undoes: str = "") -> BegunChange:
    """Write the journal, then the files of `new_texts`.

    After an error the files decide what happened. If all of them are new, the change was made. Otherwise those that
    are new get their old content back, Unwritable is raised, and nothing was changed. If that fails too, the journal
    stays, and the error says that the next change finishes this one.
    """
    old_data = {path: current_data(root, path) for path in new_texts}
    steps = {path: [data_hash(old_data[path]), text] for path, text in new_texts.items()}
    change_id = history.begin(root, action, tuple(_logged_files(old_data, new_texts)), undoes)
    # A crash loses nothing: the journal is on the disk before the first file is written.
    is_lasting = files.waits_for_each(len(new_texts))
    try:
        if files.write(_file(root), json.dumps(steps).encode("utf-8")) is False:
            raise Unwritable(f"cannot write {_file(root)}: the disk did not confirm it", fix="check the disk")
        unconfirmed = [
            path for path, text in new_texts.items() if not _write(os.path.join(root, path), text, is_lasting)
        ]
    except Unwritable as error:
        if not _is_made(root, new_texts):
            raise _taken_back(root, old_data, error) from error
        _last_made[0] = change_id
        return BegunChange(change_id, error.message)
    _last_made[0] = change_id
    if not is_lasting:
        os.sync()
    return BegunChange(change_id, "the disk did not confirm that they will outlast a crash" if unconfirmed else "")


def _is_made(root: str, new_texts: NewTexts) -> bool:
    """True if all files have their new text; False if one has not, or cannot be read."""
    try:
        return all(current_hash(root, path) == text_hash(text) for path, text in new_texts.items())
    except OnrecordError:
        return False


def _may_be_open(root: str) -> bool:
    try:
        return is_open(root)
    except Unwritable:
        return True


def _taken_back(root: str, old_data: Mapping[str, bytes | None], error: Unwritable) -> Unwritable:
    """Give all files their old content back, end the change, and return the error that says what happened."""
    try:
        for path, data in old_data.items():
            if current_data(root, path) != data and len(data or b"") <= memory.MAX_FILE_BYTES:
                _write_data(os.path.join(root, path), data)
        files.remove(_file(root))
    except OnrecordError:
        if _may_be_open(root):
            return Unwritable(error.message, fix=f"{error.fix}; {UNFINISHED}")
    return Unwritable(error.message, fix=f"{error.fix}; nothing was changed")


def end(root: str, change_id: str = "") -> None:
    """Delete the journal, and log in the history that the change was made."""
    files.remove(_file(root))
    if change_id:
        history.end(root, change_id)


def _logged_files(old_data: Mapping[str, bytes | None], new_texts: NewTexts) -> Iterator[LoggedFile]:
    for path, text in new_texts.items():
        data = old_data[path]
        before = None if data is None else data.decode("utf-8", "replace")
        title = history.title_in(text) or history.title_in(before)
        yield LoggedFile(path, before, text_hash(text), title)


def finish(root: str) -> None:
    """Make the remaining steps of an interrupted change."""
    for path, step in _steps(root).items():
        if _is_ours(root, path, step) and current_hash(root, path) == step[0]:
            _write(os.path.join(root, path), step[1])


def _steps(root: str) -> dict[str, list[str]]:
    file = _file(root)
    status = files.status(file)
    if os.path.islink(file) or status is None or not stat.S_ISREG(status.st_mode):
        return {}
    try:
        steps = json.loads(files.read_inside(root, paths.JOURNAL, _MAX_BYTES).decode("utf-8"))
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


def _write(path: str, text: str | None, is_lasting: bool = True) -> bool:
    return _write_data(path, None if text is None else text.encode("utf-8"), is_lasting)


def _write_data(path: str, data: bytes | None, is_lasting: bool = True) -> bool:
    """Write a file, or delete it. Return False if the disk did not confirm it. Raises Unwritable."""
    if data is None:
        files.remove(path)
        return True
    return files.write(path, data, lasting=is_lasting)


def _file(root: str) -> str:
    return os.path.join(root, paths.JOURNAL)

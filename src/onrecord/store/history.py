"""The history of a store on this machine, which `onrecord log` prints, and `undo`.

A change is logged with the old text of each file. The file is in the user's state folder, not in the store: otherwise
anyone who can write to the repository could plant text for an undo to write. One line is added before a change is made
and one after it, so if a writer is killed, the first line still shows which files it may have changed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Union

from onrecord import coldstart, files, paths, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.errors import CannotUndo, NotFound, Unwritable
from onrecord.record import author as record_author
from onrecord.record import memory
from onrecord.state_file import StateFile
from onrecord.store import rights
from onrecord.text import first_few

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.store.store import Batch, Store

FOLDER = "history"
SYNC = rights.SYNC
"""The action of a change that copied other people's changes from a shared store. It cannot be undone."""

_MAX_BYTES = 16_000_000
"""Largest history of a store; beyond it, the older half is dropped. One changed record takes 2,000 to 4,000 bytes."""

_MAX_CHANGE_CHARACTERS = 6_000_000
"""Longest change that is logged with its texts, so that several fit in a history; a longer one has only file names."""

NewTexts = Mapping[str, Union[str, None]]
"""The new text of each file of a change by its path; None for a file to delete."""


class LoggedFile(NamedTuple):
    """One file of a change: its text before (None if there was no file), and a hash of its text after."""

    path: str
    before: Union[str, None]
    after: str
    title: str


class LoggedChange(NamedTuple):
    """A change in the log: when it was made, by whom, which action it was, and its files."""

    id: str
    at: str
    action: str
    by: str
    files: tuple[LoggedFile, ...]
    is_whole: bool
    """False if it was too large to log the old texts: it cannot be undone."""

    undoes: str
    """The id of the change that it undid."""

    is_done: bool = False
    """False if the writer was killed before it logged the end of the change."""

    is_undone: bool = False


def author() -> str:
    """Return `agent` if an agent started this program, else `person`."""
    return "agent" if record_author.detect().host else "person"


def begin(root: str, action: str, files: tuple[LoggedFile, ...], undoes: str = "") -> str:
    """Log a change that is about to be made, and return its id."""
    seed = f"{root}{os.getpid()}{time.monotonic_ns()}"
    # Eight hex digits are enough for the few thousand changes of a history.
    change_id = coldstart.content_hash(seed.encode("utf-8", "surrogatepass"))[:8]
    detected = record_author.detect()
    by = action if action in ("import", SYNC) else str(detected) if detected.host else author()
    fields = {"id": change_id, "at": timestamps.now(), "action": action, "by": by, "undoes": undoes}
    text = json.dumps({**fields, "files": [list(file) for file in files]})
    if len(text) > _MAX_CHANGE_CHARACTERS:
        names = [[file.path, None, file.after, file.title] for file in files]
        text = json.dumps({**fields, "files": names, "cut": True})
    _file(root).append(text + "\n")
    return change_id


def end(root: str, change_id: str) -> None:
    """Log that a change was made."""
    _file(root).append(json.dumps({"done": change_id}) + "\n")


def read(root: str) -> list[LoggedChange]:
    """Return the changes of a store, oldest first; lines that cannot be parsed are skipped. Raises Unwritable."""
    lines = [fields for line in _file(root).lines(is_strict=True) if (fields := _parse_line(line)) is not None]
    done_ids = {change_id for fields in lines if isinstance(change_id := fields.get("done"), str)}
    changes = [change for fields in lines if (change := _change(fields)) is not None]
    undone_ids: set[str] = set()
    for change in reversed(changes):
        # A change whose undo was undone itself is in force again.
        if change.undoes and change.id in done_ids and change.id not in undone_ids:
            undone_ids.add(change.undoes)
    return [change._replace(is_done=change.id in done_ids, is_undone=change.id in undone_ids) for change in changes]


def forget(root: str) -> None:
    """Delete the history of a store that was removed."""
    files.remove(_file(root).path)


def title_in(text: str | None) -> str:
    """Return the title of the record or draft in `text`; empty if there is none."""
    raw = _parse_line(text or "") or {}
    record = raw.get("record") if isinstance(raw.get("record"), dict) else raw
    title = record.get("title") if isinstance(record, dict) else ""
    return title if isinstance(title, str) else ""


def _file(root: str) -> StateFile:
    name = coldstart.content_hash(os.path.realpath(root).encode("utf-8", "surrogatepass"))
    return StateFile(os.path.join(paths.state_dir(), FOLDER, f"{name}.jsonl"), _MAX_BYTES, "history")


def _parse_line(text: str) -> dict[str, Any] | None:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _change(fields: Mapping[str, Any]) -> LoggedChange | None:
    texts = [text for key in ("id", "at", "action", "by") if isinstance(text := fields.get(key), str)]
    rows = fields.get("files")
    if len(texts) < 4 or not isinstance(rows, list):
        return None
    files = tuple(LoggedFile(*row) for row in rows if isinstance(row, list) and len(row) == len(LoggedFile._fields))
    undoes = fields.get("undoes")
    is_whole = not fields.get("cut") and len(files) == len(rows)
    change_id, at, action, by = texts
    return LoggedChange(change_id, at, action, by, files, is_whole, undoes if isinstance(undoes, str) else "")


class Undone(NamedTuple):
    """The result of an undo: the change that was undone, the files restored, and the files skipped."""

    change: LoggedChange
    restored: tuple[LoggedFile, ...]
    skipped: tuple[LoggedFile, ...]


def undo(store: Store, change_id: str = "", *, skip_changed: bool = False) -> Undone:
    """Undo the change with this id, or the last one. Raises CannotUndo if a file was changed since, and NotFound."""
    with store.writing("undo") as batch:
        change = _find_change(store.root, read(store.root), change_id)
        unchanged, changed = _split_by_state(store.root, change)
        if changed and not skip_changed:
            raise _conflict(change, changed)
        batch.undoes = change.id
        for file in unchanged:
            _restore(batch, file)
    return Undone(change, unchanged, changed)


def _find_change(root: str, history: Sequence[LoggedChange], change_id: str) -> LoggedChange:
    """Return the change with this id, or the last that can be undone; an undo is undone only by its id."""
    if change_id:
        candidates = [change for change in history if change.id.startswith(change_id)]
    else:
        candidates = [change for change in history if not change.undoes and change.action not in ("undo", SYNC)]
    for change in reversed(candidates):
        if change.is_undone and change_id:
            raise CannotUndo(f"the change {change.id} is already undone", fix="onrecord log")
        if not change.is_undone and _has_happened(root, change):
            return _undoable(change)
    message = f"no change {change_id!r} is in the log" if change_id else "there is no change to undo"
    raise NotFound(message, fix="to see what was changed on this machine: onrecord log; git has the rest")


def _undoable(change: LoggedChange) -> LoggedChange:
    if change.action == SYNC:
        raise CannotUndo(
            f"the sync of {change.at} cannot be undone: the shared store would get the old versions",
            fix="change or retire its records one by one; to see which: onrecord log",
        )
    if change.is_whole:
        return change
    raise CannotUndo(
        f"the {change.action} of {change.at} changed {len(change.files):,} files, too much to keep the old versions",
        fix="restore them with git: git log -- .claude/memory",
    )


def _has_happened(root: str, change: LoggedChange) -> bool:
    """True unless the writer of `change` was killed before it changed anything."""
    return change.is_done or any(current_hash(root, file.path) != text_hash(file.before) for file in change.files)


def _split_by_state(root: str, change: LoggedChange) -> tuple[tuple[LoggedFile, ...], tuple[LoggedFile, ...]]:
    """Return the files still as `change` left them, and the files changed since, without those already restored."""
    hashes = [(file, current_hash(root, file.path), text_hash(file.before)) for file in change.files]
    unchanged = tuple(file for file, now, before in hashes if now == file.after and now != before)
    changed = tuple(file for file, now, before in hashes if now not in (file.after, before))
    return unchanged, changed


def _conflict(change: LoggedChange, files: Sequence[LoggedFile]) -> CannotUndo:
    names = first_few([file.path for file in files])
    return CannotUndo(
        f"the {change.action} of {change.at} cannot be undone: changed since: {names}",
        fix="to see later changes, which can be undone first: onrecord log; to undo the rest and leave these "
        f"files as they are: onrecord undo {change.id} --skip-changed",
    )


def _restore(batch: Batch, logged: LoggedFile) -> None:
    if logged.before is None:
        batch.drop(logged.path)
    else:
        batch.restore(logged.path, logged.before)


def text_hash(text: str | None) -> str:
    """Return the hash of a file with this text; empty for no file."""
    return "" if text is None else coldstart.content_hash(text.encode("utf-8"))


def data_hash(data: bytes | None) -> str:
    """Return the hash of a file with this content; empty for no file."""
    return "" if data is None else coldstart.content_hash(data)


def current_hash(root: str, path: str) -> str:
    """Return the hash of a file of the store; empty if there is no such file. Raises Unwritable."""
    return data_hash(current_data(root, path))


def current_data(root: str, path: str) -> bytes | None:
    """Return the content of a file of the store; None if there is no such file. Raises Unwritable."""
    try:
        return files.read_inside(root, path, memory.MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unwritable(
            f"cannot read {os.path.join(root, path)}: {error}", fix="check the file's type and permissions"
        ) from error

"""Taking a change back: every file gets what it held before, unless somebody has changed it since."""

from __future__ import annotations

from collections.abc import Sequence

from onrecord.coldstart import NamedTuple
from onrecord.errors import CannotUndo, NotFound
from onrecord.store import history, journal
from onrecord.store.history import FileChange, LoggedChange
from onrecord.store.store import Batch, Store
from onrecord.text import first_few


class Undone(NamedTuple):
    """What an undo did: the change it took back, the files that are as before, and those left as they are."""

    change: LoggedChange
    restored: tuple[FileChange, ...]
    skipped: tuple[FileChange, ...] = ()


def undo(store: Store, change_id: str = "", *, skip_changed: bool = False) -> Undone:
    """Take the last change back, or the one with this id; CannotUndo if a file has changed since."""
    with store.writing("undo") as batch:
        change = _chosen(store.root, history.read(store.root), change_id)
        as_after, changed = _compared(store.root, change)
        if changed and not skip_changed:
            raise _conflict(change, changed)
        batch.undoes = change.id
        for file in as_after:
            _restore(batch, file)
    return Undone(change, as_after, changed)


def _chosen(root: str, changes: Sequence[LoggedChange], change_id: str) -> LoggedChange:
    """The change to take back: the named one, or the last of ours that was made, no undo, and not taken back yet."""
    candidates = [change for change in changes if not change.undoes and change.action != "undo"]
    if change_id:
        candidates = [change for change in candidates if change.id.startswith(change_id)]
    else:
        candidates = [change for change in candidates if change.action != history.SYNC]
    for change in reversed(candidates):
        if change.is_undone and change_id:
            raise CannotUndo(f"the change {change.id} is taken back already", fix="onrecord log")
        if not change.is_undone and _has_happened(root, change):
            return _undoable(change)
    named = f"no change {change_id!r} is in the log" if change_id else "there is no change to take back"
    raise NotFound(named, fix="to see what was changed on this machine: onrecord log; git has the rest")


def _undoable(change: LoggedChange) -> LoggedChange:
    if change.action == history.SYNC:
        raise CannotUndo(
            f"the sync of {change.at} cannot be taken back: the shared store would get the old versions",
            fix="change or retire its records one by one; to see which: onrecord log",
        )
    if change.is_whole:
        return change
    raise CannotUndo(
        f"the {change.action} of {change.at} changed {len(change.files):,} files, too much to keep what they held",
        fix="restore them with git: git log -- .claude/memory",
    )


def _has_happened(root: str, change: LoggedChange) -> bool:
    """False for a change whose writer was killed before it changed anything."""
    return change.is_done or any(_state(root, file) != _fingerprint(file.before) for file in change.files)


def _compared(root: str, change: LoggedChange) -> tuple[tuple[FileChange, ...], tuple[FileChange, ...]]:
    """The files that are as the change left them, and those that were changed since; the rest are as before already."""
    states = [(file, _state(root, file)) for file in change.files]
    as_after = tuple(file for file, state in states if state == file.after and state != _fingerprint(file.before))
    changed = tuple(file for file, state in states if state not in (file.after, _fingerprint(file.before)))
    return as_after, changed


def _conflict(change: LoggedChange, changed: Sequence[FileChange]) -> CannotUndo:
    names = first_few([file.path for file in changed])
    return CannotUndo(
        f"the {change.action} of {change.at} cannot be taken back: changed since: {names}",
        fix="to see later changes, which can be taken back first: onrecord log; to take back the rest and leave these "
        f"files as they are: onrecord undo {change.id} --skip-changed",
    )


def _restore(batch: Batch, file: FileChange) -> None:
    if file.before is None:
        batch.drop(file.path)
    else:
        batch.restore(file.path, file.before)


def _state(root: str, file: FileChange) -> str:
    return journal.state(root, file.path)


def _fingerprint(text: str | None) -> str:
    return journal.fingerprint(text)

"""Records that two people renamed at the same time: both new names stay, and a person must choose one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from recollect.coldstart import NamedTuple
from recollect.record import memory
from recollect.remotes import door


class RenamedTwice(NamedTuple):
    """A record that was renamed on both sides: its id before, and the paths under which it is now."""

    old: str
    theirs: str
    ours: str


def twice(theirs: Iterable[str], ours: Iterable[str], read: Callable[[str], bytes]) -> tuple[RenamedTwice, ...]:
    """Of the files that are new on either side, the records that had the same id before."""
    names = {old: path for path in ours for old in _earlier(path, read)}
    return tuple(
        RenamedTwice(old, path, names[old])
        for path in (theirs if names else ())
        for old in _earlier(path, read)
        if old in names
    )


def _earlier(path: str, read: Callable[[str], bytes]) -> set[str]:
    """The ids that a record had before; none for a draft, or for a file that is gone or no record by now."""
    data = b"" if door.is_draft(path) else read(path)
    if not data or door.flaw(path, data):
        return set()
    changes = memory.from_json(memory.decode(data, path)).changes
    ids = {change.old for change in changes if change.field == "id" and isinstance(change.old, str)}
    # Others wrote this history, and it is shown to people: only what can be an id counts.
    return {old for old in ids if not door.flaw_of_path(f"{path.rpartition('/')[0]}/{old}.json")}

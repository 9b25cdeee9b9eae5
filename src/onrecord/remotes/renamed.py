"""Records that one side renamed while the other renamed or changed them: two records stay, and a person chooses one."""

from __future__ import annotations

from collections.abc import Callable, Collection

from onrecord.coldstart import NamedTuple
from onrecord.record import memory
from onrecord.remotes import door


class Renamed(NamedTuple):
    """A record that is there twice since it was renamed: its id before, and the paths of both."""

    old: str
    theirs: str
    ours: str


def pairs(
    theirs: Collection[str], ours: Collection[str], revived: Collection[str], read: Callable[[str], bytes]
) -> tuple[Renamed, ...]:
    """The records that had the same id before, of the files that are new on a side or that only one side deleted."""
    if not (theirs or revived) or not (ours or revived):
        return ()
    stayed = {door.stem(path): path for path in revived}
    our_names = {**stayed, **{old: path for path in ours for old in _earlier(path, read)}}
    their_names = [*((old, path) for path in theirs for old in _earlier(path, read)), *stayed.items()]
    return tuple(Renamed(old, path, our_names[old]) for old, path in their_names if our_names.get(old, path) != path)


def _earlier(path: str, read: Callable[[str], bytes]) -> set[str]:
    """The ids that a record had before; none for a draft, or for a file that is gone or no record by now."""
    data = b"" if door.is_draft(path) else read(path)
    if not data or door.flaw(path, data):
        return set()
    changes = memory.from_json(memory.decode(data, path)).changes
    ids = {change.old for change in changes if change.field == "id" and isinstance(change.old, str)}
    # Others wrote this history, and it is shown to people: only what can be an id counts.
    return {old for old in ids if not door.flaw_of_path(f"{path.rpartition('/')[0]}/{old}.json")}

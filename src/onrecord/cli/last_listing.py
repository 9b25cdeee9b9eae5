"""The records that were listed last on this terminal, so that one can be named by its number: `onrecord show 3`.

A listing belongs to one session of one terminal, and is forgotten after a day. Without a terminal there is none: an
agent's number could mean the listing of somebody else.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from itertools import islice

from onrecord import coldstart, paths
from onrecord.coldstart import NamedTuple
from onrecord.state_file import LIFETIMES, StateFile

FOLDER = "listings"
_MOST = 1_000
"""Records of a listing that can be named: nobody reads a number beyond that off a screen."""

_LARGEST = 1_000_000


class ListedPath(NamedTuple):
    """A record or draft that was listed: its store, and its path in it."""

    root: str
    path: str


def note(listed: Iterable[ListedPath]) -> None:
    """Keep what was listed, if it was listed on a terminal."""
    file = _file()
    if file is not None and sys.stdout.isatty():
        file.replace(json.dumps([list(each) for each in islice(listed, _MOST)]).encode("utf-8", "surrogatepass"))


def number(typed: str) -> ListedPath | None:
    """What a number means here; None for any other text, and for a number that was not listed."""
    if not (typed.isascii() and typed.isdigit() and len(typed) <= len(str(_MOST))):
        return None
    listed = _listed()
    return listed[int(typed) - 1] if 1 <= int(typed) <= len(listed) else None


def _listed() -> list[ListedPath]:
    file = _file()
    if file is None or not _is_recent(file.path):
        return []
    try:
        return [ListedPath(str(root), str(path)) for root, path in json.loads(file.read() or b"[]")]
    except (ValueError, TypeError):
        # Cut short by a full disk, or changed by hand: as good as none.
        return []


def _is_recent(path: str) -> bool:
    try:
        return time.time() - os.stat(path).st_mtime < LIFETIMES[FOLDER] * 86_400
    except OSError:
        return False


def _file() -> StateFile | None:
    """The file for this terminal; None if no stream of ours is one, or the terminal has no name here."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is not None and stream.isatty():
            try:
                name = coldstart.content_hash(_terminal(stream.fileno()).encode())[:16]
            except OSError:
                # In a container the terminal may be one of the machine outside, which has no file in /dev.
                return None
            return StateFile(os.path.join(paths.state_dir(), FOLDER, name), _LARGEST, "last listing")
    return None


def _terminal(handle: int) -> str:
    """A name for this session of this terminal; on Windows, for the shell."""
    if sys.platform == "win32":
        return str(os.getppid())
    # The name of a terminal that was closed is given to the next; the number of its session is not.
    return f"{os.ttyname(handle)} {os.getsid(0)}"

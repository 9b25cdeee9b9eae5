"""What every kind of remote can do: give what changed, take changes by compare-and-set, wait for more.

A transport moves bytes. It decides nothing about records: the engine checks every path and every file that it gets,
and merges. Three errors are a transport's own: `Offline` if the remote cannot be reached, `Refused` if it does not let
us in, `BadRemote` if what is there cannot be a shared store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from onrecord.coldstart import NamedTuple, content_hash


def version_hash(data: bytes) -> str:
    """Return the hash of a file; empty for no file."""
    return content_hash(data) if data else ""


class Version(NamedTuple):
    """One file of the shared store as the remote has it."""

    path: str
    """`decisions/use-uv.json` or `inbox/….json`; checked by the engine, never trusted."""

    data: bytes
    """Empty for a file that was deleted."""

    flaw: str = ""
    """Why it was not read, such as a link or a file too large; then it is reported and left alone."""


class Pulled(NamedTuple):
    """What changed at the remote since a cursor, and the cursor to ask with next time."""

    versions: Iterable[Version]
    """May be a generator: the engine stops it where it is too much.

    A path may come more than once: versions are taken in order, and the last is what the remote has now. So a transport
    that knows that we wrote one of them ourselves puts that first: nobody has a conflict with themselves.
    """

    cursor: str
    is_reset: bool = False
    """True if the remote no longer has the state that the cursor names: a database from a backup, a rewritten history.

    Then the versions are all that it has, and nothing counts as agreed on: what only we have is pushed again.
    """

    asks_for_review: bool = False
    """True if we may only send drafts: the remote would refuse what is not in `inbox/`."""


class Push(NamedTuple):
    """A change to one file of the shared store, made only if the remote still has what we last saw there."""

    path: str
    data: bytes
    """Empty to delete it."""

    expected: str
    """The `version_hash` of what the remote has as far as we know."""


class Pushed(NamedTuple):
    """What became of a push, path by path."""

    accepted: tuple[str, ...] = ()
    """These are at the remote as they were pushed, now or already before."""

    outdated: tuple[str, ...] = ()
    """The remote has another version by now: pull, merge and push again."""

    waiting: tuple[str, ...] = ()
    """Written where somebody has to merge them first, such as a branch: still to be pushed, as far as we know."""

    refused: Mapping[str, str] = {}
    """Path -> why, in words for a person: the role does not allow it, the record is protected."""

    note: str = ""
    """What a person must know to go on, such as the name of a branch that waits for a merge."""


class Transport(Protocol):
    """A connection to one remote."""

    def pull(self, cursor: str) -> Pulled:
        """What changed since the cursor; everything if it is empty or the remote does not know it any more."""

    def push(self, changes: Sequence[Push]) -> Pushed:
        """Make changes, each alone, by compare-and-set; the same push repeated after a kill is accepted again."""

    def wait(self, seconds: float) -> bool:
        """Wait until the remote has something new, so long at most; whether it has."""

    def close(self) -> None:
        """Give the connection up."""

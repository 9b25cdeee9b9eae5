"""The interface of every kind of remote: pull what changed, push by compare-and-set, wait for changes.

A transport moves bytes and decides nothing about records: the engine checks every path and every file, and merges.
A transport raises three errors: `Offline` if the remote cannot be reached, `Refused` if it denies access, `BadRemote`
if what is there cannot be a shared store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from onrecord.coldstart import NamedTuple


def version_hash(data: bytes) -> str:
    """Return the hash of a file as a hub computes it, SHA-256 in hexadecimal; empty for no file."""
    return hashlib.sha256(data).hexdigest() if data else ""


class Version(NamedTuple):
    """One file of the shared store as the remote has it."""

    path: str
    """`decisions/use-uv.json` or `inbox/….json`; checked by the engine, never trusted."""

    data: bytes
    """Empty for a file that was deleted."""

    flaw: str = ""
    """Why it was not read, such as a link or a file too large; then it is reported and left alone."""


class Pulled(NamedTuple):
    """The changes at the remote since a cursor, and the cursor for the next pull."""

    versions: Iterable[Version]
    """May be a generator: the engine stops it when it exceeds the limits.

    A path may come more than once: versions are applied in order, and the last one is current. A transport that knows
    that one of them is our own puts it first, so that we have no conflict with ourselves.
    """

    cursor: str
    is_reset: bool = False
    """True if the remote lost the state that the cursor names: a restored database, a rewritten history.

    Then `versions` is all that the remote has, and the sync base is dropped: what only we have is pushed again.
    """

    asks_for_review: bool = False
    """True if we may send drafts only: the remote would refuse anything outside `inbox/`."""

    is_read_only: bool = False
    """True if we may send nothing: the remote would refuse all of it."""


class Push(NamedTuple):
    """A change to one file of the shared store, made only if the remote still has the version we last saw."""

    path: str
    data: bytes
    """Empty to delete the file."""

    expected: str
    """The `version_hash` of the version that the remote has as far as we know."""


class Pushed(NamedTuple):
    """The result of a push, path by path."""

    accepted: tuple[str, ...] = ()
    """The remote has these as they were pushed, now or already before."""

    outdated: tuple[str, ...] = ()
    """The remote has another version by now: pull, merge and push again."""

    waiting: tuple[str, ...] = ()
    """Written where a person has to merge them first, such as a branch: not yet in the shared store."""

    refused: Mapping[str, str] = {}
    """Path -> reason, for a person: the role does not allow it, the record is protected."""

    note: str = ""
    """A hint for the user, such as the name of a branch that waits for a merge."""


class StoreAccess(NamedTuple):
    """The size of a shared store, and our rights in it; texts are empty where the remote does not say."""

    records: int
    drafts: int
    role: str
    login: str = ""
    team: str = ""
    asks_for_review: bool = False
    """True if we may send drafts only."""


class Transport(Protocol):
    """A connection to one remote."""

    def access(self) -> StoreAccess:
        """Return what is in the store and what we may do there; nothing is changed."""

    def pull(self, cursor: str) -> Pulled:
        """Return what changed since `cursor`; everything if it is empty or the remote no longer knows it."""

    def push(self, changes: Sequence[Push]) -> Pushed:
        """Apply `changes`, each by its own compare-and-set; the same push repeated after a kill is accepted again."""

    def wait(self, seconds: float) -> bool:
        """Wait up to `seconds` for a change at the remote; return True if there is one."""

    def close(self) -> None:
        """Close the connection."""

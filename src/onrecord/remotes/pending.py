"""What waits in a replica: changes that the remote does not have yet, and conflicts that somebody must settle."""

from __future__ import annotations

from onrecord import paths
from onrecord.remotes.agreed import Agreed
from onrecord.remotes.reconcile import CONFLICT
from onrecord.remotes.replica import Replica
from onrecord.store import record_files


def changes(replica: Replica) -> list[str]:
    """The paths in the store that differ from what the remote has: the next sync pushes them."""
    return [path for path, _, _ in Agreed(replica.root, replica.base).differences(replica.store)]


def conflicts(replica: Replica) -> list[str]:
    """The names of the drafts that hold the other side of a conflict."""
    names = record_files.names_in(replica.store, paths.INBOX)
    return [name[: -len(".json")] for name in names if name.startswith(CONFLICT)]

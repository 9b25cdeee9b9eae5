"""What waits in a replica: changes that the remote does not have yet, and conflicts that somebody must settle."""

from __future__ import annotations

from recollect import paths
from recollect.remotes.agreed import Agreed
from recollect.remotes.reconcile import CONFLICT
from recollect.remotes.replica import Replica
from recollect.store import record_files


def changes(replica: Replica) -> list[str]:
    """The paths in the store that differ from what the remote has: the next sync pushes them."""
    return [path for path, _, _ in Agreed(replica.root, replica.base).differences(replica.store)]


def conflicts(replica: Replica) -> list[str]:
    """The names of the drafts that hold the other side of a conflict."""
    names = record_files.names_in(replica.store, paths.INBOX)
    return [name[: -len(".json")] for name in names if name.startswith(CONFLICT)]

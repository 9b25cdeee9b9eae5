"""A sync as commands do it: a connection by the kind of the remote, and an index that has what was pulled."""

from __future__ import annotations

from recollect.remotes import engine
from recollect.remotes.address import GIT
from recollect.remotes.engine import Synced
from recollect.remotes.remote import Remote
from recollect.remotes.replica import Replica
from recollect.remotes.transport import Transport
from recollect.search import index


def transport(connected: Remote) -> Transport:
    """The connection to a remote; nothing is sent before the first question."""
    if connected.kind == GIT:
        from recollect.remotes.git_transport import GitTransport

        return GitTransport(connected.url, Replica(connected.name).repository)
    # Only these remotes need the extra `recollect[hub]`.
    from recollect.hub.transport import PostgresTransport

    return PostgresTransport(connected.url)


def sync(replica: Replica, connection: Transport, *, missing: str = "", patience: float | None = None) -> Synced:
    """Sync a replica, and put what was pulled into its index: hooks have time for a few records each."""
    done = engine.sync(replica, connection, missing=missing, patience=patience)
    if done.pulled:
        index.open(replica.store).close()
    return done

"""A sync as commands do it: a connection by the kind of the remote, and an index that has what was pulled."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from onrecord.search import index
from onrecord.shared import engine
from onrecord.shared.engine import SyncResult
from onrecord.shared.remotes import GIT, Remote
from onrecord.shared.replicas import Replica
from onrecord.shared.transport import Transport

_ENDING = ("SIGTERM", "SIGHUP")
"""From a service manager, and from a terminal that is closed."""


def transport(connected: Remote) -> Transport:
    """The connection to a remote; nothing is sent before the first question."""
    if connected.kind == GIT:
        from onrecord.shared.git_transport import GitTransport

        return GitTransport(connected.url, Replica(connected.name).repository)
    # Only these remotes need the extra `hub`.
    from onrecord.shared.hub_transport import PostgresTransport

    return PostgresTransport(connected.url)


def sync(replica: Replica, connection: Transport, *, missing: str = "", patience: float | None = None) -> SyncResult:
    """Sync a replica, and put what was pulled into its index: hooks have time for a few records each."""
    done = engine.sync(replica, connection, missing=missing, patience=patience)
    if done.pulled:
        index.open(replica.store).close()
    return done


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let signals end what goes on as Ctrl-C does; otherwise git, which has a group of its own, would go on alone."""
    before = {}
    for number in filter(None, (getattr(signal, name, None) for name in _ENDING)):
        # Whoever started this with a signal ignored, as `nohup` does, wants it to go on.
        if signal.getsignal(number) is not signal.SIG_IGN and threading.current_thread() is threading.main_thread():
            before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


def way_back(name: str) -> str:
    """What to do about changes that wait for a merge which was refused."""
    return (
        f"each sync offers them again; if they were refused, take your last change back: onrecord undo --remote {name}"
    )

"""`onrecord sync --automatic`: what the start of a session begins. Prints nothing, and ends when its time is up."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from onrecord import budget, files, paths
from onrecord.errors import Locked
from onrecord.shared import remotes
from onrecord.shared.remotes import Remote
from onrecord.shared.replicas import Replica

SECONDS = 120.0
"""For each remote: the first sync of a large one on a slow line goes on with the next session."""

_STUCK = 10.0
"""Seconds after which a process is ended that its timer could not interrupt."""

_LOCK = ".automatic.lock"


def run(sync: Callable[[Remote], object]) -> None:
    """Sync each remote that the user syncs automatically; nothing if another process is at it.

    What fails or takes too long goes to the failure log, and does not keep the next remote from its sync.
    """
    try:
        with alone():
            for remote in remotes.usable():
                if remote.auto:
                    _in_time(sync, remote)
    except Locked:
        return


def alone(patience: float = 0) -> files.locked:
    """One automatic sync at a time; Locked if another one goes on for longer than that."""
    return files.locked(os.path.join(paths.replicas(), _LOCK), patience)


def _in_time(sync: Callable[[Remote], object], remote: Remote) -> None:
    end = threading.Timer(SECONDS + _STUCK, os._exit, (1,))
    end.daemon = True
    end.start()
    budget.start(SECONDS, SECONDS)
    try:
        budget.attempt(f"automatic sync of {remote.name}", None, _try, sync, remote)
    finally:
        budget.stop()
        end.cancel()


def _try(sync: Callable[[Remote], object], remote: Remote) -> None:
    try:
        sync(remote)
    except Locked:
        # Somebody syncs it by hand just now, and sees what comes of it.
        return
    except budget.OutOfTime:
        replica = Replica(remote.name)
        replica.write_state(replica.state._replace(last_error=f"took longer than {SECONDS:g} seconds"))
        raise

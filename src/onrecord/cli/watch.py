"""`onrecord sync --watch`: one sync after another, until somebody ends it."""

from __future__ import annotations

import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Sequence
from typing import Callable, Union

from onrecord.cli import syncing
from onrecord.errors import OnrecordError
from onrecord.shared.engine import SyncResult
from onrecord.shared.remotes import Remote
from onrecord.shared.replicas import Replica
from onrecord.shared.transport import Transport

EVERY = 60.0
"""Seconds between two syncs of a remote that reports nothing new."""

SHORTEST, LONGEST = 1.0, 86_400.0
_Tell = Callable[[Remote, Union[SyncResult, OnrecordError]], None]


class _Watched:
    """A remote, with a connection that stays open as long as it works."""

    def __init__(self, remote: Remote, connect: Callable[[Remote], Transport]) -> None:
        self.remote = remote
        self._connect = connect
        self._transport: Transport | None = None
        self._trouble = ""
        self._left = _left(SyncResult())

    def sync(self) -> Union[SyncResult, OnrecordError, None]:
        """What there is to tell: a sync that did something or left something, or a trouble; the same only once."""
        before, left = self._trouble, self._left
        try:
            self._transport = self._transport or self._connect(self.remote)
            synced = syncing.sync(Replica(self.remote.name), self._transport)
        except OnrecordError as error:
            self.close()
            self._trouble = error.message
            return error if error.message != before else None
        self._trouble, self._left = "", _left(synced)
        is_news = before or _is_news(synced) or (any(self._left) and self._left != left)
        return synced if is_news else None

    def wait(self, seconds: float) -> None:
        """Wait until the remote has something new, so long at most."""
        try:
            if self._transport:
                self._transport.wait(seconds)
                return
        except OnrecordError:
            # The next sync meets the same trouble, and reports it.
            self.close()
        time.sleep(seconds)

    def close(self) -> None:
        transport, self._transport = self._transport, None
        if transport:
            transport.close()


def _is_news(synced: SyncResult) -> bool:
    return bool(synced.pulled or synced.pushed or synced.conflicts or synced.revived)


def _left(synced: SyncResult) -> tuple[object, ...]:
    """What a sync left for a person to look after."""
    return (dict(synced.refused), synced.waiting, synced.outdated, synced.note)


def run(remotes: Sequence[Remote], every: float, connect: Callable[[Remote], Transport], tell: _Tell) -> None:
    """Sync the remotes in turn and tell what is new, until Ctrl-C, a signal, or the end of a pipe on standard input."""
    watched = [_Watched(remote, connect) for remote in remotes]
    try:
        with syncing.ended_by_signals():
            _end_with_pipe()
            _go_on(watched, every, tell)
    except KeyboardInterrupt:
        return
    finally:
        for each in watched:
            each.close()


def _go_on(watched: Sequence[_Watched], every: float, tell: _Tell) -> None:
    while True:
        for each in watched:
            if (outcome := each.sync()) is not None:
                tell(each.remote, outcome)
        for each in watched:
            each.wait(every / len(watched))


def _end_with_pipe() -> None:
    """Let the end of a pipe that somebody holds at our standard input end this as Ctrl-C does."""
    try:
        is_pipe = stat.S_ISFIFO(os.fstat(0).st_mode) or stat.S_ISSOCK(os.fstat(0).st_mode)
    except OSError:
        return
    if is_pipe:
        threading.Thread(target=_interrupt_at_end, daemon=True).start()


def _interrupt_at_end() -> None:
    while os.read(0, 4_096):
        pass
    if sys.platform == "win32":
        import _thread

        _thread.interrupt_main()
    else:
        # Unlike `interrupt_main`, a signal ends a system call that the main thread waits in; and a shell lets what it
        # starts in the background ignore SIGINT.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)

"""Limits for the connections of the web page: how many there are, how long a client may take, and how much is logged.

Any local user can connect. A connection that waits for its client is cut after some seconds, whether it is idle, sends
slowly or does not read; and if there are too many, the one that has waited longest is cut.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import time
from collections.abc import Iterable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

WAIT_SECONDS = 10.0
"""Time for a client to send a whole request, or to read a response. Forms and pages take milliseconds here."""

MAX_CONNECTIONS = 100
"""A browser opens at most six to one address."""

BACKLOG = 32
"""Connections that are accepted before the next one is looked at; they count on top of the others."""

_NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_MAX_LINES, _LINES_SECONDS = 10, 60.0


class Connection(H11Protocol):
    """A connection that knows how long it has waited for its client."""

    _busy_at = 0.0
    """The last moment at which the client was not waited for."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a new connection; if there are too many, cut the one that has waited longest."""
        self._busy_at = time.monotonic()
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            waiting = [other for other in _ours(self.connections) if other.is_waiting]
            min(waiting, key=lambda other: other._busy_at).cut()

    def on_response_complete(self) -> None:
        """Note the time: from now on the next request is waited for."""
        self._busy_at = time.monotonic()
        super().on_response_complete()

    @property
    def is_waiting(self) -> bool:
        """True if the client has to send or to read something before this connection can go on."""
        is_between = self.cycle is None or self.cycle.response_complete
        return is_between or self.cycle.more_body or self.transport.get_write_buffer_size() > 0

    def check(self, now: float) -> None:
        """Close the connection if its client has taken too long."""
        if not self.is_waiting:
            self._busy_at = now
        elif now - self._busy_at > WAIT_SECONDS:
            self.cut()

    def cut(self) -> None:
        """Close the connection at once, without waiting for what is to be sent."""
        self.connections.discard(self)
        self.transport.abort()


def check_all(connections: Iterable[Any]) -> None:
    """Close all connections whose clients have taken too long."""
    now = time.monotonic()
    for connection in _ours(connections):
        connection.check(now)


def _ours(connections: Iterable[Any]) -> list[Connection]:
    return [connection for connection in connections if isinstance(connection, Connection)]


def handle_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error of the event loop; say nothing if a connection finds no room: it is accepted a second later."""
    error = context.get("exception")
    if not (isinstance(error, OSError) and error.errno in _NO_ROOM):
        loop.default_exception_handler(context)


class FewLines(logging.Filter):
    """Lets some log entries through in a minute, and drops the others."""

    def __init__(self) -> None:
        super().__init__()
        self._times: list[float] = []

    def filter(self, log_record: logging.LogRecord) -> bool:
        """True for an entry that is written."""
        now = time.monotonic()
        self._times = [moment for moment in self._times if now - moment < _LINES_SECONDS]
        is_one_of_few = len(self._times) < _MAX_LINES
        if is_one_of_few:
            self._times.append(now)
        return is_one_of_few

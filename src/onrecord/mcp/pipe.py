"""Pipe: the standard streams as a connection to a client. It reads lines up to a limit and writes whole lines."""

from __future__ import annotations

import os
import sys
import time

from onrecord import coldstart
from onrecord.mcp.messages import NOT_A_REQUEST, NOT_JSON, Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_MESSAGE_BYTES = 4_000_000
"""Size of a message: a record has at most a quarter of it."""

_READ_BYTES = 65_536


class Pipe:
    """The messages of a client, read as far as they have arrived."""

    def __init__(self, source_fd: int, sink_fd: int) -> None:
        self._source_fd = source_fd
        self._sink_fd = sink_fd
        self._line = bytearray()
        self._is_skipping = False
        self._has_ended = False
        self._ahead = 0
        self.pending: list[Any] = []
        """Messages that were read and not taken yet: JSON values, or a Fault for an invalid one."""
        self.cancelled: list[Any] = []
        """The ids of cancelled requests; cancellations overtake pending messages."""

    def take(self) -> Any:
        """Wait for the next message and return it. Raises EOFError when the client has closed the connection."""
        while not self.pending:
            if self._has_ended:
                raise EOFError
            self._ahead = 0
            self._read()
        return self.pending.pop(0)

    def look_ahead(self) -> None:
        """Read what has arrived, without waiting, up to a limit: beyond it a client has to wait for responses."""
        while not self._has_ended and self._ahead < MAX_MESSAGE_BYTES and _has_arrived(self._source_fd):
            self._read()

    def response_to(self, request_id: str, seconds: float) -> Any:
        """Wait for the client's response to a request of ours, which overtakes pending messages; None if it is late."""
        deadline = time.monotonic() + seconds
        while True:
            for message in self.pending:
                if isinstance(message, dict) and message.get("id") == request_id and "method" not in message:
                    self.pending.remove(message)
                    return message
            remaining = max(deadline - time.monotonic(), 0.0)
            is_over = self._has_ended or self._ahead >= MAX_MESSAGE_BYTES or not remaining
            if is_over or not _has_arrived(self._source_fd, remaining):
                return None
            self._read()

    def send(self, data: bytes) -> None:
        """Write a whole line. Raises BrokenPipeError if the client does not read any more."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._sink_fd, rest) :]

    def _read(self) -> None:
        data = os.read(self._source_fd, _READ_BYTES)
        self._has_ended = not data
        self._ahead += len(data)
        *lines, last = data.split(b"\n")
        for line in lines:
            self._add(line)
            self._end_line()
        self._add(last)
        if self._has_ended:
            self._end_line()

    def _add(self, data: bytes) -> None:
        """Append a part of a line, unless the line is too long."""
        if len(self._line) + len(data) > MAX_MESSAGE_BYTES:
            self._is_skipping = True
            self._line.clear()
        if not self._is_skipping:
            self._line += data

    def _end_line(self) -> None:
        if self._is_skipping:
            self.pending.append(Fault(NOT_A_REQUEST, f"a message has more than {MAX_MESSAGE_BYTES:,} bytes"))
        elif self._line.strip():
            self._add_message(_decode(bytes(self._line)))
        self._is_skipping = False
        self._line.clear()

    def _add_message(self, rpc_message: Any) -> None:
        is_cancellation = isinstance(rpc_message, dict) and rpc_message.get("method") == "notifications/cancelled"
        if is_cancellation and "id" not in rpc_message and isinstance(rpc_message.get("params"), dict):
            self.cancelled.append(rpc_message["params"].get("requestId"))
        else:
            self.pending.append(rpc_message)


def _decode(data: bytes) -> Any:
    try:
        return coldstart.loads(data.decode("utf-8"))
    except ValueError:
        return Fault(NOT_JSON, "not JSON in UTF-8")


def _has_arrived(source_fd: int, seconds: float = 0) -> bool:
    import select

    try:
        return bool(select.select([source_fd], [], [], seconds)[0])
    except (OSError, ValueError):
        # Windows supports this only for sockets: there, nothing is read ahead.
        return False


def claim_standard_streams() -> Pipe:
    """Reserve the standard streams for the protocol; other output of this process goes to standard error.

    Otherwise a child process could read the client's messages, and one `print` would break the connection.
    """
    sys.stdout.flush()
    source_fd, sink_fd = os.dup(0), os.dup(1)
    null_fd = os.open(os.devnull, os.O_RDWR)
    os.dup2(null_fd, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(null_fd, 1)
    os.close(null_fd)
    return Pipe(source_fd, sink_fd)

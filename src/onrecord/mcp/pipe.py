"""The two ends of the connection to a client: lines of bounded length in, whole lines out."""

from __future__ import annotations

import os
import sys
import time

from onrecord import coldstart
from onrecord.mcp.messages import NOT_A_REQUEST, NOT_JSON, Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LARGEST = 4_000_000
"""Bytes of a message: a record has at most a quarter of it."""

_AT_ONCE = 65_536


class Pipe:
    """Messages of a client, read ahead as far as they have arrived."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._begun = bytearray()
        self._is_skipping = False
        self._has_ended = False
        self._ahead = 0
        self.waiting: list[Any] = []
        """Messages that were read and not taken yet: JSON values, or a Fault for what is none."""
        self.cancelled: list[Any] = []
        """The ids in cancellations, which overtake what waits."""

    def take(self) -> Any:
        """The next message, waited for; EOFError when the client has closed its end."""
        while not self.waiting:
            if self._has_ended:
                raise EOFError
            self._ahead = 0
            self._read()
        return self.waiting.pop(0)

    def look_ahead(self) -> None:
        """Read what has arrived, without waiting, up to a limit: a client that sends more waits for answers first."""
        while not self._has_ended and self._ahead < LARGEST and _has_arrived(self._source):
            self._read()

    def answer_to(self, request_id: str, seconds: float) -> Any:
        """The client's answer to a request of ours, waited for so long; it overtakes what waits. None if none comes."""
        deadline = time.monotonic() + seconds
        while True:
            for message in self.waiting:
                if isinstance(message, dict) and message.get("id") == request_id and "method" not in message:
                    self.waiting.remove(message)
                    return message
            left = max(deadline - time.monotonic(), 0.0)
            if self._has_ended or self._ahead >= LARGEST or not left or not _has_arrived(self._source, left):
                return None
            self._read()

    def send(self, data: bytes) -> None:
        """Write a whole line; BrokenPipeError if nobody reads any more."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._sink, rest) :]

    def _read(self) -> None:
        data = os.read(self._source, _AT_ONCE)
        self._has_ended = not data
        self._ahead += len(data)
        *lines, last = data.split(b"\n")
        for line in lines:
            self._add(line)
            self._end_line()
        self._add(last)
        if self._has_ended:
            self._end_line()

    def _add(self, part: bytes) -> None:
        """Keep a part of a line, unless the line has become too long."""
        if len(self._begun) + len(part) > LARGEST:
            self._is_skipping = True
            self._begun.clear()
        if not self._is_skipping:
            self._begun += part

    def _end_line(self) -> None:
        if self._is_skipping:
            self.waiting.append(Fault(NOT_A_REQUEST, f"a message has more than {LARGEST:,} bytes"))
        elif self._begun.strip():
            self._sort(_value(bytes(self._begun)))
        self._is_skipping = False
        self._begun.clear()

    def _sort(self, message: Any) -> None:
        is_named = isinstance(message, dict) and message.get("method") == "notifications/cancelled"
        if is_named and "id" not in message and isinstance(message.get("params"), dict):
            self.cancelled.append(message["params"].get("requestId"))
        else:
            self.waiting.append(message)


def _value(line: bytes) -> Any:
    try:
        return coldstart.loads(line.decode("utf-8"))
    except ValueError:
        return Fault(NOT_JSON, "not JSON in UTF-8")


def _has_arrived(source: int, seconds: float = 0) -> bool:
    import select

    try:
        return bool(select.select([source], [], [], seconds)[0])
    except (OSError, ValueError):
        # Windows can ask this of sockets only: there, messages are read one after the other.
        return False


def claim() -> Pipe:
    """The standard streams for the protocol alone: what else this process prints goes to standard error.

    A program that it starts could otherwise read the client's messages, and one `print` would break the connection.
    """
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)
    os.close(nothing)
    return Pipe(source, sink)

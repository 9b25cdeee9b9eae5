"""JSON-RPC messages: read and written as lines on the standard streams, parsed, and built as responses and errors."""

from __future__ import annotations

import os
import sys
import time

from onrecord import coldstart
from onrecord.coldstart import NamedTuple
from onrecord.text import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Union

    Id = Union[str, int, float, None]

MAX_MESSAGE_BYTES = 4_000_000
"""The largest message that is read: four times the largest record."""

_READ_BYTES = 65_536
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions that are negotiated with `initialize`."""

STATELESS = "2026-07-28"
"""The version without a handshake: each request names its version."""

VERSIONS = (STATELESS, *reversed(HANDSHAKE))
WITH_BATCHES = "2025-03-26"
"""The only version that has batches."""

MAX_BATCH_SIZE = 1_000
NOT_JSON, NOT_A_REQUEST, NO_METHOD, BAD_PARAMS, OUR_FAULT = -32700, -32600, -32601, -32602, -32603
NO_VERSION = -32022
_META = "io.modelcontextprotocol/"
_VERSION_KEY, _CLIENT_KEY = f"{_META}protocolVersion", f"{_META}clientInfo"
_CAPABILITIES_KEY = f"{_META}clientCapabilities"
SERVER_KEY = f"{_META}serverInfo"
_NOTHING: Mapping[str, Any] = {}


class Pipe:
    """The connection to a client: reads its messages as they arrive, and sends ours."""

    def __init__(self, source_fd: int, sink_fd: int) -> None:
        self._source_fd = source_fd
        self._sink_fd = sink_fd
        self._line = bytearray()
        self._is_skipping = False
        self._has_ended = False
        self._ahead = 0
        self.pending: list[Any] = []
        """Messages that were read but not handled yet: JSON values, or a Fault for an invalid one."""
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
        """Read all messages that have arrived, without waiting, up to a limit on messages that were not handled yet."""
        while not self._has_ended and self._ahead < MAX_MESSAGE_BYTES and _has_arrived(self._source_fd):
            self._read()

    def response_to(self, request_id: str, seconds: float) -> Any:
        """Wait for the client's response to our request, ahead of pending messages. Return None if it is late."""
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
        """Write a whole line. Raises BrokenPipeError if the client no longer reads."""
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


class Fault(Exception):
    """A protocol error that is sent as the response to a request."""

    def __init__(self, code: int, message: str, details: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


class RpcRequest(NamedTuple):
    """A request, or a notification if it has no id."""

    id: Id
    method: str
    params: Mapping[str, Any]

    def text(self, name: str) -> str:
        """Return a parameter that must be a text. Raises Fault."""
        value = self.params.get(name)
        if not isinstance(value, str):
            raise Fault(BAD_PARAMS, f"{self.method} needs the text {name!r}")
        return value

    def object(self, name: str) -> Mapping[str, Any]:
        """Return a parameter that must be an object; an empty one if it is missing. Raises Fault."""
        value = self.params.get(name)
        if value is not None and not isinstance(value, dict):
            raise Fault(BAD_PARAMS, f"{name!r} must be an object")
        return value or _NOTHING


class Envelope(NamedTuple):
    """The version and the client that a request of the stateless version names."""

    version: str
    client: str


def is_id(value: object) -> bool:
    """True if a value can be the id of a request: a text or a finite number."""
    if isinstance(value, float):
        return abs(value) < float("inf")
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def parse(value: object) -> RpcRequest:
    """Return the request in a JSON value. Raises Fault."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0" or not isinstance(value.get("method"), str):
        raise Fault(NOT_A_REQUEST, "not a JSON-RPC 2.0 request")
    if "id" in value and not is_id(value["id"]):
        raise Fault(NOT_A_REQUEST, "the id of a request must be a text or a number")
    params = value.get("params")
    if params is not None and not isinstance(params, dict):
        raise Fault(BAD_PARAMS, "params must be an object")
    return RpcRequest(value.get("id"), value["method"], params or _NOTHING)


def envelope(request: RpcRequest) -> Envelope | None:
    """Return the version and client that a request names; None if it relies on the handshake. Raises Fault."""
    meta = request.params.get("_meta")
    if not isinstance(meta, dict) or _VERSION_KEY not in meta:
        return None
    version = meta[_VERSION_KEY]
    if not isinstance(version, str) or not isinstance(meta.get(_CAPABILITIES_KEY), dict):
        raise Fault(BAD_PARAMS, f"_meta needs the text {_VERSION_KEY} and the object {_CAPABILITIES_KEY}")
    if version not in VERSIONS:
        data = {"supported": list(VERSIONS), "requested": version}
        raise Fault(NO_VERSION, "Unsupported protocol version", data)
    return Envelope(version, client_name(meta.get(_CLIENT_KEY)))


def client_name(info: object) -> str:
    """Return the name of a client, or an empty text."""
    name = info.get("name") if isinstance(info, dict) else None
    return flat(name) if isinstance(name, str) else ""


def result(request: RpcRequest, result_fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response to a request."""
    return {"jsonrpc": "2.0", "id": request.id, "result": result_fields}


def error(request_id: Id, fault: Fault) -> dict[str, Any]:
    """Return the error for a request; `request_id` is None if it could not be read."""
    body: dict[str, Any] = {"code": fault.code, "message": fault.message}
    if fault.details is not None:
        body["data"] = fault.details
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


def encode(rpc_message: object) -> bytes:
    """Return the bytes of a message: one line of ASCII."""
    return coldstart.dumps(rpc_message).encode("ascii") + b"\n"

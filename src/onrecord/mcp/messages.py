"""JSON-RPC messages of the protocol: parsing requests, and building responses and errors."""

from __future__ import annotations

from onrecord import coldstart
from onrecord.coldstart import NamedTuple
from onrecord.text import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Union

    Id = Union[str, int, float, None]

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions that are negotiated with `initialize`."""

STATELESS = "2026-07-28"
"""The version in which each request has its version."""

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


class Fault(Exception):
    """An error of the protocol, in response to a request."""

    def __init__(self, code: int, message: str, details: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


class RpcRequest(NamedTuple):
    """A request, or a notification if it has no id."""

    id: Id
    method: str
    params: Mapping[str, Any] = _NOTHING

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
    """Version and client that a request of the stateless version names."""

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
    """Return version and client of a request; None before the stateless version. Raises Fault."""
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
    """Return a message as it is sent: one line of ASCII."""
    return coldstart.dumps(rpc_message).encode("ascii") + b"\n"

"""JSON-RPC messages as the protocol has them: parsed from a line, and answered in the shape of a version."""

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
"""Versions that a client agrees on with `initialize`."""

STATELESS = "2026-07-28"
"""The version in which every request names its version itself."""

VERSIONS = (STATELESS, *reversed(HANDSHAKE))
WITH_BATCHES = "2025-03-26"
"""The one version that has batches."""

MOST_IN_A_BATCH = 1_000

NOT_JSON, NOT_A_REQUEST, NO_METHOD, BAD_PARAMS, OUR_FAULT = -32700, -32600, -32601, -32602, -32603
NO_VERSION = -32022

_META = "io.modelcontextprotocol/"
_VERSION_KEY, _ABLE_KEY, _CLIENT_KEY = f"{_META}protocolVersion", f"{_META}clientCapabilities", f"{_META}clientInfo"
SERVER_KEY = f"{_META}serverInfo"
_NOTHING: Mapping[str, Any] = {}


class Fault(Exception):
    """A request that is answered with an error of the protocol."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Request(NamedTuple):
    """A request, or a notification if it has no id."""

    id: Id
    method: str
    params: Mapping[str, Any] = _NOTHING

    def text(self, name: str) -> str:
        """A parameter that must be a text."""
        value = self.params.get(name)
        if not isinstance(value, str):
            raise Fault(BAD_PARAMS, f"{self.method} needs the text {name!r}")
        return value

    def object(self, name: str) -> Mapping[str, Any]:
        """A parameter that is an object, or is left out."""
        value = self.params.get(name)
        if value is not None and not isinstance(value, dict):
            raise Fault(BAD_PARAMS, f"{name!r} must be an object")
        return value or _NOTHING


class Envelope(NamedTuple):
    """What a request of the stateless version says about itself."""

    version: str
    client: str


def is_id(value: object) -> bool:
    """Whether a value can be the id of a request: a text or a finite number."""
    if isinstance(value, float):
        return abs(value) < float("inf")
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def parse(value: object) -> Request:
    """The request in a JSON value; Fault if it is none."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0" or not isinstance(value.get("method"), str):
        raise Fault(NOT_A_REQUEST, "not a JSON-RPC 2.0 request")
    if "id" in value and not is_id(value["id"]):
        raise Fault(NOT_A_REQUEST, "the id of a request must be a text or a number")
    params = value.get("params")
    if params is not None and not isinstance(params, dict):
        raise Fault(BAD_PARAMS, "params must be an object")
    return Request(value.get("id"), value["method"], params or _NOTHING)


def envelope(request: Request) -> Envelope | None:
    """What a request says about its version; None if it says nothing, as all before the stateless version."""
    meta = request.params.get("_meta")
    if not isinstance(meta, dict) or _VERSION_KEY not in meta:
        return None
    version = meta[_VERSION_KEY]
    if not isinstance(version, str) or not isinstance(meta.get(_ABLE_KEY), dict):
        raise Fault(BAD_PARAMS, f"_meta needs the text {_VERSION_KEY} and the object {_ABLE_KEY}")
    if version not in VERSIONS:
        data = {"supported": list(VERSIONS), "requested": version}
        raise Fault(NO_VERSION, "Unsupported protocol version", data)
    return Envelope(version, client_name(meta.get(_CLIENT_KEY)))


def client_name(info: object) -> str:
    """What a client calls itself; empty if it does not say."""
    name = info.get("name") if isinstance(info, dict) else None
    return flat(name) if isinstance(name, str) else ""


def result(request: Request, body: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    return {"jsonrpc": "2.0", "id": request.id, "result": body}


def error(request_id: Id, fault: Fault) -> dict[str, Any]:
    """The answer to a request that cannot be carried out; the id is null where it could not be read."""
    body: dict[str, Any] = {"code": fault.code, "message": fault.message}
    if fault.data is not None:
        body["data"] = fault.data
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


def line(message: object) -> bytes:
    """A message as it is sent: one line of ASCII."""
    return coldstart.dumps(message).encode("ascii") + b"\n"

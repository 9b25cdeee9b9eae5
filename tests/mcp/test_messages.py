"""JSON-RPC messages in this process: lines through a pipe, the parts of a request, and whole errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from onrecord.mcp import messages
from onrecord.mcp.messages import Envelope, Fault, Pipe, RpcRequest

STATELESS = "2026-07-28"
META = "io.modelcontextprotocol/"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture
def ends() -> Iterator[tuple[Pipe, int]]:
    """A pipe, and where its client writes."""
    source, sink = os.pipe()
    yield Pipe(source, sink), sink
    os.close(source)
    os.close(sink)


def fault(call: Any, *arguments: Any) -> tuple[int, str, Any]:
    with pytest.raises(Fault) as caught:
        call(*arguments)
    assert str(caught.value) == caught.value.message
    return caught.value.code, caught.value.message, caught.value.details


def test_messages_come_one_by_one_whatever_the_pieces(ends):
    pipe, sink = ends
    os.write(sink, b'{"a": 1}\n\n  \n[2]\n{"b"')
    first = pipe.take()
    os.write(sink, b": 3}\n")

    assert [first, pipe.take(), pipe.take()] == [{"a": 1}, [2], {"b": 3}]


def test_a_last_line_without_an_end_is_a_message():
    source, sink = os.pipe()
    pipe = Pipe(source, sink)
    os.write(sink, b'{"a": 1}\n{"b": 2}')
    os.close(sink)

    assert [pipe.take(), pipe.take()] == [{"a": 1}, {"b": 2}]
    with pytest.raises(EOFError):
        pipe.take()
    pipe.look_ahead()
    os.close(source)


def test_what_is_sent_arrives_whole(ends):
    pipe, _ = ends
    pipe.send(messages.encode({"a": "ü"}))

    assert pipe.take() == {"a": "ü"}
    assert messages.encode({"a": "ü"}) == b'{"a":"\\u00fc"}\n'


def fed(*parts: bytes) -> list[Any]:
    """Return the messages in what a client writes."""
    pipe = Pipe(-1, -1)
    for part in parts:
        *lines, last = part.split(b"\n")
        for line in lines:
            pipe._add(line)
            pipe._end_line()
        pipe._add(last)
    return [(each.code, each.message) if isinstance(each, Fault) else each for each in pipe.pending]


def test_a_message_of_four_megabytes_is_read_and_a_larger_one_is_not():
    largest = b'"' + b"x" * 3_999_998 + b'"'
    refused = (-32600, "a message has more than 4,000,000 bytes")

    assert fed(largest + b"\n") == ["x" * 3_999_998]
    assert fed(largest + b" \n[1]\n") == [refused, [1]]
    assert fed(largest, b" ", b"x" * 100, b"\n[1]\n") == [refused, [1]]


@pytest.mark.parametrize("line", [b"{nonsense", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_a_fault(line: bytes):
    assert fed(line + b"\n") == [(-32700, "not JSON in UTF-8")]


def test_cancellations_overtake_other_messages(ends):
    pipe, sink = ends
    cancel = b'{"method": "notifications/cancelled", "params": {"requestId": 7}}\n'
    odd = [
        b'{"method": "notifications/cancelled", "id": 1, "params": {"requestId": 7}}\n',
        b'{"method": "notifications/cancelled", "params": [7]}\n',
        b'{"method": "notifications/other", "params": {"requestId": 7}}\n',
    ]
    os.write(sink, b"".join([b"[1]\n", *odd, cancel]))

    pipe.look_ahead()

    assert pipe.cancelled == [7]
    assert len(pipe.pending) == 4


def test_messages_are_read_ahead_up_to_a_limit(ends, monkeypatch):
    pipe, sink = ends
    os.write(sink, b"[1]\n")
    pipe.look_ahead()
    ahead = [list(pipe.pending)]
    monkeypatch.setattr(messages, "MAX_MESSAGE_BYTES", 4)
    os.write(sink, b"[2]\n")
    pipe.look_ahead()
    ahead.append(list(pipe.pending))

    assert ahead == [[[1]]] * 2
    assert pipe.response_to("x", 60) is None
    assert [pipe.take(), pipe.take()] == [[1], [2]]


def test_a_response_is_taken_out_from_between_other_messages(ends):
    pipe, sink = ends
    os.write(sink, b'[1]\n{"id": "x", "method": "ping"}\n{"id": "y"}\n{"id": "x", "result": 1}\n[2]\n')

    assert pipe.response_to("x", 60) == {"id": "x", "result": 1}
    assert pipe.pending == [[1], {"id": "x", "method": "ping"}, {"id": "y"}, [2]]
    assert pipe.response_to("x", 0) is None


@pytest.mark.parametrize(
    ("value", "is_id"),
    [("a", True), ("", True), (0, True), (-1, True), (1.5, True), (float("inf"), False), (float("-inf"), False),
     (float("nan"), False), (True, False), (None, False), ([], False)],
)  # fmt: skip
def test_an_id_is_a_text_or_a_finite_number(value: object, is_id: bool):
    assert messages.is_id(value) is is_id


def test_a_request_has_an_id_a_method_and_parameters():
    assert messages.parse(PING) == RpcRequest(1, "ping", {})
    assert messages.parse({**PING, "params": {"a": 1}}) == RpcRequest(1, "ping", {"a": 1})
    assert messages.parse({**PING, "params": None}) == RpcRequest(1, "ping", {})
    assert messages.parse({"jsonrpc": "2.0", "method": "x"}) == RpcRequest(None, "x", {})


@pytest.mark.parametrize(
    ("value", "code", "message"),
    [
        ([], -32600, "not a JSON-RPC 2.0 request"),
        ({**PING, "jsonrpc": "1.0"}, -32600, "not a JSON-RPC 2.0 request"),
        ({"id": 1, "method": "ping"}, -32600, "not a JSON-RPC 2.0 request"),
        ({**PING, "method": 7}, -32600, "not a JSON-RPC 2.0 request"),
        ({**PING, "id": None}, -32600, "the id of a request must be a text or a number"),
        ({**PING, "params": [1]}, -32602, "params must be an object"),
    ],
)
def test_what_is_no_request_is_a_fault(value: Any, code: int, message: str):
    assert fault(messages.parse, value) == (code, message, None)


def test_parameters_have_types():
    request = RpcRequest(1, "tools/call", {"a": "x", "b": {"c": 1}, "d": 7, "e": None})

    assert (request.text("a"), request.object("b"), request.object("e"), request.object("none")) == (
        "x", {"c": 1}, {}, {}
    )  # fmt: skip
    for name in ("d", "e", "none"):
        assert fault(request.text, name) == (-32602, f"tools/call needs the text {name!r}", None)
    assert fault(request.object, "d") == (-32602, "'d' must be an object", None)


def in_version(version: Any, **meta: Any) -> RpcRequest:
    fields = {f"{META}protocolVersion": version, f"{META}clientCapabilities": {}, **meta}
    return RpcRequest(1, "x", {"_meta": fields})


def test_a_request_may_name_its_version_and_client():
    named = in_version(STATELESS, **{f"{META}clientInfo": {"name": "a\nb"}})

    assert messages.envelope(named) == Envelope(STATELESS, "a b")
    assert messages.envelope(in_version("2024-11-05")) == Envelope("2024-11-05", "")
    for params in ({}, {"_meta": 7}, {"_meta": {"progressToken": 1}}):
        assert messages.envelope(RpcRequest(1, "x", params)) is None


def test_a_version_that_is_unknown_or_odd_is_a_fault():
    supported = [STATELESS, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
    lacking = f"_meta needs the text {META}protocolVersion and the object {META}clientCapabilities"

    assert fault(messages.envelope, in_version("1999")) == (
        -32022, "Unsupported protocol version", {"supported": supported, "requested": "1999"}
    )  # fmt: skip
    for request in (in_version(7), in_version(STATELESS, **{f"{META}clientCapabilities": []})):
        assert fault(messages.envelope, request) == (-32602, lacking, None)


@pytest.mark.parametrize("info", [None, "x", {}, {"name": 7}])
def test_a_client_may_have_no_name(info: object):
    assert messages.client_name(info) == ""
    assert messages.client_name({"name": "tester"}) == "tester"


def test_responses_and_errors_are_whole():
    assert messages.result(RpcRequest(7, "x", {}), {"a": 1}) == {"jsonrpc": "2.0", "id": 7, "result": {"a": 1}}
    assert messages.error(None, Fault(-1, "no")) == {
        "jsonrpc": "2.0", "id": None, "error": {"code": -1, "message": "no"}
    }  # fmt: skip
    assert messages.error("a", Fault(-1, "no", []))["error"] == {"code": -1, "message": "no", "data": []}

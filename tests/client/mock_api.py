"""A scripted stand-in for the Messages API: it answers what a test tells it to and keeps every request."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable, NamedTuple, Optional, Union

from api_request import Json, Request

SUMMARY = "<summary>The conversation so far, in one line.</summary>"


class Tool(NamedTuple):
    """A reply in which the model calls a tool."""

    name: str
    input: Json


Reply = Union[str, Tool]
Replies = Union[Sequence[Reply], Callable[[Request], Optional[Reply]]]


class MockApi:
    """The server. A list of replies feeds the main requests in order, then `OK`; a callable is asked every time and may
    answer None for the default."""

    def __init__(self, replies: Replies = (), *, listener: Optional[socket.socket] = None) -> None:
        self.requests: list[Request] = []
        self._errors: list[Exception] = []
        self._lock = threading.Lock()
        self._server = _Server(self, listener)
        self.script(replies)

    def script(self, replies: Replies) -> None:
        """Set what is answered from now on."""
        self._reply = replies if callable(replies) else _in_order(replies)

    @property
    def main_requests(self) -> list[Request]:
        return [request for request in self.requests if request.kind == "main"]

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, request: Request) -> Reply:
        """Keep the request and choose what to say to it."""
        with self._lock:
            self.requests.append(request)
            try:
                reply = self._reply(request)
            except Exception as error:  # The client would retry for minutes, so the test hears of it at the end.
                self._errors.append(error)
                reply = None
        if reply is None:
            return SUMMARY if request.kind == "compact" else "OK"
        return reply

    def __enter__(self) -> MockApi:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        if self._errors:
            raise self._errors[0]


def _in_order(replies: Sequence[Reply]) -> Callable[[Request], Optional[Reply]]:
    rest = iter(replies)
    return lambda request: next(rest, None) if request.kind == "main" else None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, api: MockApi, listener: Optional[socket.socket]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler, bind_and_activate=listener is None)
        if listener is not None:
            self.socket.close()
            self.socket = listener
            self.server_address = listener.getsockname()
        self.api = api

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # A client that is gone is no fault of the mock.
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        self._send("application/json", b"{}")

    do_HEAD = do_GET

    def do_POST(self) -> None:
        path = self.path.split("?")[0]
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if path == "/v1/messages":
            self._send_reply(json.loads(data))
        else:
            self._send("application/json", b'{"input_tokens": 10}' if path.endswith("/count_tokens") else b"{}")

    def _send_reply(self, body: Json) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        message = _message(body, self.server.api.answer(Request(headers, body)))
        if body.get("stream") is True:
            events = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events(message))
            self._send("text/event-stream", events.encode())
        else:
            self._send("application/json", json.dumps(message).encode())

    def _send(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


_count = iter(range(1, 1 << 30))


def _message(body: Json, reply: Reply) -> Json:
    number = next(_count)
    block: Json = {"type": "text", "text": reply}
    if isinstance(reply, Tool):
        block = {"type": "tool_use", "id": f"toolu_{number:08d}", "name": reply.name, "input": reply.input}
    return {
        "id": f"msg_{number:08d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "mock"),
        "content": [block],
        "stop_reason": "tool_use" if isinstance(reply, Tool) else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def _events(message: Json) -> Iterator[Json]:
    (block,) = message["content"]
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    empty: Json = {"text": ""}
    delta: Json = {"type": "text_delta", "text": block.get("text")}
    if block["type"] == "tool_use":
        empty, delta = {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "content_block_start", "index": 0, "content_block": {**block, **empty}}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}

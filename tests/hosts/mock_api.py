"""A mock of the model APIs: it sends the replies of a test and records every request."""

from __future__ import annotations

import gzip
import json
import socket
import sys
import threading
from collections.abc import Iterable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Optional, Union

from tests.hosts import dialects
from tests.hosts.dialects import Payload, Reply
from tests.hosts.model_request import Json, ModelRequest

SUMMARY = "<summary>The conversation so far, in one line.</summary>"

Replies = Union[Sequence[Reply], Callable[[Any], Optional[Reply]]]


class MockApi:
    """The server. A list of replies feeds the main requests in order, then `OK`; a callable is asked every time and may
    answer None for the default. `read` makes of headers and body the kind of request that the test works with."""

    def __init__(
        self,
        replies: Replies = (),
        *,
        listener: Optional[socket.socket] = None,
        read: Callable[[dict[str, str], Json], Any] = ModelRequest,
    ) -> None:
        self.requests: list[Any] = []
        self.read = read
        self._errors: list[Exception] = []
        self._lock = threading.Lock()
        self._server = _Server(self, listener)
        self.script(replies)

    def script(self, replies: Replies) -> None:
        """Set what is answered from now on."""
        self._reply = replies if callable(replies) else _in_order(replies)

    @property
    def main_requests(self) -> list[Any]:
        return [request for request in self.requests if request.kind == "main"]

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, request: Any) -> Reply:
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


def _in_order(replies: Iterable[Reply]) -> Callable[[Any], Optional[Reply]]:
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
        models = {"object": "list", "data": [{"id": "mock-model", "object": "model"}], "models": []}
        self._send(dialects.whole(models if self.path.split("?")[0].endswith("/models") else {}))

    do_HEAD = do_GET

    def do_POST(self) -> None:
        body = self._body()
        headers = {name.lower(): value for name, value in self.headers.items()}
        api = self.server.api
        self._send(dialects.answer(self.path.split("?")[0], body, lambda: api.answer(api.read(headers, body))))

    do_PUT = do_PATCH = do_DELETE = do_POST

    def _body(self) -> Json:
        data = self._sent()
        if self.headers.get("Content-Encoding") == "gzip":
            data = gzip.decompress(data)
        try:
            body = json.loads(data or b"{}")
        except ValueError:  # A client's own telemetry may be anything.
            return {}
        return body if isinstance(body, dict) else {}

    def _sent(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = b""
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _send(self, payload: Payload) -> None:
        self.send_response(200)
        self.send_header("Content-Type", payload.kind)
        self.send_header("Content-Length", str(len(payload.data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(payload.data)

    def log_message(self, format: str, *args: object) -> None:
        pass

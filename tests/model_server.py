"""A server on loopback that keeps the requests it gets, and behaves as badly as a test wants."""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

HUNDRED_MB = 100_000_000


class Request(NamedTuple):
    """A request as it arrived on a connection."""

    line: str
    headers: dict[str, str]
    body: dict[str, Any]


Behaviour = Callable[["ModelServer", socket.socket, Request], None]


class ModelServer:
    """A server that answers each connection in its own thread by calling `behave`. The end of `with` ends hung ones."""

    def __init__(self, behave: Behaviour) -> None:
        self.behave = behave
        self.requests: list[Request] = []
        self.sent = 0
        self.released = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> ModelServer:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        # Closing a listener does not wake a thread that waits in accept; a last connection does.
        socket.create_connection(self._listener.getsockname()).close()
        for thread in self._threads:
            thread.join(timeout=120)
            assert not thread.is_alive()
        self._listener.close()

    def _start(self, work: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            if self.released.is_set():
                connection.close()
                return
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            request = _receive(connection)
            if request is None:
                return
            self.requests.append(request)
            try:
                self.behave(self, connection, request)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client has hung up, as it should


def _receive(connection: socket.socket) -> Request | None:
    with connection.makefile("rb") as stream:
        line = stream.readline().decode("latin-1").strip()
        if not line:
            return None
        headers = {}
        while True:
            name, _, value = stream.readline().decode("latin-1").partition(":")
            if not value:
                break
            headers[name.lower()] = value.strip()
        return Request(line, headers, json.loads(stream.read(int(headers.get("content-length", "0"))) or b"{}"))


def message(text: str, **more: object) -> dict[str, object]:
    """Return a reply in the format of the Anthropic API, with a thinking block first."""
    thinking = {"type": "thinking", "thinking": '{"keep": [1, 2, 3]} is tempting', "signature": "x"}
    usage = {"input_tokens": 1_000, "output_tokens": 20}
    content = [thinking, {"type": "text", "text": text}]
    return {"type": "message", "content": content, "stop_reason": "end_turn", "usage": usage, **more}


def head(status: int = 200, **headers: object) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def whole(data: bytes, status: int = 200, **headers: object) -> bytes:
    return head(status, Content_Type="application/json", Content_Length=len(data), **headers) + data


def answers(body: object, status: int = 200, **headers: object) -> Behaviour:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda server, connection, request: connection.sendall(whole(data, status, **headers))


def says(text: str) -> Behaviour:
    return answers(message(text))


def keeps(*titles: str) -> Behaviour:
    """Keep the notes with these titles, whatever numbers they are shown under."""

    def behave(server: ModelServer, connection: socket.socket, request: Request) -> None:
        shown = request.body["messages"][-1]["content"]
        numbers = [at for at, note in enumerate(notes(shown), 1) if any(f'title="{title}"' in note for title in titles)]
        connection.sendall(whole(json.dumps(message(json.dumps({"keep": numbers}))).encode()))

    return behave


def notes(question: str) -> list[str]:
    return [line for line in question.splitlines() if line.startswith("<note ")]


def hangs(server: ModelServer, connection: socket.socket, request: Request) -> None:
    """Send nothing, not even headers."""
    server.released.wait(timeout=60)


def hangs_in_the_body(server: ModelServer, connection: socket.socket, request: Request) -> None:
    data = json.dumps(message('{"keep": [1]}')).encode()
    connection.sendall(head(Content_Type="application/json", Content_Length=len(data)) + data[:20])
    server.released.wait(timeout=60)


def drips_headers(server: ModelServer, connection: socket.socket, request: Request) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    _drip(server, connection)


def drips_body(server: ModelServer, connection: socket.socket, request: Request) -> None:
    connection.sendall(head(Content_Type="application/json", Content_Length=500_000))
    _drip(server, connection)


def _drip(server: ModelServer, connection: socket.socket) -> None:
    while not server.released.wait(0.02):
        connection.sendall(b" ")


def breaks_off(server: ModelServer, connection: socket.socket, request: Request) -> None:
    data = json.dumps(message('{"keep": [1]}')).encode()
    connection.sendall(head(Content_Type="application/json", Content_Length=len(data)) + data[: len(data) // 2])


def breaks_off_in_a_chunk(server: ModelServer, connection: socket.socket, request: Request) -> None:
    connection.sendall(head(Transfer_Encoding="chunked") + b'40\r\n{"type": ')


def resets(server: ModelServer, connection: socket.socket, request: Request) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def says_nothing(server: ModelServer, connection: socket.socket, request: Request) -> None:
    """Close the connection without a byte."""


def talks_garbage(server: ModelServer, connection: socket.socket, request: Request) -> None:
    connection.sendall(b"\x16\x03\x01 this is not HTTP at all\r\n\r\n")


def floods(server: ModelServer, connection: socket.socket, request: Request) -> None:
    """Send 100 MB without an announced length."""
    connection.sendall(head(Content_Type="application/json"))
    while server.sent < HUNDRED_MB:
        server.sent += connection.send(b" " * 100_000)


def announces_a_flood(server: ModelServer, connection: socket.socket, request: Request) -> None:
    connection.sendall(head(Content_Type="application/json", Content_Length=HUNDRED_MB))
    while server.sent < HUNDRED_MB:
        server.sent += connection.send(b" " * 100_000)


bombs = answers(gzip.compress(b" " * 50_000_000), Content_Encoding="gzip")
"""50 MB of spaces in 50 KB of gzip."""

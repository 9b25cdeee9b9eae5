"""A client of `onrecord mcp`: the real process, one JSON message a line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

BIN = Path(__file__).parents[2] / "bin" / "onrecord"
STATELESS = "2026-07-28"
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_META = "io.modelcontextprotocol/"


def envelope(version: str = STATELESS) -> dict[str, Any]:
    """Return the fields that a request of the stateless version has."""
    info = {"name": "tester", "version": "1"}
    return {f"{_META}protocolVersion": version, f"{_META}clientCapabilities": {}, f"{_META}clientInfo": info}


class Client:
    """One connection; with a version, requests are sent as that version has them."""

    def __init__(self, folder: Path | str, *words: str, version: str = "", env: dict[str, str] | None = None) -> None:
        self.version = version
        self._last = 0
        self.process = subprocess.Popen(
            (sys.executable, str(BIN), "mcp", *words),
            cwd=folder,
            env=dict(os.environ) if env is None else env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        if version in HANDSHAKE:
            self.greeting = self.initialize(version)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end()

    def initialize(self, version: str, **capabilities: Any) -> dict[str, Any]:
        info = {"name": "tester", "version": "1"}
        params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": info}
        greeting = self.request("initialize", **params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return greeting["result"]

    def send(self, message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        """Return the next message, or None if the server has closed the connection."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def message(self, method: str, **params: Any) -> dict[str, Any]:
        """Return a request with a new id."""
        self._last += 1
        if self.version == STATELESS:
            params["_meta"] = envelope()
        return {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}

    def request(self, method: str, **params: Any) -> Any:
        """Send a request, and return the response."""
        message = self.message(method, **params)
        self.send(message)
        answer = self.receive()
        assert answer["id"] == message["id"], answer
        return answer

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool, and return its result."""
        result: dict[str, Any] = self.request("tools/call", name=name, arguments=arguments)["result"]
        return result

    def end(self) -> tuple[int, list[Any], str]:
        """Close the connection. Return the exit code, the remaining messages, and the text on standard error."""
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, [json.loads(line) for line in out.splitlines()], err.decode()


def text_of(result: dict[str, Any]) -> str:
    """Return the text of a tool's result."""
    (content,) = result["content"]
    assert content["type"] == "text"
    return str(content["text"])

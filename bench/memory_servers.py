"""Other memory servers that speak MCP: how each is installed, started, filled and searched.

They are what many agents without hooks use. Each gets the same texts, in its own folder, and is searched by its own
tool.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from onrecord.record import memory
from onrecord.record.memory import Memory
from onrecord.search import document

ROOT = Path(__file__).parents[1]
BASIC_MEMORY, SERVER_MEMORY = "basic-memory 0.24.1", "server-memory 2026.8.31"
OURS = "Onrecord"
_SECONDS = 120
_VERSION = "2025-06-18"


class Cost(NamedTuple):
    """The list of tools of a server, and the CPU time until it was answered and the connection closed."""

    tools: list[Any]
    cpu_ms: float


class Connection:
    """A connection to a server: one JSON message a line on its standard streams."""

    def __init__(self, command: Sequence[str], env: dict[str, str]) -> None:
        self._last = 0
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
        )
        info = {"name": "bench", "version": "1"}
        self._request("initialize", protocolVersion=_VERSION, capabilities={}, clientInfo=info)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> float:
        """End the server, and return the milliseconds of CPU time that it took."""
        assert self.process.stdin
        if self.process.poll() is None and not self.process.stdin.closed:
            self.process.stdin.close()
            _, _, usage = os.wait4(self.process.pid, 0)
            self.process.returncode = 0
            return (usage.ru_utime + usage.ru_stime) * 1000
        return 0.0

    def tools(self) -> list[Any]:
        return list(self._request("tools/list")["tools"])

    def call(self, name: str, **arguments: Any) -> Any:
        """Return the data of a tool's result. Raises ValueError if it is an error."""
        result = self._request("tools/call", name=name, arguments=arguments)
        if result.get("isError"):
            raise ValueError(f"{name}: {result['content']}")
        return result.get("structuredContent")

    def _send(self, message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def _request(self, method: str, **params: Any) -> Any:
        self._last += 1
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        assert self.process.stdout
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self._last and "method" not in message:
                return message["result"]
        raise ValueError(f"the server ended before it answered {method}")


class MemoryServer(NamedTuple):
    """One server: its command, its variables, how it takes records, and how it is searched."""

    name: str
    command: Callable[[Path], list[str]]
    """Given the folder of its data."""
    variables: Callable[[Path], dict[str, str]]
    fill: Callable[[Connection, Path, Sequence[Memory]], None]
    search: Callable[[Connection, str], list[str]]
    """Return titles or ids, best first."""

    def connect(self, folder: Path) -> Connection:
        folder.mkdir(parents=True, exist_ok=True)
        env = {"HOME": str(folder), "PATH": os.environ["PATH"], "HF_HUB_OFFLINE": "1", **self.variables(folder)}
        return Connection(self.command(folder), env)

    def cost(self, folder: Path) -> Cost:
        connection = self.connect(folder)
        tools = connection.tools()
        return Cost(tools, connection.close())


def text_of(record: Memory) -> str:
    """Return the text that every other server gets of a record: all that ours searches."""
    return "\n".join((*document.passages(record), f"Tags: {', '.join(record.tags)}", *record.triggers))


def installed(folder: Path) -> tuple[MemoryServer, ...]:
    """Return the servers, installed below `folder`: what is there already is used."""
    python, node = folder / "basic-memory", folder / "server-memory"
    if not (python / "bin/basic-memory").exists():
        subprocess.run([sys.executable, "-m", "venv", str(python)], check=True, timeout=_SECONDS)
        pinned = BASIC_MEMORY.replace(" ", "==")
        subprocess.run([str(python / "bin/pip"), "install", "-q", pinned], check=True, timeout=5 * _SECONDS)
    if not (node / "node_modules/.bin/mcp-server-memory").exists():
        pinned = f"@modelcontextprotocol/{SERVER_MEMORY.replace(' ', '@')}"
        subprocess.run(["npm", "install", "--prefix", str(node), pinned], check=True, timeout=5 * _SECONDS)
    return (_onrecord(), _basic_memory(python), _server_memory(node))


def _onrecord() -> MemoryServer:
    def fill(connection: Connection, folder: Path, records: Sequence[Memory]) -> None:
        for record in records:
            path = folder / ".claude/memory" / record.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(memory.render(record))

    def search(connection: Connection, query: str) -> list[str]:
        return [hit["title"] for hit in connection.call("search", query=query)["results"]]

    script = [sys.executable, "-S", "-E", str(ROOT / "bin" / "onrecord"), "mcp", "--project"]
    return MemoryServer(OURS, lambda folder: [*script, str(folder)], lambda folder: {}, fill, search)


def _basic_memory(installation: Path) -> MemoryServer:
    def fill(connection: Connection, folder: Path, records: Sequence[Memory]) -> None:
        for record in records:
            connection.call("write_note", title=record.title, content=text_of(record), directory=record.category)

    def search(connection: Connection, query: str) -> list[str]:
        lines = connection.call("search_notes", query=query)["result"].splitlines()
        return [line[4:] for line in lines if line.startswith("### ")]

    return MemoryServer(
        BASIC_MEMORY,
        lambda folder: [str(installation / "bin/basic-memory"), "mcp"],
        lambda folder: {"BASIC_MEMORY_HOME": str(folder / "notes")},
        fill,
        search,
    )


def _server_memory(installation: Path) -> MemoryServer:
    def fill(connection: Connection, folder: Path, records: Sequence[Memory]) -> None:
        entities = [
            {"name": record.title, "entityType": record.category, "observations": text_of(record).split("\n")}
            for record in records
        ]
        connection.call("create_entities", entities=entities)

    def search(connection: Connection, query: str) -> list[str]:
        # It finds a text within a text, so that a query of several words finds next to nothing: each word is searched.
        counts: Counter[str] = Counter()
        for word in dict.fromkeys(query.split()):
            counts.update(entity["name"] for entity in connection.call("search_nodes", query=word)["entities"])
        return [name for name, _ in counts.most_common()]

    return MemoryServer(
        SERVER_MEMORY,
        lambda folder: [str(installation / "node_modules/.bin/mcp-server-memory")],
        lambda folder: {"MEMORY_FILE_PATH": str(folder / "memory.json")},
        fill,
        search,
    )

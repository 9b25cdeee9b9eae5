"""`python -m bench mcp`: what starting the MCP server costs, against a bare interpreter, run turn by turn."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from bench import latency, results, stage
from onrecord.record.memory import Memory

ROOT = Path(__file__).parents[1]
_START = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)
_SEARCH = {"name": "search", "arguments": {"query": "sessions"}}
_CASES = {
    "start, list of tools": _START,
    "start, list of tools, one search": (
        *_START,
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": _SEARCH},
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--times", type=int, default=21, help="runs of each kind (default 21)")


def run(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="onrecord-mcp-") as folder:
        found = {name: measure(Path(folder), messages, options.times) for name, messages in _CASES.items()}
    print(json.dumps(found, indent=1))
    results.save("mcp", {"python": sys.version.split()[0], "times": options.times, **found})
    return 0


def measure(folder: Path, messages: tuple[dict[str, object], ...], times: int) -> dict[str, float]:
    """The CPU time of a bare interpreter and of the server until it has answered these messages, and their ratio."""
    env = latency.environment(folder)
    content = {"status": "accepted", "context": "c", "decision": "Sessions are rows.", "rationale": ["r"]}
    record = Memory("decision", "sessions", "Sessions", content, created_at="2026-01-01T00:00:00Z", tags=("t",))
    stage.write(str(folder / ".claude" / "memory"), [record._replace(updated_at=record.created_at)])
    data = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    server = [sys.executable, "-S", "-E", str(ROOT / "bin" / "onrecord"), "mcp", "--project", str(folder)]
    pairs = [
        (latency.timed([*server[:3], "-c", "pass"], b"", env).cpu, latency.timed(server, data, env).cpu)
        for _ in range(times + 2)
    ][2:]
    bare, ours = (statistics.median(column) for column in zip(*pairs))
    return {"bare cpu ms": round(bare, 2), "cpu ms": round(ours, 2), "cpu ratio": round(ours / bare, 2)}

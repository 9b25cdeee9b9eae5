"""`python -m bench mcp`: what starting the MCP server costs, against a bare interpreter, run turn by turn.

With `--others DIR` also beside two other memory servers, which are installed there: the same start, the tokens of their
lists of tools, and whether a search finds the record that answers a prompt, in projects on which nothing was fitted.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import figure_tables, latency, life_sets, memory_servers, page, results, stage
from bench.data import Set
from bench.memory_servers import MemoryServer
from onrecord.record.memory import Memory
from onrecord.text import count_tokens

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "agents" / "mcp.md"
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
    parser.add_argument("--others", type=Path, metavar="DIR", help="compare with servers that are installed in DIR")
    parser.add_argument("--prompts", type=int, default=50, metavar="N", help="prompts of each project (default: 50)")


def run(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="onrecord-mcp-") as folder:
        costs = {name: measure(Path(folder), messages, options.times) for name, messages in _CASES.items()}
    print(json.dumps(costs, indent=1))
    results.save("mcp", {"python": sys.version.split()[0], "times": options.times, **costs})
    if options.others:
        compared = {"python": sys.version.split()[0], "servers": compare(options)}
        print(json.dumps(compared, indent=1))
        results.save("mcp_servers", compared)
        page.put(PAGE, "mcp --others DIR", {"servers": figure_tables.mcp_servers(compared)})
    return 0


def compare(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of each server, ours first."""
    servers = memory_servers.installed(options.others)
    sets = [life_sets.load(name, "lean") for name in life_sets.REPORT]
    return {
        server.name: {**_start(server, min(options.times, 9)), **_searches(server, sets, options.prompts)}
        for server in servers
    }


def _start(server: MemoryServer, times: int) -> dict[str, Any]:
    """Return the list of tools, and the CPU time until a server has sent it and ended, against a bare interpreter."""
    with tempfile.TemporaryDirectory(prefix="onrecord-mcp-") as folder:
        env = latency.environment(Path(folder))
        bare = [sys.executable, "-S", "-E", "-c", "pass"]
        costs = [(latency.timed(bare, b"", env).cpu, server.cost(Path(folder, "data"))) for _ in range(times + 1)][1:]
    median_bare, median = (statistics.median(column) for column in zip(*((cpu, cost.cpu_ms) for cpu, cost in costs)))
    tools = costs[0][1].tools
    return {
        "tools": len(tools),
        "tool tokens": count_tokens(json.dumps(tools)),
        "cpu ms": round(median, 1),
        "cpu ratio": round(median / median_bare, 1),
    }


def _searches(server: MemoryServer, sets: Sequence[Set], most: int) -> dict[str, Any]:
    """Count the prompts for which a record that answers is among the first results, searched in two ways."""
    counts = {f"{kind} in {first}": 0 for kind in _QUERIES for first in _FIRST}
    prompts = 0
    for chosen in sets:
        records = [record for record in chosen.records if not record.superseded_by]
        questions = [prompt for prompt in chosen.answerable if prompt.kind != life_sets.COMMIT]
        questions = questions if len(questions) <= most else random.Random(chosen.name).sample(questions, most)
        titles = {record.id: record.title for record in records}
        with tempfile.TemporaryDirectory(prefix="onrecord-mcp-") as folder, server.connect(Path(folder)) as connection:
            server.fill(connection, Path(folder), records)
            for prompt in questions:
                right = {titles[record_id] for record_id in prompt.relevant if record_id in titles}
                for kind, query_of in _QUERIES.items():
                    hits = server.search(connection, query_of(prompt.text, records))
                    for first in _FIRST:
                        counts[f"{kind} in {first}"] += bool(right & set(hits[:first]))
        prompts += len(questions)
    return {"prompts": prompts, **counts}


def _three_words(text: str, records: Sequence[Memory]) -> str:
    """Return the three rarest words of a prompt that records have, as somebody would search who knows the project."""
    frequency = Counter(word for record in records for word in set(_words(memory_servers.text_of(record))))
    in_records = [word for word in dict.fromkeys(_words(text)) if frequency[word] and len(word) > 2]
    return " ".join(sorted(in_records, key=lambda word: (frequency[word], word))[:3]) or text


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


_QUERIES: dict[str, Callable[[str, Sequence[Memory]], str]] = {
    "the prompt": lambda text, records: text,
    "three words": _three_words,
}
_FIRST = (1, 3)


def measure(folder: Path, messages: tuple[dict[str, object], ...], times: int) -> dict[str, float]:
    """Return the CPU times of a bare interpreter and of the server until it has answered, and their ratio."""
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

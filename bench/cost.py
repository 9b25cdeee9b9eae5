"""`python -m bench cost`: tokens, CPU time and disk, on the records of real projects; figures into docs/cost.md."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench import latency, life_sets, page, results, stage, stop
from onrecord import paths
from onrecord.digest import digest
from onrecord.recall import for_prompt
from onrecord.recall.for_prompt import Request
from onrecord.search import index
from onrecord.settings import load_settings
from onrecord.text import count_tokens

PAGE = Path(__file__).parents[1] / "docs" / "cost.md"
VARIANT = "full"
"""Records with ten triggers, which are the largest."""

MAPPED = (*life_sets.CHOOSE, *life_sets.REPORT)
"""The projects whose map is measured: all that are in the repository."""

_ANSWER = 800
"""Characters of an agent's answer in the transcript that a turn ends with."""

_INDEX = (
    "import sys; sys.path.insert(0, sys.argv[1]); from onrecord.search import index; index.open(sys.argv[2]).close()"
)
_EVENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "a prompt": ("user_prompt_submit", {"prompt": "rename the login button to sign in"}),
    "a file is read": ("pre_tool_use", {"tool_name": "Read", "tool_input": {"file_path": "src/main.py"}}),
    "a command is run": ("pre_tool_use", {"tool_name": "Bash", "tool_input": {"command": "make test"}}),
    "a command has run": ("post_tool_use", {"tool_name": "Bash", "tool_input": {"command": "make test"}}),
    "a command fails": ("post_tool_use_failure", {"tool_name": "Bash", "error": "Exit code 2"}),
    "a turn ends": ("stop", {}),
    "a session starts": ("session_start", {"source": "startup"}),
}  # fmt: skip
"""What happens in a session, most often without an answer, and the hook that runs then."""


class MapSize(NamedTuple):
    """The map of a project: the records in force, those that it names, and its tokens."""

    records: int
    named: int
    tokens: int


class Size(NamedTuple):
    """What the records of a project take on disk."""

    records: int
    store: int
    index: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--times", type=int, default=15, help="runs of each hook (default 15)")


def run(options: argparse.Namespace) -> int:
    measured = measure(life_sets.REPORT, options.times)
    print(f"wrote {results.save('cost', measured)}")
    page.put(PAGE, "cost", tables(measured))
    return 0


def measure(names: Sequence[str], times: int) -> dict[str, Any]:
    """Return all figures over some projects; hooks are timed in the first."""
    rules, pointers, firsts = ([each for name in names for each in _texts(name, kind)] for kind in _KINDS)
    sizes = [_size(name) for name in names]
    with tempfile.TemporaryDirectory(prefix="onrecord-cost-") as folder:
        hooks = dict(_hooks(Path(folder), names[0], times))
    return {
        "python": sys.version.split()[0],
        "tokens": {kind: _spread(texts) for kind, texts in zip(_KINDS, (rules, pointers, firsts))},
        "maps": {name: map_of(name)._asdict() for name in MAPPED},
        "disk": Size(*map(sum, zip(*sizes)))._asdict(),
        "hooks": hooks,
    }


_KINDS = ("records, in a session", "only pointers", "records, at its first prompt")


def _texts(name: str, kind: str) -> Iterator[int]:
    """Yield the tokens of each text of a kind that the prompts of a project get."""
    own, settings = life_sets.load(name, VARIANT), load_settings("", "")
    with stage.Stage(own.records) as staged:
        for prompt in own.prompts:
            request = Request(prompt.text, is_first=kind == _KINDS[2])
            decision = for_prompt.decide(staged.stores, request, settings)
            if decision.text and bool(decision.rules) == (kind != _KINDS[1]):
                yield count_tokens(decision.text)


def map_of(name: str) -> MapSize:
    """Return the size of the map that a session in a project starts with."""
    own, settings = life_sets.load(name, VARIANT), load_settings("", "")
    with stage.Stage(own.records) as staged:
        # A session that starts before all records are indexed gets a part of the map.
        index.open(staged.root).close()
        page_of_map = digest.make(staged.root, paths.store_refs(staged.root), settings).render()
    return MapSize(
        len(page_of_map.lines) + page_of_map.left_out, len(page_of_map.lines), count_tokens(page_of_map.text)
    )


def _spread(values: Sequence[int]) -> dict[str, float]:
    ordered = sorted(values) or [0]
    return {
        "texts": len(values),
        "median": statistics.median(ordered),
        "nine in ten below": ordered[len(ordered) * 9 // 10],
        "most": ordered[-1],
    }


def _size(name: str) -> Size:
    records = life_sets.load(name, VARIANT).records
    with tempfile.TemporaryDirectory(prefix="onrecord-cost-") as folder:
        _index(Path(folder), name)
        return Size(len(records), _bytes(Path(folder, "project")), _bytes(Path(folder, "cache")))


def _index(folder: Path, name: str) -> None:
    """Write a project's records as a store on disk, and index it."""
    store = folder / "project" / ".claude" / "memory"
    stage.write(str(store), life_sets.load(name, VARIANT).records)
    command = (sys.executable, "-c", _INDEX, str(latency.ROOT / "src"), str(store))
    subprocess.run(command, env=latency.environment(folder), check=True)


def _bytes(folder: Path) -> int:
    return sum(os.path.getsize(file) for file in folder.rglob("*") if file.is_file())


def _hooks(folder: Path, name: str, times: int) -> Iterator[tuple[str, dict[str, float]]]:
    _index(folder, name)
    talk = folder / "transcript.jsonl"
    stop.write(talk, _ANSWER)
    time.sleep(2.1)  # A folder younger than this is listed again, as it may still change.
    for what, (event, fields) in _EVENTS.items():
        event_fields = {"cwd": str(folder / "project"), "transcript_path": str(talk), **fields}

        def of_turn(turn: int, event_fields: dict[str, Any] = event_fields) -> dict[str, Any]:
            return {**event_fields, "session_id": f"s{turn}"}

        command = latency.command(sys.executable, event)
        yield what, latency.compare(command, of_turn, latency.environment(folder), times)


def tables(measured: dict[str, Any]) -> dict[str, str]:
    """Return the tables of the page by the names of their places on it."""
    spent = [
        "| a prompt gets | texts measured | median | nine in ten at most | most |",
        "| --- | --- | --- | --- | --- |",
    ]
    for kind, each in measured["tokens"].items():
        numbers = (each["texts"], each["median"], each["nine in ten below"], each["most"])
        spent.append(f"| {kind} | {' | '.join(f'{number:,.0f}' for number in numbers)} |")
    sizes = [MapSize(**each) for each in measured["maps"].values()]
    shares = (("records in force", "records"), ("named in the map", "named"), ("tokens of the map", "tokens"))
    mapped = ["| | least | median | most |", "| --- | --- | --- | --- |"]
    for what, field in shares:
        mapped.append(_three(what, [getattr(each, field) for each in sizes]))
    mapped.append(_three("tokens for each record", [each.tokens / each.named for each in sizes]))
    took = ["| when | CPU time | times a bare `python3` |", "| --- | --- | --- |"]
    for what, cost in measured["hooks"].items():
        took.append(f"| {what} | {cost['cpu ms']:.0f} ms | {cost['cpu ratio']:.1f} |")
    size = Size(**measured["disk"])
    held = [
        f"| a record's file | {size.store / size.records / 1000:.1f} kB |",
        f"| the search index, for each record | {size.index / size.records / 1000:.1f} kB |",
    ]
    return {
        "tokens": "\n".join(spent),
        "maps": "\n".join(mapped),
        "hooks": "\n".join(took),
        "disk": "\n".join(["| what | size |", "| --- | --- |", *held]),
    }


def _three(what: str, values: Sequence[float]) -> str:
    numbers = (min(values), statistics.median(values), max(values))
    return f"| {what} | {' | '.join(f'{number:,.0f}' for number in numbers)} |"

"""`python -m bench scale`: what commands and hooks cost in stores of 1,000 to 200,000 records."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench import latency, results

SIZES = (1_000, 10_000, 50_000, 100_000, 200_000)
LONG, MAX_LONG = ("doctor", "audit", "improve", "freshness", "export"), 50_000
"""Commands that read every record, and the largest store in which they are measured."""

_FIELDS = ("--set=context=c", "--set=decision=d", "--set=rationale=r", "--force")


class Cost(NamedTuple):
    """Seconds of one process: computing, and on the clock."""

    cpu: float
    wall: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="records in the store")
    parser.add_argument("--folder", type=Path, help="keep the stores here, and use those that are there already")


def run(options: argparse.Namespace) -> int:
    measured = (results.load("scale") or {}).get("sizes", {})
    with tempfile.TemporaryDirectory(prefix="onrecord-scale-") as temporary:
        for size in options.sizes:
            folder = (options.folder or Path(temporary)) / str(size)
            measured[str(size)] = measure(folder, size)
            print(json.dumps({size: measured[str(size)]}), flush=True)
            results.save("scale", {"python": sys.version.split()[0], "sizes": measured})
    return 0


def measure(folder: Path, size: int) -> dict[str, dict[str, float]]:
    """Return median seconds of each command and hook, with an index that is up to date unless it says otherwise."""
    store = folder / "project" / ".claude" / "memory"
    if not store.exists():
        latency.write_store(store, size)
    make_work(folder / "project")
    prepare(folder, store)
    # First: for two seconds after a save, hooks list its folder again.
    after_failure = failed_command(folder)
    costs = {
        "search": median(folder, lambda turn: _command("search", "brock pom")),
        "list --limit 5": median(folder, lambda turn: _command("list", "--limit", "5")),
        "save": median(folder, lambda turn: _command("save", "decision", _title(turn), *_FIELDS)),
        "prompt": median(folder, lambda turn: hook(folder, "user_prompt_submit", turn)),
        "session start": median(folder, lambda turn: hook(folder, "session_start", turn)),
        "failed command": after_failure,
    }
    for name in LONG if size <= MAX_LONG else ():
        costs[name] = median(folder, lambda turn, name=name: _command(name), times=1)
    costs["save without index.md: under the lock"] = under_the_lock(folder, store)
    _touch_all(store)
    costs["prompt, all files touched"] = median(folder, lambda turn: hook(folder, "user_prompt_submit", turn))
    # Once: the next search finds what this one has checked.
    costs["search, all files touched"] = median(folder, lambda turn: _command("search", "brock pom"), times=1)
    return costs


def failed_command(folder: Path, times: int = 9) -> dict[str, float]:
    """Return seconds of the hook after a failed command, also in starts of a bare interpreter."""
    name = "post_tool_use_failure"
    (command, _), env = hook(folder, name, 0), latency.environment(folder)
    cost = latency.compare(command, lambda turn: json.loads(hook(folder, name, turn)[1]), env, times)
    ratio = cost["wall ratio"] / cost["cpu ratio"] if cost["cpu ratio"] else 1.0
    seconds = cost["cpu ms"] / 1000
    return {"cpu": round(seconds, 3), "wall": round(seconds * ratio, 3), "cpu ratio": cost["cpu ratio"]}


def under_the_lock(folder: Path, store: Path) -> dict[str, float]:
    """Return the seconds for which a save that finds no `index.md` keeps others out of the store."""
    (store / "index.md").unlink()
    command = [sys.executable, "-c", _TIME_THE_LOCK, str(store / ".lock"), "save", "decision", _title(0), *_FIELDS]
    env = {**latency.environment(folder), "PYTHONPATH": str(latency.ROOT / "src")}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env, cwd=folder / "project")
    cpu, wall = json.loads(done.stderr.splitlines()[-1])
    return {"cpu": round(cpu, 3), "wall": round(wall, 3)}


_TIME_THE_LOCK = """
import json, sys, time
from onrecord import cli, files

spent = [0.0, 0.0]


class Timed(files.locked):
    def __enter__(self):
        super().__enter__()
        self.began = time.process_time(), time.perf_counter()

    def __exit__(self, *failure):
        if self._handle >= 0 and self._path == sys.argv[1]:
            spent[0] += time.process_time() - self.began[0]
            spent[1] += time.perf_counter() - self.began[1]
        return super().__exit__(*failure)


files.locked = Timed
status = cli.main(sys.argv[2:])
print(json.dumps(spent), file=sys.stderr)
sys.exit(status)
"""
"""A command that says at its end for how long it held a lock: computing, and on the clock."""


def prepare(folder: Path, store: Path) -> None:
    """Write an index of the whole store, and its index.md."""
    if not (store / "index.md").exists():
        timed(folder, _command("index", "rebuild"))
    timed(folder, _command("search", "brock"))
    time.sleep(2.1)  # A folder younger than this is listed again, as it may still change.
    timed(folder, _command("search", "brock"))


def make_work(project: Path) -> None:
    """Make a repository with a changed file: a session's start has something to relate records to."""
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com", "-C", str(project)]
    changed = project / "brock_pom.py"
    if not changed.exists():
        (project / ".gitignore").write_text(".claude/\n")
        changed.write_text("brock = 1\n")
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "Add brock"]):
            subprocess.run([*git, *words], check=True)
    changed.write_text("pom = fomip\n")


def _command(*words: str) -> tuple[list[str], bytes]:
    return [sys.executable, "-m", "onrecord", *words], b""


def hook(folder: Path, name: str, turn: int) -> tuple[list[str], bytes]:
    event = {"cwd": str(folder / "project"), "session_id": f"{name}-{turn}-{time.time_ns()}"}
    event.update(_EVENTS.get(name, {"prompt": "where do brock pom and fomip belong?"}))
    return latency.command(sys.executable, name), json.dumps(event).encode()


_EVENTS: dict[str, dict[str, Any]] = {
    "session_start": {"source": "startup"},
    "post_tool_use_failure": {
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "error": "Exit code 1\nerror: brock pom refused: fomip is not there",
    },
}
"""What an event has beside its session, for all but a prompt."""


def _title(turn: int) -> str:
    return f"A new decision about scale {turn} {time.time_ns()}"


def median(folder: Path, process: Callable[[int], tuple[list[str], bytes]], times: int = 3) -> dict[str, float]:
    costs = [timed(folder, process(turn)) for turn in range(times)]
    return {
        "cpu": round(statistics.median(cost.cpu for cost in costs), 3),
        "wall": round(statistics.median(cost.wall for cost in costs), 3),
    }


def timed(folder: Path, process: tuple[Sequence[str], bytes]) -> Cost:
    command, data = process
    env = {**latency.environment(folder), "PYTHONPATH": str(latency.ROOT / "src")}
    began = time.perf_counter()
    running = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=env, cwd=folder / "project"
    )
    assert running.stdin
    running.stdin.write(data)
    running.stdin.close()
    _, status, usage = os.wait4(running.pid, 0)
    running.returncode = 0
    if status:
        raise RuntimeError(f"{' '.join(command)} failed")
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - began)


def _touch_all(store: Path) -> None:
    now = time.time()
    for path in store.glob("*/*.json"):
        os.utime(path, (now, now))

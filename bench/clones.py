"""`python -m bench clones`: the first minutes of fresh clones, whose index is built after a session's start."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import latency, results, scale
from onrecord import paths
from onrecord.search import build_lock, index

SIZES = (500, 5_000, 50_000)
_PAUSE_SECONDS = 0.4
"""Between two prompts, as from an impatient user."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="records in the store")
    parser.add_argument("--folder", type=Path, help="keep the stores here, and use those that are there already")


def run(options: argparse.Namespace) -> int:
    measured = (results.load("clones") or {}).get("sizes", {})
    with tempfile.TemporaryDirectory(prefix="onrecord-clones-") as temporary:
        for size in options.sizes:
            folder = (options.folder or Path(temporary)) / f"clone-{size}"
            measured[str(size)] = measure(folder, size)
            print(json.dumps({size: measured[str(size)]}), flush=True)
            results.save("clones", {"python": sys.version.split()[0], "sizes": measured})
    return 0


def measure(folder: Path, size: int) -> dict[str, Any]:
    """Measure a fresh clone: its first hooks, and when the index that they began is complete."""
    store = folder / "project" / ".claude" / "memory"
    if not store.exists():
        latency.write_store(store, size)
        time.sleep(2.1)  # A folder younger than this is listed again, as it may still change.
    scale.make_work(folder / "project")
    shutil.rmtree(folder / "cache", ignore_errors=True)
    bare = scale.median(folder, lambda turn: ([sys.executable, "-S", "-E", "-c", "pass"], b""), times=9)["cpu"]
    load = os.getloadavg()[0]
    with paths.override({"ONRECORD_CACHE_DIR": str(folder / "cache")}):
        file = index.file_of(str(store))
        began = time.perf_counter()
        first = scale.timed(folder, scale.hook(folder, "session_start", 0))
        indexed_first = _count_indexed(file)
        prompts: list[scale.Cost] = []
        while not _is_built(file, size):
            prompts.append(scale.timed(folder, scale.hook(folder, "user_prompt_submit", len(prompts))))
            time.sleep(_PAUSE_SECONDS)
        seconds = time.perf_counter() - began
    worst = scale.Cost(*(max(costs, default=0.0) for costs in zip(*prompts))) if prompts else scale.Cost(0.0, 0.0)
    return {
        "load": round(load, 1),
        "bare cpu": bare,
        "session start": _ratios(first, bare),
        "indexed by it": indexed_first,
        "prompts meanwhile": len(prompts),
        "worst prompt": _ratios(worst, bare),
        "complete after": round(seconds, 2),
    }


def _ratios(cost: scale.Cost, bare: float) -> dict[str, float]:
    return {"cpu": round(cost.cpu, 3), "wall": round(cost.wall, 3), "cpu ratio": round(cost.cpu / bare, 1)}


def _count_indexed(file: str) -> int:
    connection = sqlite3.connect(file)
    try:
        count: int = connection.execute("SELECT count(*) FROM record").fetchone()[0]
        return count
    finally:
        connection.close()


def _is_built(file: str, size: int) -> bool:
    """True when all records are indexed, and the process that did it has ended."""
    return not build_lock.state(build_lock.file_of(file)).is_running and _count_indexed(file) == size

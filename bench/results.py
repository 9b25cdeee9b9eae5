"""Dated results as files, so that pages can be written without measuring again."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"


def save(name: str, values: dict[str, Any]) -> Path:
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(stamped(values), indent=1) + "\n", encoding="utf-8")
    return path


def load(name: str) -> dict[str, Any] | None:
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def stamped(values: dict[str, Any]) -> dict[str, Any]:
    """Return values with the day, and under what circumstances they were measured."""
    run = {"command": _command(), "machine": machine(), "load": round(os.getloadavg()[0], 1), "commit": _commit()}
    stamp = {"date": time.strftime("%Y-%m-%d"), "run": run}
    # Values that were loaded, and added to, have an older stamp.
    return {**stamp, **values, **stamp}


def machine() -> str:
    """Return the machine in words: cores, processor, memory, system."""
    memory = round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    return f"{os.cpu_count()} cores ({_processor()}), {memory} GiB, {platform.system()}"


def _processor() -> str:
    """Return the name of the processor; elsewhere than on Linux its architecture."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _command() -> str:
    """Return the command that is running; folders of this machine are called DIR."""
    words = ("DIR" if os.path.isabs(word) else word for word in sys.argv[1:])
    return " ".join(("python -m bench", *words))


def _commit() -> str:
    command = ("git", "-C", str(FOLDER), "rev-parse", "--short", "HEAD")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()

"""`python -m bench faults`: every fault at every file call of every command, and how many left half (tests/faults)."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import results

ROOT = Path(__file__).parents[1]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--step", type=int, default=1, help="try one fault in so many (default: all)")
    parser.add_argument("--first", type=int, default=0, help="begin with this fault, to try others (default: 0)")


def run(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="onrecord-faults-") as folder:
        totals = Path(folder, "totals.json")
        words = ["--step", str(options.step), "--first", str(options.first), "--json", str(totals)]
        done = subprocess.run([sys.executable, "-m", "tests.faults", *words], cwd=ROOT, check=False)
        if totals.exists():
            results.save("faults", json.loads(totals.read_text(encoding="utf-8")))
    return done.returncode

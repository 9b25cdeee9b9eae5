"""`python -m bench fuzz`: hostile projects for some minutes, and what was the worst that they did (tests/fuzz)."""

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
    parser.add_argument("--minutes", type=float, default=15.0, help="how long (default 15)")
    parser.add_argument("--seed", default="", help="begin with this seed (default: a fresh one)")


def run(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="onrecord-fuzz-") as folder:
        totals = Path(folder, "totals.json")
        words = ["--minutes", str(options.minutes), "--seed", options.seed, "--json", str(totals)]
        done = subprocess.run([sys.executable, "-m", "tests.fuzz", *words], cwd=ROOT, check=False)
        if totals.exists():
            results.save("fuzz", json.loads(totals.read_text(encoding="utf-8")))
    return done.returncode

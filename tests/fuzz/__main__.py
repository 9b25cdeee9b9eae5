"""python -m tests.fuzz --minutes 60: hostile projects, as many as fit; the end says what was tried and what failed."""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.case import Fuzzer


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", default="", help="begin with this seed (default: a fresh one)")
    parser.add_argument("--case", type=int, default=-1, help="run this case of the seed alone")
    parser.add_argument("--only", default="", help="use these states, separated by commas")
    parser.add_argument("--json", default="", help="write the totals to this file, too")
    parser.add_argument("--folder", default="", help="work in this folder and leave the last case there")
    args = parser.parse_args()
    seed = args.seed or secrets.token_hex(4)
    only = tuple(filter(None, args.only.split(",")))
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        return _run(Fuzzer(Path(args.folder or temporary)), seed, args, only)


def _run(fuzzer: Fuzzer, seed: str, args: argparse.Namespace, only: tuple[str, ...]) -> int:
    end = time.monotonic() + 60 * args.minutes
    tried: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    number = max(args.case, 0)
    cases = 0
    try:
        while cases == 0 or (args.case < 0 and time.monotonic() < end):
            chosen, findings = fuzzer.case(seed, number, only)
            tried.update(chosen)
            for finding in findings:
                failed[f"{finding.where}: {finding.what[:60]}"] += 1
                print(f"{seed}:{number} [{', '.join(chosen)}] {finding.where}: {finding.what}", flush=True)
            number, cases = number + 1, cases + 1
    except KeyboardInterrupt:
        print("interrupted")
    fuzzer.close()
    print(f"\n{cases} cases, {fuzzer.processes} processes, bare interpreter {fuzzer.bare * 1000:.1f} ms")
    print("states: " + ", ".join(f"{name} {count}" for name, count in sorted(tried.items())))
    print("worst: " + ", ".join(f"{name} {value:.0f}" for name, value in sorted(fuzzer.worst.items())))
    for what, count in failed.most_common():
        print(f"{count:5} {what}")
    if args.json:
        totals = {
            "cases": cases,
            "processes": fuzzer.processes,
            "worst": fuzzer.worst,
            "states": tried,
            "failed": failed,
        }
        Path(args.json).write_text(json.dumps({"seed": seed, "minutes": args.minutes, **totals}), encoding="utf-8")
    return 1 if failed else 0


sys.exit(main())

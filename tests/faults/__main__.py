"""`python -m tests.faults`: every fault at every file call of every command, or one in `--step` of them."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from itertools import islice
from pathlib import Path

from tests.faults import commands, workbench


def main() -> int:
    """Try the faults, print what was wrong, and return 1 if anything was."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--step", type=int, default=1, help="try one fault in so many (default: all)")
    parser.add_argument("--json", default="", metavar="FILE", help="write the totals to this file")
    parser.add_argument(
        "names", nargs="*", metavar="COMMAND", help="only these, by the names in tests/faults/commands.py"
    )
    options = parser.parse_args()
    workbench.load_modules()
    totals: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="onrecord-faults-") as folder:
        bench = commands.prepare(Path(folder))
        for case in commands.CASES:
            if not options.names or case.name in options.names:
                totals += _try(bench, case, options.step)
    print(f"{totals['faults']:,} faults in {totals['commands']} commands: {totals['flaws']} half done or said wrongly")
    if options.json:
        Path(options.json).write_text(json.dumps({"step": options.step, **totals}), encoding="utf-8")
    return 1 if totals["flaws"] else 0


def _try(bench: workbench.Workbench, case: workbench.Case, step: int) -> Counter[str]:
    known = workbench.learn(bench, case)
    totals = Counter({"commands": 1, "flaws": 0})
    for fault in islice(known.faults(), len(case.name) % step, None, step):
        tried = bench.attempt(case, fault, known)
        totals["faults"] += 1
        totals[fault.name] += 1
        if tried.flaw:
            totals["flaws"] += 1
            print(f"{case.name}: {fault} ({tried.kind}): {tried.flaw}", flush=True)
    print(f"{case.name}: {totals['faults']:,} faults, {len(known.kinds)} file calls", flush=True)
    return totals


if __name__ == "__main__":
    sys.exit(main())

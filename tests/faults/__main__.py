"""`python -m tests.faults`: every fault at every file call of every command, or one in `--step` of them.

They are tried on all cores, with the files in memory where the system has a folder for that.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tests.faults import commands, workbench

_IN_MEMORY = "/dev/shm"


class Share(NamedTuple):
    """The faults that one process tries: of each command the one at `first`, and each `step` further on."""

    folder: str
    names: tuple[str, ...]
    first: int
    step: int


def main() -> int:
    """Try the faults, print what was wrong, and return 1 if anything was."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--step", type=int, default=1, help="try one fault in so many (default: all)")
    parser.add_argument("--first", type=int, default=0, help="begin with this fault, to try others (default: 0)")
    parser.add_argument("--json", default="", metavar="FILE", help="write the totals to this file")
    parser.add_argument(
        "names", nargs="*", metavar="COMMAND", help="only these, by the names in tests/faults/commands.py"
    )
    options = parser.parse_args()
    workbench.load_modules()
    names = tuple(options.names or (case.name for case in commands.CASES))
    totals: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="onrecord-faults-", dir=_fast_folder()) as folder:
        shares = _shares(folder, names, options.first, options.step)
        with multiprocessing.get_context("fork").Pool(len(shares)) as pool:
            for counts in pool.imap_unordered(_try, shares):
                totals.update(counts)
    print(f"{totals['faults']:,} faults in {len(names)} commands: {totals['flaws']} half done or said wrongly")
    if options.json:
        sample = {"first": options.first, "step": options.step, "commands": len(names), "flaws": 0}
        Path(options.json).write_text(json.dumps({**sample, **totals}), encoding="utf-8")
    return 1 if totals["flaws"] else 0


def _fast_folder() -> str | None:
    return _IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None


def _shares(folder: str, names: tuple[str, ...], first: int, step: int) -> list[Share]:
    """Return a share for each core, which together are all faults of the sample."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return [
        Share(os.path.join(folder, str(number)), names, first + number * step, step * count) for number in range(count)
    ]


def _try(share: Share) -> Counter[str]:
    bench = commands.prepare(Path(share.folder))
    totals: Counter[str] = Counter()
    for case in commands.CASES:
        if case.name in share.names:
            known = workbench.learn(bench, case)
            for fault in islice(known.faults(), share.first, None, share.step):
                tried = bench.attempt(case, fault, known)
                totals.update(["faults", fault.name])
                if tried.flaw:
                    totals["flaws"] += 1
                    print(f"{case.name}: {fault} ({tried.kind}): {tried.flaw}", flush=True)
    return totals


if __name__ == "__main__":
    sys.exit(main())

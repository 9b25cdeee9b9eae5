"""`python -m bench mutants`: the share of small changes to the source that the tests notice.

Lines are drawn at random, from each module in proportion to its length, and one change of each line. A change is killed
when a test that reaches it fails twice, and passes without it; a run that takes far too long also counts as killed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from bench import mutation, reach, results
from bench.mutation import Key, Mutant
from bench.reach import Reach
from bench.sandbox import Outcome, Sandbox

PROJECT = Path(__file__).parents[1]
BUDGET = 20.0
"""Seconds of tests for one mutant: all the tests of most blocks; where more reach it, those that reach little else."""

PATIENCE = 20.0
STARTUP = 120.0
"""A run may take this many times its usual seconds, and this long to start, on a busy machine."""

IN_MEMORY = Path("/dev/shm")
"""Where there is one, tests write there: most of their time goes to files."""


class Result(NamedTuple):
    """What became of a mutant: killed, survived, equivalent or not reached; and by which test."""

    mutant: Mutant
    status: str
    by: str
    tests: int
    seconds: float

    def to_json(self) -> dict[str, Any]:
        mutant = self.mutant
        return {
            "file": mutant.path,
            "line": mutant.line,
            "text": mutant.text,
            "operator": mutant.operator,
            "change": mutant.change,
            "status": self.status,
            "by": self.by,
            "tests": self.tests,
            "seconds": round(self.seconds, 1),
        }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=1, help="of the sample (1)")
    parser.add_argument("--count", type=int, default=200, help="mutants to try (200)")
    parser.add_argument("--jobs", type=int, default=2, help="mutants tried at once (2)")
    parser.add_argument("--paths", nargs="+", default=["src"], help="files or folders to change (src)")
    equivalent = PROJECT / "bench" / "equivalent_mutants.json"
    parser.add_argument("--known-equivalent", type=Path, default=equivalent, help="survivors that change nothing")


def run(options: argparse.Namespace) -> int:
    started = time.monotonic()
    outcomes = measure(PROJECT, options)
    minutes = (time.monotonic() - started) / 60
    totals = summary(Counter(result.status for result in outcomes))
    path = results.save(
        "mutants", {"seed": options.seed, "summary": totals, "mutants": [r.to_json() for r in outcomes]}
    )
    print("\n".join(f"  {result.status:11} {describe(result.mutant)}" for result in outcomes if not result.by))
    print(f"{totals}; {minutes:.0f} minutes; {path}")
    return 0


def read_equivalent(path: Path) -> set[Key]:
    entries = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return {(entry["file"], entry["text"], entry["operator"], entry["change"]) for entry in entries}


def describe(mutant: Mutant) -> str:
    return f"{mutant.path}:{mutant.line} {mutant.operator}: {mutant.change}"


def summary(totals: Counter[str]) -> str:
    count, killed, equivalent = sum(totals.values()), totals["killed"], totals["equivalent"]
    share = f"killed {killed} of {count} ({killed / max(count, 1):.0%})"
    return f"{share}, {equivalent} equivalent: {killed / max(count - equivalent, 1):.0%} without equivalents"


def sample(sources: dict[str, str], seed: int, count: int) -> list[Mutant]:
    """Return one mutant of each of `count` lines, from each module in proportion to its lines that can be changed."""
    chance = random.Random(seed)
    lines: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for path in sorted(sources):
        for mutant in mutation.mutants(path, sources[path]):
            lines[mutant.path, mutant.line].append(mutant)
    places = list(lines)
    count = min(count, len(places))
    step = len(places) / max(count, 1)
    chosen = {places[int((number + chance.random()) * step)] for number in range(count)}
    left = [place for place in places if place not in chosen]  # two draws may meet at the border of their ranges
    chosen.update(chance.sample(left, count - len(chosen)))
    return [_choose(chance, lines[place]) for place in sorted(chosen)]


def _choose(chance: random.Random, mutants: Sequence[Mutant]) -> Mutant:
    """Pick a mutant; each operator is as likely as any other, however many ways it has to change the line."""
    operator = chance.choice(sorted({mutant.operator for mutant in mutants}))
    return chance.choice([mutant for mutant in mutants if mutant.operator == operator])


def measure(project: Path, options: argparse.Namespace) -> list[Result]:
    """Run a sample of mutants, some at once, each worker in a copy of its own."""
    with tempfile.TemporaryDirectory(prefix="mutants-", dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
        sandboxes = [Sandbox(project, Path(folder, str(number))) for number in range(options.jobs)]
        root = sandboxes[0].root
        files = sorted(path for path in root.glob("src/**/*.py"))
        sources = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files}
        print("finding out which tests run which code", flush=True)
        reached = reach.find(project / ".bench-cache" / "reach", sandboxes, sources)
        wanted = {path: sources[path] for path in sources if any(_is_in(path, part) for part in options.paths)}
        trial = Trial(reached, sources, sandboxes, read_equivalent(options.known_equivalent))
        with ThreadPoolExecutor(options.jobs) as pool:
            return list(pool.map(trial.run, sample(wanted, options.seed, options.count)))


def _is_in(path: str, part: str) -> bool:
    return path == part or path.startswith(part.rstrip("/") + "/")


class Trial:
    """Tries mutants, one in each sandbox at a time."""

    def __init__(
        self, reached: Reach, sources: dict[str, str], sandboxes: Sequence[Sandbox], equivalent: set[Key]
    ) -> None:
        self._seconds = reached.seconds
        self._order = reach.Order(reached)
        self._sources = sources
        self._equivalent = equivalent
        self._broken: set[str] = set()
        self._sound: set[str] = set()
        self._count = itertools.count(1)
        self._free: SimpleQueue[Sandbox] = SimpleQueue()
        for sandbox in sandboxes:
            self._free.put(sandbox)

    def run(self, mutant: Mutant) -> Result:
        started = time.monotonic()
        tests = self._order.tests(mutant.path, mutant.block, BUDGET)
        sandbox = self._free.get()
        try:
            killer = self._killer(sandbox, mutant, tests)
        finally:
            self._free.put(sandbox)
        survived = "survived" if tests else "not reached"
        status = "killed" if killer else "equivalent" if mutant.key in self._equivalent else survived
        if killer and mutant.key in self._equivalent:
            print(f"listed as equivalent, but killed by {killer}: {describe(mutant)}")
        result = Result(mutant, status, killer, len(tests), time.monotonic() - started)
        print(f"{next(self._count):4} {result.seconds:5.1f} s  {status:11} {describe(mutant)}", flush=True)
        return result

    def _killer(self, sandbox: Sandbox, mutant: Mutant, tests: Sequence[str]) -> str:
        """Return the test that notices the mutant, or nothing.

        A test that fails only once, or also without the mutant, does not count.
        """
        changed = mutant.apply(self._sources[mutant.path])
        while tests := [name for name in tests if name not in self._broken]:
            with sandbox.changed(mutant.path, changed):
                outcome = self._test(sandbox, tests)
                if not outcome.is_failure:
                    return ""
                if outcome.code is None or outcome.failed not in tests:
                    return outcome.failed or ("time" if outcome.code is None else "crash")
                is_certain = self._test(sandbox, [outcome.failed]).is_failure
            if is_certain and self._is_sound(sandbox, outcome.failed):
                return outcome.failed
            tests = [name for name in tests if name != outcome.failed]
        return ""

    def _is_sound(self, sandbox: Sandbox, name: str) -> bool:
        """True if a test passes on the unchanged source."""
        if name not in self._sound | self._broken:
            (self._broken if self._test(sandbox, [name]).is_failure else self._sound).add(name)
        return name in self._sound

    def _test(self, sandbox: Sandbox, tests: Sequence[str]) -> Outcome:
        files = list(dict.fromkeys(name.split("::")[0] for name in tests))
        timeout = STARTUP + PATIENCE * sum(self._seconds[name] for name in tests)
        return sandbox.test(files, order=tests, timeout=timeout)

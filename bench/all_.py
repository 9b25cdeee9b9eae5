"""`python -m bench all`: every figure of docs/figures.md measured in one run, and the pages written again.

Each part is a command of its own that stores its result, so a run that was stopped goes on with `--only` or `--skip`.
`life` comes early: it reads the commit subjects, which `judge` asks, too.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_CLONES = "CLONES"


class Part(NamedTuple):
    """One command: its words, and about how many minutes it takes on two cores."""

    words: str
    minutes: float

    @property
    def name(self) -> str:
        return self.words.split()[0]


PARTS = (
    Part("package", 0.1),
    Part(f"life --repositories {_CLONES}", 0.3),
    Part(f"words --clones {_CLONES}", 0.6),
    Part("past", 0.2),
    Part("failures", 0.1),
    Part(f"actions --clones {_CLONES}", 0.3),
    Part(f"corrections --clones {_CLONES}", 0.4),
    Part("first", 0.2),
    Part("capture", 0.1),
    Part("similar", 0.3),
    Part("improve", 0.8),
    Part("judge life-bevy life-pandas --prompts 1000 --page", 0.2),
    Part(f"import --clones {_CLONES}", 0.4),
    Part(f"titles --clones {_CLONES}", 0.1),
    Part(f"banks --clones {_CLONES}", 0.1),
    Part("clones", 1.3),
    Part("latency", 4.5),
    Part("cost", 0.8),
    Part("stop", 0.2),
    Part("mcp --others .bench-cache/servers --times 7 --prompts 40", 3),
    Part("intent", 0.2),
    Part("web", 0.8),
    Part("scale", 12),
    Part("hub", 8),
    Part("fuzz", 15),
    Part("faults --step 29 --first 19", 1),
    Part("mutants", 45),
)
PAGES = ("report", "figures")
_NAMES = tuple(part.name for part in PARTS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", nargs="+", choices=_NAMES, metavar="PART", help="measure these parts alone")
    parser.add_argument("--skip", nargs="+", choices=_NAMES, metavar="PART", default=[], help="leave these parts out")
    parser.add_argument("--repositories", type=Path, metavar="DIR", help="clones that life and import read")
    parser.add_argument("--list", action="store_true", help="print the parts with their commands, and measure nothing")


def run(options: argparse.Namespace) -> int:
    parts = [part for part in PARTS if part.name in (options.only or _NAMES) and part.name not in options.skip]
    if options.list:
        print("\n".join(f"{part.minutes:5.1f} min  python -m bench {part.words}" for part in parts))
        return 0
    failed = [part.name for part in parts if not _is_done(part, options.repositories)]
    for page in PAGES:
        _run([page])
    if failed:
        print(f"failed or left out: {', '.join(failed)}; again: python -m bench all --only {' '.join(failed)}")
    return 1 if failed else 0


def _is_done(part: Part, repositories: Path | None) -> bool:
    """Measure one part; return True if its figures are there now."""
    if _CLONES in part.words and not repositories:
        print(f"{part.name}: left out, it reads clones (--repositories DIR)", flush=True)
        return False
    words = [str(repositories) if word == _CLONES else word for word in part.words.split()]
    print(f"{part.name}: about {part.minutes:g} minutes", flush=True)
    started = time.monotonic()
    status = _run(words)
    print(f"{part.name}: {'done' if status == 0 else 'FAILED'}, {time.monotonic() - started:.0f} s", flush=True)
    return status == 0


def _run(words: Sequence[str]) -> int:
    """Run a part in a process of its own: none leaves anything behind that another would measure."""
    log = ROOT / ".bench-cache" / f"{words[0]}.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("w", encoding="utf-8") as output:
        command = (sys.executable, "-m", "bench", *words)
        done = subprocess.run(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        print("".join(log.read_text(encoding="utf-8").splitlines(keepends=True)[-15:]), f"see {log}", flush=True)
    return done.returncode

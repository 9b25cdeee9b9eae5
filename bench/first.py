"""`python -m bench first`: what is noticed in a session's first prompt, and how often an ordinary prompt sets it off.

The sentences of `sets/capture/first.tsv` were written before anything was changed for them, by an author who had not
seen the cues. Ordinary prompts are those of the life sets that ask for work; those that were learnt from are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

from bench import data, sessions
from bench.sessions import Session
from recollect.capture import triage


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--life", type=Path, action="append", default=[], help="another folder of a life set")


def run(options: argparse.Namespace) -> int:
    first = sessions.first()
    rows = [
        ("with something to keep: noticed", [session for session in first if session.expected]),
        ("much like them, with nothing to keep: suggested", [session for session in first if not session.expected]),
    ]
    folders = sorted([*data.OWN.glob("life-*"), *data.SHARED.glob("life-*"), *options.life])
    measured = [folder for folder in folders if folder.name not in sessions.ORDINARY]
    rows += [(f"ordinary prompts of {folder.name}: suggested", sessions.ordinary(folder)) for folder in measured]
    rows.append(("all ordinary prompts", [session for _, listed in rows[2:] for session in listed]))
    print("| first prompts | suggestions | of | share |\n| --- | --- | --- | --- |")
    for name, listed in rows:
        print(_row(name, listed))
    return 0


def _row(name: str, listed: Sequence[Session]) -> str:
    suggested = sum(is_suggested(session) for session in listed)
    low, high = wilson(suggested, len(listed))
    share = suggested / len(listed) if listed else 0.0
    return f"| {name} | {suggested} | {len(listed)} | {share:.3f} [{low:.3f}, {high:.3f}] |"


def is_suggested(session: Session) -> bool:
    """Whether anything is suggested when the first turn ends."""
    end, shown = next(iter(session.stops()))
    return bool(triage.findings(end, shown=shown))


def wilson(successes: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    if not of:
        return 0.0, 1.0
    z = 1.96
    share, shrink = successes / of, 1 + z * z / of
    middle = (share + z * z / (2 * of)) / shrink
    half = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / shrink
    return max(0.0, middle - half), min(1.0, middle + half)

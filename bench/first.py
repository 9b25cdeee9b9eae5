"""`python -m bench first`: what is noticed in a session's first prompt, and how often an ordinary prompt sets it off.

The sentences of `sets/capture/first.tsv` were written before anything was changed for them, by an author who had not
seen the cues. Ordinary prompts are those of the life sets that ask for work; those that were learnt from are left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench import capture, data, results, sessions
from bench.sessions import Session
from bench.shares import wilson


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
    rows.append(("all ordinary prompts", [session for _, prompts in rows[2:] for session in prompts]))
    print("| first prompts | suggestions | of | share |\n| --- | --- | --- | --- |")
    counts = {name: (sum(map(is_suggested, prompts)), len(prompts)) for name, prompts in rows}
    for name, (suggested, of) in counts.items():
        print(_row(name, suggested, of))
    if not options.life:
        results.save("first", {"counts": counts})
    return 0


def _row(name: str, suggested: int, of: int) -> str:
    low, high = wilson(suggested, of)
    return f"| {name} | {suggested} | {of} | {suggested / max(of, 1):.3f} [{low:.3f}, {high:.3f}] |"


def is_suggested(session: Session) -> bool:
    """True if anything is suggested when the first turn ends."""
    end, shown = next(iter(session.stops()))
    return bool(capture.found(end, shown))

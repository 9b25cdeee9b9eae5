"""`recollect gc`: retire what is past its retention, delete what was retired long enough ago."""

from __future__ import annotations

import argparse

from recollect.cli import store_args
from recollect.cli.output import Answer
from recollect.cli.terminal import Screen, clean
from recollect.store.writer import Deed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what would happen and write nothing")


def run(args: argparse.Namespace) -> Answer:
    deeds = store_args.existing_keeper(args).collect(dry_run=args.dry_run)
    data = {"deeds": [deed._asdict() for deed in deeds], "dry_run": args.dry_run}
    return Answer(data, lambda screen: _text(screen, deeds, args.dry_run))


def _text(screen: Screen, deeds: list[Deed], dry_run: bool) -> str:
    if not deeds:
        return "nothing to collect"
    done = {"delete": "deleted", "retire": "retired"}
    lines = []
    for deed in deeds:
        verb = f"would {deed.action}" if dry_run else screen.paint(done[deed.action], "yellow")
        lines.append(f"{verb} {deed.path}: {clean(deed.reason)}")
    return "\n".join(lines)

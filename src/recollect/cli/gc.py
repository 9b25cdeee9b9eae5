"""`recollect gc`: retire what is past its retention, delete what was retired long enough ago."""

from __future__ import annotations

import argparse

from recollect.cli import store_args
from recollect.cli.output import Answer
from recollect.cli.terminal import Screen, clean
from recollect.store.writer import Change


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what would happen and write nothing")


def run(args: argparse.Namespace) -> Answer:
    changes = store_args.existing_writer(args).collect(dry_run=args.dry_run)
    data = {"changes": [change._asdict() for change in changes], "dry_run": args.dry_run}
    return Answer(data, lambda screen: _text(screen, changes, args.dry_run))


def _text(screen: Screen, changes: list[Change], dry_run: bool) -> str:
    if not changes:
        return "nothing to collect"
    done = {"delete": "deleted", "retire": "retired"}
    lines = []
    for change in changes:
        verb = f"would {change.action}" if dry_run else screen.paint(done[change.action], "yellow")
        lines.append(f"{verb} {change.path}: {clean(change.reason)}")
    return "\n".join(lines)

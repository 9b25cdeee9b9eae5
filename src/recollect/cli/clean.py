"""`recollect clean`: remove what Recollect keeps outside the stores; records are never touched."""

from __future__ import annotations

import argparse

from recollect.cli.output import Answer
from recollect.cli.terminal import Screen, clean
from recollect.doctor import machine
from recollect.doctor.machine import Item

_KEPT = "Your records are where they were; what was removed is made again when it is needed."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what would happen and write nothing")


def run(args: argparse.Namespace) -> Answer:
    found = machine.leftovers()
    if not args.dry_run:
        machine.remove(found)
    data = {"removed": [item._asdict() for item in found], "dry_run": args.dry_run}
    return Answer(
        data, lambda screen: _text(screen, found, args.dry_run), note="" if args.dry_run or not found else _KEPT
    )


def _text(screen: Screen, found: list[Item], dry_run: bool) -> str:
    if not found:
        return "there is nothing to remove"
    verb = "would remove" if dry_run else screen.paint("removed", "yellow")
    return "\n".join(f"{verb} {clean(item.path)}: {item.what}, {_readable(item.size)}" for item in found)


def _readable(size: int) -> str:
    return f"{size:,} bytes" if size < 10_000 else f"{size / 1_000:,.0f} kB"

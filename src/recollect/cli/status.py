"""`recollect retire`, `restore`, `archive`, `unarchive`: a record taken out of use, or brought back."""

from __future__ import annotations

import argparse

from recollect.cli import store_args
from recollect.cli.output import Answer
from recollect.cli.terminal import Screen
from recollect.store.store import Entry
from recollect.store.writer import Writer

_DONE = {"retire": "retired", "restore": "restored", "archive": "archived", "unarchive": "unarchived"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    command = parser.get_default("command")
    parser.add_argument("id", metavar="ID", help="an id, category/id or path")
    if command in ("retire", "archive"):
        parser.add_argument("--reason", required=True, metavar="TEXT", help="why; it is kept with the record")
    parser.add_argument("--dry-run", action="store_true", help="say what would happen and write nothing")


def run(args: argparse.Namespace) -> Answer:
    writer = store_args.existing_writer(args)
    entry = _carry_out(writer, args)
    data = {**store_args.handle(writer.store, entry), "action": args.command, "dry_run": args.dry_run}
    grace = writer.settings.number("delete.grace_period_days")

    def text(screen: Screen) -> str:
        verb = f"would {args.command}" if args.dry_run else screen.paint(_DONE[args.command], "green")
        later = f"; `recollect gc` deletes it after {grace:g} days" if args.command == "retire" else ""
        return f"{verb} {entry.path}{later}"

    return Answer(data, text)


def _carry_out(writer: Writer, args: argparse.Namespace) -> Entry:
    if args.command == "retire":
        return writer.retire(args.id, args.reason)
    if args.command == "archive":
        return writer.archive(args.id, args.reason)
    return writer.restore(args.id) if args.command == "restore" else writer.unarchive(args.id)

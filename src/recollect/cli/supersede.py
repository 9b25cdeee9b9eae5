"""`recollect supersede OLD NEW`: from now on NEW appears wherever OLD would have."""

from __future__ import annotations

import argparse

from recollect.cli import store_args
from recollect.cli.output import Answer
from recollect.cli.terminal import Screen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", metavar="OLD", help="the record that no longer holds")
    parser.add_argument("new", metavar="NEW", help="the record that replaces it")
    parser.add_argument("--dry-run", action="store_true", help="say what would happen and write nothing")


def run(args: argparse.Namespace) -> Answer:
    writer = store_args.existing_writer(args)
    old, new = writer.supersede(args.old, args.new)
    data = {
        "old": store_args.handle(writer.store, old),
        "new": store_args.handle(writer.store, new),
        "dry_run": args.dry_run,
    }

    def text(screen: Screen) -> str:
        verb = "would be" if args.dry_run else screen.paint("is", "green")
        return f"{old.path} {verb} superseded by {new.path}"

    return Answer(data, text)

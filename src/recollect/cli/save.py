"""`recollect save CATEGORY`: a new record from flags or JSON, with ids, dates and defaults filled in."""

from __future__ import annotations

import argparse
from typing import Any

from recollect import compose, memory, project, schema
from recollect.cli import given, target
from recollect.cli.answer import Answer, to_json
from recollect.cli.terminal import Screen, clean


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("category", metavar="CATEGORY", help=f"one of {', '.join(schema.FOLDERS)}")
    parser.add_argument("title", metavar="TITLE", nargs="?", help="one line that says what it is about")
    given.add_arguments(parser)
    parser.add_argument("--allow-secret", action="store_true", help="save it although it seems to carry a credential")
    parser.add_argument("--dry-run", action="store_true", help="check everything and write nothing")


def run(args: argparse.Namespace) -> Answer:
    category = compose.category_of(args.category)
    keeper = target.keeper_of(args)
    partial = given.record(args, category)
    entry = project.save(keeper, category, partial, allow_secret=args.allow_secret)
    data: dict[str, Any] = {**target.handle(keeper.store, entry), "dry_run": args.dry_run}
    if args.dry_run:
        data["record"] = memory.to_json(entry.memory)

    def text(screen: Screen) -> str:
        if args.dry_run:
            return f"would save {entry.path}\n{to_json(data['record'])}"
        return f"{screen.paint('saved', 'green')} {clean(data['file'])}"

    return Answer(data, text)

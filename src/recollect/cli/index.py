"""`recollect index rebuild|check`: index.md made again from the records, or compared with them."""

from __future__ import annotations

import argparse
import os

from recollect import catalog, files, paths
from recollect.cli import target
from recollect.cli.answer import Answer
from recollect.cli.progress import watched
from recollect.cli.terminal import Screen, clean
from recollect.store import Entry, Store, problems_in_catalog


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("rebuild", "check"), help="make it again, or report how it differs")


def run(args: argparse.Namespace) -> Answer:
    store = target.existing(args)
    store.recover()
    return _rebuild(store) if args.action == "rebuild" else _check(store)


def _rebuild(store: Store) -> Answer:
    with store.writing():
        text = catalog.render(entry.memory for entry in watched(store.entries(), "reading records"))
        files.write(os.path.join(store.root, paths.CATALOG), text.encode("utf-8"))
    count = len(catalog.entries(text))

    def told(screen: Screen) -> str:
        return f"{screen.paint('rebuilt', 'green')} {paths.CATALOG}: {count:,} active record{'' if count == 1 else 's'}"

    return Answer({"active": count}, told)


def _check(store: Store) -> Answer:
    found = watched(store.scan(), "reading records")
    drift = problems_in_catalog(store, (each for each in found if isinstance(each, Entry)))

    def text(screen: Screen) -> str:
        if not drift:
            return f"{paths.CATALOG} agrees with the records"
        told = [*map(clean, drift), "fix: recollect index rebuild"]
        return "\n".join(told)

    return Answer({"drift": drift}, text, status=1 if drift else 0)

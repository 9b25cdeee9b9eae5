"""`recollect index rebuild|check`: index.md made again from the records, or compared with them."""

from __future__ import annotations

import argparse
import os

from recollect import files, paths
from recollect.cli import store_args
from recollect.cli.output import Answer
from recollect.cli.progress import watched
from recollect.cli.terminal import Screen, clean
from recollect.store import index_md
from recollect.store.store import Entry, Store, index_md_problems


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("rebuild", "check"), help="make it again, or report how it differs")


def run(args: argparse.Namespace) -> Answer:
    store = store_args.existing(args)
    store.recover()
    return _rebuild(store) if args.action == "rebuild" else _check(store)


def _rebuild(store: Store) -> Answer:
    with store.writing():
        text = index_md.render(entry.memory for entry in watched(store.entries(), "reading records"))
        files.write(os.path.join(store.root, paths.INDEX_MD), text.encode("utf-8"))
    count = len(index_md.entries(text))

    def told(screen: Screen) -> str:
        return (
            f"{screen.paint('rebuilt', 'green')} {paths.INDEX_MD}: {count:,} active record{'' if count == 1 else 's'}"
        )

    return Answer({"active": count}, told)


def _check(store: Store) -> Answer:
    found = watched(store.scan(), "reading records")
    drift = index_md_problems(store, (each for each in found if isinstance(each, Entry)))

    def text(screen: Screen) -> str:
        if not drift:
            return f"{paths.INDEX_MD} agrees with the records"
        told = [*map(clean, drift), "fix: recollect index rebuild"]
        return "\n".join(told)

    return Answer({"drift": drift}, text, status=1 if drift else 0)

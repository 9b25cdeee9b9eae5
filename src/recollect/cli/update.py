"""`recollect update ID --hash H`: change fields of the version that was read, and of no other; or only add to it."""

from __future__ import annotations

import argparse
from typing import Any

from recollect.cli import record_args, store_args
from recollect.cli.output import Answer
from recollect.cli.terminal import Screen, clean
from recollect.errors import BadInput
from recollect.record import memory
from recollect.store.store import Entry, Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="an id, category/id or path")
    parser.add_argument(
        "--hash",
        metavar="H",
        help="the hash of what you read: `recollect show ID` prints it; not needed to add tags, triggers or files",
    )
    record_args.add_arguments(parser)
    parser.add_argument("--summary", default="", metavar="TEXT", help="what changed and why, for the record's history")
    parser.add_argument("--allow-secret", action="store_true", help="save it although it seems to carry a credential")
    parser.add_argument("--dry-run", action="store_true", help="check everything and write nothing")


def run(args: argparse.Namespace) -> Answer:
    writer = store_args.existing_writer(args)
    before = writer.store.get(args.id)
    patch = record_args.patch(args, before.memory.category)
    if not args.hash and not _only_adds(args, patch):
        raise BadInput(
            "update needs the hash of what was read, so that nobody's change is lost",
            fix=f"recollect show {before.memory.id} --json, then recollect update {before.memory.id} --hash H",
        )
    if args.trigger:
        patch["triggers"] = list(dict.fromkeys([*before.memory.triggers, *args.trigger]))
    after = writer.update(
        before.path, patch, args.hash or before.hash, summary=args.summary, allow_secret=args.allow_secret
    )
    return told(args, writer.store, before, after)


def _only_adds(args: argparse.Namespace, patch: dict[str, Any]) -> bool:
    """Whether an update takes nothing away, so that it cannot undo a change which its author has not seen."""
    flags = {"tags": args.tag, "triggers": args.trigger, "related_files": args.related}
    return bool(patch) and patch == {key: list(values) for key, values in flags.items() if values}


def told(args: argparse.Namespace, store: Store, before: Entry, after: Entry) -> Answer:
    """What became of a record, and which lines its history gained."""
    gained = [change for change in after.memory.changes if change not in before.memory.changes]
    data = {
        **store_args.handle(store, after),
        "changed": after.hash != before.hash,
        "changes": memory.to_json(after.memory._replace(changes=tuple(gained))).get("changes", []),
        "dry_run": args.dry_run,
    }

    def text(screen: Screen) -> str:
        if after.hash == before.hash:
            return f"{after.path} says that already; nothing changed"
        verb = "would update" if args.dry_run else screen.paint("updated", "green")
        return "\n".join([f"{verb} {after.path}", *(f"  {clean(change.summary)}" for change in gained)])

    return Answer(data, text)

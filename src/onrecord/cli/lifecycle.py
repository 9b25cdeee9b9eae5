"""`onrecord retire`, `restore`, `archive`, `unarchive`, `supersede`: take a record out of use or back."""

from __future__ import annotations

import argparse

from onrecord.cli import arguments, chosen
from onrecord.cli.output import CommandResult, Screen
from onrecord.search import index
from onrecord.shared import remotes, replicas
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer

_DONE = {"retire": "retired", "restore": "restored", "archive": "archived", "unarchive": "unarchived"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    command = parser.get_default("command")
    if command == "supersede":
        parser.add_argument(
            "old", metavar="OLD", help="the record that no longer holds; platform:ID is one of a shared store"
        )
        parser.add_argument("new", metavar="NEW", help="the record that replaces it")
    else:
        arguments.add(parser, "id")
    if command in ("retire", "archive"):
        parser.add_argument("--reason", required=True, metavar="TEXT", help="why; it is kept with the record")
    arguments.add(parser, "--dry-run")


def run(args: argparse.Namespace) -> CommandResult:
    writer = arguments.existing_writer(args)
    return _supersede(writer, args) if args.command == "supersede" else _change_status(writer, args)


def _change_status(writer: Writer, args: argparse.Namespace) -> CommandResult:
    entry = _carry_out(writer, args)
    data = {**arguments.handle(writer.store, entry), "action": args.command, "dry_run": args.dry_run}
    grace = writer.settings.number("delete.grace_period_days")

    def text(screen: Screen) -> str:
        verb = f"would {args.command}" if args.dry_run else screen.paint(_DONE[args.command], "green")
        later = f"; `onrecord gc` deletes it after {grace:g} days" if args.command == "retire" else ""
        return f"{verb} {entry.path}{later}"

    return CommandResult(data, text)


def _carry_out(writer: Writer, args: argparse.Namespace) -> Entry:
    path = chosen.record(args, writer.store, args.id, changes=True).path
    if args.command == "retire":
        return writer.retire(path, args.reason)
    if args.command == "archive":
        return writer.archive(path, args.reason)
    return writer.restore(path) if args.command == "restore" else writer.unarchive(path)


def _supersede(writer: Writer, args: argparse.Namespace) -> CommandResult:
    name, colon, record = args.old.partition(":")
    if colon and remotes.is_name(name):
        return _supersede_shared(writer, args, name, record)
    before, after = (chosen.record(args, writer.store, typed, changes=True).path for typed in (args.old, args.new))
    old, new = writer.supersede(before, after)
    handles = {"old": arguments.handle(writer.store, old), "new": arguments.handle(writer.store, new)}

    def text(screen: Screen) -> str:
        verb = "would be" if args.dry_run else screen.paint("is", "green")
        return f"{old.path} {verb} superseded by {new.path}"

    return CommandResult({**handles, "dry_run": args.dry_run}, text)


def _supersede_shared(writer: Writer, args: argparse.Namespace, name: str, record: str) -> CommandResult:
    """Replace a record of a shared store where the other one is read; the shared one stays as it is."""
    store = Store(replicas.ready(name).store)
    old = chosen.record(args, store, record, changes=True)
    path = chosen.record(args, writer.store, args.new, changes=True).path
    new = writer.replace_shared(f"{name}:{old.memory.id}", path)
    if not args.dry_run:
        # In a large store a hook compares only some files with the index, and would miss this change for a while.
        index.open(writer.store.root).close()
    handles = {"old": arguments.handle(store, old), "new": arguments.handle(writer.store, new)}

    def text(screen: Screen) -> str:
        verb = "would be" if args.dry_run else screen.paint("is", "green")
        return f"{name}:{old.path} {verb} replaced by {new.path} where that is read; the shared store is unchanged"

    return CommandResult({**handles, "dry_run": args.dry_run}, text)

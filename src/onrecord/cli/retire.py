"""`onrecord retire`, `restore`, `archive`, `unarchive`, `supersede`: change the status of a record."""

from __future__ import annotations

import argparse

from onrecord.cli import arguments, resolve
from onrecord.cli.output import CommandResult, Screen
from onrecord.cli.questions import Asker
from onrecord.search import index
from onrecord.shared import remotes, replicas
from onrecord.store.store import Store
from onrecord.store.writer import Writer

_PAST_TENSE = {"retire": "retired", "restore": "restored", "archive": "archived", "unarchive": "unarchived"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    command = parser.get_default("command")
    if command == "supersede":
        parser.add_argument(
            "old", metavar="OLD", help="the record that is no longer valid; platform:ID for one in a shared store"
        )
        parser.add_argument("new", metavar="NEW", help="the record that replaces it")
    else:
        arguments.add(parser, "id")
    if command in ("retire", "archive"):
        parser.add_argument("--reason", required=True, metavar="TEXT", help="the reason, which is stored in the record")
    arguments.add(parser, "--dry-run")


def run(args: argparse.Namespace) -> CommandResult:
    writer, asker = arguments.existing_writer(args), arguments.asker(args)
    if args.command != "supersede":
        result = _change_status(writer, asker, args.id, getattr(args, "reason", ""))
    else:
        name, colon, shared_id = args.old.partition(":")
        if colon and remotes.is_name(name):
            result = _supersede_shared(writer, asker, name, shared_id, args.new)
        else:
            result = _supersede(writer, asker, args.old, args.new)
    return result.warned(*writer.store.warnings)


def _change_status(writer: Writer, asker: Asker, reference: str, reason: str) -> CommandResult:
    path, command = resolve.record(asker, writer.store, reference, changes=True).path, asker.command
    if command in ("retire", "archive"):
        entry = writer.retire(path, reason) if command == "retire" else writer.archive(path, reason)
    else:
        entry = writer.restore(path) if command == "restore" else writer.unarchive(path)
    data = {**arguments.record_data(writer.store, entry), "action": command, "dry_run": asker.is_dry_run}
    grace = writer.settings.number("delete.grace_period_days")

    def text(screen: Screen) -> str:
        verb = f"would {command}" if asker.is_dry_run else screen.paint(_PAST_TENSE[command], "green")
        later = f"; `onrecord gc` deletes it after {grace:g} days" if command == "retire" else ""
        return f"{verb} {entry.path}{later}"

    return CommandResult(data, text)


def _supersede(writer: Writer, asker: Asker, old_name: str, new_name: str) -> CommandResult:
    old_path = resolve.record(asker, writer.store, old_name, changes=True).path
    new_path = resolve.record(asker, writer.store, new_name, changes=True).path
    old, new = writer.supersede(old_path, new_path)
    handles = {"old": arguments.record_data(writer.store, old), "new": arguments.record_data(writer.store, new)}

    def text(screen: Screen) -> str:
        verb = "would be" if asker.is_dry_run else screen.paint("is", "green")
        return f"{old.path} {verb} superseded by {new.path}"

    return CommandResult({**handles, "dry_run": asker.is_dry_run}, text)


def _supersede_shared(writer: Writer, asker: Asker, remote_name: str, old_name: str, new_name: str) -> CommandResult:
    """Replace a record of a shared store wherever the new one is read; the shared store is unchanged."""
    store = Store(replicas.prepare(remote_name).store)
    old = resolve.record(asker, store, old_name, changes=True)
    path = resolve.record(asker, writer.store, new_name, changes=True).path
    new = writer.replace_shared(f"{remote_name}:{old.memory.id}", path)
    if not asker.is_dry_run:
        # In a large store a hook compares only some files with the index, and could miss this change for a while.
        index.open(writer.store.root).close()
    handles = {"old": arguments.record_data(store, old), "new": arguments.record_data(writer.store, new)}

    def text(screen: Screen) -> str:
        verb = "would be" if asker.is_dry_run else screen.paint("is", "green")
        old_path = f"{remote_name}:{old.path}"
        return f"{old_path} {verb} replaced by {new.path} where that is read; the shared store is unchanged"

    return CommandResult({**handles, "dry_run": asker.is_dry_run}, text)

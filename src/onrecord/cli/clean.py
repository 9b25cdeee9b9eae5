"""`onrecord clean`, `gc` and `index`: remove Onrecord's own files, delete records that are due, rebuild index.md."""

from __future__ import annotations

import argparse
import os

from onrecord import files, paths
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean, fitted, readable
from onrecord.cli.terminal import Progress, watched
from onrecord.doctor import machine
from onrecord.store import index_md
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer
from onrecord.text import plural

_STILL_THERE = (
    "Your records were not touched. Indexes are made again when they are needed; counts of use, and the changes that"
    " `onrecord undo` could take back, are not."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("command") == "index":
        actions = parser.add_subparsers(
            prog=parser.prog, dest="action", metavar="ACTION", required=True, help="what to do"
        )
        actions.add_parser("rebuild", help="make it again")
        actions.add_parser("check", help="report how it differs from the records")
    else:
        arguments.add(parser, "--dry-run")


def run(args: argparse.Namespace) -> CommandResult:
    if args.command == "clean":
        return _clean(dry_run=args.dry_run)
    if args.command == "gc":
        writer = arguments.existing_writer(args)
        return _gc(writer, dry_run=args.dry_run).warned(*writer.store.warnings)
    store = arguments.existing_store(args)
    store.recover()
    result = _rebuild(store) if args.action == "rebuild" else _check(store)
    return result.warned(*store.warnings)


def _clean(*, dry_run: bool) -> CommandResult:
    """Remove the files that Onrecord keeps outside the stores; records are never touched."""
    items = machine.all_own_files()
    if not dry_run:
        machine.remove(items)
    data = {"removed": [item._asdict() for item in items], "dry_run": dry_run}

    def text(screen: Screen) -> str:
        verb = "would remove" if dry_run else screen.paint("removed", "yellow")
        lines = [
            line
            for item in items
            for line in (f"{verb} {clean(item.path)}", fitted(screen, f"{item.what}, {readable(item.size)}", "  "))
        ]
        return "\n".join(lines) or "nothing to remove"

    return CommandResult(data, text, note="" if dry_run or not items else _STILL_THERE)


def _gc(writer: Writer, *, dry_run: bool) -> CommandResult:
    with Progress("reading records"):
        changes = writer.collect(dry_run=dry_run)
    data = {"changes": [change._asdict() for change in changes], "dry_run": dry_run}
    past = {"delete": "deleted", "retire": "retired"}

    def text(screen: Screen) -> str:
        verbs = {word: f"would {word}" if dry_run else screen.paint(past[word], "yellow") for word in past}
        lines = [f"{verbs[change.action]} {change.path}: {clean(change.reason)}" for change in changes]
        return "\n".join(lines) or "nothing to collect"

    return CommandResult(data, text)


def _rebuild(store: Store) -> CommandResult:
    with store.writing():
        text = index_md.render(entry.memory for entry in watched(store.entries(), "reading records"))
        files.write(os.path.join(store.root, paths.INDEX_MD), text.encode("utf-8"))
    count = len(index_md.record_lines(text))
    line = f"{paths.INDEX_MD}: {plural(count, 'active record')}"
    return CommandResult({"active": count}, lambda screen: f"{screen.paint('rebuilt', 'green')} {line}")


def _check(store: Store) -> CommandResult:
    scanned = watched(store.scan(), "reading records")
    records = (entry.memory for entry in scanned if isinstance(entry, Entry))
    differences = index_md.differences(store.root, records)
    lines = [*map(clean, differences), "fix: onrecord index rebuild"]
    text = "\n".join(lines) if differences else f"{paths.INDEX_MD} agrees with the records"
    return CommandResult({"differences": differences}, lambda screen: text, status=1 if differences else 0)

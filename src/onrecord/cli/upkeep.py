"""`onrecord init`, `gc`, `index` and `clean`: make a store, delete what is due, tidy up."""

from __future__ import annotations

import argparse
import os

from onrecord import files, paths
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean, fitted, readable
from onrecord.cli.progress import Progress, watched
from onrecord.doctor import machine
from onrecord.errors import BadInput
from onrecord.git import git_files
from onrecord.project import Project
from onrecord.store import index_md
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer
from onrecord.text import plural

_DRIVER_HELP = "register `onrecord merge-driver` in this clone's git config, so that records merge field by field"
_IGNORED = "git ignores this folder, so nobody else will see these records: check the project's .gitignore"
_STILL_THERE = "Your records are where they were; what was removed is made again when it is needed."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    command = parser.get_default("command")
    if command == "init":
        parser.add_argument("--merge-driver", action="store_true", help=_DRIVER_HELP)
    elif command == "index":
        actions = parser.add_subparsers(
            prog=parser.prog, dest="action", metavar="ACTION", required=True, help="what to do"
        )
        actions.add_parser("rebuild", help="make it again")
        actions.add_parser("check", help="report how it differs from the records")
    if command not in ("init", "index"):
        arguments.add(parser, "--dry-run")


def run(args: argparse.Namespace) -> CommandResult:
    if args.command == "clean":
        return _clean(dry_run=args.dry_run)
    if args.command == "gc":
        writer = arguments.existing_writer(args)
        return _gc(writer, dry_run=args.dry_run).warned(*writer.store.warnings)
    if args.command == "index":
        store = arguments.existing(args)
        store.recover()
        result = _rebuild(store) if args.action == "rebuild" else _check(store)
        return result.warned(*store.warnings)
    if args.remote:
        raise BadInput("a replica is made by `onrecord remote add`", fix="leave out --remote")
    if args.merge_driver and args.user:
        raise BadInput("--merge-driver belongs to a project's clone", fix="leave out --user")
    store = arguments.store_of(args)
    root = "" if args.user else Project(args.project).root
    return _init(store, root, merge_driver=args.merge_driver).warned(*store.warnings)


def _init(store: Store, root: str, *, merge_driver: bool) -> CommandResult:
    """Make a memory, with what git needs to know about it; running it again is harmless.

    `root` is the project that the memory belongs to; empty for that of the user.
    """
    is_new = not store.exists
    with store.writing():
        written = git_files.ensure(store.root)
        if not os.path.exists(os.path.join(store.root, paths.INDEX_MD)):
            store.rebuild_index_md()
            written.append(paths.INDEX_MD)
    notes = _git_notes(root, merge_driver) if root else []
    data = {"store": store.root, "created": is_new, "written": written, "notes": notes}

    def text(screen: Screen) -> str:
        verb = screen.paint("created", "green") if is_new else "there is a memory at"
        return "\n".join([f"{verb} {clean(store.root)}", *(f"  wrote {name}" for name in written), *map(clean, notes)])

    return CommandResult(data, text)


def _git_notes(root: str, register: bool) -> list[str]:
    notes = []
    if register:
        notes.append(git_files.register_driver(root))
    elif git_files.is_clone(root) and not git_files.merge_driver(root):
        notes.append("records can merge field by field: onrecord init --merge-driver")
    if git_files.ignores(root, f"{paths.STORE.replace(os.sep, '/')}/{paths.INDEX_MD}"):
        notes.append(_IGNORED)
    return notes


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


def _clean(*, dry_run: bool) -> CommandResult:
    """Remove what Onrecord keeps outside the stores; records are never touched."""
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

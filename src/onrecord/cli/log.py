"""`onrecord log`: what was changed in a store on this machine; `onrecord undo`: take a change back."""

from __future__ import annotations

import argparse
import itertools
from typing import Any

from onrecord import timestamps
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean, table
from onrecord.importers import import_log
from onrecord.store import history
from onrecord.store.history import LoggedChange, LoggedFile, Undone
from onrecord.store.store import Store
from onrecord.text import plural

_MOST_LISTED = 20
"""Changes that fit on a screen."""

_MOST_TITLES = 2
"""Titles of a change that a line has room for."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("command") == "undo":
        parser.add_argument("change", metavar="CHANGE", nargs="?", default="", help="a change of `onrecord log`")
        skip = "take back the rest and leave files alone that were changed since"
        parser.add_argument("--skip-changed", action="store_true", help=skip)
        arguments.add(parser, "--dry-run")
    else:
        parser.add_argument(
            "--limit",
            type=arguments.count(1),
            default=_MOST_LISTED,
            metavar="N",
            help=f"how many (default: {_MOST_LISTED})",
        )


def run(args: argparse.Namespace) -> CommandResult:
    store = arguments.existing_store(args)
    if args.command == "log":
        return _log(store, args.limit)
    return _undo(store, args.change, skip_changed=args.skip_changed, dry_run=args.dry_run).warned(*store.warnings)


def _log(store: Store, limit: int) -> CommandResult:
    newest = list(itertools.islice(reversed(history.read(store.root)), limit))

    def text(screen: Screen) -> str:
        rows = [(_when(screen, each.at), each.id, each.by, _verb(each), _summary(each.files)) for each in newest]
        return table(screen, ("age", "change", "by", "what", "records"), rows) if rows else "nothing is logged yet"

    return CommandResult({"changes": [_as_json(change) for change in newest]}, text)


def _when(screen: Screen, at: str) -> str:
    return timestamps.age(at) if screen.is_terminal else at.replace("T", " ")[:16]


def _verb(change: LoggedChange) -> str:
    if change.undoes:
        return f"undo {change.undoes}"
    return f"{change.action} (taken back)" if change.is_undone else change.action


def _summary(files: tuple[LoggedFile, ...]) -> str:
    titles = list(dict.fromkeys(file.title or file.path for file in files))
    more = f" and {len(titles) - _MOST_TITLES} more" if len(titles) > _MOST_TITLES else ""
    return ", ".join(titles[:_MOST_TITLES]) + more


def _as_json(change: LoggedChange) -> dict[str, Any]:
    fields = {key: getattr(change, key) for key in ("id", "at", "action", "by", "undoes", "is_undone")}
    return {**fields, "files": [_file_json(file) for file in change.files]}


def _file_json(logged: LoggedFile) -> dict[str, str]:
    return {"path": logged.path, "title": logged.title, "effect": _effect(logged)}


def _effect(logged: LoggedFile) -> str:
    return "added" if logged.before is None else "changed" if logged.after else "removed"


def _undo(store: Store, change: str, *, skip_changed: bool, dry_run: bool) -> CommandResult:
    undone = history.undo(store, change, skip_changed=skip_changed)
    if not dry_run:
        import_log.forget(store.root, undone.change.id)
    data = {
        "undone": _as_json(undone.change),
        "files": [{"path": file.path, "title": file.title, "effect": _reverse(file)} for file in undone.restored],
        "skipped": [file.path for file in undone.skipped],
        "dry_run": dry_run,
    }
    return CommandResult(data, lambda screen: _undo_text(screen, undone, dry_run))


def _reverse(logged: LoggedFile) -> str:
    return {"added": "removed", "changed": "restored", "removed": "restored"}[_effect(logged)]


def _undo_text(screen: Screen, undone: Undone, is_dry_run: bool) -> str:
    change = undone.change
    verb = "would take back" if is_dry_run else screen.paint("took back", "green")
    when = timestamps.ago(change.at) if screen.is_terminal else f"of {change.at}"
    lines = [f"{verb}: {change.action} {when} ({plural(len(change.files), 'file')})"]
    effects = {"removed": "remove", "restored": "restore"} if is_dry_run else {}
    for file in undone.restored:
        lines.append(f"  {effects.get(_reverse(file), _reverse(file))} {clean(file.path)}  {clean(file.title)}")
    lines += [f"  left as it is, changed since: {clean(file.path)}" for file in undone.skipped]
    if not undone.restored and not undone.skipped:
        lines.append("  its files are as they were before it already")
    return "\n".join(lines)

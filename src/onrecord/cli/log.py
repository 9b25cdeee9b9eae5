"""`onrecord log`: list the changes made to a store on this machine; `onrecord undo`: undo one of them."""

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

_MAX_CHANGES = 20
"""As many as fit on a screen."""

_MAX_TITLES = 2
"""As many titles as fit on a line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("command") == "undo":
        meaning = "id of a change or of an undo, from `onrecord log` (default: the newest change)"
        parser.add_argument("change", metavar="CHANGE", nargs="?", default="", help=meaning)
        meaning = "undo the rest, and leave files alone that were changed since"
        parser.add_argument("--skip-changed", action="store_true", help=meaning)
        arguments.add(parser, "--dry-run")
    else:
        parser.add_argument(
            "--limit",
            type=arguments.count(1),
            default=_MAX_CHANGES,
            metavar="N",
            help=f"the newest N (default: {_MAX_CHANGES})",
        )


def run(args: argparse.Namespace) -> CommandResult:
    store = arguments.existing_store(args)
    if args.command == "log":
        return _log(store, args.limit)
    return _undo(store, args.change, skip_changed=args.skip_changed, dry_run=args.dry_run).warned(*store.warnings)


def _log(store: Store, limit: int) -> CommandResult:
    newest = list(itertools.islice(reversed(history.read(store.root)), limit))

    def text(screen: Screen) -> str:
        rows = [_row(screen, change) for change in newest]
        return table(screen, ("age", "change", "by", "what", "records"), rows) if rows else "no changes yet"

    return CommandResult({"changes": [_as_json(change) for change in newest]}, text)


def _row(screen: Screen, change: LoggedChange) -> tuple[str, ...]:
    return (_when(screen, change.at), change.id, change.by, _action(change), _titles(change.files))


def _when(screen: Screen, timestamp: str) -> str:
    return timestamps.age(timestamp) if screen.is_terminal else timestamp.replace("T", " ")[:16]


def _action(change: LoggedChange) -> str:
    action = f"undo {change.undoes}" if change.undoes else change.action
    return f"{action} (undone)" if change.is_undone else action


def _titles(files: tuple[LoggedFile, ...]) -> str:
    titles = list(dict.fromkeys(file.title or file.path for file in files))
    more = f" and {len(titles) - _MAX_TITLES} more" if len(titles) > _MAX_TITLES else ""
    return ", ".join(titles[:_MAX_TITLES]) + more


def _as_json(change: LoggedChange) -> dict[str, Any]:
    fields = {key: getattr(change, key) for key in ("id", "at", "action", "by", "undoes", "is_undone")}
    return {**fields, "files": [_file_json(file) for file in change.files]}


def _file_json(file: LoggedFile) -> dict[str, str]:
    return {"path": file.path, "title": file.title, "effect": _effect(file)}


def _effect(file: LoggedFile) -> str:
    return "added" if file.before is None else "changed" if file.after else "removed"


def _undo(store: Store, change_id: str, *, skip_changed: bool, dry_run: bool) -> CommandResult:
    undone = history.undo(store, change_id, skip_changed=skip_changed)
    if not dry_run:
        import_log.forget(store.root, undone.change.id)
    data = {
        "undone": _as_json(undone.change),
        "files": [{"path": file.path, "title": file.title, "effect": _reverse(file)} for file in undone.restored],
        "skipped": [file.path for file in undone.skipped],
        "dry_run": dry_run,
    }
    return CommandResult(data, lambda screen: _undo_text(screen, undone, dry_run))


def _reverse(file: LoggedFile) -> str:
    return {"added": "removed", "changed": "restored", "removed": "restored"}[_effect(file)]


def _undo_text(screen: Screen, undone: Undone, is_dry_run: bool) -> str:
    change = undone.change
    verb = "would undo" if is_dry_run else screen.paint("undid", "green")
    when = timestamps.ago(change.at) if screen.is_terminal else f"of {change.at}"
    lines = [f"{verb}: {change.action} {when} ({plural(len(change.files), 'file')})"]
    effects = {"removed": "remove", "restored": "restore"} if is_dry_run else {}
    for file in undone.restored:
        lines.append(f"  {effects.get(_reverse(file), _reverse(file))} {clean(file.path)}  {clean(file.title)}")
    lines += [f"  skipped, changed since: {clean(file.path)}" for file in undone.skipped]
    if not undone.restored and not undone.skipped:
        lines.append("  its files are already as they were before")
    return "\n".join(lines)

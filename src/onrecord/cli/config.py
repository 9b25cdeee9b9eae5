"""`onrecord config`: the settings and their origin; `set` and `unset` change the store's file."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from typing import Any

from onrecord import files, paths, setting_table
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean, fitted, labelled, table, wrap
from onrecord.errors import BadInput
from onrecord.recall import selection
from onrecord.record import author
from onrecord.setting_table import SETTINGS, Setting, setting
from onrecord.settings import Settings, load_settings
from onrecord.store.store import Store

_MAX_BYTES = 1_000_000
"""All settings together take 5 kB."""

_BY_HAND = "correct the file by hand; nothing was written"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action="get")
    actions = parser.add_subparsers(prog=parser.prog, dest="action", metavar="ACTION", help="default: get")
    get = actions.add_parser("get", help="show the settings, or one of them (the default)")
    get.add_argument("key", nargs="?", metavar="KEY", help="a setting such as retrieval.max_inject (default: all)")
    get.add_argument("value", nargs="?", help=argparse.SUPPRESS)
    change = actions.add_parser("set", help="change a setting")
    change.add_argument("key", metavar="KEY", help="a setting such as retrieval.max_inject")
    change.add_argument("value", metavar="VALUE", help="its new value")
    unset = actions.add_parser("unset", help="reset a setting to its default")
    unset.add_argument("key", metavar="KEY", help="a setting such as retrieval.max_inject")


def run(args: argparse.Namespace) -> CommandResult:
    if args.remote:
        raise BadInput("a shared store has no settings", fix="leave out --remote")
    store = arguments.store_of(args)
    if args.action == "get":
        if args.value is not None:
            raise _needs_set(args.key, args.value)
        return _show(load_settings(store.root), args.key)
    value = _parsed(args.key, args.value, trusted=args.user) if args.action == "set" else None
    if args.user:
        _refuse_an_agent(args, value)
    return _change(store, args.key, value).warned(*store.warnings)


def _needs_set(key: str, text: str) -> BadInput:
    """Return the error for `config KEY VALUE`. Raises BadInput if there is no such setting."""
    _declared(key)
    return BadInput(f"{key} is a setting; use set to change it", fix=f"onrecord config set {key} {shlex.quote(text)}")


def _declared(key: str) -> Setting:
    if key in setting_table.REMOVED:
        raise BadInput(f"{key} is no longer a setting", fix="onrecord config")
    declared = setting(key)
    renamed = None if declared else setting_table.successor(key, None)
    if renamed:
        raise BadInput(f"{key} is now {renamed.key}", fix=f"onrecord config {renamed.key}")
    if declared is None:
        settings = Settings()
        settings.take("", True, {key: None})
        raise BadInput(f"{key} {settings.problems[0].message}", fix="onrecord config")
    return declared


def _show(settings: Settings, key: str | None) -> CommandResult:
    keys = [key] if key else list(dict.fromkeys((*SETTINGS, *sorted(settings.origins))))
    rows = [
        {
            "key": name,
            "value": _value(settings, name),
            "origin": settings.origins.get(name, "default"),
            "doc": _declared(name).doc,
        }
        for name in keys
    ]
    problems = [{"file": p.file, "key": p.key, "message": p.message} for p in settings.problems]

    def text(screen: Screen) -> str:
        cells = [(row["key"], json.dumps(row["value"], ensure_ascii=False), row["origin"], row["doc"]) for row in rows]
        lines = (
            [_group(screen, *map(clean, row)) for row in cells] if screen.is_terminal else [table(screen, (), cells)]
        )
        for problem in problems:
            message = f"{problem['file']}: {problem['key']} {problem['message']}"
            lines.append(labelled(screen, "problem", message, "yellow"))
        return "\n".join(lines)

    return CommandResult({"settings": rows, "problems": problems}, text)


def _group(screen: Screen, key: str, typed_value: str, origin: str, doc: str) -> str:
    """Return the lines of a setting for people: its value, what it does, and its origin unless it is the default."""
    lines = [f"{screen.paint(key, 'bold')} = {typed_value}", wrap(doc, screen.width, "    ")]
    if origin != "default":
        lines.append(screen.paint(f"    set in {origin}", "yellow"))
    return "\n".join(lines)


def _value(settings: Settings, key: str) -> Any:
    """Return the effective value, in the type of the default."""
    default = _declared(key).default
    if key == "retrieval.min_probability":
        return selection.thresholds_for(settings, (), is_first=False).rule
    if key == "retrieval.max_tokens":
        return selection.room(settings, is_first=False).tokens
    if isinstance(default, bool):
        return settings.flag(key)
    if isinstance(default, int):
        return settings.count(key)
    if isinstance(default, tuple):
        return list(settings.names(key))
    return settings.number(key) if isinstance(default, float) else settings.text(key)


def _parsed(key: str, text: str, *, trusted: bool) -> object:
    """Return the typed value if the setting accepts it. Raises BadInput."""
    try:
        value = text if isinstance(_declared(key).default, str) else json.loads(text)
    except (ValueError, RecursionError):
        value = text
    if isinstance(_declared(key).default, tuple) and isinstance(value, str):
        value = value.replace(",", " ").split()
    settings = Settings() if trusted else load_settings("")
    settings.problems.clear()
    settings.take(paths.CONFIG, trusted, {key: value})
    for problem in settings.problems:
        reason = problem.message.split(";")[0]
        is_for_user = (_declared(key).user_only or problem.is_refusal) and not trusted
        fix = f"onrecord config set --user {key} {shlex.quote(text)}" if is_for_user else f"onrecord config {key}"
        raise BadInput(f"{key} {reason}", fix=fix)
    return value


def _refuse_an_agent(args: argparse.Namespace, value: object) -> None:
    """Raise BadInput if an agent would change the user's own config in a way in which no project may change it."""
    if author.detect().origin != author.AGENT:
        return
    default = _declared(args.key).default
    typed_default = list(default) if isinstance(default, tuple) else default
    settings = load_settings("")
    settings.problems.clear()
    settings.take(paths.CONFIG, False, {args.key: typed_default if value is None else value})
    if settings.problems:
        words = [args.action, "--user", args.key, *([args.value] if args.action == "set" else [])]
        fix = f"ask the user to run: onrecord config {shlex.join(words)}"
        refused = setting_table.direction(args.key).refused or "not yours to choose"
        raise BadInput(f"only the user may change {args.key} like that: it could be {refused}", fix=fix)


def _change(store: Store, key: str, value: object) -> CommandResult:
    _declared(key)
    path = os.path.join(store.root, paths.CONFIG)
    files.inside(store.root, paths.CONFIG)
    with store.writing():
        raw = _read(path)
        before = json.dumps(raw)
        for name in setting_table.old_names(key):
            _put(raw, name, None)
        _put(raw, key, value)
        if json.dumps(raw) != before:
            files.write(path, (json.dumps(raw, ensure_ascii=False, indent=2) + "\n").encode("utf-8"))
    text = "default" if value is None else json.dumps(value, ensure_ascii=False)
    return CommandResult(
        {"key": key, "value": value, "file": path}, lambda screen: fitted(screen, clean(f"{key} = {text} in {path}"))
    )


def _read(path: str) -> dict[str, Any]:
    try:
        raw = json.loads(files.read_inside(*os.path.split(path), _MAX_BYTES).decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read: {error}", fix=_BY_HAND) from error
    if not isinstance(raw, dict):
        raise BadInput(f"{path} must be a JSON object", fix=_BY_HAND)
    return raw


def _put(raw: dict[str, Any], key: str, value: object) -> None:
    """Set or remove a dotted key where the file has it: nested, or with the dots in its name."""
    if key in raw:
        parts, inner = [key], raw
    else:
        parts, inner = key.split("."), raw
        for part in parts[:-1]:
            inner = inner.get(part, {}) if value is None else inner.setdefault(part, {})
            if not isinstance(inner, dict):
                raise BadInput(f"{part} is not an object in the file", fix=_BY_HAND)
    if value is None:
        inner.pop(parts[-1], None)
    else:
        inner[parts[-1]] = value

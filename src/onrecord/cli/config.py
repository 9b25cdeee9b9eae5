"""`onrecord config`: the settings and their origin; `set`, `unset` and `tidy` change the store's file."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from contextlib import nullcontext
from typing import Any

from onrecord import earlier_config, files, paths, setting_table
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean, fitted, labelled, table, wrap
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, SecretFound
from onrecord.recall import selection
from onrecord.record import author, secrets
from onrecord.setting_table import SETTINGS, Setting, setting
from onrecord.settings import Settings, flattened, load_settings
from onrecord.store.store import Store
from onrecord.text import first_few, plural

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
    tidy = actions.add_parser("tidy", help="rename old settings, and remove those without effect here")
    arguments.add(tidy, "--dry-run")


def run(args: argparse.Namespace) -> CommandResult:
    if args.remote:
        raise BadInput("a shared store has no settings", fix="leave out --remote")
    store = arguments.store_of(args)
    if args.action == "get":
        if args.value is not None:
            raise _needs_set(args.key, args.value)
        return _show(load_settings(store.root), args.key)
    if args.action == "tidy":
        return _tidy(store, is_users=args.user, dry_run=args.dry_run).warned(*store.warnings)
    value = _parsed(args.key, args.value, trusted=args.user) if args.action == "set" else None
    if args.user:
        _refuse_an_agent(args.key, args.value if args.action == "set" else None, value)
    return _change(store, args.key, value, is_users=args.user).warned(*store.warnings)


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
    problems = [{"file": p.file, "key": p.key, "message": p.message, "fix": p.fix} for p in settings.problems]

    def text(screen: Screen) -> str:
        cells = [(row["key"], json.dumps(row["value"], ensure_ascii=False), row["origin"], row["doc"]) for row in rows]
        lines = (
            [_group(screen, *map(clean, row)) for row in cells] if screen.is_terminal else [table(screen, (), cells)]
        )
        for problem in settings.problems:
            message = f"{problem.file}: {problem.key} {problem.message}"
            lines.append(labelled(screen, "note" if problem.is_of_earlier_plugin else "problem", message, "yellow"))
            if problem.is_of_earlier_plugin:
                lines.append(labelled(screen, "fix", problem.fix))
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
    """Return the typed value if the setting accepts it. Raises BadInput, or SecretFound for a credential."""
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
        raise BadInput(f"{key}: {reason}" if problem.is_refusal else f"{key} {reason}", fix=fix)
    measured = _value(settings, key)
    if not trusted and key == "retrieval.min_probability" and 0 < settings.number(key) < measured:
        fix = f"onrecord config set --user {key} {shlex.quote(text)}"
        raise BadInput(f"{key}: a project may only raise it, and what was measured is {measured}", fix=fix)
    leak = next(secrets.find_leaks(value, key), None)
    if leak:
        raise SecretFound(str(leak), fix="write where the secret is kept (a variable, a vault), not the secret")
    return value


def _refuse_an_agent(key: str, text: str | None, value: object) -> None:
    """Raise BadInput if an agent would change the user's own config in a way in which no project may change it."""
    if author.detect().origin != author.AGENT:
        return
    default = _declared(key).default
    typed_default = list(default) if isinstance(default, tuple) else default
    settings = load_settings("")
    settings.problems.clear()
    settings.take(paths.CONFIG, False, {key: typed_default if value is None else value})
    if settings.problems:
        asks = "ask the user to run"
        unset = f"{asks}: onrecord config unset --user {key}"
        fix = unset if text is None else f"{asks}: onrecord config set --user {key} {shlex.quote(text)}"
        refused = setting_table.direction(key).refused or "not yours to choose"
        raise BadInput(f"only the user may change {key} like that: it could be {refused}", fix=fix)


def _change(store: Store, key: str, value: object, *, is_users: bool) -> CommandResult:
    _declared(key)
    path = os.path.join(store.root, paths.CONFIG)
    files.inside(store.root, paths.CONFIG)
    with store.writing():
        raw = _read(path)
        before = json.dumps(raw)
        for name in setting_table.old_names(key):
            _put(raw, name, None)
        _put(raw, key, value)
        if value is not None and key in earlier_config.unused_keys(flattened(raw)):
            reason = "is the default of the earlier plugin, which nobody chose in a file with its settings"
            tidy = "onrecord config tidy --user" if is_users else "onrecord config tidy"
            raise BadInput(f"{key} {reason}: it would not be used", fix=f"{tidy}; then set it")
        if json.dumps(raw) != before:
            files.write(path, _rendered(raw).encode("utf-8"))
    text = "default" if value is None else json.dumps(value, ensure_ascii=False)
    return CommandResult(
        {"key": key, "value": value, "file": path}, lambda screen: fitted(screen, clean(f"{key} = {text} in {path}"))
    )


class _Tidied(NamedTuple):
    """The changes that tidying makes in a config."""

    removed: list[str]
    renamed: dict[str, str]


def _tidy(store: Store, *, is_users: bool, dry_run: bool) -> CommandResult:
    """Rename the old settings of a store's config, and remove those that have no effect; what is unknown stays."""
    path = os.path.join(store.root, paths.CONFIG)
    files.inside(store.root, paths.CONFIG)
    with nullcontext() if dry_run else store.writing("tidy config") as batch:
        raw = _read(path)
        tidied = _tidied(raw)
        if batch and any(tidied):
            batch.put_config(_rendered(raw))
    after = Settings() if is_users else load_settings("")
    after.problems.clear()
    after.take(path, is_users, flattened(raw))
    data = {"file": path, **tidied._asdict(), "not_used": [problem.key for problem in after.problems]}

    def text(screen: Screen) -> str:
        remove, rename = ("would remove", "would rename") if dry_run else ("removed", "renamed")
        lines = [labelled(screen, f"{rename} {old}", new) for old, new in tidied.renamed.items()]
        if tidied.removed:
            count = plural(len(tidied.removed), "setting")
            names = ", ".join(tidied.removed) if dry_run else first_few(tidied.removed)
            lines.append(labelled(screen, f"{remove} {count} without effect", names))
        for problem in after.problems:
            lines.append(labelled(screen, f"kept, but not used: {problem.key}", problem.message, "yellow"))
        return "\n".join(lines) or f"nothing to tidy in {clean(path)}"

    note = f"to take it back: onrecord undo{' --user' if is_users else ''}" if store.last_change else ""
    return CommandResult({**data, "dry_run": dry_run}, text, note=note)


def _tidied(raw: dict[str, Any]) -> _Tidied:
    """Rename and remove the old settings in `raw`, and return what was changed."""
    flat = flattened(raw)
    removed = [*earlier_config.unused_keys(flat), *(key for key in flat if key in setting_table.REMOVED)]
    rest = {key: value for key, value in flat.items() if key not in removed}
    successors = {
        key: successor
        for key, value in rest.items()
        if setting(key) is None and (successor := setting_table.successor(key, value))
    }
    renamed = {key: new for key, new in successors.items() if new.key not in rest and new.value is not None}
    removed += [key for key in successors if key not in renamed]
    for key in (*removed, *renamed):
        _put(raw, key, None)
    for new in renamed.values():
        _put(raw, new.key, new.value)
    _drop_empty(raw)
    return _Tidied(removed, {key: new.key for key, new in renamed.items()})


def _drop_empty(raw: dict[str, Any]) -> None:
    """Remove the objects in which nothing is left."""
    for key, value in list(raw.items()):
        if isinstance(value, dict):
            _drop_empty(value)
            if not value:
                del raw[key]


def _rendered(raw: dict[str, Any]) -> str:
    return json.dumps(raw, ensure_ascii=False, indent=2) + "\n"


def _read(path: str) -> dict[str, Any]:
    try:
        raw = json.loads(files.read_inside(*os.path.split(path), _MAX_BYTES).decode().removeprefix("\ufeff"))
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

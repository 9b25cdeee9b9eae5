"""The parts of a connection: a file, and how what is ours in it is put into its text and taken out again."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from onrecord.coldstart import NamedTuple
from onrecord.hosts import config_file, installation, json_edit, toml_edit
from onrecord.hosts.config_file import OWN_FILE, Change
from onrecord.hosts.host_setup import SECONDS, Hooks, Recipe, Server, Wire

_LAST_SECONDS = 3
"""For the end of a session: one host allows no more."""

_MOST_EVENTS = 30
_LAUNCHER = re.compile(r'^const LAUNCHER = ("(?:[^"\\]|\\.)*")$', re.MULTILINE)
_SHIMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shims")
Edit = Callable[[str], str]


class Part(NamedTuple):
    """What of ours belongs into a file of a host."""

    path: str
    put: Edit
    drop: Edit

    @property
    def state(self) -> str:
        """missing, current, or outdated: there, but not as it would be written now."""
        if config_file.edited(self.path, self.drop).is_needed:
            return "outdated" if config_file.edited(self.path, self.put).is_needed else "current"
        return "missing"


def changes(parts: list[Part], *, is_removal: bool, inside: str = "") -> list[Change]:
    """What connecting, or taking the connection away, changes in each file."""
    edits: dict[str, list[Edit]] = {}
    for part in reversed(parts) if is_removal else parts:
        edits.setdefault(part.path, []).append(part.drop if is_removal else part.put)
    made = [config_file.edited(path, _composed(several), inside) for path, several in edits.items()]
    return [change for change in made if change.is_needed]


def _composed(edits: list[Edit]) -> Edit:
    def edit(text: str) -> str:
        for each in edits:
            text = each(text)
        return text

    return edit


def entrance(recipe: Recipe, project: str = "") -> Part:
    """The part by which events reach us: hooks, or our plugin for the host."""
    if recipe.hooks is None:
        return own_file(recipe.place(recipe.shim_file), shim_text(recipe.shim))
    hooks = recipe.hooks
    return Part(
        recipe.place(hooks.file, project),
        lambda text: _put_hooks(text, recipe.host, hooks),
        lambda text: _drop_hooks(text, hooks),
    )


def server(recipe: Recipe, project: str = "") -> Part | None:
    """The entry for the MCP server, where the host has such."""
    entry = recipe.server
    if entry is None:
        return None
    path = recipe.place(entry.file, project)
    commented = path.removesuffix(".json") + ".jsonc"
    path = commented if entry.form == "list" and os.path.exists(commented) else path
    name = (entry.key, "onrecord")
    if entry.form == "toml":
        return Part(path, lambda text: _put_table(text, name), lambda text: toml_edit.drop(text, name))
    return Part(path, lambda text: _put_server(text, name, entry), lambda text: json_edit.drop(text, name))


def skills(folder: str = "") -> list[Part]:
    """Our skills, in the folder that most hosts read."""
    base = folder or os.path.join(os.path.expanduser("~"), ".agents", "skills")
    texts = rendered(installation.typed(), OWN_FILE)
    return [own_file(os.path.join(base, name, "SKILL.md"), text) for name, text in texts.items()]


def own_file(path: str, content: str) -> Part:
    """A file that is ours as a whole."""

    def put(text: str) -> str:
        if text.strip() and OWN_FILE not in text:
            raise ValueError("it is not a file that Onrecord wrote")
        return content

    return Part(path, put, lambda text: "" if OWN_FILE in text else text)


def shim_text(name: str) -> str:
    """Our plugin for a host that runs JavaScript, with the path of this installation."""
    launcher = json.dumps(installation.launcher(), ensure_ascii=False)
    ask = _shim("ask.js").rstrip("\n")
    return _shim(name).replace('"{{launcher}}"', launcher).replace("// {{ask}}", ask)


def _shim(name: str) -> str:
    with open(os.path.join(_SHIMS, name), encoding="utf-8", newline="") as file:
        return file.read()


def launchers(recipe: Recipe) -> list[str]:
    """The launchers that the hooks of a host start, or that our plugin there does."""
    text = (config_file.read(entrance(recipe).path) or b"").decode("utf-8", "replace").removeprefix("\ufeff")
    if recipe.hooks is None:
        named = _LAUNCHER.search(text)
        return [json.loads(named[1])] if named else []
    entries = [entry for event in _events(text) for entry in json_edit.items(text, ("hooks", event))]
    ours = [command for entry in entries for command in commands(entry) if installation.MARK in command]
    return list(dict.fromkeys(filter(None, map(_launcher, ours))))


def _launcher(command: str) -> str:
    """The launcher that a command of ours starts; empty if somebody has changed the command."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return words[1] if words[0] == "sh" else ""


def is_ours(item: Any) -> bool:
    """Whether an entry in a list of hooks holds our commands and no others."""
    return bool(commands(item)) and all(installation.MARK in command for command in commands(item))


def commands(item: Any) -> list[str]:
    """The commands of an entry in a list of hooks."""
    return [handler["command"] for handler in handlers(item)]


def handlers(item: Any) -> list[dict[str, Any]]:
    """What has a command in an entry of a list of hooks: the entry itself, or those in it."""
    inner = item.get("hooks") if isinstance(item, dict) else None
    candidates = [item, *(inner if isinstance(inner, list) else [])]
    return [each for each in candidates if isinstance(each, dict) and isinstance(each.get("command"), str)]


def _put_hooks(text: str, host: str, hooks: Hooks) -> str:
    for name, number in hooks.fields:
        text = text if json_edit.get(text, (name,)) is not None else json_edit.put(text, (name,), number)
    wired = {wire.theirs for wire in hooks.wires}
    for event in [event for event in _events(text) if event not in wired]:
        text = json_edit.drop_items(text, ("hooks", event), is_ours)
    for wire in hooks.wires:
        text = json_edit.put_item(text, ("hooks", wire.theirs), _entry(wire, host, hooks.form), is_ours)
    return text


def _drop_hooks(text: str, hooks: Hooks) -> str:
    events = _events(text)
    if not events:
        return text
    for event in reversed(events):
        text = json_edit.drop_items(text, ("hooks", event), is_ours)
    for name, _ in hooks.fields:
        # Alone it says nothing, and it was ours if the whole file was.
        text = text if not text or json_edit.drop(text, (name,)) else ""
    return text


def _events(text: str) -> list[str]:
    """The events that have hooks of ours; ValueError if they are so many that nobody can have written them."""
    hooks = json_edit.get(text, ("hooks",))
    lists = hooks.items() if isinstance(hooks, dict) else ()
    events = [event for event, entries in lists if isinstance(entries, list) and any(map(is_ours, entries))]
    if len(events) > _MOST_EVENTS:
        raise ValueError(f"{len(events):,} events have hooks of Onrecord")
    return events


def _entry(wire: Wire, host: str, form: str) -> dict[str, Any]:
    """A hook of ours as the host wants it."""
    command = installation.hook_command(wire.ours, host)
    seconds = _LAST_SECONDS if wire.ours == "session_end" else SECONDS
    is_named = form == "named"
    handler = {
        "type": "command",
        **({"name": "onrecord"} if is_named else {}),
        "command": command,
        "timeout": seconds * 1_000 if is_named else seconds,
    }
    return {**({"matcher": wire.tools} if wire.tools else {}), "hooks": [handler]}


def _put_server(text: str, name: tuple[str, str], entry: Server) -> str:
    """The text with our server; what somebody added to its entry, or switched off in it, stays."""
    present = json_edit.get(text, name)
    first, *rest = [*installation.program(), "mcp"]
    forms: Mapping[str, dict[str, Any]] = {
        "command": {"command": first, "args": rest},
        "stdio": {"type": "stdio", "command": first, "args": rest},
        "local": {"type": "local", "command": first, "args": rest, "tools": ["*"]},
        "list": {"type": "local", "command": [first, *rest], "enabled": True},
    }
    extra = present if isinstance(present, dict) else {}
    chosen = {key: extra[key] for key in ("tools", "enabled") if key in extra}
    return json_edit.put(text, name, {**extra, **forms[entry.form], **chosen})


def _put_table(text: str, name: tuple[str, str]) -> str:
    first, *rest = [*installation.program(), "mcp"]
    return toml_edit.put(text, name, {"command": first, "args": rest})


_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "skills")
_COMMAND = "{{onrecord}}"


def rendered(command: str, mark: str) -> dict[str, str]:
    """The text of each skill by its name, with the command that starts this installation."""
    texts = {}
    for file in sorted(os.listdir(_FOLDER)):
        name, extension = os.path.splitext(file)
        if extension == ".md":
            with open(os.path.join(_FOLDER, file), encoding="utf-8") as source:
                text = source.read().replace(_COMMAND, command)
            texts[name] = f"{text}\n<!-- {mark}`; it takes this file away with --remove. -->\n"
    return texts

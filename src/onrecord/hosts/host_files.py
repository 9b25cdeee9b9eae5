"""Our parts of a host's files: hooks, MCP entry, skills and shim, and how they are put into a file and removed again.

`HostSetup` says which files a host has and which of its events are ours: each host's module returns its own. The
commands at the end name this installation in such a file, by absolute paths. Hooks never load this module.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from onrecord import files, paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput
from onrecord.hosts import config_file, json_edit, toml_edit
from onrecord.hosts.config_file import OWN_FILE, FileChange
from onrecord.paths import OLD_NAME

HOOK_SECONDS = 5
"""Time limit that a host is given for a hook of ours; the hook itself stops after three seconds."""

HOOK_MARK = "|| : onrecord"
"""The end of every hook command of ours. With it the command succeeds even if this installation is gone: a host may
take a failing hook as a veto."""

_HOOK_MARKS = (HOOK_MARK, f"|| : {OLD_NAME}")
_SERVER = "onrecord"
_PROGRAMS = (_SERVER, f"{_SERVER}.exe", OLD_NAME, f"{OLD_NAME}.exe")
_SESSION_END_SECONDS = 3
"""Time limit of the hook for the end of a session: one host allows no more."""

_MAX_EVENTS = 30
"""Limit of events with our hooks; every host has fewer."""

_LAUNCHER = re.compile(r'^const LAUNCHER = ("(?:[^"\\]|\\.)*")$', re.MULTILINE)
_HERE = os.path.dirname(os.path.abspath(__file__))


class HookWire(NamedTuple):
    """An event of a host and our event for it; `tools` are the tools it is for, empty for all."""

    host_event: str
    event: str
    tools: str = ""


class Hooks(NamedTuple):
    """Our hooks in a JSON file of a host."""

    file: str
    wires: tuple[HookWire, ...]
    form: str = "groups"
    """Form of an entry: groups (as in Claude Code) or named (the same with names and milliseconds)."""
    fields: tuple[tuple[str, int], ...] = ()
    """Other members that the file must have."""


class ServerEntry(NamedTuple):
    """The entry for our MCP server in a file of a host; `key` is the member that has all servers."""

    file: str
    key: str
    form: str = "command"
    """command, local or stdio (the value of `type`), list (one list of words) or toml."""


class HostPlugin(NamedTuple):
    """Our plugin as a host itself installs it. It has the same hooks: a host that has it needs no entries of ours."""

    form: str
    """Where the host notes that it is installed: registry, marketplace, toml or folder."""
    removal: str
    """The command that removes it."""


class HostSetup(NamedTuple):
    """The files of a host and what we write into them. Relative paths are relative to its folder."""

    host: str
    programs: tuple[str, ...]
    folder: str
    """Relative to the home folder."""
    variable: tuple[str, str] = ("", "")
    """An environment variable for another folder, and the path from there to the host's folder."""
    hooks: Hooks | None = None
    shim: str = ""
    """Our plugin in JavaScript for a host without hooks: a file in `hosts/shims`."""
    shim_file: str = ""
    """The file that the host loads the shim from."""
    server: ServerEntry | None = None
    plugin: HostPlugin | None = None
    reads_skills: bool = False
    """True if it reads ~/.agents/skills."""
    own_skills: str = ""
    """Its own folder for skills, where it does not read ~/.agents/skills."""
    project_folder: str = ""
    """The folder in a project that has the same files; empty if none is safe to write."""
    next_steps: tuple[str, ...] = ("Restart {title}.",)
    """Instructions for the user after connecting."""

    def path(self, file: str, project: str = "") -> str:
        """Return the absolute path of `file`, in the user's folder of the host or in `project`."""
        if project:
            return os.path.join(project, self.project_folder, *file.split("/"))
        name, below = self.variable
        elsewhere = os.environ.get(name, "") if name else ""
        if os.path.isabs(elsewhere):
            return os.path.normpath(os.path.join(elsewhere, below, *file.split("/")))
        return os.path.normpath(os.path.join(os.path.expanduser("~"), *self.folder.split("/"), *file.split("/")))


def claude_wires(tools: str = "", shell: str = "", without: str = "") -> tuple[HookWire, ...]:
    """Return the events of Claude Code, which most hosts have adopted, except those in `without`."""
    wires = (
        HookWire("SessionStart", "session_start"),
        HookWire("UserPromptSubmit", "user_prompt_submit"),
        HookWire("PreToolUse", "pre_tool_use", tools),
        HookWire("PostToolUse", "post_tool_use", tools),
        HookWire("PostToolUseFailure", "post_tool_use_failure", shell),
        HookWire("Stop", "stop"),
        HookWire("PreCompact", "pre_compact"),
        HookWire("SessionEnd", "session_end"),
    )
    return tuple(wire for wire in wires if wire.host_event not in without.split())


Edit = Callable[[str], str]


class Part(NamedTuple):
    """Something of ours in a file of a host: two functions put it into the text of the file and drop it."""

    path: str
    put: Edit
    drop: Edit

    @property
    def state(self) -> str:
        """`missing`, `current`, or `outdated` if it differs from the text that would be written now."""
        if config_file.edited(self.path, self.drop).is_needed:
            return "outdated" if config_file.edited(self.path, self.put).is_needed else "current"
        return "missing"


def changes(parts: list[Part], *, is_removal: bool, inside: str = "") -> list[FileChange]:
    """Return the changes that put `parts` into their files, or remove them."""
    edits: dict[str, list[Edit]] = {}
    for part in parts:
        edits.setdefault(part.path, []).append(part.drop if is_removal else part.put)
    every = [config_file.edited(path, _composed(several), inside) for path, several in edits.items()]
    return [change for change in every if change.is_needed]


def _composed(edits: list[Edit]) -> Edit:
    def apply_all(text: str) -> str:
        for edit in edits:
            text = edit(text)
        return text

    return apply_all


def entrance(setup: HostSetup, project: str = "") -> Part:
    """Return the part through which events reach us: our hooks, or our shim."""
    if setup.hooks is None:
        return own_file(setup.path(setup.shim_file), shim_text(setup.shim))
    hooks = setup.hooks
    return Part(
        setup.path(hooks.file, project),
        lambda text: _put_hooks(text, setup.host, hooks),
        lambda text: _drop_hooks(text, hooks),
    )


def old_files(setup: HostSetup) -> list[Part]:
    """Return parts for the files of a host that only 0.2.0 wrote: to put one in is to remove it, too."""
    hooks, files = setup.hooks, []
    if hooks and (path := setup.path(_old_path(hooks.file))) != setup.path(hooks.file):
        files.append(Part(path, lambda text: _drop_hooks(text, hooks), lambda text: _drop_hooks(text, hooks)))
    if setup.shim:
        files.append(Part(setup.path(_old_path(setup.shim_file)), _drop_own, _drop_own))
    return files


def _old_path(file: str) -> str:
    return file.replace("onrecord", OLD_NAME)


def server(setup: HostSetup, project: str = "") -> Part | None:
    """Return the part for our MCP server; None if the host has no config file for it."""
    entry = setup.server
    if entry is None:
        return None
    file = setup.path(entry.file, project)
    commented = file.removesuffix(".json") + ".jsonc"
    file = commented if entry.form == "list" and files.is_there(commented) else file
    path, form = (entry.key, _SERVER), entry.form
    if form == "toml":
        return Part(file, lambda text: _put_table(text, path), lambda text: _drop_table(text, path))
    return Part(file, lambda text: _put_server(text, path, form), lambda text: _drop_server(text, path))


def skills(folder: str = "") -> list[Part]:
    """Return our skills in `folder`, by default the one that most hosts read."""
    base = folder or os.path.join(os.path.expanduser("~"), ".agents", "skills")
    texts = _skill_texts(shell_command())
    return [own_file(os.path.join(base, name, "SKILL.md"), text) for name, text in texts.items()]


def own_file(path: str, content: str) -> Part:
    """Return the part for a file that is ours as a whole."""

    def put(text: str) -> str:
        if text.strip() and not config_file.is_own_text(text):
            raise ValueError("it is not a file that Onrecord wrote")
        return content

    return Part(path, put, _drop_own)


def _drop_own(text: str) -> str:
    return "" if config_file.is_own_text(text) else text


def shim_text(name: str) -> str:
    """Return our plugin for a host that runs JavaScript, with the path of this installation."""
    path = json.dumps(launcher(), ensure_ascii=False)
    ask = _shim("ask.js").rstrip("\n")
    return _shim(name).replace('"{{launcher}}"', path).replace("// {{ask}}", ask)


def _shim(name: str) -> str:
    with open(os.path.join(_HERE, "shims", name), encoding="utf-8", newline="") as file:
        return file.read()


def launchers(setup: HostSetup) -> list[str]:
    """Return the launchers that the hooks of a host, or our shim there, start."""
    text = (config_file.read(entrance(setup).path) or b"").decode("utf-8", "replace").removeprefix("\ufeff")
    if setup.hooks is None:
        match = _LAUNCHER.search(text)
        return [json.loads(match[1])] if match else []
    entries = [entry for event in _events(text) for entry in json_edit.items(text, ("hooks", event))]
    ours = [command for entry in entries for command in commands(entry) if is_our_command(command)]
    return list(dict.fromkeys(filter(None, map(_launcher, ours))))


def _launcher(command: str) -> str:
    """Return the launcher that a command of ours starts; empty if the command was edited."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return words[1] if words[0] == "sh" else ""


def is_ours(item: Any) -> bool:
    """True if an entry in a list of hooks has only commands of ours."""
    return bool(commands(item)) and all(map(is_our_command, commands(item)))


def is_our_command(command: str) -> bool:
    """True if a hook command is ours, whichever version wrote it."""
    return any(mark in command for mark in _HOOK_MARKS)


def commands(item: Any) -> list[str]:
    """Return the commands of an entry in a list of hooks."""
    return [handler["command"] for handler in handlers(item)]


def handlers(item: Any) -> list[dict[str, Any]]:
    """Return the objects with a command in an entry of a list of hooks: the entry itself, or those in it."""
    inner = item.get("hooks") if isinstance(item, dict) else None
    candidates = [item, *(inner if isinstance(inner, list) else [])]
    return [handler for handler in candidates if isinstance(handler, dict) and isinstance(handler.get("command"), str)]


def _put_hooks(text: str, host: str, hooks: Hooks) -> str:
    json_edit.check(text)
    wired = {wire.host_event for wire in hooks.wires}
    for event in [event for event in _events(text) if event not in wired]:
        text = json_edit.drop_items(text, ("hooks", event), is_ours)
    for wire in hooks.wires:
        text = json_edit.put_item(text, ("hooks", wire.host_event), _hook_entry(wire, host, hooks.form), is_ours)
    # After the hooks: so a removal can tell a member that came with them from one that was there before.
    for name, number in hooks.fields:
        text = text if json_edit.get(text, (name,)) is not None else json_edit.put(text, (name,), number)
    return text


def _drop_hooks(text: str, hooks: Hooks) -> str:
    events = _events(text)
    if not events:
        return text
    names = json_edit.keys(text)
    ours = [name for name, _ in hooks.fields if name in names[names.index("hooks") :]]
    first = [name for name, _ in hooks.fields if names[:2] == [name, "hooks"]]
    for event in reversed(events):
        text = json_edit.drop_items(text, ("hooks", event), is_ours)
    if text and "hooks" not in json_edit.keys(text):
        # A file of 0.2.0 has the member first, and nothing else.
        ours += first if len(names) == len(hooks.fields) + 1 else []
        for name in ours:
            text = json_edit.drop(text, (name,))
    return text


def _events(text: str) -> list[str]:
    """Return the events that have hooks of ours. Raises ValueError if there are too many."""
    hooks = json_edit.get(text, ("hooks",))
    lists = hooks.items() if isinstance(hooks, dict) else ()
    events = [event for event, entries in lists if isinstance(entries, list) and any(map(is_ours, entries))]
    if len(events) > _MAX_EVENTS:
        raise ValueError(f"{len(events):,} events have hooks of Onrecord")
    return events


def _hook_entry(wire: HookWire, host: str, form: str) -> dict[str, Any]:
    """Return a hook of ours in the form of the host."""
    command = hook_command(wire.event, host)
    seconds = _SESSION_END_SECONDS if wire.event == "session_end" else HOOK_SECONDS
    is_named = form == "named"
    handler = {
        "type": "command",
        **({"name": "onrecord"} if is_named else {}),
        "command": command,
        "timeout": seconds * 1_000 if is_named else seconds,
    }
    return {**({"matcher": wire.tools} if wire.tools else {}), "hooks": [handler]}


def _put_server(text: str, keys: tuple[str, str], form: str) -> str:
    """Return `text` with our server; what the user added to its entry, or switched off there, stays.

    Raises ValueError if another server has its name.
    """
    json_edit.check(text)
    entry, old_keys = json_edit.get(text, keys), _old_server(keys)
    if entry is not None and not _is_our_server(entry):
        _refuse_server(keys)
    old_entry = json_edit.get(text, old_keys)
    old_entry = old_entry if _is_our_server(old_entry) else None
    entry = old_entry if entry is None else entry
    first, *rest = [*program(), "mcp"]
    forms: Mapping[str, dict[str, Any]] = {
        "command": {"command": first, "args": rest},
        "stdio": {"type": "stdio", "command": first, "args": rest},
        "local": {"type": "local", "command": first, "args": rest, "tools": ["*"]},
        "list": {"type": "local", "command": [first, *rest], "enabled": True},
    }
    fields = entry if isinstance(entry, dict) else {}
    by_user = {key: fields[key] for key in ("tools", "enabled") if key in fields}
    text = json_edit.put(text, keys, {**fields, **forms[form], **by_user})
    return json_edit.drop(text, old_keys) if old_entry is not None else text


def _drop_server(text: str, keys: tuple[str, str]) -> str:
    for path in (_old_server(keys), keys):
        text = json_edit.drop(text, path) if _is_our_server(json_edit.get(text, path)) else text
    return text


def _old_server(keys: tuple[str, str]) -> tuple[str, str]:
    """Return the keys of the entry that 0.2.0 wrote for its server."""
    return keys[0], OLD_NAME


def _is_our_server(entry: Any) -> bool:
    """True if an entry starts our server, whichever installation or version of ours it names."""
    fields = entry if isinstance(entry, dict) else {}
    command, arguments = fields.get("command"), fields.get("args")
    words = [
        *(command if isinstance(command, list) else [command]),
        *(arguments if isinstance(arguments, list) else []),
    ]
    names = [os.path.basename(word.replace("\\", "/")) for word in words if isinstance(word, str)]
    return names[-1:] == ["mcp"] and any(name in _PROGRAMS for name in names)


def _refuse_server(keys: tuple[str, str]) -> NoReturn:
    raise ValueError(f"{'.'.join(keys)} is a server that Onrecord did not write; give it another name")


def _drop_table(text: str, keys: tuple[str, str]) -> str:
    for path in (_old_server(keys), keys):
        text = toml_edit.drop(text, path) if _is_our_table(text, path) else text
    return text


def _is_our_table(text: str, keys: tuple[str, str]) -> bool:
    values = toml_edit.texts(text, keys)
    try:
        command, arguments = json.loads(values.get("command", '""')), json.loads(values.get("args", "[]"))
    except (ValueError, RecursionError):
        # Values in another form of TOML: those that we write are JSON too.
        return False
    return _is_our_server({"command": command, "args": arguments})


def _put_table(text: str, keys: tuple[str, str]) -> str:
    if toml_edit.has(text, keys) and not _is_our_table(text, keys):
        _refuse_server(keys)
    old_keys = _old_server(keys)
    if _is_our_table(text, old_keys):
        is_new = not toml_edit.has(text, keys)
        text = toml_edit.rename(text, old_keys, keys[-1]) if is_new else toml_edit.drop(text, old_keys)
    first, *rest = [*program(), "mcp"]
    return toml_edit.put(text, keys, {"command": first, "args": rest})


def _skill_texts(command: str) -> dict[str, str]:
    """Return the text of each skill by its name, with the command that starts this installation."""
    folder, texts = os.path.join(_HERE, "skills"), {}
    for file in sorted(os.listdir(folder)):
        name, extension = os.path.splitext(file)
        if extension == ".md":
            with open(os.path.join(folder, file), encoding="utf-8") as source:
                text = source.read().replace("{{onrecord}}", command)
            texts[name] = f"{text}\n<!-- {OWN_FILE}`; it takes this file away with --remove. -->\n"
    return texts


def launcher() -> str:
    """Return the script that a host starts for each event."""
    return _usable(paths.launcher())


def hook_command(event: str, host: str) -> str:
    """Return the shell command that replies to an event of `host`."""
    return f"sh {shlex.quote(launcher())} {event} {host} {HOOK_MARK}"


def program() -> list[str]:
    """Return the words of the command that starts `onrecord` from any folder."""
    script = os.path.join(paths.clone(), "bin", "onrecord")
    if files.status(script) is not None:
        return [sys.executable, _usable(script)] if sys.platform == "win32" else [_usable(script)]
    suffix = ".exe" if sys.platform == "win32" else ""
    script = os.path.join(os.path.dirname(sys.executable), f"onrecord{suffix}")
    return [_usable(script)] if files.status(script) is not None else [_usable(sys.executable), "-m", "onrecord"]


def shell_command() -> str:
    """Return the command to type for `onrecord`: the bare name if a shell finds this installation by it."""
    words = program()
    on_path = shutil.which("onrecord")
    is_same = on_path and len(words) == 1 and os.path.realpath(on_path) == os.path.realpath(words[0])
    return "onrecord" if is_same else " ".join(map(shlex.quote, words))


def is_clone() -> bool:
    """True if this installation is a clone or a plugin: it has the manifest by which hosts install it."""
    return files.status(os.path.join(paths.clone(), ".claude-plugin", "plugin.json")) is not None


def _usable(path: str) -> str:
    """Return `path`. Raises BadInput if it cannot be written to a config file."""
    if path.isprintable():
        return path
    fix = "move it to a folder whose name has only printable characters"
    raise BadInput(f"the path of this installation cannot be written to a config file: {path!r}", fix=fix)

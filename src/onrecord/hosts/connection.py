"""Connections of hosts, by entries in their files or by our plugin: their state, and plans to change them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from typing import Any

from onrecord import files, paths, state_file
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, OnrecordError
from onrecord.hosts import config_file, host_files, json_edit, table, toml_edit
from onrecord.hosts.config_file import FileChange
from onrecord.hosts.host_files import HOOK_SECONDS, Hooks, HostSetup, Part, ServerEntry
from onrecord.paths import OLD_NAME

_MARKETPLACE = "onrecord"
_PLUGIN = f"memory@{_MARKETPLACE}"
_OLD_PLUGIN = f"memory@{OLD_NAME}"
_LAUNCHER = ("src", "onrecord", "hooks", "launch")
"""Path of the launcher in our plugin."""

_SKILL_SIGNS = {"codex": "$", "pi": "/skill:"}
"""What precedes the name of a skill where a person types it; a slash in all others."""

CURSOR = HostSetup(
    "cursor",
    ("cursor", "cursor-agent"),
    ".cursor",
    hooks=Hooks("hooks.json", (), fields=(("version", 1),)),
    server=ServerEntry("mcp.json", "mcpServers"),
    project_folder=".cursor",
)
"""What 0.2.0 wrote for Cursor, whose hooks this version does not use."""

MISSING, CURRENT, OUTDATED, PLUGIN, UNREADABLE = "missing", "current", "outdated", "plugin", "unreadable"

_TRIED_EVENT = "user_prompt_submit"

_FAILURES = "failures.log"

_MAX_SHOWN_LINES = 2

_RESULT = re.compile(r"<result\b[^>]*>(.*?)</result>")
"""A record as most hosts get it; the others get a list, as all do of the map."""

_BLOCK_STARTS = ("<memory-context", "[project memory")


class Installed(NamedTuple):
    """The program and version of a host on this machine, empty if not found, and whether its folder exists."""

    program: str
    version: str
    has_folder: bool

    @property
    def is_there(self) -> bool:
        return bool(self.program) or self.has_folder


class ConnectionState(NamedTuple):
    """The states of a host's hooks (or our plugin there) and of its MCP entry; `flaw` says why one is unreadable."""

    entrance: str
    server: str
    flaw: str = ""

    @property
    def is_connected(self) -> bool:
        return self.entrance in (CURRENT, OUTDATED, PLUGIN) or self.server in (CURRENT, OUTDATED)


class Plan(NamedTuple):
    """The changes and commands that connect a host or remove its connection."""

    name: str
    changes: list[FileChange]
    commands: Sequence[list[str]] = ()
    notes: Sequence[str] = ()
    project: str = ""
    why_empty: str = ""
    """Reason for an empty plan, if it is not the usual one."""

    @property
    def is_empty(self) -> bool:
        return not self.changes and not self.commands


def write_files(plans: Sequence[Plan]) -> None:
    """Write the files of all plans, or none of them. The caller runs the commands and reports their output."""
    changes = [change for plan in plans for change in plan.changes]
    # All plans of one command are for the same place.
    config_file.carry_out_all(changes, plans[0].project if plans else "")


def installed(setup: HostSetup) -> Installed:
    """Look for a host on this machine, without starting it."""
    program = next(filter(None, map(shutil.which, setup.programs)), "")
    return Installed(program, _version(program), os.path.isdir(setup.path("")))


def state(setup: HostSetup, project: str = "") -> ConnectionState:
    """Return the state of a host's connection, for the user or in `project`."""
    if project and not setup.project_folder:
        return ConnectionState(MISSING, MISSING)
    try:
        entrance = host_files.entrance(setup, project).state
        server = host_files.server(setup, project)
        if entrance == MISSING and not project:
            is_old = has_old_plugin(setup) or any(part.state != MISSING for part in host_files.old_files(setup))
            entrance = PLUGIN if has_plugin(setup) else OUTDATED if is_old else MISSING
        return ConnectionState(entrance, server.state if server else _claude_server_state(setup))
    except BadInput as error:
        return ConnectionState(UNREADABLE, MISSING, error.message)


def is_named_in(setup: HostSetup, project: str) -> bool:
    """True if a project's config for a host has our marks. They are searched as text: the file may be invalid."""
    if not setup.project_folder:
        return False
    try:
        data = config_file.read(host_files.entrance(setup, project).path, inside=project) or b""
    except OnrecordError:
        return False
    text = data.decode("utf-8", "replace")
    return host_files.is_our_command(text) or config_file.is_own_text(text)


def can_have_server(setup: HostSetup) -> bool:
    """True if our MCP server can be added to a host."""
    return setup.server is not None or bool(_claude_server_commands(setup, is_removal=False))


def plan(setup: HostSetup, project: str, *, wants_server: bool) -> Plan:
    """Return the plan that connects a host or updates its connection.

    A host that has our plugin gets no entries: they would run every hook twice.
    """
    server, commands = _server(setup, project, is_wanted=wants_server)
    entrance = host_files.entrance(setup, project)
    is_by_plugin = not project and has_plugin(setup)
    plugin_commands = [] if project or is_by_plugin else _plugin_commands(setup)
    if project:
        changes = host_files.changes([entrance, *server], is_removal=False, inside=project)
        return Plan(setup.host, changes, commands, project=project)
    old_files, notes = host_files.old_files(setup), _old_plugin_notes(setup)
    commands += _plugin_removal(setup, OLD_NAME) if has_old_plugin(setup) else []
    if not is_by_plugin and not plugin_commands:
        changes = host_files.changes([*old_files, entrance, *server], is_removal=False)
        return Plan(setup.host, changes, commands, notes)
    changes = host_files.changes([*old_files, entrance], is_removal=True)
    changes += host_files.changes(server, is_removal=False)
    notes += [f"to use entries instead of the plugin: {setup.plugin.removal}"] if is_by_plugin and setup.plugin else []
    return Plan(setup.host, changes, [*plugin_commands, *commands], notes, why_empty="connected by its plugin")


def _old_plugin_notes(setup: HostSetup) -> list[str]:
    """Return how to remove the plugin of 0.2.0, which answers beside this version, where no command here does it."""
    if not has_old_plugin(setup) or _plugin_removal(setup, OLD_NAME):
        return []
    return [f"the plugin of 0.2.0 is still there, so every hook runs twice; to remove it: {old_plugin_removal(setup)}"]


def retired_plan(project: str, *, is_removal: bool) -> Plan:
    """Return the plan that takes out what 0.2.0 wrote for Cursor, which this version gives its MCP server only."""
    hooks, server = host_files.entrance(CURSOR, project), host_files.server(CURSOR, project)
    changes = host_files.changes([hooks], is_removal=True, inside=project)
    if server and server.state != MISSING:
        changes += host_files.changes([server], is_removal=is_removal, inside=project)
    return Plan(CURSOR.host, changes, project=project)


def _server(setup: HostSetup, project: str, *, is_wanted: bool) -> tuple[list[Part], list[list[str]]]:
    """Return the part of a file, or the commands, that add our MCP server to a host (if wanted) or update it."""
    part = host_files.server(setup, project)
    if part:
        return ([part], []) if is_wanted or part.state != MISSING else ([], [])
    commands = _claude_server_commands(setup, is_removal=False)
    if is_wanted and not commands:
        if setup.host == "claude-code":
            fix = "put claude on your PATH, or leave out --mcp"
            raise BadInput("the program `claude` was not found, and it is what adds the MCP server", fix=fix)
        what = f"{setup.host} cannot be given the MCP server by this command"
        raise BadInput(what, fix="leave out --mcp; what each agent has: onrecord docs agents/README")
    state = _claude_server_state(setup)
    if state == OUTDATED and commands:
        return [], _claude_server_commands(setup, is_removal=True) + commands
    return [], commands if is_wanted and state == MISSING else []


def removal(setup: HostSetup, project: str) -> Plan:
    """Return the plan that removes a host's connection."""
    server = host_files.server(setup, project)
    old_files = [] if project else host_files.old_files(setup)
    parts = [*old_files, host_files.entrance(setup, project), *([server] if server else [])]
    changes = host_files.changes(parts, is_removal=True, inside=project)
    if project:
        return Plan(setup.host, changes, project=project)
    plugin = setup.plugin if has_plugin(setup) else None
    commands = _plugin_removal(setup, _MARKETPLACE) if plugin else []
    notes = [f"to remove it: {plugin.removal}"] if plugin and not commands else []
    commands += _plugin_removal(setup, OLD_NAME) if has_old_plugin(setup) else []
    notes += _old_plugin_notes(setup)
    if _claude_server_state(setup) != MISSING:
        commands += _claude_server_commands(setup, is_removal=True)
    return Plan(setup.host, changes, commands, notes, why_empty="connected by its plugin" if notes else "")


def skills(setups: Sequence[HostSetup], *, is_removal: bool) -> list[Plan]:
    """Return the plans for the skills of `setups`: written with the first host, removed with the last."""
    plans = []
    readers = [setup for setup in table.setups() if setup.reads_skills]
    others = [setup for setup in readers if setup not in setups and state(setup).is_connected]
    if any(setup.reads_skills for setup in setups) and not (is_removal and others):
        plans.append(_skills("skills", host_files.skills(), is_removal=is_removal))
    for setup in setups:
        if setup.own_skills:
            is_in_plugin = bool(_plugin_commands(setup)) or has_plugin(setup)
            parts = host_files.skills(setup.path(setup.own_skills))
            plans.append(_skills(f"skills of {setup.host}", parts, is_removal=is_removal or is_in_plugin))
    return [plan for plan in plans if plan.changes or plan.notes]


def _skills(name: str, parts: Sequence[Part], *, is_removal: bool) -> Plan:
    """Return the plan that writes or removes skills; a skill of the same name that is not ours stays as it is."""
    changes: list[FileChange] = []
    notes = []
    for part in parts:
        try:
            changes += host_files.changes([part], is_removal=is_removal)
        except BadInput as error:
            notes.append(f"left as it is: {error.message}")
    return Plan(name, changes, notes=notes, why_empty="nothing to write" if notes else "")


def has_plugin(setup: HostSetup) -> bool:
    """True if a host has our plugin installed and enabled; False if its files cannot be read."""
    return _has_plugin(setup, _MARKETPLACE)


def has_old_plugin(setup: HostSetup) -> bool:
    """True if a host has the plugin of 0.2.0 or 0.1.0 installed and enabled; False if its files cannot be read."""
    return _has_plugin(setup, OLD_NAME)


def old_plugin_removal(setup: HostSetup) -> str:
    """Return the command that removes the plugin of 0.2.0 from a host."""
    return setup.plugin.removal.replace(_PLUGIN, _OLD_PLUGIN) if setup.plugin else ""


def _has_plugin(setup: HostSetup, name: str) -> bool:
    form, plugin = setup.plugin.form if setup.plugin else "", f"memory@{name}"
    try:
        if form == "toml":
            return toml_edit.texts(_text(setup, "config.toml"), ("plugins", plugin)).get("enabled") == "true"
        if form == "folder":
            return os.path.isdir(setup.path(f"extensions/memory/src/{name}"))
        if form == "registry":
            entry = json_edit.get(_text(setup, "plugins/installed_plugins.json"), ("plugins", plugin))
            return bool(entry) and _enabled_plugins(setup).get(plugin) is not False
        return form == "marketplace" and any(_is_marketplace(name, *each) for each in _marketplaces(setup))
    except (BadInput, ValueError):
        return False


def plugin_launcher(setup: HostSetup) -> str:
    """Return the launcher of our plugin where the host's registry of plugins says it is; empty if it does not say."""
    try:
        entries = json_edit.get(_text(setup, "plugins/installed_plugins.json"), ("plugins", _PLUGIN))
    except (BadInput, ValueError):
        return ""
    folders = [entry.get("installPath") for entry in entries if isinstance(entry, dict)] if entries else []
    paths_there = [os.path.join(folder, *_LAUNCHER) for folder in folders if isinstance(folder, str)]
    return next(filter(os.path.isfile, paths_there), "")


def _plugin_commands(setup: HostSetup) -> list[list[str]]:
    """Return the commands that install our plugin, where that is better than entries: in Claude Code, from a clone."""
    program = shutil.which(setup.programs[0])
    if setup.host != "claude-code" or not program or not host_files.is_clone():
        return []
    return [[program, "plugin", "marketplace", "add", paths.clone()], [program, "plugin", "install", _PLUGIN]]


def _plugin_removal(setup: HostSetup, name: str) -> list[list[str]]:
    """Return the commands that remove our plugin, and the marketplace `name` that it came from."""
    program = shutil.which(setup.programs[0])
    if not program or setup.host != "claude-code":
        return []
    try:
        is_known = json_edit.get(_text(setup, "plugins/known_marketplaces.json"), (name,)) is not None
    except (BadInput, ValueError):
        is_known = False
    marketplace = [[program, "plugin", "marketplace", "remove", name]] if is_known else []
    return [[program, "plugin", "uninstall", f"memory@{name}"], *marketplace]


def _claude_server_state(setup: HostSetup) -> str:
    """Return the state of our MCP server in Claude Code: outdated if 0.2.0 added it, or if its program is gone."""
    entries = _claude_servers(setup)
    programs = [entry.get("command") for entry in entries.values() if isinstance(entry, dict)]
    is_gone = any(isinstance(name, str) and os.path.isabs(name) and not files.is_regular(name) for name in programs)
    return OUTDATED if OLD_NAME in entries or is_gone else CURRENT if entries else MISSING


def _claude_servers(setup: HostSetup) -> dict[str, Any]:
    """Return the entries of our MCP server in Claude Code by their names: that of this version, and that of 0.2.0."""
    if setup.host != "claude-code":
        return {}
    # Only Claude Code writes this file, so it is no part of the setup.
    elsewhere = os.environ.get(setup.variable[0], "")
    path = os.path.join(elsewhere or os.path.expanduser("~"), ".claude.json")
    try:
        text = (config_file.read(path) or b"").decode("utf-8").removeprefix("\ufeff")
        entries = {name: json_edit.get(text, ("mcpServers", name)) for name in ("onrecord", OLD_NAME)}
    except (BadInput, ValueError):
        return {}
    return {name: entry for name, entry in entries.items() if entry is not None}


def _claude_server_commands(setup: HostSetup, *, is_removal: bool) -> list[list[str]]:
    """Return the command that adds our MCP server to Claude Code, or those that remove it."""
    program = shutil.which(setup.programs[0])
    if setup.host != "claude-code" or not program:
        return []
    if is_removal:
        return [[program, "mcp", "remove", "--scope", "user", name] for name in _claude_servers(setup)]
    return [[program, "mcp", "add", "--scope", "user", "onrecord", "--", *host_files.program(), "mcp"]]


def _marketplaces(setup: HostSetup) -> list[tuple[str, Any]]:
    """Return name and folder of the marketplaces of enabled plugins that have the name of ours."""
    text = _text(setup, "settings.json")
    enabled = [key for key, is_on in _enabled_plugins(setup).items() if is_on]
    names = [key.partition("@")[2] for key in enabled if key.startswith("memory@")]
    return [(name, json_edit.get(text, ("extraKnownMarketplaces", name, "source", "path"))) for name in names]


def _is_marketplace(name: str, marketplace: str, folder: Any) -> bool:
    return marketplace == name or (isinstance(folder, str) and os.path.isdir(os.path.join(folder, "src", name)))


def _enabled_plugins(setup: HostSetup) -> dict[str, Any]:
    plugins = json_edit.get(_text(setup, "settings.json"), ("enabledPlugins",))
    return plugins if isinstance(plugins, dict) else {}


def _text(setup: HostSetup, file: str) -> str:
    return (config_file.read(setup.path(file)) or b"").decode("utf-8").removeprefix("\ufeff")


def _version(program: str) -> str:
    """Return the version of a program that npm installed, from its package.json."""
    folder = os.path.dirname(os.path.realpath(program)) if program else ""
    while folder and folder != os.path.dirname(folder):
        try:
            package = json.loads(files.read(os.path.join(folder, "package.json"), config_file.MAX_BYTES))
        except (OSError, ValueError, RecursionError):
            package = {}
        if isinstance(package, dict) and isinstance(package.get("version"), str):
            return str(package["version"])
        folder = os.path.dirname(folder)
    return ""


def typed_skill(skill: str) -> str:
    """Return what is typed for a skill in the agents that are connected here; the skill's name if none is."""
    titles: dict[str, list[str]] = {}
    for setup in table.setups():
        if (setup.reads_skills or setup.own_skills) and _may_be_connected(setup):
            name = _typed_in(setup, skill, is_plugin=has_plugin(setup))
            titles.setdefault(name, []).append(table.BY_NAME[setup.host].title)
    if len(titles) < 2:
        return next(iter(titles), f"its skill memory-{skill}")
    return ", ".join(f"{name} in {' and '.join(hosts)}" for name, hosts in titles.items())


def _may_be_connected(setup: HostSetup) -> bool:
    """True if a host is connected; False also if the disk does not tell: to name a skill is not worth a failure."""
    try:
        return state(setup).is_connected
    except OnrecordError as error:
        state_file.go_without("agents", error.message)
        return False


def _typed_in(setup: HostSetup, skill: str, *, is_plugin: bool) -> str:
    return f"{_SKILL_SIGNS.get(setup.host, '/')}memory{':' if is_plugin else '-'}{skill}"


class HookTrial(NamedTuple):
    """The trial of a hook: its reply as the agent gets it, in lines, and what was wrong; both may be empty."""

    host: str
    command: str
    seconds: float
    lines: tuple[str, ...] = ()
    flaw: str = ""


def try_hook(setup: HostSetup, project: str, prompt: str) -> HookTrial:
    """Start the hook of a connected host with a prompt that is typed in `project`.

    It counts for nothing: ledger and usage are in a folder of their own, which is deleted afterwards.
    """
    launcher = _launcher(setup)
    if not launcher:
        return HookTrial(setup.host, "", 0.0, flaw="no hook of Onrecord is in its files")
    words = ["sh", launcher, _TRIED_EVENT, setup.host]
    event = {"session_id": "connect-check", "conversation_id": "connect-check", "cwd": project}
    start = time.monotonic()
    with files.temporary_folder("onrecord-check-") as state:
        try:
            result = subprocess.run(
                words,
                input=json.dumps({**event, "prompt": prompt, "submitted_prompt": prompt}).encode(),
                capture_output=True,
                cwd=project,
                env={**os.environ, "ONRECORD_STATE_DIR": state},
                timeout=HOOK_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return HookTrial(setup.host, " ".join(words), time.monotonic() - start, flaw=str(error))
        flaw = result.stderr.decode("utf-8", "replace").strip() or _last_failure(state)
    seconds = time.monotonic() - start
    lines = _shown_lines(result.stdout)
    return HookTrial(setup.host, " ".join(words), seconds, lines, "" if lines else flaw)


def _launcher(setup: HostSetup) -> str:
    """Return the launcher that the host starts: that in its files, or that of our plugin there."""
    try:
        launchers = host_files.launchers(setup)
    except (BadInput, ValueError):
        launchers = []
    if launchers:
        return launchers[0]
    return plugin_launcher(setup) or paths.launcher() if has_plugin(setup) else ""


def _last_failure(state: str) -> str:
    """Return the last failure that the hook logged; empty for none."""
    try:
        with open(os.path.join(state, _FAILURES), encoding="utf-8", errors="replace") as file:
            return file.read().strip().rpartition("\n")[2].rpartition("\t")[2]
    except OSError:
        return ""


def _shown_lines(reply: bytes) -> tuple[str, ...]:
    """Return the first records that an agent is shown by a reply, a line each, whatever the form of its host."""
    try:
        text = "\n".join(_agent_texts(json.loads(reply or b"{}")))
    except (ValueError, RecursionError):
        return ()
    bullet_lines = (line[2:] for line in text.splitlines() if line.startswith("- "))
    return tuple(_RESULT.findall(text) or bullet_lines)[:_MAX_SHOWN_LINES]


def _agent_texts(value: Any) -> Iterator[str]:
    """Yield the strings in a reply that are for the agent: those in which records stand."""
    if isinstance(value, str) and value.lstrip().startswith(_BLOCK_STARTS):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _agent_texts(part)

"""Claude Code: whether our hooks can run in it, whether they do, and which other plugins speak at a prompt.

The host's files are only read. Their formats are internal and change: what is not understood counts as absent.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from onrecord import __version__, coldstart, files, paths, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.doctor import Finding, machine
from onrecord.hosts import claude_code, codex_trust, connection, host_files, table
from onrecord.hosts.connection import CURRENT, OUTDATED, PLUGIN, UNREADABLE, ConnectionState
from onrecord.hosts.host_setup import HostSetup
from onrecord.session import ledger, transcript
from onrecord.session.transcript import Session
from onrecord.text import plural

NAME = "memory@onrecord"
LAUNCHER = "hooks/launch"
"""The end of the path of our launcher, wherever it lies."""

_LARGEST = 4_000_000
"""Bytes of a settings file; the largest seen was 60 kB."""

_TAIL = 2_000_000
"""Bytes at the end of a transcript: some hundred turns."""

_MANAGED = {
    "darwin": "/Library/Application Support/ClaudeCode/managed-settings.json",
    "win32": r"C:\Program Files\ClaudeCode\managed-settings.json",
}
_MANAGED_ELSEWHERE = "/etc/claude-code/managed-settings.json"
_FAILURES = ("hook_non_blocking_error", "hook_blocking_error", "hook_cancelled")
_OTHER_MEMORIES = frozenset(
    "recall remember supermemory engram hindsight letta cognee zep graphiti byterover cipher openmemory memgpt".split()
)


class Plugin(NamedTuple):
    """An installed plugin: its name with its marketplace, the folder it is read from, and whether it is enabled."""

    key: str
    version: str
    installed_at: str
    folder: str
    is_enabled: bool

    @property
    def name(self) -> str:
        return self.key.partition("@")[0]

    @property
    def is_there(self) -> bool:
        return any(os.path.isdir(os.path.join(self.folder, part)) for part in ("hooks", "skills"))

    @property
    def is_ours(self) -> bool:
        manifest = _object(self.folder, ".claude-plugin", "plugin.json")
        display_name = manifest.get("displayName") if manifest else "Onrecord" if self.key == NAME else ""
        return self.name == "memory" and display_name == "Onrecord"

    @property
    def events(self) -> Mapping[str, Any]:
        """The events its hooks answer."""
        return _mapping(_object(self.folder, "hooks", "hooks.json").get("hooks"))


class SettingsFile(NamedTuple):
    """A settings file of the host."""

    path: str
    values: Mapping[str, Any]
    flaw: str = ""

    def commands(self, event: str) -> Iterator[str]:
        """The commands of hooks that this file adds to an event."""
        for group in _items(_mapping(self.values.get("hooks")).get(event)):
            for hook in map(_mapping, _items(_mapping(group).get("hooks"))):
                if isinstance(hook.get("command"), str):
                    yield " ".join([hook["command"], *map(str, _items(hook.get("args")))])


def examine_claude_code(project: str) -> Iterator[Finding]:
    """Everything in the host that keeps records from reaching an agent in a project."""
    settings = _settings_files(project)
    plugins = _plugins(settings)
    own = next((plugin for plugin in plugins if plugin.is_ours), None)
    transcripts = [claude_code.transcript(path) for path in claude_code.sessions(project)]
    last = next(iter(transcript.recent_sessions(transcripts, 1)), None)
    is_connected = connection.state(table.setup("claude-code")).entrance in (connection.CURRENT, connection.OUTDATED)
    if own or not is_connected:
        yield from _plugin(own, last)
    yield from _switches(settings)
    theirs = os.path.join(own.folder, "src", "onrecord", *LAUNCHER.split("/")) if own else ""
    yield from machine.examine_launcher(theirs if os.path.exists(theirs) else paths.launcher())
    if last and os.path.isdir(os.path.join(project, paths.STORE)):
        yield from _activity(own, project, last)
    others = [plugin for plugin in plugins if plugin is not own and plugin.is_enabled]
    yield from _others(others, settings, has_plugin=bool(own and own.is_enabled))


def _plugin(own: Plugin | None, last: Session | None) -> Iterator[Finding]:
    install = f"claude plugin marketplace add {_clone()}; then: claude plugin install {NAME}"
    install = install if _clone() else "onrecord connect claude-code --yes"
    if own is None:
        is_missed = last is not None and not ledger.exists(last.name)
        what = "the plugin is not installed in Claude Code, so no hook runs (unless it was started with --plugin-dir)"
        yield Finding("warning" if is_missed else "note", "plugin", what, install)
    elif not own.is_there:
        fix = f"claude plugin uninstall {own.key}; then: {install}"
        yield Finding("error", "plugin", f"{own.key} is read from {own.folder or 'nowhere'}, which is not there", fix)
    elif not own.is_enabled:
        yield Finding("warning", "plugin", f"{own.key} is disabled, so no hook runs", f"claude plugin enable {own.key}")
    else:
        yield Finding("ok", "plugin", f"{own.key} {own.version} is installed and enabled")
    if own and own.is_there and own.version and own.version != __version__:
        what = f"this command is version {__version__}, the plugin {own.version}"
        yield Finding("note", "plugin", what, f"claude plugin update {own.key}")


def _clone() -> str:
    """The clone or plugin folder this code runs from; empty if it was installed as a package."""
    root = paths.clone()
    return root if os.path.exists(os.path.join(root, ".claude-plugin", "plugin.json")) else ""


def _switches(settings: Sequence[SettingsFile]) -> Iterator[Finding]:
    """Settings that turn hooks off although the plugin is enabled."""
    for file in settings:
        if file.flaw:
            yield Finding("warning", "settings", f"{file.path} cannot be read: {file.flaw}", "correct it by hand")
        if file.values.get("disableAllHooks") is True:
            fix = f"take disableAllHooks out of {file.path}"
            yield Finding("error", "settings", f"{file.path} disables all hooks, so no memory reaches an agent", fix)
        if file.values.get("allowManagedHooksOnly") is True:
            fix = "ask whoever manages this machine to allow the plugin's hooks"
            yield Finding("error", "settings", f"{file.path} allows managed hooks only, so ours do not run", fix)
    if os.environ.get("ONRECORD_OFF"):
        yield Finding("warning", "settings", "ONRECORD_OFF is set, so hooks do nothing", "unset ONRECORD_OFF")


def _activity(own: Plugin | None, project: str, last: Session) -> Iterator[Finding]:
    """Whether hooks ran in the last session here that could have had them."""
    at = last.prompts[-1].at
    transcripts = [os.path.join(folder, f"{last.name}.jsonl") for folder in claude_code.folders(project)]
    lines = [line for file in transcripts for line in transcript.tail_lines(file, _TAIL)[0]]
    failures = list(_hook_failures(lines))
    for event, message in failures[-1:]:
        fix = "in a terminal, to see which Python hooks find: onrecord doctor; claude --debug shows more"
        yield Finding("error", "hooks", f"a hook failed in the last session ({event}): {message}", fix)
    if ledger.exists(last.name) or any(LAUNCHER.encode() in line and b"hookInfos" in line for line in lines):
        yield Finding("ok", "hooks", f"hooks ran in the last session here, {at or last.name}")
    elif not failures and own and own.is_enabled and at > max(own.installed_at, _since(project)):
        fix = "start Claude Code anew, in a folder you have trusted; /hooks in it should list those of the plugin"
        what = f"no hook ran in the last session here, {at}, though the plugin is enabled"
        yield Finding("warning", "hooks", what, fix)


def _hook_failures(lines: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Our hooks that failed, in lines of a transcript: their event and the message."""
    for line in lines:
        if b"hook_" not in line or LAUNCHER.encode() not in line:
            continue
        try:
            entry = _mapping(_mapping(json.loads(line)).get("attachment"))
        except (ValueError, RecursionError):
            continue
        kind = str(entry.get("type", ""))
        if kind in _FAILURES and LAUNCHER in str(entry.get("command")):
            message = str(entry.get("stderr") or kind.replace("_", " "))
            yield str(entry.get("hookEvent", "")), f"exit code {entry.get('exitCode', '?')}: {message}"


def _since(project: str) -> str:
    """Since when a store has been on this machine: git's files in it are written first and rarely again."""
    git_files = (os.path.join(project, paths.STORE, name) for name in (".gitignore", ".gitattributes"))
    times = [os.stat(path).st_mtime for path in git_files if os.path.exists(path)]
    return timestamps.from_seconds(min(times)) if times else ""


def _others(plugins: Sequence[Plugin], settings: Sequence[SettingsFile], *, has_plugin: bool) -> Iterator[Finding]:
    """Who else speaks to the agent at a prompt: two memories contradict each other, and cost twice."""
    for plugin in plugins:
        if _is_memory(plugin.name):
            fix = f"claude plugin disable {plugin.key}; or turn ours off: onrecord config set retrieval.enabled false"
            yield Finding("warning", "others", f"another memory plugin is active: {plugin.key}", fix)
        elif "UserPromptSubmit" in plugin.events:
            yield Finding("note", "others", f"the plugin {plugin.key} has a hook at every prompt too")
    for file in settings:
        for command in file.commands("UserPromptSubmit"):
            if host_files.HOOK_MARK in command and not has_plugin:
                continue
            if LAUNCHER in command or "onrecord" in command:
                fix = f"take it out of {file.path}: the plugin brings its own hooks"
                yield Finding("warning", "others", f"{file.path} runs Onrecord's hook a second time: {command}", fix)
            else:
                yield Finding("note", "others", f"{file.path} has a hook of its own at every prompt: {command}")


def _is_memory(name: str) -> bool:
    words = "".join(char if char.isalnum() else " " for char in name.lower()).split()
    return any((word.startswith("mem") and not word.startswith("member")) or word in _OTHER_MEMORIES for word in words)


def _settings_files(project: str) -> list[SettingsFile]:
    """The settings files there are, the strongest last."""
    candidates = (
        os.path.join(_user_folder(), "settings.json"),
        os.path.join(project, ".claude", "settings.json"),
        os.path.join(project, ".claude", "settings.local.json"),
        _MANAGED.get(sys.platform, _MANAGED_ELSEWHERE),
    )
    return [_read(path) for path in dict.fromkeys(candidates) if os.path.exists(path)]


def _user_folder() -> str:
    return os.path.dirname(paths.user_store())


def _plugins(settings: Iterable[SettingsFile]) -> list[Plugin]:
    """The plugins that were installed for this user; enabled unless settings say otherwise."""
    enabled: dict[str, Any] = {}
    for file in settings:
        enabled.update(_mapping(file.values.get("enabledPlugins")))
    base = os.path.join(_user_folder(), "plugins")
    markets = _object(base, "known_marketplaces.json")
    plugins = []
    for key, entries in _mapping(_object(base, "installed_plugins.json").get("plugins")).items():
        newest = _mapping(_items(entries)[-1]) if _items(entries) else {}
        name, _, market = key.partition("@")
        folder = _folder_in_place(name, _mapping(markets.get(market))) or newest.get("installPath")
        version, installed_at = (str(newest.get(field, "")) for field in ("version", "installedAt"))
        where = folder if isinstance(folder, str) else ""
        plugins.append(Plugin(key, version, installed_at, where, enabled.get(key) is not False))
    return plugins


def _folder_in_place(name: str, market: Mapping[str, Any]) -> str:
    """The folder of a plugin whose marketplace is a folder on this machine: it is read there, never copied."""
    base = market.get("installLocation")
    if _mapping(market.get("source")).get("source") != "directory" or not isinstance(base, str):
        return ""
    entries = map(_mapping, _items(_object(base, ".claude-plugin", "marketplace.json").get("plugins")))
    source = next((entry.get("source") for entry in entries if entry.get("name") == name), "")
    return os.path.normpath(os.path.join(base, source)) if isinstance(source, str) else base


def _read(path: str) -> SettingsFile:
    try:
        values = coldstart.loads(files.read(path, _LARGEST).decode("utf-8"))
    except (OSError, ValueError) as error:
        return SettingsFile(path, {}, str(error))
    return SettingsFile(path, _mapping(values), "" if isinstance(values, dict) else "not a JSON object")


def _object(*path: str) -> Mapping[str, Any]:
    return _read(os.path.join(*path)).values


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def examine_connections(project: str) -> Iterator[Finding]:
    """What keeps the memory from a connected agent, and which agents here have no connection."""
    apart = []
    for setup in table.setups():
        state = connection.state(setup)
        has_folder = connection.installed(setup).has_folder
        if state.is_connected or (state.entrance == UNREADABLE and has_folder):
            yield from _agent(setup, state)
            yield from _twice(setup, state, project)
        elif has_folder and setup.host != "claude-code":
            apart.append(setup.host)
    yield from _skills()
    if apart:
        what = f"on this machine but not connected: {', '.join(apart)}"
        yield Finding("note", "agents", what, "onrecord connect --list")


def _skills() -> Iterator[Finding]:
    """Skills that are not those of this version."""
    readers = [setup for setup in table.setups() if setup.reads_skills and connection.state(setup).is_connected]
    for setup in readers[:1]:
        if any(part.state == OUTDATED for part in host_files.skills()):
            what = "the skills in ~/.agents/skills are outdated"
            yield Finding("warning", "agents", what, f"onrecord connect {setup.host} --yes")


def _agent(setup: HostSetup, state: ConnectionState) -> Iterator[Finding]:
    host, title = setup.host, table.BY_NAME[setup.host].title
    fix = f"onrecord connect {setup.host} --yes"
    if state.entrance == UNREADABLE:
        yield Finding("warning", host, f"{title}: {state.flaw}", "correct it by hand")
    elif OUTDATED in (state.entrance, state.server):
        lost = _lost_launchers(setup)
        if lost:
            yield Finding(
                "error", host, f"{title} is to start {lost[0]}, which is not there, so it gets no memory", fix
            )
        else:
            yield Finding("warning", host, f"{title}: its entries are not those that this version writes", fix)
    elif host != "claude-code" or state.entrance != PLUGIN:
        how = "by the plugin" if state.entrance == PLUGIN else "over MCP only" if state.entrance != CURRENT else ""
        yield Finding("ok", host, f"{title} is connected{f' {how}' if how else ''}")
    if host == "codex" and state.entrance in (CURRENT, OUTDATED):
        yield from _trust(setup)


def _trust(setup: HostSetup) -> Iterator[Finding]:
    """What Codex has to be told before it runs our hooks."""
    fix = 'start codex on its screen and choose "Trust all and continue"'
    untrusted = codex_trust.untrusted_hooks(setup)
    if untrusted.missing:
        what = f"{plural(len(untrusted.missing), 'hook')} of ours that Codex does not trust yet and skips"
        yield Finding("warning", setup.host, f"{what}: {', '.join(untrusted.missing)}", fix)
    if untrusted.changed:
        what = f"{plural(len(untrusted.changed), 'hook')} of ours changed since Codex was told to trust us"
        yield Finding("warning", setup.host, f"{what}: {', '.join(untrusted.changed)}", f"if it asks, {fix}")


def _twice(setup: HostSetup, state: ConnectionState, project: str) -> Iterator[Finding]:
    """Hooks that run twice: the plugin's and our entries, or those of the user and of the project."""
    title = table.BY_NAME[setup.host].title
    if state.entrance in (CURRENT, OUTDATED) and connection.has_plugin(setup):
        what = f"{title} has the plugin and our entries, so that every hook runs twice"
        yield Finding("warning", setup.host, what, f"onrecord connect {setup.host} --yes")
    has_entries = connection.is_named_in(setup, project)
    if has_entries and state.entrance in (CURRENT, OUTDATED, PLUGIN):
        what = f"{title} is connected for your user and in this project, so that every hook runs twice"
        yield Finding("warning", setup.host, what, f"onrecord connect {setup.host} --here --remove --yes")


def _lost_launchers(setup: HostSetup) -> list[str]:
    """The launchers that the entries of a host name and that are not there."""
    return [launcher for launcher in host_files.launchers(setup) if not os.path.exists(launcher)]

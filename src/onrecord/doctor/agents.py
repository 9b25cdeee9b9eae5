"""Checks of the agents: plugin and hooks in Claude Code, other memory plugins, and the connections of all hosts.

The files of Claude Code are only read. Their formats are internal and may change, so unknown content is ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from onrecord import __version__, coldstart, files, paths, state_file, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.doctor import Finding, machine
from onrecord.errors import BadInput, Unwritable
from onrecord.hosts import claude_code, config_file, connection, host_files, json_edit, table, toml_edit
from onrecord.hosts.connection import CURRENT, OUTDATED, PLUGIN, UNREADABLE, ConnectionState
from onrecord.hosts.host_files import HostSetup
from onrecord.session import ledger, transcript
from onrecord.session.transcript import Session
from onrecord.text import plural

PLUGIN_NAME = "memory@onrecord"
LAUNCHER = "hooks/launch"
"""End of the path of our launcher, in every kind of installation."""

_MAX_SETTINGS_BYTES = 4_000_000
"""Size of a settings file; the largest seen was 60 kB."""

_MAX_TRANSCRIPT_BYTES = 2_000_000
"""Bytes that are read at the end of a transcript: about a hundred turns."""

_MANAGED_SETTINGS = {
    "darwin": "/Library/Application Support/ClaudeCode/managed-settings.json",
    "win32": r"C:\Program Files\ClaudeCode\managed-settings.json",
}
_MANAGED_SETTINGS_LINUX = "/etc/claude-code/managed-settings.json"
_FAILURES = ("hook_non_blocking_error", "hook_blocking_error", "hook_cancelled")
_MEMORY_PLUGINS = frozenset(
    "recall remember supermemory engram hindsight letta cognee zep graphiti byterover cipher openmemory memgpt".split()
)


class Plugin(NamedTuple):
    """An installed plugin; its key is `name@marketplace`."""

    key: str
    version: str
    installed_at: str
    folder: str
    is_enabled: bool

    @property
    def name(self) -> str:
        return self.key.partition("@")[0]

    @property
    def exists(self) -> bool:
        return any(os.path.isdir(os.path.join(self.folder, part)) for part in ("hooks", "skills"))

    @property
    def is_ours(self) -> bool:
        manifest = _object(self.folder, ".claude-plugin", "plugin.json")
        display_name = manifest.get("displayName") if manifest else "Onrecord" if self.key == PLUGIN_NAME else ""
        return self.name == "memory" and display_name == "Onrecord"

    @property
    def events(self) -> Mapping[str, Any]:
        """Events that its hooks handle."""
        return _mapping(_object(self.folder, "hooks", "hooks.json").get("hooks"))


class SettingsFile(NamedTuple):
    """A settings file of Claude Code."""

    path: str
    values: Mapping[str, Any]
    problem: str

    def commands(self, event: str) -> Iterator[str]:
        """Yield the hook commands for `event` in this file."""
        for group in _items(_mapping(self.values.get("hooks")).get(event)):
            for hook in map(_mapping, _items(_mapping(group).get("hooks"))):
                if isinstance(hook.get("command"), str):
                    yield " ".join([hook["command"], *map(str, _items(hook.get("args")))])


def examine_claude_code(project: str) -> Iterator[Finding]:
    """Yield the findings about Claude Code: plugin, settings, launcher, hooks in the last session, other memories."""
    settings = _settings_files(project)
    plugins = _plugins(settings)
    own = next((plugin for plugin in plugins if plugin.is_ours), None)
    transcripts = [claude_code.transcript(path) for path in claude_code.sessions(project)]
    last_session = next(iter(transcript.recent_sessions(transcripts, 1)), None)
    setup = table.setup("claude-code")
    is_connected = connection.state(setup).entrance in (connection.CURRENT, connection.OUTDATED)
    # A machine with another agent and no Claude Code lacks nothing.
    is_missed = bool(connection.installed(setup).program or last_session) or not _others_connected()
    if own or (not is_connected and is_missed):
        yield from _plugin(own, last_session)
    yield from _switches(settings)
    launcher = os.path.join(own.folder, "src", "onrecord", *LAUNCHER.split("/")) if own else ""
    yield from machine.examine_launcher(launcher if os.path.exists(launcher) else paths.launcher())
    if last_session and os.path.isdir(os.path.join(project, paths.STORE)):
        yield from _activity(own, project, last_session)
    others = [plugin for plugin in plugins if plugin is not own and plugin.is_enabled]
    yield from _other_hooks(others, settings, has_plugin=bool(own and own.is_enabled))


def _others_connected() -> bool:
    others = (setup for setup in table.setups() if setup.host != "claude-code")
    return any(connection.state(setup).is_connected for setup in others)


def _plugin(own: Plugin | None, last_session: Session | None) -> Iterator[Finding]:
    clone = _clone()
    by_plugin = f"claude plugin marketplace add {clone}; then: claude plugin install {PLUGIN_NAME}"
    install = by_plugin if clone else "onrecord connect claude-code --yes"
    if own is None:
        is_missed = last_session is not None and not ledger.exists(last_session.name)
        no_plugin = "the plugin is not installed in Claude Code, so no hook runs there"
        what = f"{no_plugin} (unless it was started with --plugin-dir)"
        yield Finding("warning" if is_missed else "note", "plugin", what, install)
    elif not own.exists:
        fix = f"claude plugin uninstall {own.key}; then: {install}"
        yield Finding("error", "plugin", f"{own.key} is read from {own.folder or 'nowhere'}, which does not exist", fix)
    elif not own.is_enabled:
        yield Finding("warning", "plugin", f"{own.key} is disabled, so no hook runs", f"claude plugin enable {own.key}")
    else:
        yield Finding("ok", "plugin", f"{own.key} {own.version} is installed and enabled")
    if own and own.exists and own.version and own.version != __version__:
        what = f"this command is version {__version__}, the plugin {own.version}"
        yield Finding("note", "plugin", what, f"claude plugin update {own.key}")


def _clone() -> str:
    """Return the clone or plugin folder that this code runs from; empty for an installed package."""
    root = paths.clone()
    try:
        return root if files.is_there(os.path.join(root, ".claude-plugin", "plugin.json")) else ""
    except Unwritable as error:
        state_file.go_without("installation", error.message)
        return ""


def _switches(settings: Sequence[SettingsFile]) -> Iterator[Finding]:
    """Yield settings that turn hooks off although the plugin is enabled."""
    for file in settings:
        if file.problem:
            yield Finding("warning", "settings", f"{file.path} cannot be read: {file.problem}", "correct it by hand")
        if file.values.get("disableAllHooks") is True:
            fix = f"remove disableAllHooks from {file.path}"
            yield Finding("error", "settings", f"{file.path} disables all hooks, so no memory reaches an agent", fix)
        if file.values.get("allowManagedHooksOnly") is True:
            fix = "ask the administrator of this machine to allow the plugin's hooks"
            yield Finding("error", "settings", f"{file.path} allows managed hooks only, so ours do not run", fix)
    if os.environ.get("ONRECORD_OFF"):
        yield Finding("warning", "settings", "ONRECORD_OFF is set, so hooks do nothing", "unset ONRECORD_OFF")


def _activity(own: Plugin | None, project: str, last_session: Session) -> Iterator[Finding]:
    """Yield findings about the hooks in the last session of this project: that they ran, failed or did not run."""
    last_prompt_at = last_session.prompts[-1].at
    transcripts = [os.path.join(folder, f"{last_session.name}.jsonl") for folder in claude_code.folders(project)]
    lines = [line for file in transcripts for line in transcript.tail_lines(file, _MAX_TRANSCRIPT_BYTES)[0]]
    failures, since = list(_hook_failures(lines)), _store_created_at(project)
    for event, message in failures[-1:]:
        fix = "in a terminal, to see which Python hooks find: onrecord doctor; claude --debug shows more"
        yield Finding("error", "hooks", f"a hook failed in the last session ({event}): {message}", fix)
    if ledger.exists(last_session.name) or any(LAUNCHER.encode() in line and b"hookInfos" in line for line in lines):
        yield Finding("ok", "hooks", f"hooks ran in the last session here, {last_prompt_at or last_session.name}")
    elif not failures and own and own.is_enabled and _is_after(last_prompt_at, own.installed_at, since):
        fix = "restart Claude Code in a trusted folder; /hooks should list the plugin's hooks"
        what = f"no hook ran in the last session here, {last_prompt_at}, though the plugin is enabled"
        yield Finding("warning", "hooks", what, fix)


def _is_after(moment: str, *others: str) -> bool:
    """True if a moment is after all others; an empty one is before everything."""
    return timestamps.order(moment) > max(map(timestamps.order, others))


def _hook_failures(raw_lines: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Yield event and message of each failure of our hooks in the lines of a transcript."""
    for line in raw_lines:
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


def _store_created_at(project: str) -> str:
    """Return the time the store was created on this machine: the time of its git files, which rarely change."""
    git_files = (os.path.join(project, paths.STORE, name) for name in (".gitignore", ".gitattributes"))
    times = [os.stat(path).st_mtime for path in git_files if os.path.exists(path)]
    return timestamps.from_seconds(min(times)) if times else ""


def _other_hooks(plugins: Sequence[Plugin], settings: Sequence[SettingsFile], *, has_plugin: bool) -> Iterator[Finding]:
    """Yield other plugins and hooks that add text to a prompt. Two memories can contradict each other."""
    for plugin in plugins:
        if _is_memory(plugin.name):
            fix = f"claude plugin disable {plugin.key}; or turn ours off: onrecord config set retrieval.enabled false"
            yield Finding("warning", "others", f"another memory plugin is active: {plugin.key}", fix)
        elif "UserPromptSubmit" in plugin.events:
            yield Finding("note", "others", f"the plugin {plugin.key} also has a hook on every prompt")
    for file in settings:
        for command in file.commands("UserPromptSubmit"):
            if host_files.is_our_command(command) and not has_plugin:
                continue
            if LAUNCHER in command or "onrecord" in command:
                fix = f"remove it from {file.path}: the plugin has its own hooks"
                yield Finding("warning", "others", f"{file.path} runs Onrecord's hook a second time: {command}", fix)
            else:
                yield Finding("note", "others", f"{file.path} has another hook on every prompt: {command}")


def _is_memory(name: str) -> bool:
    words = "".join(char if char.isalnum() else " " for char in name.lower()).split()
    return any((word.startswith("mem") and not word.startswith("member")) or word in _MEMORY_PLUGINS for word in words)


def _settings_files(project: str) -> list[SettingsFile]:
    """Return the existing settings files in order of precedence, strongest last."""
    candidates = (
        os.path.join(_user_folder(), "settings.json"),
        os.path.join(project, ".claude", "settings.json"),
        os.path.join(project, ".claude", "settings.local.json"),
        _MANAGED_SETTINGS.get(sys.platform, _MANAGED_SETTINGS_LINUX),
    )
    return [_read_settings(path) for path in dict.fromkeys(candidates) if os.path.exists(path)]


def _user_folder() -> str:
    return os.path.dirname(paths.user_store())


def _plugins(settings: Iterable[SettingsFile]) -> list[Plugin]:
    """Return the plugins installed for this user; they are enabled unless settings disable them."""
    enabled: dict[str, Any] = {}
    for file in settings:
        enabled.update(_mapping(file.values.get("enabledPlugins")))
    base = os.path.join(_user_folder(), "plugins")
    markets = _object(base, "known_marketplaces.json")
    plugins = []
    for key, entries in _mapping(_object(base, "installed_plugins.json").get("plugins")).items():
        newest = _mapping(_items(entries)[-1]) if _items(entries) else {}
        name, _, market = key.partition("@")
        folder = _local_folder(name, _mapping(markets.get(market))) or newest.get("installPath")
        version, installed_at = (str(newest.get(field, "")) for field in ("version", "installedAt"))
        folder = folder if isinstance(folder, str) else ""
        plugins.append(Plugin(key, version, installed_at, folder, enabled.get(key) is not False))
    return plugins


def _local_folder(name: str, market: Mapping[str, Any]) -> str:
    """Return the folder of a plugin whose marketplace is a local folder, from which it is loaded directly."""
    base = market.get("installLocation")
    if _mapping(market.get("source")).get("source") != "directory" or not isinstance(base, str):
        return ""
    entries = map(_mapping, _items(_object(base, ".claude-plugin", "marketplace.json").get("plugins")))
    source = next((entry.get("source") for entry in entries if entry.get("name") == name), "")
    return os.path.normpath(os.path.join(base, source)) if isinstance(source, str) else base


def _read_settings(path: str) -> SettingsFile:
    try:
        values = coldstart.loads(files.read(path, _MAX_SETTINGS_BYTES).decode("utf-8"))
    except (OSError, ValueError) as error:
        return SettingsFile(path, {}, str(error))
    return SettingsFile(path, _mapping(values), "" if isinstance(values, dict) else "not a JSON object")


def _object(*path: str) -> Mapping[str, Any]:
    return _read_settings(os.path.join(*path)).values


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def examine_connections(project: str) -> Iterator[Finding]:
    """Yield the problems of connected agents, and the agents on this machine that are not connected."""
    unconnected = []
    for setup in table.setups():
        state = connection.state(setup)
        has_folder = connection.installed(setup).has_folder
        if state.is_connected or (state.entrance == UNREADABLE and has_folder):
            yield from _connected_agent(setup, state)
            yield from _double_hooks(setup, state, project)
        elif has_folder and setup.host != "claude-code":
            unconnected.append(setup.host)
    yield from _skills()
    if unconnected:
        what = f"on this machine but not connected: {', '.join(unconnected)}"
        yield Finding("note", "agents", what, "onrecord connect --list")


def _skills() -> Iterator[Finding]:
    """Yield a finding if the skills are not those of this version."""
    readers = [setup for setup in table.setups() if setup.reads_skills and connection.state(setup).is_connected]
    for setup in readers[:1]:
        if any(part.state == OUTDATED for part in host_files.skills()):
            what = "the skills in ~/.agents/skills are outdated"
            yield Finding("warning", "agents", what, f"onrecord connect {setup.host} --yes")


def _connected_agent(setup: HostSetup, connection_state: ConnectionState) -> Iterator[Finding]:
    host, title = setup.host, table.BY_NAME[setup.host].title
    fix = f"onrecord connect {setup.host} --yes"
    if connection_state.entrance == UNREADABLE:
        yield Finding("warning", host, f"{title}: {connection_state.flaw}", "correct it by hand")
    elif OUTDATED in (connection_state.entrance, connection_state.server):
        missing = _missing_launchers(setup)
        if missing:
            what = f"{title} is set up to start {missing[0]}, which does not exist, so it gets no memory"
            yield Finding("error", host, what, fix)
        else:
            yield Finding("warning", host, f"{title}: its entries were written by another version", fix)
    elif host != "claude-code" or connection_state.entrance != PLUGIN:
        how = (
            "by the plugin"
            if connection_state.entrance == PLUGIN
            else "over MCP only"
            if connection_state.entrance != CURRENT
            else ""
        )
        yield Finding("ok", host, f"{title} is connected{f' {how}' if how else ''}")
    if host == "codex" and connection_state.entrance in (CURRENT, OUTDATED):
        yield from _codex_trust(setup)


def _codex_trust(setup: HostSetup) -> Iterator[Finding]:
    """Yield our hooks that Codex does not trust."""
    fix = 'start codex in a terminal and choose "Trust all and continue"'
    untrusted = untrusted_hooks(setup)
    if untrusted.missing:
        what = f"{plural(len(untrusted.missing), 'hook')} skipped, since Codex does not trust them yet"
        yield Finding("warning", setup.host, f"{what}: {', '.join(untrusted.missing)}", fix)
    if untrusted.changed:
        what = f"{plural(len(untrusted.changed), 'hook')} changed since you trusted them in Codex"
        yield Finding("warning", setup.host, f"{what}: {', '.join(untrusted.changed)}", f"if it asks, {fix}")


def _double_hooks(setup: HostSetup, state: ConnectionState, project: str) -> Iterator[Finding]:
    """Yield hooks that run twice: from the plugin and our entries, or for the user and the project."""
    title = table.BY_NAME[setup.host].title
    if state.entrance in (CURRENT, OUTDATED) and connection.has_plugin(setup):
        what = f"{title} has the plugin and our entries, so every hook runs twice"
        yield Finding("warning", setup.host, what, f"onrecord connect {setup.host} --yes")
    has_entries = connection.is_named_in(setup, project)
    if has_entries and state.entrance in (CURRENT, OUTDATED, PLUGIN):
        what = f"{title} is connected for your user and in this project, so every hook runs twice"
        yield Finding("warning", setup.host, what, f"onrecord connect {setup.host} --here --remove --yes")


def _missing_launchers(setup: HostSetup) -> list[str]:
    """Return the launchers in a host's entries that do not exist."""
    return [launcher for launcher in host_files.launchers(setup) if not os.path.exists(launcher)]


class UntrustedHooks(NamedTuple):
    """The events whose hooks were never trusted, and those whose hooks changed after they were trusted."""

    missing: list[str]
    changed: list[str]


def untrusted_hooks(setup: HostSetup) -> UntrustedHooks:
    """Return the hooks of ours that Codex does not trust; none if its files cannot be read."""
    path = host_files.entrance(setup).path
    missing, changed = [], []
    try:
        trusted = _trusted(_text(setup.path("config.toml")))
        entries = _entries(_text(path))
    except (BadInput, ValueError):
        return UntrustedHooks([], [])
    for event, number, entry in entries:
        event_name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        files = (path, os.path.realpath(path))
        hashes = [trusted.get(f"{file}:{event_name}:{number}:0") for file in files]
        if not any(hashes):
            missing.append(event)
        elif _hash(event_name, entry) not in hashes:
            changed.append(event)
    return UntrustedHooks(missing, changed)


def _trusted(text: str) -> dict[str, str]:
    """Return the hash of each trusted hook by the key that Codex gives it: file, event and two positions."""
    tables = [table.name for table in toml_edit.tables(text) if table.name[:2] == ("hooks", "state")]
    values = {name[2]: toml_edit.texts(text, name).get("trusted_hash", "") for name in tables if len(name) > 2}
    return {key: value.strip("\"'") for key, value in values.items() if value}


def _entries(text: str) -> list[tuple[str, int, Any]]:
    """Return each of our hooks as its event, its position in the event's list, and its entry."""
    events = json_edit.get(text, ("hooks",))
    return [
        (event, number, entry)
        for event, entries in (events.items() if isinstance(events, dict) else ())
        for number, entry in enumerate(entries if isinstance(entries, list) else ())
        if host_files.is_ours(entry)
    ]


def _hash(event_name: str, entry: Any) -> str:
    """Return the hash that Codex 0.166.0 makes of a hook: of its fields as JSON without spaces, with sorted keys."""
    handler = host_files.handlers(entry)[0]
    fields = {"type": "command", "command": handler["command"], "timeout": handler.get("timeout"), "async": False}
    matcher = {"matcher": entry["matcher"]} if "matcher" in entry else {}
    whole = {"event_name": event_name, "hooks": [fields], **matcher}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8')).hexdigest()}"


def _text(path: str) -> str:
    return (config_file.read(path) or b"").decode("utf-8").removeprefix("\ufeff")

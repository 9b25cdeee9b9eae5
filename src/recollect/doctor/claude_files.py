"""The host: what Claude Code's own files say about plugins and hooks. Only read.

Its formats are internal and change: what is not understood counts as not said.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from recollect import coldstart, files, paths

_LARGEST = 4_000_000
_MANAGED = {
    "darwin": "/Library/Application Support/ClaudeCode/managed-settings.json",
    "win32": r"C:\Program Files\ClaudeCode\managed-settings.json",
}
_MANAGED_ELSEWHERE = "/etc/claude-code/managed-settings.json"


class Plugin(NamedTuple):
    """A plugin that was installed: its name with its marketplace, where it is read from, and whether it is on."""

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
        return os.path.isdir(os.path.join(self.folder, "hooks")) or os.path.isdir(os.path.join(self.folder, "skills"))

    @property
    def is_ours(self) -> bool:
        if self.name != "memory":
            return False
        manifest = _object(os.path.join(self.folder, ".claude-plugin", "plugin.json"))
        return manifest.get("displayName") == "Recollect" if manifest else self.key == "memory@recollect"

    def events(self) -> list[str]:
        """The events its hooks answer."""
        return list(_mapping(_object(os.path.join(self.folder, "hooks", "hooks.json")).get("hooks")))


class Settings(NamedTuple):
    """One settings file of the host."""

    path: str
    values: Mapping[str, Any]
    flaw: str = ""

    def flag(self, name: str) -> bool:
        return self.values.get(name) is True

    def commands(self, event: str) -> Iterator[str]:
        """The commands of hooks that this file adds to an event."""
        for group in _items(_mapping(self.values.get("hooks")).get(event)):
            for hook in _items(_mapping(group).get("hooks")):
                command = _mapping(hook).get("command")
                if isinstance(command, str):
                    yield " ".join([command, *map(str, _items(_mapping(hook).get("args")))])


def folder() -> str:
    """Where the host keeps what is the user's."""
    return os.path.dirname(paths.user_store())


def settings(project: str) -> list[Settings]:
    """The settings files there are, the strongest last."""
    project_folder = os.path.join(project, ".claude")
    files = [
        os.path.join(folder(), "settings.json"),
        os.path.join(project_folder, "settings.json"),
        os.path.join(project_folder, "settings.local.json"),
        _MANAGED.get(sys.platform, _MANAGED_ELSEWHERE),
    ]
    return [_settings(path) for path in dict.fromkeys(files) if os.path.exists(path)]


def plugins(files: Iterable[Settings]) -> list[Plugin]:
    """The plugins that were installed for this user, and those that settings name."""
    switches: dict[str, bool] = {}
    for file in files:
        named = _mapping(file.values.get("enabledPlugins"))
        switches.update({key: value for key, value in named.items() if isinstance(value, bool)})
    base = os.path.join(folder(), "plugins")
    installed = _mapping(_object(os.path.join(base, "installed_plugins.json")).get("plugins"))
    markets = _object(os.path.join(base, "known_marketplaces.json"))
    return [_plugin(key, _items(entries), markets, switches.get(key, True)) for key, entries in installed.items()]


def hook_failures(lines: Iterable[bytes], mark: str) -> Iterator[tuple[str, str]]:
    """Hooks that failed, in lines of a transcript: their event and what was said; `mark` is part of their command."""
    for line in lines:
        if b"hook_" not in line or mark.encode() not in line:
            continue
        try:
            told = _mapping(_mapping(json.loads(line)).get("attachment"))
        except (ValueError, RecursionError):
            continue
        kind = str(told.get("type", ""))
        if kind in ("hook_non_blocking_error", "hook_blocking_error", "hook_cancelled") and mark in str(
            told.get("command")
        ):
            said = str(told.get("stderr") or kind.replace("_", " "))
            yield str(told.get("hookEvent", "")), f"exit code {told.get('exitCode', '?')}: {said}"


def _plugin(key: str, entries: list[Any], markets: Mapping[str, Any], is_enabled: bool) -> Plugin:
    newest = _mapping(entries[-1]) if entries else {}
    name, _, market = key.partition("@")
    copied = newest.get("installPath")
    where = _in_place(name, _mapping(markets.get(market))) or (copied if isinstance(copied, str) else "")
    return Plugin(key, str(newest.get("version", "")), str(newest.get("installedAt", "")), where, is_enabled)


def _in_place(name: str, market: Mapping[str, Any]) -> str:
    """The folder of a plugin whose marketplace is a folder on this machine: it is read there, never copied."""
    base = market.get("installLocation")
    if _mapping(market.get("source")).get("source") != "directory" or not isinstance(base, str):
        return ""
    offered = _items(_object(os.path.join(base, ".claude-plugin", "marketplace.json")).get("plugins"))
    source = next((entry.get("source") for entry in map(_mapping, offered) if entry.get("name") == name), "")
    return os.path.normpath(os.path.join(base, source)) if isinstance(source, str) else base


def _settings(path: str) -> Settings:
    try:
        values = coldstart.loads(files.read(path, _LARGEST).decode("utf-8"))
    except (OSError, ValueError) as error:
        return Settings(path, {}, str(error))
    return Settings(path, _mapping(values), "" if isinstance(values, dict) else "not a JSON object")


def _object(path: str) -> Mapping[str, Any]:
    return _settings(path).values


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []

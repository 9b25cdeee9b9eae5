"""Our plugin as the hosts themselves install it: whether one has it, and the commands that install it.

It brings the same hooks, so a host that has it needs no entries of ours.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

from onrecord import files, paths
from onrecord.errors import BadInput
from onrecord.hosts import config_file, installation, json_edit, toml_edit
from onrecord.hosts.host_setup import Recipe

_MARKET = "onrecord"
NAME = f"memory@{_MARKET}"
REMOVALS = {
    "claude-code": f"claude plugin uninstall {NAME}",
    "codex": f"codex plugin remove {NAME}",
    "copilot": f"copilot plugin uninstall {NAME}",
    "qwen": "qwen extensions uninstall memory",
    "droid": "droid plugin uninstall memory",
}
"""What a user types to take the plugin out of a host."""


def is_in(recipe: Recipe) -> bool:
    """Whether a host has our plugin and uses it; what cannot be read counts as absent."""
    try:
        if recipe.host == "codex":
            return toml_edit.texts(_text(recipe, "config.toml"), ("plugins", NAME)).get("enabled") == "true"
        if recipe.host == "qwen":
            return os.path.isdir(recipe.place("extensions/memory/src/onrecord"))
        if recipe.host == "claude-code":
            installed = json_edit.get(_text(recipe, "plugins/installed_plugins.json"), ("plugins", NAME))
            return bool(installed) and _enabled(recipe).get(NAME) is not False
        return recipe.host in ("copilot", "droid") and any(map(_is_ours, _marketplaces(recipe)))
    except (BadInput, ValueError):
        return False


def commands(recipe: Recipe) -> list[list[str]]:
    """The commands that install the plugin where that is the better way: in Claude Code, from a clone."""
    program = shutil.which(recipe.programs[0])
    if recipe.host != "claude-code" or not program or not installation.is_clone():
        return []
    return [[program, "plugin", "marketplace", "add", paths.clone()], [program, "plugin", "install", NAME]]


def removal_commands(recipe: Recipe) -> list[list[str]]:
    """The commands that take away what `commands` installs."""
    program = shutil.which(recipe.programs[0])
    if not program or recipe.host != "claude-code":
        return []
    try:
        is_known = json_edit.get(_text(recipe, "plugins/known_marketplaces.json"), (_MARKET,)) is not None
    except (BadInput, ValueError):
        is_known = False
    market = [[program, "plugin", "marketplace", "remove", _MARKET]] if is_known else []
    return [[program, "plugin", "uninstall", NAME], *market]


def server_state(recipe: Recipe) -> str:
    """Whether Claude Code has our MCP server for its user: missing, current, or outdated, if its program is gone."""
    if recipe.host != "claude-code":
        return "missing"
    # Claude Code alone writes this file.
    elsewhere = os.environ.get(recipe.variable[0], "")
    path = os.path.join(elsewhere or os.path.expanduser("~"), ".claude.json")
    try:
        text = (config_file.read(path) or b"").decode("utf-8").removeprefix("\ufeff")
        entry = json_edit.get(text, ("mcpServers", "onrecord"))
    except (BadInput, ValueError):
        return "missing"
    program = entry.get("command") if isinstance(entry, dict) else None
    is_gone = isinstance(program, str) and os.path.isabs(program) and not files.is_file(program)
    return "missing" if entry is None else "outdated" if is_gone else "current"


def server_commands(recipe: Recipe, *, is_removal: bool) -> list[list[str]]:
    """The command that adds our MCP server to Claude Code, or takes it away."""
    program = shutil.which(recipe.programs[0])
    if recipe.host != "claude-code" or not program:
        return []
    add = ["add", "--scope", "user", "onrecord", "--", *installation.program(), "mcp"]
    return [[program, "mcp", *(["remove", "--scope", "user", "onrecord"] if is_removal else add)]]


def _marketplaces(recipe: Recipe) -> list[tuple[str, Any]]:
    """The marketplaces of the enabled plugins that are called as ours: name and folder."""
    text = _text(recipe, "settings.json")
    markets = [key.partition("@")[2] for key, is_on in _enabled(recipe).items() if is_on and key.startswith("memory@")]
    return [(market, json_edit.get(text, ("extraKnownMarketplaces", market, "source", "path"))) for market in markets]


def _is_ours(market: tuple[str, Any]) -> bool:
    name, folder = market
    return name == _MARKET or (isinstance(folder, str) and os.path.isdir(os.path.join(folder, "src", "onrecord")))


def _enabled(recipe: Recipe) -> dict[str, Any]:
    plugins = json_edit.get(_text(recipe, "settings.json"), ("enabledPlugins",))
    return plugins if isinstance(plugins, dict) else {}


def _text(recipe: Recipe, file: str) -> str:
    return (config_file.read(recipe.place(file)) or b"").decode("utf-8").removeprefix("\ufeff")

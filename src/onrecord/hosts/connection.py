"""A host's connection with Onrecord: what there is of it, and what connecting or removing would change."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence

from onrecord import files
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, OnrecordError
from onrecord.hosts import config_file, host_files, installation, plugins
from onrecord.hosts.config_file import Change
from onrecord.hosts.host_files import Part
from onrecord.hosts.host_setup import RECIPES, Recipe

MISSING, CURRENT, OUTDATED, PLUGIN, UNREADABLE = "missing", "current", "outdated", "plugin", "unreadable"


class Installed(NamedTuple):
    """A host on this machine: its program, its version, and whether its folder is there; empty for what is not."""

    program: str
    version: str
    has_folder: bool

    @property
    def is_there(self) -> bool:
        return bool(self.program) or self.has_folder


class State(NamedTuple):
    """How far a host is connected: missing, current, outdated, plugin or unreadable; `server` is for MCP."""

    entrance: str
    server: str
    flaw: str = ""

    @property
    def is_connected(self) -> bool:
        return self.entrance in (CURRENT, OUTDATED, PLUGIN) or self.server in (CURRENT, OUTDATED)


class Plan(NamedTuple):
    """What connecting a host, or taking its connection away, writes and runs."""

    name: str
    changes: list[Change]
    commands: Sequence[list[str]] = ()
    notes: Sequence[str] = ()
    project: str = ""
    why_empty: str = ""
    """Why there is nothing to do, where that is not for the usual reason."""

    @property
    def is_empty(self) -> bool:
        return not self.changes and not self.commands

    def carry_out(self) -> None:
        """Write the files; the commands are run by whoever can report what they print."""
        for change in self.changes:
            config_file.make(change, self.project)


def installed(recipe: Recipe) -> Installed:
    """What is there of a host; nothing is started for it."""
    program = next(filter(None, map(shutil.which, recipe.programs)), "")
    return Installed(program, _version(program), os.path.isdir(recipe.place("")))


def state(recipe: Recipe, project: str = "") -> State:
    """What there is of a host's connection."""
    if project and not recipe.in_project:
        return State(MISSING, MISSING)
    try:
        entrance = host_files.entrance(recipe, project).state
        server = host_files.server(recipe, project)
        entrance = PLUGIN if entrance == MISSING and not project and plugins.is_in(recipe) else entrance
        return State(entrance, server.state if server else plugins.server_state(recipe))
    except BadInput as error:
        return State(UNREADABLE, MISSING, error.message)


def is_named_in(recipe: Recipe, project: str) -> bool:
    """Whether a file of a project names us for a host: looked for as text, since the file may be anybody's."""
    if not recipe.in_project:
        return False
    try:
        data = config_file.read(host_files.entrance(recipe, project).path, inside=project) or b""
    except OnrecordError:
        return False
    return any(mark.encode() in data for mark in (installation.MARK, config_file.OWN_FILE))


def can_have_server(recipe: Recipe) -> bool:
    """Whether a host can be given our MCP server here."""
    return recipe.server is not None or bool(plugins.server_commands(recipe, is_removal=False))


def plan(recipe: Recipe, project: str, *, wants_server: bool) -> Plan:
    """What connects a host, or brings it up to date. Beside the plugin, entries would run every hook twice."""
    server, commands = _server(recipe, project, is_wanted=wants_server)
    entrance = host_files.entrance(recipe, project)
    has_plugin = not project and plugins.is_in(recipe)
    by_plugin = [] if project or has_plugin else plugins.commands(recipe)
    if not has_plugin and not by_plugin:
        changes = host_files.changes([entrance, *server], is_removal=False, inside=project)
        return Plan(recipe.host, changes, commands, project=project)
    changes = host_files.changes([entrance], is_removal=True) + host_files.changes(server, is_removal=False)
    notes = [f"to use entries instead of the plugin: {plugins.REMOVALS[recipe.host]}"] if has_plugin else []
    return Plan(recipe.host, changes, [*by_plugin, *commands], notes, why_empty="connected by its plugin")


def _server(recipe: Recipe, project: str, *, is_wanted: bool) -> tuple[list[Part], list[list[str]]]:
    """What gives a host our MCP server, if it is wanted, or brings it up to date: a part, or commands."""
    part = host_files.server(recipe, project)
    if part:
        return ([part], []) if is_wanted or part.state != MISSING else ([], [])
    commands = plugins.server_commands(recipe, is_removal=False)
    if is_wanted and not commands:
        what = f"{recipe.host} cannot be given the MCP server by this command"
        raise BadInput(what, fix="leave out --mcp; docs/agents/README.md lists what each agent has")
    state = plugins.server_state(recipe)
    if state == OUTDATED and commands:
        return [], plugins.server_commands(recipe, is_removal=True) + commands
    return [], commands if is_wanted and state == MISSING else []


def removal(recipe: Recipe, project: str) -> Plan:
    """What takes a host's connection away."""
    server = host_files.server(recipe, project)
    chosen = [host_files.entrance(recipe, project), *([server] if server else [])]
    changes = host_files.changes(chosen, is_removal=True, inside=project)
    if project:
        return Plan(recipe.host, changes, project=project)
    commands = plugins.removal_commands(recipe) if plugins.is_in(recipe) else []
    notes = [f"to remove it: {plugins.REMOVALS[recipe.host]}"] if plugins.is_in(recipe) and not commands else []
    if plugins.server_state(recipe) != MISSING:
        commands += plugins.server_commands(recipe, is_removal=True)
    return Plan(recipe.host, changes, commands, notes, why_empty="connected by its plugin" if notes else "")


def skills(recipes: Sequence[Recipe], *, is_removal: bool) -> list[Plan]:
    """The skills that some hosts read: written with the first of them, taken away with the last."""
    plans = []
    readers = [recipe for recipe in RECIPES if recipe.reads_skills]
    staying = [recipe for recipe in readers if recipe not in recipes and state(recipe).is_connected]
    if any(recipe.reads_skills for recipe in recipes) and not (is_removal and staying):
        plans.append(_skills("skills", host_files.skills(), is_removal=is_removal))
    for recipe in recipes:
        if recipe.host == "claude-code":
            has_plugin = bool(plugins.commands(recipe)) or plugins.is_in(recipe)
            texts = host_files.skills(recipe.place("skills"))
            plans.append(_skills("skills of claude-code", texts, is_removal=is_removal or has_plugin))
    return [plan for plan in plans if plan.changes or plan.notes]


def _skills(name: str, texts: Sequence[Part], *, is_removal: bool) -> Plan:
    """What writes skills or takes them away; one of the same name that is not ours stays, and stops no other."""
    changes: list[Change] = []
    notes = []
    for text in texts:
        try:
            changes += host_files.changes([text], is_removal=is_removal)
        except BadInput as error:
            notes.append(f"left as it is: {error.message}")
    return Plan(name, changes, notes=notes, why_empty="nothing to write" if notes else "")


def _version(program: str) -> str:
    """The version of a program that npm installed, from the package it lies in."""
    folder = os.path.dirname(os.path.realpath(program)) if program else ""
    while folder and folder != os.path.dirname(folder):
        try:
            package = json.loads(files.read(os.path.join(folder, "package.json"), config_file.LARGEST))
        except (OSError, ValueError, RecursionError):
            package = {}
        if isinstance(package, dict) and isinstance(package.get("version"), str):
            return str(package["version"])
        folder = os.path.dirname(folder)
    return ""

"""The coding agents that are connected: whether each still starts this installation, and whether it may."""

from __future__ import annotations

import os
from collections.abc import Iterator

from onrecord.connections import connection, parts, plugins, trust
from onrecord.connections.connection import CURRENT, OUTDATED, PLUGIN, UNREADABLE, State
from onrecord.connections.recipes import RECIPES, Recipe
from onrecord.doctor import Finding
from onrecord.hosts import table
from onrecord.text import many


def examine(project: str) -> Iterator[Finding]:
    """What keeps the memory from a connected agent, and which agents here have no connection."""
    apart = []
    for recipe in RECIPES:
        state = connection.state(recipe)
        has_folder = connection.installed(recipe).has_folder
        if state.is_connected or (state.entrance == UNREADABLE and has_folder):
            yield from _agent(recipe, state)
            yield from _twice(recipe, state, project)
        elif has_folder and recipe.host != "claude-code":
            apart.append(recipe.host)
    yield from _skills()
    if apart:
        what = f"on this machine but not connected: {', '.join(apart)}"
        yield Finding("note", "agents", what, "onrecord connect --list")


def _skills() -> Iterator[Finding]:
    """Skills that are not those of this version."""
    readers = [recipe for recipe in RECIPES if recipe.reads_skills and connection.state(recipe).is_connected]
    for recipe in readers[:1]:
        if any(part.state == OUTDATED for part in parts.skills()):
            what = "the skills in ~/.agents/skills are outdated"
            yield Finding("warning", "agents", what, f"onrecord connect {recipe.host} --yes")


def _agent(recipe: Recipe, state: State) -> Iterator[Finding]:
    host, title = recipe.host, table.BY_NAME[recipe.host].title
    fix = f"onrecord connect {recipe.host} --yes"
    if state.entrance == UNREADABLE:
        yield Finding("warning", host, f"{title}: {state.flaw}", "correct it by hand")
    elif OUTDATED in (state.entrance, state.server):
        lost = _lost_launchers(recipe)
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
        yield from _trust(recipe)


def _trust(recipe: Recipe) -> Iterator[Finding]:
    """What Codex has to be told before it runs our hooks."""
    fix = 'start codex on its screen and choose "Trust all and continue"'
    trusted = trust.of(recipe)
    if trusted.missing:
        what = f"{many(len(trusted.missing), 'hook')} of ours that Codex does not trust yet and skips"
        yield Finding("warning", recipe.host, f"{what}: {', '.join(trusted.missing)}", fix)
    if trusted.changed:
        what = f"{many(len(trusted.changed), 'hook')} of ours changed since Codex was told to trust us"
        yield Finding("warning", recipe.host, f"{what}: {', '.join(trusted.changed)}", f"if it asks, {fix}")


def _twice(recipe: Recipe, state: State, project: str) -> Iterator[Finding]:
    """Hooks that run twice: the plugin's and our entries, or those of the user and of the project."""
    title = table.BY_NAME[recipe.host].title
    if state.entrance in (CURRENT, OUTDATED) and plugins.is_in(recipe):
        what = f"{title} has the plugin and our entries, so that every hook runs twice"
        yield Finding("warning", recipe.host, what, f"onrecord connect {recipe.host} --yes")
    has_entries = connection.is_named_in(recipe, project)
    if has_entries and state.entrance in (CURRENT, OUTDATED, PLUGIN):
        what = f"{title} is connected for your user and in this project, so that every hook runs twice"
        yield Finding("warning", recipe.host, what, f"onrecord connect {recipe.host} --here --remove --yes")


def _lost_launchers(recipe: Recipe) -> list[str]:
    """The launchers that the entries of a host name and that are not there."""
    return [launcher for launcher in parts.launchers(recipe) if not os.path.exists(launcher)]

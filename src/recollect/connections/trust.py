"""Codex runs a hook only after its user has said so on a screen: which hooks of ours still wait for that."""

from __future__ import annotations

import os
import re

from recollect.connections import config_file, json_edit, parts, toml_edit
from recollect.connections.recipes import Recipe
from recollect.errors import BadInput


def untrusted(recipe: Recipe) -> list[str]:
    """The events whose hooks Codex was never told to trust; none where that cannot be read."""
    path = parts.entrance(recipe).path
    try:
        trusted = _trusted(_text(recipe.place("config.toml")))
        return [event for event, number in _positions(_text(path)) if not _keys(path, event, number) & trusted]
    except (BadInput, ValueError):
        return []


def _trusted(text: str) -> set[str]:
    """The keys of the hooks that were trusted at some time; whether they changed since, only Codex can tell."""
    tables = [table.name for table in toml_edit.tables(text) if table.name[:2] == ("hooks", "state")]
    return {name[2] for name in tables if len(name) > 2 and "trusted_hash" in toml_edit.texts(text, name)}


def _positions(text: str) -> list[tuple[str, int]]:
    """The events that have a hook of ours, and its position in the list."""
    events = json_edit.get(text, ("hooks",))
    return [
        (event, number)
        for event, entries in (events.items() if isinstance(events, dict) else ())
        for number, entry in enumerate(entries if isinstance(entries, list) else ())
        if parts.is_ours(entry)
    ]


def _keys(path: str, event: str, number: int) -> set[str]:
    """How Codex may name a hook: by the file, the event in small letters, and two positions."""
    small = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
    return {f"{place}:{small}:{number}:0" for place in (path, os.path.realpath(path))}


def _text(path: str) -> str:
    return (config_file.read(path) or b"").decode("utf-8").removeprefix("\ufeff")

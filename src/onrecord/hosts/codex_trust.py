"""Codex runs a hook only after its user has said so on a screen: which hooks of ours still wait for that."""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import Any

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput
from onrecord.hosts import config_file, host_files, json_edit, toml_edit
from onrecord.hosts.host_setup import Recipe


class Trust(NamedTuple):
    """The events whose hooks Codex was never told to trust, and those whose hooks have changed since it was."""

    missing: list[str]
    changed: list[str]


def of(recipe: Recipe) -> Trust:
    """What Codex thinks of our hooks; nothing is amiss where that cannot be read."""
    path = host_files.entrance(recipe).path
    missing, changed = [], []
    try:
        trusted = _trusted(_text(recipe.place("config.toml")))
        entries = _entries(_text(path))
    except (BadInput, ValueError):
        return Trust([], [])
    for event, number, entry in entries:
        small = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        places = (path, os.path.realpath(path))
        hashes = [trusted.get(f"{place}:{small}:{number}:0") for place in places]
        if not any(hashes):
            missing.append(event)
        elif _hash(small, entry) not in hashes:
            changed.append(event)
    return Trust(missing, changed)


def _trusted(text: str) -> dict[str, str]:
    """The fingerprint of each hook that was trusted, by the key that Codex gives it: file, event and two positions."""
    tables = [table.name for table in toml_edit.tables(text) if table.name[:2] == ("hooks", "state")]
    values = {name[2]: toml_edit.texts(text, name).get("trusted_hash", "") for name in tables if len(name) > 2}
    return {key: value.strip("\"'") for key, value in values.items() if value}


def _entries(text: str) -> list[tuple[str, int, Any]]:
    """Our hooks: the event, the position in its list, and the entry."""
    events = json_edit.get(text, ("hooks",))
    return [
        (event, number, entry)
        for event, entries in (events.items() if isinstance(events, dict) else ())
        for number, entry in enumerate(entries if isinstance(entries, list) else ())
        if host_files.is_ours(entry)
    ]


def _hash(event: str, entry: Any) -> str:
    """The fingerprint that Codex 0.166.0 makes of a hook: of its fields as JSON without spaces, the keys in order."""
    handler = host_files.handlers(entry)[0]
    fields = {"type": "command", "command": handler["command"], "timeout": handler.get("timeout"), "async": False}
    matcher = {"matcher": entry["matcher"]} if "matcher" in entry else {}
    whole = {"event_name": event, "hooks": [fields], **matcher}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8')).hexdigest()}"


def _text(path: str) -> str:
    return (config_file.read(path) or b"").decode("utf-8").removeprefix("\ufeff")

"""Our hooks that Codex does not run yet, because its user must first trust each of them on its screen."""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import Any

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput
from onrecord.hosts import config_file, host_files, json_edit, toml_edit
from onrecord.hosts.host_files import HostSetup


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

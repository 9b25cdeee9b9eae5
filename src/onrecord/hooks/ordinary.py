"""Rules out, before a host is known or an index is opened, that a command concerns the memory.

Agents run far more commands than all else, and nearly all are ordinary: for those, a hook loads little more than this.
"""

from __future__ import annotations

import os

from onrecord import paths
from onrecord.search import command_filter, command_terms
from onrecord.session import action

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from onrecord.hooks.event_stores import EventStores
    from onrecord.session.action import Action

_PATCH = "*** Begin Patch"
_HEAD_BYTES = 200


def is_ordinary(fields: Mapping[str, Any], event_stores: EventStores) -> bool:
    """True if a tool call is a shell command that neither the guard nor a record can be about."""
    tool_input, cwd = fields.get("tool_input"), fields.get("cwd")
    command = tool_input.get("command") if isinstance(tool_input, dict) else None
    if not isinstance(command, str) or not isinstance(cwd, str) or _PATCH in command:
        return False
    if may_touch_a_store(f"{command}{cwd}", event_stores) or _may_have_nested_stores(event_stores.project):
        return False
    called = action.of_command(command, cwd, event_stores.project)
    return not may_concern(called, event_stores) and not _is_below_a_store(called.files, event_stores.project)


def _may_have_nested_stores(project: str) -> bool:
    """True if folders of the project are known to have a store of their own."""
    try:
        with open(paths.nested_file(project), "rb") as file:
            return file.read(_HEAD_BYTES).count(b"\n") > 1
    except OSError:
        return False


def _is_below_a_store(files: Iterable[str], project: str) -> bool:
    """True if a folder between the project and one of its files has a store of its own."""
    folders: set[str] = set()
    for file in files:
        folder = os.path.dirname(file)
        while len(folder) > len(project) and folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    return any(os.path.isdir(os.path.join(folder, paths.STORE)) for folder in folders)


def may_touch_a_store(call_text: str, event_stores: EventStores) -> bool:
    """True if a tool call may concern a store: a cheap test that rules out nearly all calls."""
    words = ("memory", "onrecord") if event_stores.replicas else ("memory",)
    is_named = any(store in call_text for store in event_stores.guarded)
    return is_named or any(word in call_text.lower() for word in words)


def may_concern(action: Action, event_stores: EventStores) -> bool:
    """True if a record may be about a command or its files, or check it, as far as the filters tell."""
    if action.is_silenced:
        return False
    folders = [event_stores.project, *(paths.project_of(store_ref.root) for store_ref in event_stores.below)]
    names = [file[len(folder) + 1 :] for folder in folders for file in action.files if file.startswith(folder)]
    keys = {key for call in command_terms.of_calls(action.commands) for key in command_terms.keys(call)}
    keys.update([command_filter.GRAVE_FILES] if action.is_commit else [])
    keys.update(key for name in names for key in command_filter.file_keys(name.replace("\\", "/")))
    return any(command_filter.may_match(store, keys, action.command) for store in event_stores.stores)

"""Event: what the host says has happened, checked once; and the answers it understands."""

from __future__ import annotations

import os

from recollect import coldstart, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LONGEST_CONTEXT = 9_900
"""The host cuts a context above 10,000 characters down to a preview, without telling anybody."""


class Event:
    """One hook call: the session it belongs to, the stores in play, and the fields of its kind."""

    __slots__ = ("_fields", "name", "project", "store", "user_store")

    def __init__(self, name: str, fields: Mapping[str, Any], project: str, store: str, user_store: str) -> None:
        self.name = name
        self._fields = fields
        self.project = project
        self.store = store
        self.user_store = user_store

    def text(self, key: str) -> str:
        """A field that is a text, or an empty one."""
        value = self._fields.get(key)
        return value if isinstance(value, str) else ""

    def flag(self, key: str) -> bool:
        return self._fields.get(key) is True

    def fields(self, key: str) -> Mapping[str, Any]:
        """A field that is an object, or an empty one."""
        value = self._fields.get(key)
        return value if isinstance(value, dict) else {}

    def has_items(self, key: str) -> bool:
        """Whether a field is a list with something in it."""
        value = self._fields.get(key)
        return isinstance(value, list) and bool(value)

    @property
    def session(self) -> str:
        return self.text("session_id")

    @property
    def in_subagent(self) -> bool:
        return bool(self.text("agent_id"))


def parse(name: str, data: bytes) -> Event | None:
    """The event in a hook's input; None when no store is in play, which is the commonest case by far."""
    fields = coldstart.loads(data.decode("utf-8", "replace"))
    if not isinstance(fields, dict):
        raise ValueError("the event is not a JSON object")
    project, store = _project_with_store(fields)
    user_store = paths.user_store()
    if not os.path.isdir(user_store) or os.path.realpath(user_store) == os.path.realpath(store):
        user_store = ""
    if not store and not user_store and not (name == "session_start" and _has_banks(project)):
        return None
    return Event(name, fields, project, store, user_store)


def _has_banks(project: str) -> bool:
    """Whether there are knowledge banks, which a session's start tells of even where there is no store."""
    return bool(project) and any(os.path.isdir(folder) for folder in paths.knowledge_banks(project))


def _project_with_store(fields: Mapping[str, Any]) -> tuple[str, str]:
    """The project of the working directory if it has a store, else the one the session was started in."""
    first = ""
    for start in (fields.get("cwd"), os.environ.get("CLAUDE_PROJECT_DIR")):
        if not isinstance(start, str) or not os.path.isabs(start) or "\0" in start:
            continue
        project = paths.project_root(start)
        first = first or project
        store = os.path.join(project, paths.STORE)
        if os.path.isdir(store) and paths.is_within(project, store):
            return project, store
    return first, ""


def context(event_name: str, text: str) -> str:
    """The answer that adds a text to what the model sees."""
    return _specific(event_name, f'"additionalContext":{coldstart.dumps(text[:LONGEST_CONTEXT])}')


def denial(reason: str) -> str:
    """The answer that keeps a tool from running, and says what to do instead."""
    return _specific("PreToolUse", f'"permissionDecision":"deny","permissionDecisionReason":{coldstart.dumps(reason)}')


def _specific(event_name: str, fields: str) -> str:
    return f'{{"hookSpecificOutput":{{"hookEventName":{coldstart.dumps(event_name)},{fields}}}}}'

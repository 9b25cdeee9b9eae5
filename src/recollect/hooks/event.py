"""Event: what the host reports, checked once; and the answers it understands."""

from __future__ import annotations

import os

from recollect import coldstart, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LONGEST_CONTEXT = 9_900
"""The host cuts a context above 10,000 characters down to a preview, without a word to anybody."""


class Event(coldstart.NamedTuple):
    """One hook call: the session it belongs to, the stores in play, and the fields of its kind."""

    name: str
    payload: Mapping[str, Any]
    project: str
    store: str
    user_store: str

    def text(self, key: str) -> str:
        """A field that is a text, or an empty one."""
        value = self.payload.get(key)
        return value if isinstance(value, str) else ""

    def flag(self, key: str) -> bool:
        return self.payload.get(key) is True

    def fields(self, key: str) -> Mapping[str, Any]:
        """A field that is an object, or an empty one."""
        value = self.payload.get(key)
        return value if isinstance(value, dict) else {}

    def has_items(self, key: str) -> bool:
        """Whether a field is a list with something in it."""
        value = self.payload.get(key)
        return isinstance(value, list) and bool(value)

    @property
    def session(self) -> str:
        return self.text("session_id")

    @property
    def in_subagent(self) -> bool:
        return bool(self.text("agent_id"))

    @property
    def is_attended(self) -> bool:
        """Whether a person reads along: in `claude -p` and programs, our words would take the place of the answer."""
        entrance = os.environ.get("CLAUDE_CODE_ENTRYPOINT", "")
        return os.environ.get("CLAUDE_CODE_SESSION_ATTENDED") != "0" and not entrance.startswith("sdk")

    @property
    def stores(self) -> list[str]:
        """The stores in play, the project's first."""
        return [store for store in (self.store, self.user_store) if store]


def parse(name: str, data: bytes) -> Event | None:
    """The event in a hook's input; None when no store is in play, which is the commonest case by far."""
    payload = coldstart.loads(data.decode("utf-8", "replace"))
    if not isinstance(payload, dict):
        raise ValueError("the event is not a JSON object")
    project, store = _project_with_store(payload)
    user_store = paths.user_store()
    if not os.path.isdir(user_store) or os.path.realpath(user_store) == os.path.realpath(store):
        user_store = ""
    if not store and not user_store and not (name == "session_start" and _has_knowledge_banks(project)):
        return None
    return Event(name, payload, project, store, user_store)


def _has_knowledge_banks(project: str) -> bool:
    """Whether there are knowledge banks: a session's start shows them even where there is no store."""
    return bool(project) and any(os.path.isdir(folder) for folder in paths.knowledge_banks(project))


def _project_with_store(payload: Mapping[str, Any]) -> tuple[str, str]:
    """The project of the working directory if it has a store, else the project the session was started in."""
    first = ""
    for start in (payload.get("cwd"), os.environ.get("CLAUDE_PROJECT_DIR")):
        if not isinstance(start, str) or not os.path.isabs(start) or "\0" in start:
            continue
        project = paths.project_root(start)
        first = first or project
        store = os.path.join(project, paths.STORE)
        if os.path.isdir(store) and paths.is_within(project, store):
            return project, store
    return first, ""


class Denial(str):
    """A handler's answer that keeps a tool from running: what to do instead."""

    __slots__ = ()


def answer(name: str, text: str) -> str:
    """A handler's text as the host understands it; nothing for no text."""
    if not text:
        return ""
    from recollect.text import for_agent

    shown = for_agent(text)[:LONGEST_CONTEXT]
    fields = {"hookEventName": "".join(word.capitalize() for word in name.split("_"))}
    if isinstance(text, Denial):
        fields.update(permissionDecision="deny", permissionDecisionReason=shown)
    else:
        fields["additionalContext"] = shown
    return coldstart.dumps({"hookSpecificOutput": fields})

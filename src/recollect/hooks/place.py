"""Place: where an event happens, and which stores are in play there."""

from __future__ import annotations

import os

from recollect import coldstart, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Place(coldstart.NamedTuple):
    """Where an event happens: its project, and the stores in play."""

    project: str
    store: str
    user_store: str

    @property
    def stores(self) -> list[str]:
        """The stores in play, the project's first."""
        return [store for store in (self.store, self.user_store) if store]


def fields(data: bytes) -> Mapping[str, Any]:
    """The fields of a hook's input."""
    payload = coldstart.loads(data.decode("utf-8", "replace"))
    if not isinstance(payload, dict):
        raise ValueError("the event is not a JSON object")
    return payload


def find(payload: Mapping[str, Any], *, brings_digest: bool) -> Place | None:
    """Where an event happens; None when no store is in play, which is the commonest case by far."""
    project, store = _project_with_store(payload)
    user_store = paths.user_store()
    if not os.path.isdir(user_store) or os.path.realpath(user_store) == os.path.realpath(store):
        user_store = ""
    if not store and not user_store and not (brings_digest and _has_knowledge_banks(project)):
        return None
    return Place(project, store, user_store)


def _has_knowledge_banks(project: str) -> bool:
    """Whether there are knowledge banks: the digest shows them even where there is no store."""
    return bool(project) and any(os.path.isdir(folder) for folder in paths.knowledge_banks(project))


def _project_with_store(payload: Mapping[str, Any]) -> tuple[str, str]:
    """The project of the working directory if it has a store, else the project the session was started in."""
    first, roots = "", payload.get("workspace_roots")
    # Cursor names folders where the others name one.
    named = (payload.get("cwd"), *(roots[:1] if isinstance(roots, list) else ()))
    for start in (*named, os.environ.get("CLAUDE_PROJECT_DIR")):
        if not isinstance(start, str) or not os.path.isabs(start) or "\0" in start:
            continue
        project = paths.project_root(start)
        first = first or project
        store = os.path.join(project, paths.STORE)
        if os.path.isdir(store) and paths.is_within(project, store):
            return project, store
    return first, ""

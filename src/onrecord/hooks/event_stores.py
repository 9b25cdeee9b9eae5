"""EventStores: the project and the stores of an event."""

from __future__ import annotations

import os

from onrecord import coldstart, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from onrecord.paths import StoreRef
    from onrecord.settings import Settings


class EventStores(coldstart.NamedTuple):
    """The project of an event, and the stores on this machine that may be in play there."""

    project: str
    store: str
    user_store: str
    replicas: Sequence[StoreRef] = ()
    """Those of all shared stores; the settings may choose some of them."""

    @property
    def stores(self) -> list[str]:
        """The folders of all of them, the project's first."""
        return [store_ref.root for store_ref in paths.store_refs(self.store, self.user_store, self.replicas)]

    @property
    def guarded(self) -> list[str]:
        """The folders that no agent writes by hand: of a replica also what was agreed on with the remote."""
        return [store for store in (self.store, self.user_store) if store] + [
            os.path.dirname(replica.root) for replica in self.replicas
        ]

    def store_refs(self, settings: Settings) -> list[StoreRef]:
        """The stores in play, in the order of their precedence."""
        user_store = self.user_store if _has_records(self.user_store) else ""
        if not self.replicas:
            return paths.store_refs(self.store, user_store)
        from onrecord.shared import replicas as shared

        return paths.store_refs(self.store, user_store, shared.select(self.replicas, settings))


def _has_records(user_store: str) -> bool:
    """Whether a user's store has a folder of records: it may hold settings alone."""
    from onrecord.categories import CATEGORIES

    folders = (category.folder for category in CATEGORIES.values())
    return bool(user_store) and any(os.path.isdir(os.path.join(user_store, folder)) for folder in folders)


def read_fields(data: bytes) -> Mapping[str, Any]:
    """The fields of a hook's input."""
    payload = coldstart.loads(data.decode("utf-8", "replace"))
    if not isinstance(payload, dict):
        raise ValueError("the event is not a JSON object")
    return payload


def find_event_stores(payload: Mapping[str, Any], *, brings_digest: bool) -> EventStores | None:
    """Where an event happens; None when no store is in play, which is the commonest case by far."""
    project, store = _project_with_store(payload)
    user_store = paths.user_store()
    if not os.path.isdir(user_store) or os.path.realpath(user_store) == os.path.realpath(store):
        user_store = ""
    replicas = _replicas(project)
    is_known = store or user_store or replicas
    if not is_known and not (brings_digest and _has_knowledge_banks(project)):
        return None
    return EventStores(project, store, user_store, replicas)


def _replicas(project: str) -> Sequence[StoreRef]:
    """The replicas of shared stores; where none is connected, that costs one look for a file."""
    if not os.path.exists(paths.remotes_file()):
        return ()
    from onrecord.shared import replicas as shared

    return shared.replicas(project)


def _has_knowledge_banks(project: str) -> bool:
    """Whether there are knowledge banks: the digest shows them even where there is no store."""
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

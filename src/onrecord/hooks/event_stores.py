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
    """The project of an event, and the stores that may apply to it; a store that does not exist is empty."""

    project: str
    store: str
    user_store: str
    replicas: Sequence[StoreRef] = ()
    """Replicas of all shared stores; the settings may allow only some of them."""
    below: Sequence[StoreRef] = ()
    """Stores in folders of the project that the event is about."""

    @property
    def stores(self) -> list[str]:
        """The folders of all stores, in order of precedence."""
        return [store_ref.root for store_ref in self._refs(self.user_store, self.replicas)]

    @property
    def guarded(self) -> list[str]:
        """The folders that an agent must not write by hand, including the sync state beside each replica."""
        own = [store_ref.root for store_ref in self._refs(self.user_store, ())]
        return own + [os.path.dirname(replica.root) for replica in self.replicas]

    def store_refs(self, settings: Settings) -> list[StoreRef]:
        """Return the stores that apply, in order of precedence."""
        user_store = self.user_store if _has_records(self.user_store) else ""
        replicas: Sequence[StoreRef] = ()
        if self.replicas:
            from onrecord.shared import replicas as shared

            replicas = shared.select(self.replicas, settings)
        refs = self._refs(user_store, replicas)
        if settings.text("trust.clones") != "ask":
            return refs
        from onrecord.recall import trust

        return trust.marked(refs, self.project, settings)

    def _refs(self, user_store: str, replicas: Sequence[StoreRef]) -> list[StoreRef]:
        above: Sequence[StoreRef] = ()
        # Nearly always the project is a whole repository.
        if self.store and not os.path.exists(os.path.join(self.project, ".git")):
            from onrecord.store import nested

            above = nested.above(self.project)
        return paths.store_refs(self.store, user_store, replicas, below_refs=self.below, above_refs=above)

    def with_known(self) -> EventStores:
        """Return these stores with all that are known in folders of the project."""
        from onrecord.store import nested

        return self._replace(below=nested.at(self.project, nested.known(self.project)))

    def at_files(self, touched: Sequence[str], session: str) -> EventStores:
        """Return these stores with those of the folders of the files `touched`, which the session reads from now on."""
        from onrecord.store import nested

        below = nested.of_files(self.project, touched)
        if below:
            from onrecord.session.ledger import Ledger

            nested.note(self.project, below)
            with Ledger(session) as ledger:
                ledger.add_folders([paths.store_name(store_ref.prefix) for store_ref in below])
        return self._replace(below=list(dict.fromkeys([*below, *self.below])))

    def in_session(self, session: str, prompt: str = "") -> EventStores:
        """Return these stores with those of the folders that a prompt names, or that the session has touched before."""
        from onrecord.store import nested

        if not nested.known(self.project):
            return self
        from onrecord.session.ledger import Ledger

        with Ledger(session) as ledger:
            touched = nested.at(self.project, ledger.folders)
        return self._replace(below=list(dict.fromkeys([*nested.named_in(self.project, prompt), *touched])))


def _has_records(user_store: str) -> bool:
    """True if the user's store has a folder of records; it may have nothing but settings."""
    from onrecord.categories import CATEGORIES

    folders = (category.folder for category in CATEGORIES.values())
    return bool(user_store) and any(os.path.isdir(os.path.join(user_store, folder)) for folder in folders)


def read_fields(data: bytes) -> Mapping[str, Any]:
    """Return the fields of a hook's input. Raises ValueError."""
    fields = coldstart.loads(data.decode("utf-8", "replace"))
    if not isinstance(fields, dict):
        raise ValueError("the event is not a JSON object")
    return fields


def find_event_stores(fields: Mapping[str, Any], *, has_digest: bool) -> EventStores | None:
    """Return the stores of an event; None if there are none, which is by far the most common case.

    `has_digest` is True if the reply may have the digest, which shows knowledge banks even without a store.
    """
    project, store = _project_with_store(fields)
    user_store = paths.user_store()
    if not os.path.isdir(user_store) or os.path.realpath(user_store) == os.path.realpath(store):
        user_store = ""
    replicas = _replicas(project)
    has_store = store or user_store or replicas
    if not has_store and not (has_digest and _has_knowledge_banks(project)):
        return None
    return EventStores(project, store, user_store, replicas)


def _replicas(project: str) -> Sequence[StoreRef]:
    """Return the replicas of shared stores; if none is connected, this only checks that a file is missing."""
    if not os.path.exists(paths.remotes_file()):
        return ()
    from onrecord.shared import replicas as shared

    return shared.replicas(project)


def _has_knowledge_banks(project: str) -> bool:
    return bool(project) and any(os.path.isdir(folder) for folder in paths.knowledge_banks(project))


def _project_with_store(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Return the project and store of the working directory, or of the session's first directory if it has none."""
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

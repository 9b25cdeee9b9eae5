"""A project's memory as one object: the store in its repository, the user's own beside it, and the settings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from recollect import files, paths
from recollect.errors import BadInput, NoStore
from recollect.git import git_files
from recollect.recall.for_prompt import Found, Stores, preview
from recollect.record import compose
from recollect.record.memory import Memory
from recollect.search import index, rank
from recollect.settings import Settings, load_settings
from recollect.store.store import Entry, Store
from recollect.store.writer import Writer


class Hit:
    """A memory that answered a query, and how well."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._memory: Memory | None = None
        match = found.match
        self.id = match.id
        self.category = match.category
        self.title = match.title
        self.tags = match.tags
        self.score = match.score
        self.probability = match.probability
        self.confidence = match.confidence
        self.status = match.status
        self.updated_at = match.updated_at
        self.path = found.source + match.path
        self.via = match.via

    def __repr__(self) -> str:
        return f"Hit({self.id!r}, probability={self.probability:.2f})"

    @property
    def memory(self) -> Memory:
        """The whole record, read when first asked for."""
        if self._memory is None:
            self._memory = Store(self._found.root).read(self._found.match.path).memory
        return self._memory

    def snippet(self, mark: tuple[str, str] = ("", "")) -> str:
        """The passage that matches best."""
        return self._found.match.snippet(mark)


class Project:
    """The memory of the project that a directory lies in."""

    def __init__(self, project_dir: str = ".") -> None:
        if not os.path.isdir(project_dir):
            raise BadInput(f"{project_dir!r} is not a directory", fix="name the project's directory with --project DIR")
        self.root = paths.project_root(project_dir)
        self.user = Store(paths.user_store())
        self._store: Store | None = None
        self._settings: Settings | None = None

    def __repr__(self) -> str:
        return f"Project({self.root!r})"

    @property
    def store(self) -> Store:
        """The project's store; UnsafePath if it is a link out of the project."""
        if self._store is None:
            files.inside(self.root, paths.STORE)
            self._store = Store(os.path.join(self.root, paths.STORE))
        return self._store

    @property
    def settings(self) -> Settings:
        """The effective settings, read once."""
        if self._settings is None:
            self._settings = load_settings(self.store.root)
        return self._settings

    @property
    def writer(self) -> Writer:
        """A writer of the project's store, at this moment."""
        return Writer(self.store, self.settings)

    def get(self, reference: str) -> Entry:
        """A record of this project by its id, `category/id` or path."""
        return found(self.store).get(reference)

    def save(self, category: str, given: Mapping[str, Any], *, allow_secret: bool = False) -> Entry:
        """Save a new record from a partial one; the first one founds the store."""
        return save(self.writer, category, given, allow_secret=allow_secret)

    @property
    def stores(self) -> Stores:
        """The stores that are there, the project's first."""
        return Stores(*(store.root if store.exists else "" for store in (self.store, self.user)))

    def search(
        self,
        text: str,
        limit: int = 10,
        *,
        categories: Sequence[str] = (),
        tags: Sequence[str] = (),
        include_retired: bool = False,
    ) -> list[Hit]:
        """What answers a text, best first, in the project's store and the user's; it ranks, it does not judge."""
        found = [
            Found(match, root, source)
            for root, source in self.stores.places
            for match in rank.find(
                index.open(root),
                text,
                limit=limit,
                categories=categories,
                tags=tags,
                include_retired=include_retired,
                settings=self.settings,
            )
        ]
        found.sort(key=lambda one: -one.match.probability)
        return [Hit(one) for one in found[:limit]]

    def recall(self, prompt: str, *, first: bool = False, transcript_path: str = "") -> list[Hit]:
        """What a hook would tell an agent for a prompt, in a session that was told nothing yet."""
        if not self.settings.flag("retrieval.enabled"):
            return []
        return [
            Hit(one)
            for one in preview(self.stores, prompt, self.settings, first=first, transcript_path=transcript_path)[1]
        ]


def save(writer: Writer, category: str, given: Mapping[str, Any], *, allow_secret: bool = False) -> Entry:
    """Save a new record from a partial one in any store."""
    record = compose.compose(compose.category_of(category), given, now=writer.now, allow_secret=allow_secret)
    was_there = writer.store.exists
    entry = writer.save(record)
    if writer.store.exists and not was_there:
        git_files.ensure(writer.store.root)
    return entry


def found(store: Store) -> Store:
    """The store, if it is there at all."""
    if not store.exists:
        raise NoStore(f"there is no memory at {store.root}", fix="recollect init, or save the first record")
    return store

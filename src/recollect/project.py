"""A project's memory as one object: the store in its repository, the user's own beside it, and the settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from recollect import compose, config, files, gitfiles, paths
from recollect.config import Settings
from recollect.errors import BadInput, NoStore
from recollect.keeper import Keeper
from recollect.store import Entry, Store


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
            self._settings = config.load(self.store.root)
        return self._settings

    @property
    def keeper(self) -> Keeper:
        """A keeper of the project's store, at this moment."""
        return Keeper(self.store, self.settings)

    def get(self, reference: str) -> Entry:
        """A record of this project by its id, `category/id` or path."""
        return found(self.store).get(reference)

    def save(self, category: str, given: Mapping[str, Any], *, allow_secret: bool = False) -> Entry:
        """Save a new record from a partial one; the first one founds the store."""
        return save(self.keeper, category, given, allow_secret=allow_secret)


def save(keeper: Keeper, category: str, given: Mapping[str, Any], *, allow_secret: bool = False) -> Entry:
    """Save a new record from a partial one in any store."""
    record = compose.compose(compose.category_of(category), given, now=keeper.now, allow_secret=allow_secret)
    was_there = keeper.store.exists
    entry = keeper.save(record)
    if keeper.store.exists and not was_there:
        gitfiles.ensure(keeper.store.root)
    return entry


def found(store: Store) -> Store:
    """The store, if it is there at all."""
    if not store.exists:
        raise NoStore(f"there is no memory at {store.root}", fix="recollect init, or save the first record")
    return store

"""A project, and shared stores that are connected and have records, as a sync would have left them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onrecord import project as projects
from onrecord.project import Project
from onrecord.settings import Settings
from onrecord.shared import remotes, replicas
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer
from tests.known_project import known_project
from tests.shared.machines import accept

Share = Callable[..., Entry]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return known_project(tmp_path / "project")


@pytest.fixture
def share() -> Share:
    """Put a record into a shared store and its replica, as a sync would; the store is connected if it is not yet."""

    def put(name: str, category: str, fields: dict[str, Any], **more: Any) -> Entry:
        if all(remote.name != name for remote in remotes.connected()):
            remotes.add(name, f"/srv/{name}.git")
        writer = Writer(Store(replicas.prepare(name).store), Settings())
        entry = projects.save(writer, category, {**fields, **more})
        accept(name)
        return entry

    return put

"""A project with a few records, and a client at work in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from tests.hooks.conftest import SIX
from tests.mcp_server.client import Client

SESSIONS = "sessions-live-in-postgres-not-redis"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a record of each category."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "src" / "carrier").mkdir(parents=True)
    (folder / "src" / "carrier" / "client.py").write_text("x = 1\n")
    opened = recollect.open(str(folder))
    for category, fields in SIX.items():
        opened.save(category, fields)
    return folder


@pytest.fixture
def client(project: Path) -> Iterator[Client]:
    with Client(project, version="2025-11-25") as connected:
        yield connected

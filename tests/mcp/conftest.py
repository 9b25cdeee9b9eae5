"""A project with a few records, and a client in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.known_project import six_records
from tests.mcp.client import Client

SESSIONS = "sessions-live-in-postgres-not-redis"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with a record of each category."""
    carrier = tmp_path / "project" / "src" / "carrier"
    carrier.mkdir(parents=True)
    (carrier / "client.py").write_text("x = 1\n")
    return Path(six_records(tmp_path).root)


@pytest.fixture
def client(project: Path) -> Iterator[Client]:
    with Client(project, version="2025-11-25") as connected:
        yield connected

"""Tests here talk to the real client; where it cannot run they are skipped with the reason."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from client_package import unavailable, version


@pytest.fixture(autouse=True)
def _client_can_run(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("client") and (reason := unavailable()):
        pytest.skip(reason)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if unavailable.cache_info().currsize and unavailable() is None:
        terminalreporter.write_line(f"Claude Code client {version()}")

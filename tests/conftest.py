"""Every test has a home of its own, so that none can touch the real one, and a time limit."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord.record import author
from tests import debian, time_limit
from tests.postgres import durable_postgres as durable_postgres
from tests.postgres import postgres as postgres

try:
    from hypothesis import HealthCheck, settings
except ImportError:  # the wheel's clean environment has pytest alone
    pass
else:
    # The same examples in every run: no change is refused for what another one did. `nox -s long` draws new ones.
    settings.register_profile(
        "default", deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.register_profile("quick", parent=settings.get_profile("default"), max_examples=15)
    settings.register_profile("long", parent=settings.get_profile("default"), derandomize=False, max_examples=2_000)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

_WAITING = ("client", "faults", "fuzz", "hosts", "upgrade", "web")
"""Folders of tests that wait for browsers, servers and other programs."""

_HOMES = {
    "HOME": "",
    "USERPROFILE": "",
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "CLAUDE_CONFIG_DIR": ".claude",
}
_CLAUDE = ("CLAUDE_PROJECT_DIR", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_CODE_SESSION_ID")
_HOSTS = ("CLAUDECODE", "COPILOT_CLI", "QWEN_PROJECT_DIR", "GEMINI_SESSION_ID", "FACTORY_PROJECT_DIR")
_UNSET = (
    *_HOSTS,
    "ONRECORD_CACHE_DIR",
    "ONRECORD_NO_BACKGROUND",
    "ONRECORD_STATE_DIR",
    "ONRECORD_DATA_DIR",
    *_CLAUDE,
    *author.HOST_VARIABLES,
    "NO_COLOR",
    "FORCE_COLOR",
)


@pytest.fixture(autouse=True, scope="session")
def _session_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give a home to what runs outside any single test, such as fixtures of a module or a session."""
    with pytest.MonkeyPatch.context() as patch:
        _move_home(patch, tmp_path_factory.mktemp("session-home"))
        yield


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test an empty home, which is nowhere near the real one."""
    folder = tmp_path_factory.mktemp("home")
    _move_home(monkeypatch, folder)
    # What the test before has shown, without a hook that logs it.
    if "onrecord.usage" in sys.modules:
        sys.modules["onrecord.usage"].take_happenings()
    return folder


def _move_home(patch: pytest.MonkeyPatch, folder: Path) -> None:
    for name, below in _HOMES.items():
        patch.setenv(name, str(folder / below))
    for name in _UNSET:
        patch.delenv(name, raising=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the texts that tests compare what is shown with"
    )
    parser.addoption("--all-hosts", action="store_true", help="run the clients that take long to install, too")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(time_limit)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what waits for other programs: at the end, nothing else would be left to do meanwhile."""
    items.sort(key=lambda item: not any(folder in item.path.parts for folder in _WAITING))


def pytest_collection_finish(session: pytest.Session) -> None:
    debian.choose(session.config, session.items)


def pytest_runtest_setup(item: pytest.Item) -> None:
    debian.require(item)

"""Tests here run the real clients of other agents; where one cannot run they are skipped with the reason."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hosts import npm
from tests.hosts.host_client import HostClient

NewClient = Callable[[type[HostClient]], HostClient]


@functools.cache
def unavailable(host: type[HostClient]) -> str:
    """Return why this client cannot be run here, or an empty text. The first call may download it."""
    try:
        npm.check_namespaces(npm.CONTAINED)
        for package in (host.package, *host.also):
            npm.install(package)
    except npm.Unavailable as reason:
        return str(reason)
    return ""


@pytest.fixture
def new_client(tmp_path: Path, pytestconfig: pytest.Config) -> NewClient:
    """Make a client with an empty home and an empty project, whose paths have spaces."""

    def make(host: type[HostClient]) -> HostClient:
        if host.is_slow and not pytestconfig.getoption("--all-hosts"):
            pytest.skip("this client takes long to install or to run: scripts/test -s hosts runs it")
        if reason := unavailable(host):
            pytest.skip(reason)
        return host(tmp_path / "a home", tmp_path / "a project")

    return make


@pytest.fixture
def new_client_on_screen(new_client: NewClient, pytestconfig: pytest.Config) -> NewClient:
    """Make a client that is to be started on a screen."""

    def make(host: type[HostClient]) -> HostClient:
        if host.is_screen_on_request and not pytestconfig.getoption("--all-hosts"):
            pytest.skip("scripts/test -s hosts runs this client on a screen")
        return new_client(host)

    return make

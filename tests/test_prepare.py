"""What a fresh clone fetches in the background, without fetching it."""

from __future__ import annotations

import subprocess

import pytest

from tests import debian, prepare
from tests.hosts import npm
from tests.hosts.clients import CLIENTS


def test_everything_is_asked_for_and_no_refusal_ends_the_rest(monkeypatch: pytest.MonkeyPatch):
    asked: list[object] = []

    def refuse(package: npm.Package) -> None:
        asked.append(package)
        raise npm.Unavailable("no npm here")

    monkeypatch.setattr(npm, "install", refuse)
    monkeypatch.setattr(debian, "install", lambda packages: asked.append(set(packages)))
    monkeypatch.setattr(subprocess, "run", lambda command, **rest: asked.append("--collect-only" in command))

    assert prepare.main() == 0

    assert len(asked) == 3
    for expected in (next(host.package for host in CLIENTS if not host.is_slow), set(debian.PROGRAMS), True):
        assert expected in asked

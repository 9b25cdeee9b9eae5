"""A record that a writer shares with a team that asks for review, and a watch that the server wakes."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onrecord.shared import remotes
from onrecord.shared.replicas import Replica
from onrecord.store.inbox import Inbox
from onrecord.store.store import Store
from tests.cli.conftest import BIN, DECISION, onrecord, project  # noqa: F401
from tests.records import raw
from tests.shared.hub.conftest import TestHub, new

pytestmark = pytest.mark.debian("postgresql")
PATIENCE = 20


@pytest.fixture
def person(hub: TestHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sit down at the machine of a member."""

    def sit(login: str) -> None:
        monkeypatch.setenv("ONRECORD_DATA_DIR", str(tmp_path / login / "data"))
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / login / "config"))
        if not remotes.connected():
            remotes.add("platform", hub.url(login))

    return sit


def test_what_a_writer_shares_waits_for_a_reviewer_where_the_team_wants_that(hub, person, onrecord):  # noqa: F811
    hub.rows("UPDATE onrecord.teams SET asks_for_review = true WHERE name = 'platform'")
    onrecord("save", "decision", "Jobs are rows", *DECISION)
    person("walt")
    assert onrecord("sync").code == 0

    shared = json.loads(onrecord("share", "jobs-are-rows", "--to=platform", "--yes", "--json").out)
    outcome = onrecord("sync")
    person("vera")
    onrecord("sync")
    accepted = onrecord("review", "--remote=platform", "--accept=jobs-are-rows")
    published = onrecord("sync")
    person("walt")
    onrecord("sync")

    assert (shared["action"], outcome.out) == ("drafted", "platform: pushed 1\n")
    assert accepted.code == 0 and published.out == "platform: pushed 2\n"
    store = Store(Replica("platform").store)
    assert store.get("jobs-are-rows").memory.title == "Jobs are rows" and Inbox(store.root).names() == []


def test_a_watch_is_woken_by_the_server(hub, person, tmp_path):
    person("rita")
    hub.transport("walt").push([new("decisions/first.json", json.dumps(raw(id="first")).encode())])
    words: list[Any] = [sys.executable, BIN, "sync", "--watch", "--every=86400"]
    pipe = subprocess.PIPE

    with subprocess.Popen(words, cwd=tmp_path, stdin=pipe, stdout=pipe, env=dict(os.environ), bufsize=0) as watch:
        try:
            lines = [_line(watch)]
            hub.transport("walt").push([new("decisions/second.json", json.dumps(raw(id="second")).encode())])
            lines.append(_line(watch))
            watch.communicate(timeout=PATIENCE)
        finally:
            watch.kill()

    assert (lines, watch.returncode) == ([b"platform: pulled 1\n"] * 2, 0)


def _line(process: subprocess.Popen[bytes]) -> bytes:
    """Return the next line, within a time limit."""
    assert select.select([process.stdout], [], [], PATIENCE)[0]
    return process.stdout.readline()

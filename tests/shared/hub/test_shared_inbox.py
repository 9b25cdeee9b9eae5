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
from tests.time_limit import PATIENCE

pytestmark = pytest.mark.debian("postgresql")


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


def test_a_reader_is_refused_at_once(hub, person, onrecord):  # noqa: F811
    person("rita")
    assert onrecord("sync").code == 0

    outcome = onrecord("save", "decision", "Jobs are rows", *DECISION, "--remote=platform")

    assert outcome.code == 1 and "your role in platform is reader" in outcome.err
    assert list(Store(Replica("platform").store).scan()) == []


def test_what_a_reader_saved_before_the_first_sync_is_refused_then_and_can_be_taken_back(hub, person, onrecord):  # noqa: F811
    person("rita")
    onrecord("save", "decision", "Jobs are rows", *DECISION, "--remote=platform")

    refused = onrecord("sync")

    assert refused.code == 1 and "to take them back: onrecord remote withdraw platform" in refused.out
    assert "Jobs are rows" not in onrecord("recall", "where do jobs go, rows?").out
    assert onrecord("remote", "withdraw", "platform", "--draft").code == 1
    assert onrecord("remote", "withdraw", "platform").code == 0
    assert onrecord("sync").out == "platform: up to date\n"


def test_what_a_team_asks_to_review_is_sent_as_a_draft_by_the_printed_command(hub, person, onrecord):  # noqa: F811
    """The team begins to ask for review after the record was saved."""
    person("walt")
    assert onrecord("sync").code == 0
    onrecord("save", "decision", "Jobs are rows", *DECISION, "--remote=platform")
    hub.rows("UPDATE onrecord.teams SET asks_for_review = true WHERE name = 'platform'")

    refused = onrecord("sync")
    words = " ".join(refused.out.split())

    assert refused.code == 1 and "to send them as drafts: onrecord remote withdraw platform --draft" in words
    assert onrecord("remote", "withdraw", "platform", "--draft").code == 0
    assert onrecord("sync").out == "platform: pushed 1\n"
    person("vera")
    onrecord("sync")
    assert onrecord("review", "--remote=platform", "--accept=jobs-are-rows").code == 0
    assert onrecord("sync").code == 0
    person("walt")
    assert onrecord("sync").code == 0
    assert json.loads(onrecord("search", "jobs rows", "--json").out)["results"][0]["source"] == "platform"


def test_a_save_for_a_team_that_reviews_is_a_draft(hub, person, onrecord):  # noqa: F811
    hub.rows("UPDATE onrecord.teams SET asks_for_review = true WHERE name = 'platform'")
    person("walt")
    assert onrecord("sync").code == 0

    onrecord("save", "decision", "Jobs are rows", *DECISION, "--remote=platform")

    assert onrecord("sync").out == "platform: pushed 1\n"
    assert Inbox(Replica("platform").store).names() == ["jobs-are-rows"]


def test_what_is_saved_between_connecting_and_the_first_sync_is_a_draft_or_refused(
    hub,
    onrecord,  # noqa: F811
    home,
):
    """`remote add` had said "drafts, which a reviewer accepts"; the sync refused the record that was saved then."""
    hub.rows("UPDATE onrecord.teams SET asks_for_review = true WHERE name = 'platform'")
    for name, login in (("platform", "walt"), ("library", "rita"), ("team", "vera")):
        assert onrecord("remote", "add", name, hub.url(login)).code == 0

    saved = onrecord("save", "decision", "Jobs are rows", *DECISION, "--remote=platform")
    refused = onrecord("save", "decision", "Jobs are rows", *DECISION, "--remote=library")
    by_reviewer = onrecord("save", "decision", "Jobs are rows", *DECISION, "--remote=team")

    assert saved.out.startswith("drafted ") and onrecord("sync", "platform").out == "platform: pushed 1\n"
    assert refused.err.startswith("REFUSED: your role in library is reader")
    assert by_reviewer.out.startswith("saved ")

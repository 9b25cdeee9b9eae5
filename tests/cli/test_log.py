"""`onrecord log` and `onrecord undo` as a person or an agent sees them."""

from __future__ import annotations

import json
import re

import pytest

from onrecord.record import author

from .conftest import DECISION


@pytest.fixture(autouse=True)
def by_hand(monkeypatch):
    for name in author.HOST_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_the_log_says_when_what_which_records_and_by_whom(onrecord, monkeypatch):
    onrecord("save", "decision", "Jobs in Postgres", *DECISION)
    monkeypatch.setenv("CLAUDECODE", "1")
    onrecord("save", "decision", "Sheets in red", *DECISION, "--draft", "--force")
    onrecord("undo")

    lines = [line.split("\t") for line in onrecord("log").out.splitlines()]

    assert [(when, by, re.sub(r"[0-9a-f]{8}", "ID", what), records) for when, _, by, what, records in lines] == [
        ("2026-03-02 09:30", "agent (claude-code)", "undo ID", "Sheets in red"),
        ("2026-03-02 09:30", "agent (claude-code)", "draft (undone)", "Sheets in red"),
        ("2026-03-02 09:30", "person", "save", "Jobs in Postgres"),
    ]
    assert len(onrecord("log", "--limit", "1").out.splitlines()) == 1


def test_undo_says_what_it_did_and_the_log_what_became_of_it(project, onrecord):
    onrecord("save", "decision", "Jobs in Postgres", *DECISION)

    rehearsed = onrecord("undo", "--dry-run")
    undone = onrecord("undo")

    change, file = "save of 2026-03-02T09:30:00Z (1 file)", "decisions/jobs-in-postgres.json  Jobs in Postgres"
    assert rehearsed.out == f"would undo: {change}\n  remove {file}\n"
    assert undone.out == f"undid: {change}\n  removed {file}\n"
    assert not (project / ".claude/memory/decisions/jobs-in-postgres.json").exists()
    assert onrecord("undo").err.startswith("NOT_FOUND: there is no change to undo")


def test_a_record_changed_since_is_named_and_left_alone(project, onrecord):
    onrecord("save", "decision", "Jobs in Postgres", *DECISION)
    file = project / ".claude/memory/decisions/jobs-in-postgres.json"
    file.write_text(file.read_text().replace("restart", "crash"))

    refused = onrecord("undo", "--json")

    error = json.loads(refused.out)["error"]
    assert (refused.code, error["code"]) == (1, "CANNOT_UNDO")
    assert "changed since: decisions/jobs-in-postgres.json" in error["message"]
    assert "crash" in file.read_text()


def test_an_empty_log_says_so_and_no_store_is_an_error(onrecord):
    assert onrecord("log").err.startswith("NO_STORE")
    onrecord("init")

    assert onrecord("log").out == "no changes yet\n"

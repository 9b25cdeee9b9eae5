"""gc and index beyond what the transcripts show."""

from __future__ import annotations

import json

import pytest

from onrecord import timestamps

from .conftest import DECISION


def test_gc_deletes_after_the_grace_period_and_says_so(project, onrecord, monkeypatch):
    onrecord("save", "decision", "Old", *DECISION)
    onrecord("retire", "old", "--reason=r")
    monkeypatch.setattr(timestamps, "now", lambda: "2026-05-01T00:00:00Z")

    rehearsed = onrecord("gc", "--dry-run")
    assert (project / ".claude/memory/decisions/old.json").exists()
    done = onrecord("gc")

    assert rehearsed.out == "would delete decisions/old.json: retired more than 30 days ago\n"
    assert done.out == "deleted decisions/old.json: retired more than 30 days ago\n"
    assert not (project / ".claude/memory/decisions/old.json").exists()


def test_gc_retires_what_is_past_its_retention(onrecord, monkeypatch):
    onrecord("save", "decision", "Old", *DECISION)
    onrecord("config", "set", "--user", "categories.decision.retention_days", "10")
    monkeypatch.setattr(timestamps, "now", lambda: "2026-05-01T00:00:00Z")

    changes = json.loads(onrecord("gc", "--json").out)["changes"]

    assert changes == [{"action": "retire", "path": "decisions/old.json", "reason": "unchanged for more than 10 days"}]
    assert onrecord("list", "--status=retired").out.startswith("old\t")


def test_a_session_summary_beyond_the_window_is_rehearsed_too(onrecord):
    summary = ("--set=goal=g", "--set=completed=c", "--set=next_actions=n")
    onrecord("config", "set", "--user", "categories.session_summary.max_retained", "1")
    onrecord("save", "session_summary", "First", *summary)

    onrecord("save", "session_summary", "Second", *summary, "--dry-run")
    assert onrecord("list").out.count("\n") == 1
    onrecord("save", "session_summary", "Second", *summary)

    assert onrecord("list").out.count("\n") == 1


def test_the_catalog_is_rebuilt_when_it_is_missing(project, onrecord):
    onrecord("save", "decision", "One", *DECISION)
    (project / ".claude/memory/index.md").unlink()

    assert onrecord("index", "check").code == 1
    assert json.loads(onrecord("index", "rebuild", "--json").out) == {"active": 1}
    assert onrecord("index", "check", "--json").out == '{\n  "differences": []\n}\n'


@pytest.mark.parametrize("action", ["check", "rebuild"])
def test_a_change_that_was_begun_is_finished_before_the_catalog_is_looked_at(project, onrecord, action):
    onrecord("save", "decision", "One", *DECISION)
    store = project / ".claude/memory"
    record = (store / "decisions/one.json").read_text().replace('"One"', '"Two"').replace('"one"', '"two"')
    (store / ".journal").write_text(json.dumps({"decisions/two.json": ["", record]}))

    done = onrecord("index", action, "--json")

    assert json.loads(done.out) == ({"active": 2} if action == "rebuild" else {"differences": []})
    assert (store / "decisions/two.json").read_text() == record
    assert not (store / ".journal").exists()


def test_a_catalog_of_no_active_records_is_emptied(project, onrecord):
    onrecord("save", "decision", "One", *DECISION)
    onrecord("retire", "one", "--reason=r")
    (project / ".claude/memory/index.md").write_text("- [DECISION] One -> decisions/one.json #tags:x\n")

    onrecord("index", "rebuild")

    assert "- [" not in (project / ".claude/memory/index.md").read_text()

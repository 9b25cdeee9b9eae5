"""What `onrecord improve` lists, in which order, and how it counts what it leaves out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onrecord import timestamps
from onrecord.audit import hard_to_find
from onrecord.cli.output import Screen
from onrecord.usage import event_log

from .conftest import DECISION

UV, PIP = "decisions/use-uv.json", "decisions/use-pip.json"


def _say(project: Path, path: str, verdict: str, *sessions: str) -> None:
    for session in sessions:
        event_log.give_feedback(str(project / ".claude/memory"), path, verdict, session)


def _findings(onrecord, *words):
    return json.loads(onrecord("improve", *words, "--json").out)["findings"]


def test_what_a_person_said_comes_before_what_a_program_finds_and_wrong_before_not_relevant(sample, onrecord):
    _say(sample, UV, "not_relevant", "a", "b")
    _say(sample, "runbooks/import-hangs-at-99.json", "wrong", "a")

    findings = _findings(onrecord)

    assert [finding["id"] for finding in findings] == ["import-hangs-at-99", "use-uv", "use-pip", "60-calls-a-minute"]
    assert findings[0]["reasons"][0] == {
        "check": "feedback",
        "message": "you called it wrong 1 time",
        "fix": "correct it: onrecord edit import-hangs-at-99; "
        "or: onrecord retire import-hangs-at-99 --reason 'no longer true'",
    }
    assert findings[1]["reasons"][0] == {
        "check": "feedback",
        "message": "you called it not relevant 2 times",
        "fix": "say where it belongs, in its triggers or its scope: onrecord edit use-uv",
    }
    assert [reason["check"] for reason in findings[0]["reasons"]] == ["feedback", "triggers"]


@pytest.mark.parametrize(("moment", "is_listed"), [("2026-03-02T09:30:00Z", True), ("2026-03-02T09:30:01Z", False)])
def test_what_a_person_said_holds_until_the_record_changes(sample, onrecord, monkeypatch, moment, is_listed):
    _say(sample, UV, "wrong", "a")
    monkeypatch.setattr(timestamps, "now", lambda: moment)
    assert onrecord("update", "use-uv", "--tag=python").code == 0

    assert [finding["id"] for finding in _findings(onrecord, "--check=feedback")] == (["use-uv"] if is_listed else [])


def test_a_finding_has_the_record_without_its_history(sample, onrecord):
    (finding,) = _findings(onrecord, "60-calls-a-minute")

    reasons = finding.pop("reasons")
    assert [(reason["check"], reason["message"]) for reason in reasons] == [("triggers", "has 1 trigger")]
    record = finding.pop("record")
    assert not {"changes", "anchors", "times_updated"} & set(record)
    assert (record["id"], record["triggers"]) == ("60-calls-a-minute", ["429 Too Many Requests"])
    assert {"id", "path", "hash", "file"} <= set(finding)


def test_filters_are_combined(sample, onrecord):
    decisions = _findings(onrecord, "--category=decision", "--category=runbook", "--check=files", "--check=title")

    assert [finding["id"] for finding in decisions] == ["use-pip", "use-uv"]
    assert [[reason["check"] for reason in finding["reasons"]] for finding in decisions] == [["files"]] * 2
    assert _findings(onrecord, "use-uv", "--category=runbook") == []
    assert [finding["id"] for finding in _findings(onrecord, "use-uv", "60-calls")] == ["use-uv", "60-calls-a-minute"]


@pytest.fixture
def many(project, onrecord):
    """Twenty-one records that are hard to find, of which a draft changes one."""
    onrecord("save", "decision", "Rule 0", *DECISION)
    folder = project / ".claude/memory/decisions"
    text = (folder / "rule-0.json").read_text().replace("Imports must", "Rule 0 must")
    for number in range(1, 21):
        renamed = text.replace("ule-0", f"ule-{number}").replace("ule 0", f"ule {number}")
        (folder / f"rule-{number}.json").write_text(renamed)


def test_twenty_are_listed_and_the_others_counted(many, onrecord):
    everything = ["--check=triggers"]

    assert len(_findings(onrecord, *everything)) == 20
    assert len(_findings(onrecord, *everything, "--limit=0")) == 21
    last = [
        onrecord("improve", *everything, *more).out.splitlines()[-1] for more in ([], ["--limit=0"], ["--limit=21"])
    ]
    count = "21 of 21 records will be hard to find"
    assert last == [f"{count}; 1 more with --limit 0", count, count]


def test_what_a_draft_changes_is_counted_apart(many, onrecord):
    assert onrecord("update", "rule-3", "--trigger=where do jobs run", "--draft").code == 0

    data = json.loads(onrecord("improve", "--check=triggers", "--json").out)

    assert (data["records"], data["hard_to_find"], data["waiting"], len(data["findings"])) == (21, 21, 1, 20)
    assert "rule-3" not in [finding["id"] for finding in data["findings"]]
    out = onrecord("improve", "--check=triggers", "--limit=19").out.splitlines()[-1]
    changed = "1 of them changed by drafts: onrecord review"
    assert out == f"21 of 21 records will be hard to find; 1 more with --limit 0; {changed}"


def test_files_that_cannot_be_read_are_counted_aside(sample, onrecord):
    (sample / ".claude/memory/decisions/broken.json").write_text("{")

    outcome = onrecord("improve", "--limit=1")

    assert outcome.err == "warning: left out: 1 file that cannot be read; to see why: onrecord doctor\n"


def test_where_every_record_is_easy_to_find_it_says_so(project, onrecord):
    words = ("worker", "broker", "cron", "task", "restart", "cluster")
    triggers = [f"--trigger=how does a {word} find its work" for word in words]
    assert onrecord("save", "decision", "Jobs are rows of a table", *DECISION, *triggers).code == 0

    assert len(words) == hard_to_find.ENOUGH_TRIGGERS
    assert onrecord("improve").out == "No record will be hard to find.\n"


def test_a_fix_names_the_store_of_the_command(project, onrecord):
    onrecord("save", "decision", "Jobs are rows of a table", *DECISION, "--user")

    (finding,) = _findings(onrecord, "--user")

    fix = finding["reasons"][0]["fix"]
    assert fix.endswith(": onrecord edit jobs-are-rows-of-a-table --user; or ask your agent to draft them")


def test_paths_are_painted(sample, onrecord, monkeypatch):
    monkeypatch.setattr(Screen, "for_stream", classmethod(lambda cls, stream: Screen(80, True, True)))

    lines = onrecord("improve", "60-calls-a-minute").out.splitlines()

    assert lines[:3] == [
        "\x1b[1mconstraints/60-calls-a-minute.json\x1b[0m  60 calls a minute",
        "  has 1 trigger",
        "    fix: write eight to ten, in other words than the title:",
    ]

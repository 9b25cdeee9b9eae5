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


def test_an_undo_of_an_undo_is_told_apart_in_the_log(project, onrecord):
    onrecord("save", "decision", "Jobs in Postgres", *DECISION)
    onrecord("undo")
    mistake = onrecord("log", "--limit", "1").out.split("\t")[1]

    undone = onrecord("undo", mistake)

    file = "decisions/jobs-in-postgres.json  Jobs in Postgres"
    assert undone.out == f"undid: undo of 2026-03-02T09:30:00Z (1 file)\n  restored {file}\n"
    newest, middle, first = (line.split("\t")[3] for line in onrecord("log").out.splitlines())
    assert (newest, first) == (f"undo {mistake}", "save")
    assert re.fullmatch(r"undo [0-9a-f]{8} \(undone\)", middle)
    assert onrecord("undo", mistake).err.startswith(f"CANNOT_UNDO: the change {mistake} is already undone")


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


def test_the_log_for_programs_says_what_became_of_each_file(project, onrecord):
    onrecord("save", "decision", "Jobs in Postgres", *DECISION)
    onrecord("update", "jobs-in-postgres", "--tag=queue")
    (project / ".claude/memory/inbox").mkdir()
    (project / ".claude/memory/inbox/broken.json").write_text("{")
    assert onrecord("review", "--reject", "broken").code == 0
    onrecord("undo")

    changes = json.loads(onrecord("log", "--json").out)["changes"]

    ids = [change.pop("id") for change in changes]
    common = {"at": "2026-03-02T09:30:00Z", "by": "person", "undoes": "", "is_undone": False}
    broken = {"path": "inbox/broken.json", "title": ""}
    jobs = {"path": "decisions/jobs-in-postgres.json", "title": "Jobs in Postgres"}
    assert changes == [
        {**common, "action": "undo", "undoes": ids[1], "files": [{**broken, "effect": "added"}]},
        {**common, "action": "reject", "is_undone": True, "files": [{**broken, "effect": "removed"}]},
        {**common, "action": "update", "files": [{**jobs, "effect": "changed"}]},
        {**common, "action": "save", "files": [{**jobs, "effect": "added"}]},
    ]
    assert onrecord("log", "--limit=1").out.endswith("\tinbox/broken.json\n")


def test_the_newest_twenty_are_listed_unless_a_number_is_given(onrecord):
    onrecord("save", "decision", "Jobs in Postgres", *DECISION)
    for _ in range(10):
        assert onrecord("retire", "jobs-in-postgres", "--reason=r").code == 0
        assert onrecord("restore", "jobs-in-postgres").code == 0

    assert len(onrecord("log").out.splitlines()) == 20
    assert len(onrecord("log", "--limit=21").out.splitlines()) == 21


def test_two_titles_of_a_change_are_named_and_the_others_counted(project, onrecord):
    for number, title in enumerate(("One", "Two", "Three")):
        path = project / f"docs/adr/000{number}-x.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {number}. {title}\n\n## Context\n\n{title} is first.\n\n## Decision\n\nUse {title}.\n")
        onrecord("import", "--again")

    assert [line.split("\t")[-1] for line in onrecord("log").out.splitlines()] == [
        "Use One, Use Two and 1 more", "Use One, Use Two", "Use One",
    ]  # fmt: skip


def test_what_was_changed_since_is_skipped_if_that_is_wanted(project, onrecord):
    onrecord("save", "decision", "Old", *DECISION)
    onrecord("save", "decision", "New", "--force", *DECISION)
    onrecord("supersede", "old", "new")
    change = json.loads(onrecord("log", "--json").out)["changes"][0]["id"]
    file = project / ".claude/memory/decisions/new.json"
    file.write_text(file.read_text().replace("restart", "crash"))

    rehearsed = onrecord("undo", change, "--skip-changed", "--dry-run")
    undone = onrecord("undo", change, "--skip-changed", "--json")

    skipped = "  skipped, changed since: decisions/new.json\n"
    moment = "supersede of 2026-03-02T09:30:00Z (2 files)"
    assert rehearsed.out == f"would undo: {moment}\n  restore decisions/old.json  Old\n{skipped}"
    answer = json.loads(undone.out)
    assert answer.pop("undone")["id"] == change
    assert answer == {
        "files": [{"path": "decisions/old.json", "title": "Old", "effect": "restored"}],
        "skipped": ["decisions/new.json"],
        "dry_run": False,
    }


def test_files_that_are_as_before_already_need_no_undoing(project, onrecord):
    onrecord("save", "decision", "Jobs in Postgres", *DECISION)
    (project / ".claude/memory/decisions/jobs-in-postgres.json").unlink()

    assert onrecord("undo").out == (
        "undid: save of 2026-03-02T09:30:00Z (1 file)\n  its files are already as they were before\n"
    )

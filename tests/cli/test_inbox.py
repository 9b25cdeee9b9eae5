from __future__ import annotations

import json

import pytest

from onrecord.capture import suggestions

from .conftest import DECISION, NOW, in_own_process

RECORD = {
    "title": "Jobs are rows of a table",
    "tags": ["jobs"],
    "content": {"context": "Imports restart.", "decision": "Jobs are rows of `jobs`.", "rationale": ["one thing less"]},
}


def test_a_draft_waits_in_the_inbox_and_is_no_record(project, onrecord):
    saved = onrecord("save", "decision", "--draft", "--json", stdin=json.dumps(RECORD))

    assert json.loads(saved.out)["draft"] == "jobs-are-rows-of-a-table"
    assert onrecord("list").out == ""
    (waiting,) = json.loads(onrecord("inbox", "--json").out)["drafts"]
    assert (waiting["name"], waiting["category"], waiting["made_at"], waiting["machine_made"]) == (
        "jobs-are-rows-of-a-table",
        "decision",
        NOW,
        False,
    )
    assert waiting["record"]["origin"] == "agent"
    assert "inbox/" in (project / ".claude/memory/.gitignore").read_text()


def test_a_draft_that_answers_a_suggestion_carries_its_evidence(project, onrecord, monkeypatch):
    suggestions.add(str(project), "suggested", "decision", "s-1", ("we go with rows of a table",))
    suggestions.add(str(project), "suggested", "decision", "s-2", ("said in another session",))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")

    onrecord("save", "decision", "--suggested", "--json", stdin=json.dumps(RECORD))

    (waiting,) = json.loads(onrecord("inbox", "--json").out)["drafts"]
    assert (waiting["session"], waiting["evidence"]) == ("s-1", ["we go with rows of a table"])
    assert waiting["record"]["source"] == 'session s-1: "we go with rows of a table"'
    assert [suggestion.state for suggestion in suggestions.read(str(project))] == ["suggested", "drafted"]


def test_in_auto_mode_what_was_suggested_is_saved_at_once(project, onrecord):
    onrecord("init")
    onrecord("config", "set", "--user", "capture.mode", "auto")
    suggestions.add(str(project), "suggested", "decision", "s-1", ("we go with rows of a table",))

    saved = onrecord("save", "decision", "--suggested", "--json", stdin=json.dumps(RECORD))

    assert json.loads(saved.out)["path"] == ".claude/memory/decisions/jobs-are-rows-of-a-table.json"
    assert onrecord("inbox").out == ""
    assert [suggestion.state for suggestion in suggestions.read(str(project))] == ["saved"]


def test_a_suggestion_nobody_made_cannot_be_answered(project, onrecord):
    suggestions.add(str(project), "drafted", "decision", "s-1", ("we go with rows of a table",))

    refused = onrecord("save", "decision", "--suggested", "--json", stdin=json.dumps(RECORD))

    assert (refused.code, json.loads(refused.out)["error"]["code"]) == (1, "BAD_INPUT")
    assert onrecord("inbox").out == ""


def test_drafts_that_wait_are_counted_by_list_doctor_and_for_a_status_line(project, onrecord):
    onrecord("init")
    assert onrecord("inbox", "--brief").out == ""

    for title in ("Jobs are rows", "Imports restart by themselves"):
        onrecord("save", "decision", "--draft", "--force", "--json", stdin=json.dumps({**RECORD, "title": title}))

    message = "2 drafts are waiting"
    assert onrecord("inbox", "--brief").out == f"{message}: onrecord review\n"
    assert onrecord("list").err == f"no records yet; `onrecord save` creates one; {message}: onrecord review\n"
    assert json.loads(onrecord("list", "--json").out)["drafts"] == 2
    findings = json.loads(onrecord("doctor", "--json").out)["findings"]
    assert [(item["what"], item["fix"]) for item in findings if item["check"] == "inbox"] == [
        (message, "onrecord review")
    ]


def test_a_rehearsed_draft_leaves_nothing(project, onrecord):
    answer = onrecord("save", "decision", "--draft", "--dry-run", "--json", stdin=json.dumps(RECORD))

    assert (answer.code, json.loads(answer.out)["dry_run"]) == (0, True)
    assert not (project / ".claude").exists()


def test_a_secret_never_reaches_the_inbox(project, onrecord):
    onrecord("init")
    stolen = {**RECORD, "title": "The key is AKIA" + "IOSFODNN7ABCDEFG"}

    refused = onrecord("save", "decision", "--draft", "--json", stdin=json.dumps(stolen))

    assert json.loads(refused.out)["error"]["code"] == "SECRET_FOUND"
    assert onrecord("inbox", "--json").out == '{\n  "drafts": []\n}\n'


def test_an_unreadable_draft_is_listed_as_such(project, onrecord):
    onrecord("save", "decision", "--draft", stdin=json.dumps(RECORD))
    (project / ".claude/memory/inbox/broken.json").write_text("{")

    drafts = json.loads(onrecord("inbox", "--json").out)["drafts"]

    assert [draft["name"] for draft in drafts if "error" in draft] == ["broken"]
    assert len(drafts) == 2
    assert "broken\tunreadable" in onrecord("inbox").out


def test_the_command_runs_from_a_bare_clone(project):
    in_own_process("init", cwd=project)

    outcome = in_own_process("inbox", "--json", cwd=project)

    assert (outcome.code, json.loads(outcome.out)) == (0, {"drafts": []})


def saved(onrecord, *flags: str, **changed: object):
    return onrecord("save", "decision", "--json", *flags, stdin=json.dumps({**RECORD, **changed}))


def test_a_near_duplicate_is_refused_with_the_command_to_use(project, onrecord):
    saved(onrecord)

    refused = saved(onrecord, title="Every job is a row of a table")

    error = json.loads(refused.out)["error"]
    assert (refused.code, error["code"]) == (1, "NEAR_DUPLICATE")
    assert "--update jobs-are-rows-of-a-table" in error["fix"]
    assert len(onrecord("list").out.splitlines()) == 1


def test_a_draft_of_what_is_known_is_refused_too(onrecord):
    saved(onrecord)

    assert json.loads(saved(onrecord, "--draft", title="Every job is a row of a table").out)["error"]["code"] == (
        "NEAR_DUPLICATE"
    )


def test_force_saves_it_all_the_same_and_shows_what_is_near(onrecord):
    saved(onrecord)

    answer = json.loads(saved(onrecord, "--force", title="Every job is a row of a table").out)

    assert [(match["id"], match["same"]) for match in answer["similar"]] == [("jobs-are-rows-of-a-table", True)]
    assert len(onrecord("list").out.splitlines()) == 2


def test_update_puts_it_into_the_record_there_is(onrecord):
    saved(onrecord)
    content = {**RECORD["content"], "rationale": ["survives a restart"]}

    saved(onrecord, "--update", "jobs-are-rows-of-a-table", title="Jobs as rows", content=content)

    record = json.loads(onrecord("show", "jobs-are-rows-of-a-table", "--json").out)["record"]
    assert record["title"] == "Jobs are rows of a table"
    assert record["content"]["rationale"] == ["one thing less", "survives a restart"]
    assert record["times_updated"] == 1


def test_supersedes_links_both(onrecord):
    saved(onrecord)

    answer = saved(
        onrecord,
        "--supersedes=jobs-are-rows-of-a-table",
        title="Jobs live in a queue, not in a table",
        content={**RECORD["content"], "decision": "Jobs are messages of RabbitMQ."},
    )

    assert answer.code == 0
    old = json.loads(onrecord("show", "jobs-are-rows-of-a-table", "--json").out)["record"]
    assert old["superseded_by"] == json.loads(answer.out)["id"]


@pytest.mark.parametrize("flags", [("--update=nowhere",), ("--supersedes=nowhere",)])
def test_a_record_that_is_not_there_can_be_neither_changed_nor_replaced(onrecord, flags):
    refused = saved(onrecord, *flags)

    assert json.loads(refused.out)["error"]["code"] == "NOT_FOUND"
    assert onrecord("list").out == ""


def test_both_at_once_make_no_sense(onrecord):
    refused = onrecord("save", "decision", "T", *DECISION, "--update=a", "--supersedes=b", "--json")

    assert json.loads(refused.out)["error"]["code"] == "BAD_INPUT"

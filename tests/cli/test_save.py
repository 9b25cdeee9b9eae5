from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import DECISION, NOW, in_own_process


def test_flags_make_a_whole_record(project, onrecord):
    outcome = onrecord(
        "save", "tech_debt", "Fares in three places", "--tag=Fares", "--tag=rounding", "--trigger=why is it 1 cent off",
        "--related=ferry/fares.py", "--force", "--set=description=d", "--set=reason_deferred=r", "--set=impact=one",
        "--set=impact=two", "--set=confidence=0.8", "--set=scope.paths=ferry/**", "--set=content.priority=high",
    )  # fmt: skip

    assert outcome.code == 0
    saved = json.loads((project / ".claude/memory/tech-debt/fares-in-three-places.json").read_text())
    assert saved == {
        "schema_version": "1.0",
        "category": "tech_debt",
        "id": "fares-in-three-places",
        "title": "Fares in three places",
        "record_status": "active",
        "created_at": NOW,
        "updated_at": NOW,
        "tags": ["fares", "rounding"],
        "triggers": ["why is it 1 cent off"],
        "related_files": ["ferry/fares.py"],
        "scope": {"paths": ["ferry/**"]},
        "confidence": 0.8,
        "content": {
            "status": "open",
            "priority": "high",
            "description": "d",
            "reason_deferred": "r",
            "impact": ["one", "two"],
        },
        "origin": "user",
        "changes": [{"date": NOW, "summary": "Created"}],
        **({"times_updated": 0} if "times_updated" in saved else {}),
    }


def test_the_first_record_founds_the_store_with_its_git_files(project, onrecord):
    onrecord("save", "decision", "Jobs are rows", *DECISION)

    assert (project / ".claude/memory/.gitignore").read_text().split() == [".lock", ".journal", ".tmp-*", "inbox/"]


def test_flags_lie_over_json_from_a_file(project, onrecord):
    (project / "draft.json").write_text(
        json.dumps({"title": "From the file", "context": "c", "decision": "d", "rationale": "r", "tags": ["a"]})
    )

    answer = onrecord("save", "decision", "--file", "draft.json", "From the flag", "--set=decision=flagged", "--json")

    record = json.loads(onrecord("show", json.loads(answer.out)["id"], "--json").out)["record"]
    assert (record["title"], record["content"]["decision"], record["content"]["context"]) == (
        "From the flag",
        "flagged",
        "c",
    )


NO_TRIGGERS = "it has no triggers, so prompts in other words rarely find it: "


def test_a_save_without_triggers_says_in_one_line_what_is_missing(onrecord):
    saved = onrecord("save", "decision", "Jobs are rows", *DECISION)
    as_json = onrecord("save", "decision", "Tasks of the timetable", *DECISION, "--force", "--json")
    draft = onrecord("save", "decision", "Queues of the harbour are rows", *DECISION, "--draft", "--force")

    fix = "onrecord update jobs-are-rows --trigger 'how you would ask'"
    assert saved.err == f"{NO_TRIGGERS}{fix}\n"
    assert json.loads(as_json.out)["note"].startswith(NO_TRIGGERS) and as_json.err == ""
    assert draft.err == f"{NO_TRIGGERS}add some in the review\n"


def test_a_title_that_is_a_topic_is_saved_with_a_better_one_to_take(onrecord):
    saved = onrecord("save", "decision", "Queues", *DECISION, "--trigger=where do tasks run")
    draft = onrecord("save", "decision", "Quays", *DECISION, "--trigger=x y", "--draft", "--force", "--json")

    better = 'state the rule, such as "Queues: Jobs are rows of the table jobs, 4 at a time": onrecord edit queues'
    assert saved.err == f"its title names a topic, and the title is what a session starts with: {better}\n"
    assert json.loads(draft.out)["note"].endswith("change it in the review")


def test_a_record_with_triggers_and_a_summary_of_a_session_are_saved_without_a_word(onrecord):
    saved = onrecord("save", "decision", "Jobs are rows", *DECISION, "--trigger=where do tasks run")
    updated = onrecord("save", "decision", "Jobs are rows", *DECISION, "--update=jobs-are-rows")
    summary = onrecord("save", "session_summary", "Fares", "--set=goal=Fares in one place")

    assert (saved.err, updated.err, summary.err) == ("", "", "")


def test_nested_objects_can_be_set_by_flags(onrecord):
    onrecord(
        "save", "preference", "Tabs", "--set=topic=t", "--set=value=v", "--set=reason=r",
        "--set=examples.prefer=a", "--set=examples.prefer=b", "--set=examples.avoid=c",
    )  # fmt: skip

    record = json.loads(onrecord("show", "tabs", "--json").out)["record"]
    assert record["content"]["examples"] == {"prefer": ["a", "b"], "avoid": ["c"]}


def test_a_title_on_the_command_line_means_standard_input_is_not_waited_for(project):
    """An agent's shell may leave standard input open for ever."""
    import os
    import subprocess
    import sys

    from .conftest import BIN

    reader, writer = os.pipe()
    process = subprocess.run(
        [sys.executable, str(BIN), "save", "decision", "Jobs", *DECISION], cwd=project, stdin=reader, timeout=60
    )
    os.close(writer)
    os.close(reader)

    assert process.returncode == 0


def test_a_dry_run_writes_nothing_at_all(project, onrecord):
    outcome = onrecord("save", "decision", "Jobs are rows", *DECISION, "--dry-run", "--json")

    answer = json.loads(outcome.out)
    assert (answer["id"], answer["dry_run"], answer["record"]["title"]) == ("jobs-are-rows", True, "Jobs are rows")
    assert list(project.iterdir()) == []


def test_a_dry_run_refuses_what_a_real_one_would(onrecord):
    onrecord("save", "decision", "Jobs are rows", *DECISION)

    assert "ALREADY_EXISTS" in onrecord("save", "decision", "Jobs are rows", *DECISION, "--dry-run").err


def test_a_secret_is_refused_unless_insisted_on(onrecord):
    words = ("save", "decision", "Key", *DECISION, "--set=consequences=AKIA0123456789ABCDEF is the key")

    refused, allowed = onrecord(*words), onrecord(*words, "--allow-secret")

    assert refused.err.startswith("SECRET_FOUND: content.consequences[0] carries an AWS access key (AKIA…)\n")
    assert allowed.code == 0


@pytest.mark.parametrize(
    ("words", "stdin", "error"),
    [
        (["save", "decision"], "", "BAD_INPUT: there is nothing to save"),
        (["save", "decision"], "{", "BAD_INPUT: standard input: not JSON"),
        (["save", "decision"], "[1]", "BAD_INPUT: standard input: must be a JSON object"),
        (["save", "decision"], "[" * 10_000, "BAD_INPUT: standard input: "),
        (["save", "decision"], '{"title": "x", "content": []}', "BAD_INPUT: content: must be an object"),
        (["save", "decision", "T", "--set", "contxt=c"], "", "BAD_INPUT: 'contxt' is not a field"),
        (["save", "decision", "T", "--set", "zzz=c"], "", "BAD_INPUT: 'zzz' is not a field of this record"),
        (["save", "constraint", "T", "--set", "active=maybe"], "", "BAD_INPUT: --set active: must be true or false"),
        (["save", "decision", "T", "--set", "confidence=2", *DECISION], "", "INVALID_RECORD: confidence: must be from"),
        (["save", "decision", "T\udcff", *DECISION], "", "BAD_INPUT: an argument is not UTF-8"),
    ],
)
def test_what_cannot_be_saved_is_explained(project, onrecord, words, stdin, error):
    outcome = onrecord(*words, stdin=stdin)

    assert outcome.code == 1
    assert outcome.err.startswith(error)
    assert "\nfix: " in outcome.err
    assert list(project.rglob("*.json")) == []


def test_whoever_gives_the_file_that_a_record_is_about_is_told_how(project, onrecord):
    (project / "fares.py").write_text("print(1)\n")

    outcome = onrecord("save", "decision", "Fares are cents", "--file", "fares.py")

    assert outcome.err.startswith("BAD_INPUT: fares.py: not JSON")
    assert "--related fares.py" in outcome.err


def test_a_file_that_is_not_there_is_wrong_usage(onrecord):
    outcome = onrecord("save", "decision", "--file", "nowhere.json")

    assert outcome.code == 2
    assert outcome.err.startswith("onrecord save: --file must be a file that can be read, not nowhere.json: ")


def test_input_that_is_too_large_is_refused(project):
    outcome = in_own_process("save", "decision", cwd=project, stdin=b'{"title": "' + b"x" * 2_000_000 + b'"}')

    assert (outcome.code, outcome.err.split(":")[0]) == (1, "BAD_INPUT")


def test_the_user_store_is_another_one(project, onrecord, home):
    onrecord("save", "decision", "Everywhere", *DECISION, "--user")

    assert (home / ".claude/memory/decisions/everywhere.json").exists()
    assert not (project / ".claude").exists()
    assert onrecord("list", "--user").out.startswith("everywhere\t")


def test_the_category_may_be_in_the_json(project, onrecord):
    record = {
        "category": "decision",
        "title": "Jobs are rows",
        "content": {"context": "c", "decision": "d", "rationale": "r"},
    }

    saved = onrecord("save", "--file", "-", "--json", stdin=json.dumps(record))

    assert (saved.code, json.loads(saved.out)["path"]) == (0, ".claude/memory/decisions/jobs-are-rows.json")
    assert onrecord("save", "--force", "--dry-run", "--json", stdin=json.dumps({**record, "title": "Other"})).code == 0
    without = onrecord("save", "--file", "-", stdin=json.dumps({**record, "category": ["decision"]}))
    assert without.err.startswith("BAD_INPUT: save needs the category of the record\n")


def test_a_trigger_that_fits_any_prompt_is_warned_about_when_it_is_saved_and_by_audit_and_doctor(onrecord):
    note = (
        'the trigger "fix it" has only words that any prompt may have, so it is not matched as such: '
        "name the thing asked for"
    )

    saved = onrecord("save", "decision", "Jobs are rows", *DECISION, "--trigger=fix it", "--trigger=where do tasks run")
    updated = onrecord("update", "jobs-are-rows", "--trigger=what do we do")

    assert saved.err == f"{note}\n"
    assert updated.err == f"{note.replace('fix it', 'what do we do')}\n"
    assert '"fix it", "what do we do" have only words' in onrecord("audit").out
    assert '"fix it", "what do we do" have only words' in onrecord("doctor").out


def test_the_items_of_a_list_can_be_given_as_one_json_list(onrecord):
    options = [{"option": name, "rejected_reason": "slow"} for name in ("RabbitMQ", "NATS")]

    saved = onrecord("save", "decision", "Jobs are rows", *DECISION, f"--set=alternatives={json.dumps(options)}")

    assert saved.code == 0
    record = json.loads(Path(json.loads(onrecord("show", "jobs-are-rows", "--json").out)["file"]).read_text())
    assert record["content"]["alternatives"] == options


def test_a_field_that_is_given_wrongly_is_what_the_fix_names(onrecord):
    refused = onrecord("save", "decision", "Jobs are rows", *DECISION, "--set=status=maybe")

    assert refused.err.startswith("INVALID_RECORD: content.status: ")
    assert "fix: correct content.status and try again; nothing was written" in refused.err

from __future__ import annotations

import json

import pytest

from .conftest import DECISION


@pytest.fixture
def saved(onrecord):
    answer = onrecord(
        "save", "decision", "Jobs are rows", "--tag=queue", "--trigger=where do jobs run", *DECISION, "--json"
    )
    return json.loads(answer.out)


def _record(onrecord, name):
    return json.loads(onrecord("show", name, "--json").out)["record"]


def test_flags_change_fields_and_the_change_is_logged(onrecord, saved):
    outcome = onrecord(
        "update", saved["id"], "--hash", saved["hash"], "--set=decision=8 at a time", "--tag=postgres",
        "--summary=measured again", "--json",
    )  # fmt: skip

    answer, record = json.loads(outcome.out), _record(onrecord, saved["id"])
    assert answer["changed"] is True
    assert [change["summary"] for change in answer["changes"]] == [
        "measured again",
        "Changed tags",
        "Changed content.decision",
    ]
    assert (record["content"]["decision"], record["tags"]) == ("8 at a time", ["postgres", "queue"])


def test_flags_add_to_the_lists_of_the_json_object(onrecord, saved):
    fields = {"triggers": ["who works through jobs"], "tags": ["jobs"], "related_files": ["a.py"]}
    words = ["--file=-", "--trigger=task queue", "--tag=nats", "--related=b.py", "--force"]

    onrecord("update", saved["id"], "--hash", saved["hash"], *words, stdin=json.dumps(fields))

    record = _record(onrecord, saved["id"])
    assert record["triggers"] == ["who works through jobs", "task queue"]
    assert {"jobs", "nats"} <= set(record["tags"])
    assert record["related_files"] == ["a.py", "b.py"]


def test_a_trigger_flag_adds_and_set_replaces(onrecord, saved):
    added = onrecord("update", saved["id"], "--hash", saved["hash"], "--trigger=task queue", "--json")
    assert _record(onrecord, saved["id"])["triggers"] == ["where do jobs run", "task queue"]

    onrecord("update", saved["id"], "--hash", json.loads(added.out)["hash"], "--set=triggers=only this")
    assert _record(onrecord, saved["id"])["triggers"] == ["only this"]


def test_a_patch_may_come_as_json_with_content_fields_at_the_top(onrecord, saved):
    onrecord("update", saved["id"], "--hash", saved["hash"], stdin='{"context": "new", "confidence": 0.5}')

    record = _record(onrecord, saved["id"])
    assert (record["content"]["context"], record["confidence"]) == ("new", 0.5)


def test_null_in_a_patch_removes_a_field(onrecord, saved):
    onrecord("update", saved["id"], "--hash", saved["hash"], stdin='{"triggers": null}')

    assert "triggers" not in _record(onrecord, saved["id"])


def test_a_required_field_cannot_be_removed(onrecord, saved):
    outcome = onrecord("update", saved["id"], "--hash", saved["hash"], stdin='{"title": null}')

    assert outcome.err.startswith("INVALID_RECORD: title: is missing")
    assert _record(onrecord, saved["id"])["title"] == "Jobs are rows"


def test_a_new_title_renames_the_record(project, onrecord, saved):
    outcome = onrecord("update", saved["id"], "--hash", saved["hash"], "--set=title=Work goes through NATS", "--json")

    assert json.loads(outcome.out)["id"] == "work-goes-through-nats"
    assert [path.name for path in project.rglob("decisions/*.json")] == ["work-goes-through-nats.json"]


def test_a_dry_run_tells_the_changes_and_makes_none(project, onrecord, saved):
    before = (project / ".claude/memory/decisions/jobs-are-rows.json").read_bytes()

    outcome = onrecord("update", saved["id"], "--hash", saved["hash"], "--set=title=Work through NATS", "--dry-run")

    assert outcome.out == (
        "would update decisions/work-through-nats.json\n  Changed title\n  Renamed from jobs-are-rows\n"
    )
    assert [p.read_bytes() for p in project.rglob("decisions/*.json")] == [before]


def test_saying_the_same_again_changes_nothing(onrecord, saved):
    outcome = onrecord("update", saved["id"], "--hash", saved["hash"], "--tag=queue")

    assert outcome.out == "decisions/jobs-are-rows.json already says that; nothing changed\n"


@pytest.mark.parametrize(
    ("stdin", "error"),
    [
        ('{"record_status": "retired"}', "INVALID_RECORD: record_status: cannot be changed by an update"),
        ('{"tag": ["x"]}', "BAD_INPUT: 'tag' is not a field of a record"),
        ('{"context": "postgres://u:hunter22@db/x"}', "SECRET_FOUND: content.context carries a URL with a password"),
    ],
)
def test_what_an_update_refuses(onrecord, saved, stdin, error):
    outcome = onrecord("update", saved["id"], "--hash", saved["hash"], stdin=stdin)

    assert (outcome.code, outcome.err[: len(error)]) == (1, error)


def test_what_only_adds_needs_no_hash(onrecord, saved):
    outcome = onrecord(
        "update", saved["id"], "--trigger=task queue", "--tag=nats", "--related=ferry/work.py", "--force", "--json"
    )

    record = json.loads(onrecord("show", saved["id"], "--json").out)["record"]
    assert outcome.code == 0
    assert "task queue" in record["triggers"] and "nats" in record["tags"]
    assert record["related_files"] == ["ferry/work.py"]


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (("--trigger=task queue", "--set=decision=8 at a time"), ""),
        (("--set=triggers=only this",), ""),
        ((), '{"triggers": ["only this"]}'),
        ((), ""),
    ],
)
def test_what_replaces_anything_needs_the_hash(onrecord, saved, words, stdin):
    before = onrecord("show", saved["id"]).out

    outcome = onrecord("update", saved["id"], *words, stdin=stdin)

    assert outcome.code == 1 and outcome.err.startswith("BAD_INPUT")
    assert onrecord("show", saved["id"]).out == before


def _drafts(onrecord) -> list[dict]:
    return json.loads(onrecord("inbox", "--json").out)["drafts"]


def test_a_drafted_change_waits_and_is_made_when_it_is_accepted(onrecord, saved):
    change = {"title": "Jobs are rows of a table", "triggers": ["add celery"], "content": {"rationale": ["measured"]}}

    words = ("--hash", saved["hash"], "--draft", "--summary=Say why", "--json")
    outcome = onrecord("update", saved["id"], *words, stdin=json.dumps(change))

    name = json.loads(outcome.out)["draft"]
    assert _record(onrecord, saved["id"])["times_updated"] == 0
    (waiting,) = _drafts(onrecord)
    assert (waiting["name"], waiting["updates"], waiting["summary"]) == (name, saved["id"], "Say why")
    assert "  + add celery" in waiting["diff"]
    accepted = json.loads(onrecord("review", "--accept", name, "--json").out)
    record = _record(onrecord, accepted["id"])
    assert {key: record[key] for key in ("title", "triggers")} == {key: change[key] for key in ("title", "triggers")}
    assert record["content"]["rationale"] == ["measured"]
    assert record["content"]["decision"] and "Say why" in [change["summary"] for change in record["changes"]]
    assert _drafts(onrecord) == []


def test_a_drafted_change_of_a_record_that_changed_since_is_refused_and_waits_on(onrecord, saved):
    outcome = onrecord("update", saved["id"], "--draft", "--trigger=add celery", "--json")
    name = json.loads(outcome.out)["draft"]
    onrecord("update", saved["id"], "--tag=changed")

    refused = json.loads(onrecord("review", "--accept", name, "--json").out)["error"]
    screen = onrecord("review", stdin="s\n").out

    assert refused["code"] == "CHANGED_SINCE_READ"
    assert refused["fix"].endswith(f"--merge {name} --into {saved['id']}; or: onrecord review --reject {name}")
    assert "the record was changed since" in screen
    assert [draft["name"] for draft in _drafts(onrecord)] == [name]
    assert _record(onrecord, saved["id"])["triggers"] == ["where do jobs run"]


def test_a_drafted_change_can_be_put_into_a_record_that_changed_since(onrecord, saved):
    onrecord("update", saved["id"], "--draft", "--trigger=add celery")
    onrecord("update", saved["id"], "--tag=changed", f"--hash={saved['hash']}", "--set=context=Later.")

    merged = onrecord("review", "--merge", saved["id"], "--into", saved["id"])

    record = _record(onrecord, saved["id"])
    assert merged.code == 0 and _drafts(onrecord) == []
    assert record["triggers"] == ["where do jobs run", "add celery"] and "changed" in record["tags"]
    assert record["content"]["context"] == "Later."


def test_a_review_shows_only_what_a_drafted_change_changes(onrecord, saved):
    onrecord("update", saved["id"], "--draft", "--trigger=add celery", "--summary=More triggers")

    screen = onrecord("review", stdin="s\n").out

    assert f"changes decisions/{saved['id']}.json" in screen
    assert "why: More triggers" in screen and "  + add celery" in screen
    assert "says the same" not in screen


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--hash", "0" * 32, "--set=title=New"), "CHANGED_SINCE_READ"),
        (("--set=title=New",), "BAD_INPUT"),
        (("--trigger=AKIAIOSFODNN7EXAMPLQ in the log",), "SECRET_FOUND"),
        (tuple(f"--trigger=number {n}" for n in range(17)), "INVALID_RECORD"),
    ],
)
def test_what_an_update_refuses_is_not_drafted_either(onrecord, saved, words, code):
    outcome = onrecord("update", saved["id"], "--draft", *words, "--json")

    assert json.loads(outcome.out)["error"]["code"] == code
    assert _drafts(onrecord) == []


def test_a_drafted_change_put_into_another_record_only_adds_to_it(onrecord, saved):
    other = json.loads(onrecord("save", "decision", "The queue", *DECISION, "--force", "--trigger=old", "--json").out)
    onrecord("update", saved["id"], "--draft", "--trigger=add celery")

    onrecord("review", "--merge", saved["id"], "--into", other["id"])

    record = _record(onrecord, other["id"])
    assert record["title"] == "The queue" and {"old", "add celery"} <= set(record["triggers"])


@pytest.mark.parametrize("with_hash", [True, False])
def test_flags_of_a_drafted_change_only_add_also_with_the_hash(project, onrecord, saved, with_hash):
    for name in ("a.py", "b.py"):
        (project / name).write_text("x = 1\n")
    onrecord("update", saved["id"], "--tag=first", "--related=a.py")
    words = ("--hash", json.loads(onrecord("show", saved["id"], "--json").out)["hash"]) if with_hash else ()

    assert onrecord("update", saved["id"], *words, "--draft", "--tag=second", "--related=b.py").code == 0
    assert onrecord("review", "--accept", saved["id"]).code == 0

    record = _record(onrecord, saved["id"])
    assert (record["tags"], record["related_files"]) == (["first", "queue", "second"], ["a.py", "b.py"])


def test_notes_on_checks_and_triggers_are_told_together(project, onrecord, saved):
    (project / "a.py").write_text("import moment\n")
    check = json.dumps({"on": "edit", "paths": ["**/*.py"], "has": "import moment", "say": "no moment"})

    updated = onrecord("update", saved["id"], "--trigger=fix it", f"--check={check}", "--force", "--json")

    tried, generic = json.loads(updated.out)["note"].split("; ", 1)
    assert tried.startswith("so far the check") and generic.startswith('the trigger "fix it" has only words')


def test_what_would_be_drafted_is_said_in_a_rehearsal(project, onrecord, saved):
    outcome = onrecord("update", saved["id"], "--trigger=add celery", "--draft", "--dry-run")

    file = f"{project}/.claude/memory/inbox/jobs-are-rows.json"
    assert outcome.out == f"would draft {file}; `onrecord review` decides on it\n"
    assert _drafts(onrecord) == []
    assert json.loads(onrecord("update", saved["id"], "--trigger=add celery", "--draft", "--json").out) == {
        "draft": "jobs-are-rows", "category": "decision", "title": "Jobs are rows", "updates": "jobs-are-rows",
        "supersedes": "", "file": file, "dry_run": False,
    }  # fmt: skip

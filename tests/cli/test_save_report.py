"""All that a save or an update prints, for people and for programs, and the options that it refuses together."""

from __future__ import annotations

import json

import pytest

from onrecord.capture import suggestions
from onrecord.cli.output import Screen

from .conftest import DECISION, NOW

JOBS = ("save", "decision", "Jobs are rows", *DECISION, "--trigger=where do jobs run", "--user")
TABLE = ("save", "decision", "Jobs are table rows", *DECISION, "--force", "--trigger=how are jobs kept", "--user")


@pytest.fixture
def saved(project, onrecord, home):
    """The handle of a record of the user."""
    answer = json.loads(onrecord(*JOBS, "--json").out)
    return {key: answer[key] for key in ("id", "category", "title", "hash")}


def _similar(saved):
    return [{**saved, "path": "decisions/jobs-are-rows.json", "closeness": 0.951, "wording": 1.0, "same": True}]


REPLACES = "similar: decisions/jobs-are-rows.json (Jobs are rows). If the new record replaces it: "


def test_a_rehearsal_prints_the_whole_record(saved, onrecord):
    outcome = onrecord(*TABLE, "--dry-run")

    first, second, text = outcome.out.split("\n", 2)
    assert first == f"{REPLACES}onrecord supersede jobs-are-rows jobs-are-table-rows --user"
    assert second == "would save decisions/jobs-are-table-rows.json"
    assert json.loads(text) == json.loads(onrecord(*TABLE, "--dry-run", "--json").out)["record"]
    assert json.loads(text)["title"] == "Jobs are table rows"


def test_a_record_that_is_saved_beside_a_similar_one(saved, onrecord, home):
    answer = json.loads(onrecord(*TABLE, "--json").out)
    again = onrecord("save", "decision", "Jobs all are rows", *TABLE[3:])

    folder = f"{home}/.claude/memory/decisions"
    assert answer == {
        "id": "jobs-are-table-rows", "path": "~/.claude/memory/decisions/jobs-are-table-rows.json",
        "hash": answer["hash"], "category": "decision", "title": "Jobs are table rows", "record_status": "active",
        "updated_at": NOW, "file": f"{folder}/jobs-are-table-rows.json", "similar": _similar(saved), "dry_run": False,
    }  # fmt: skip
    assert again.out == (
        f"{REPLACES}onrecord supersede jobs-are-rows jobs-all-are-rows --user\n"
        "similar: decisions/jobs-are-table-rows.json (Jobs are table rows). "
        "If the new record replaces it: onrecord supersede jobs-are-table-rows jobs-all-are-rows --user\n"
        f"saved {folder}/jobs-all-are-rows.json\n"
    )


def test_a_draft_beside_a_similar_record(saved, onrecord, home):
    answer = json.loads(onrecord(*TABLE, "--draft", "--json", "--dry-run").out)
    outcome = onrecord(*TABLE, "--draft")
    again = json.loads(onrecord(*TABLE, "--draft", "--json").out)["error"]

    file = f"{home}/.claude/memory/inbox/jobs-are-table-rows.json"
    assert answer == {
        "draft": "jobs-are-table-rows", "category": "decision", "title": "Jobs are table rows", "updates": "",
        "supersedes": "", "file": file, "dry_run": True, "similar": _similar(saved),
    }  # fmt: skip
    assert outcome.out == (
        f"{REPLACES}onrecord review --accept jobs-are-table-rows --supersedes jobs-are-rows --user\n"
        f"drafted {file}; `onrecord review --user` decides on it\n"
    )
    assert (again["code"], again["message"]) == (
        "ALREADY_EXISTS", "there is a draft 'jobs-are-table-rows' in the inbox already",
    )  # fmt: skip


def test_a_save_that_updates_a_record_prints_what_changed(saved, onrecord):
    words = ("save", "decision", "Tasks are rows", *DECISION, "--update=jobs-are-rows", "--user", "--tag=x")
    rehearsed, answer = onrecord(*words, "--dry-run"), json.loads(onrecord(*words, "--json").out)

    changes = "  Updated from: Tasks are rows\n  Changed tags\n"
    assert rehearsed.out == f"would update decisions/jobs-are-rows.json\n{changes}"
    assert (answer["id"], answer["title"], answer["changed"], answer["dry_run"]) == (
        "jobs-are-rows", "Jobs are rows", True, False,
    )  # fmt: skip
    assert [change["summary"] for change in answer["changes"]] == ["Updated from: Tasks are rows", "Changed tags"]
    assert "similar" not in answer


def test_a_save_that_replaces_a_record_names_none_as_similar(saved, onrecord):
    answer = json.loads(onrecord(*TABLE, "--supersedes=jobs-are-rows", "--json").out)

    assert (answer["similar"], answer["id"]) == ([], "jobs-are-table-rows")


def test_what_was_done_is_green(saved, onrecord, monkeypatch):
    monkeypatch.setattr(Screen, "for_stream", classmethod(lambda cls, stream: Screen(200, True, True)))

    first_words = [
        onrecord(*words, "--user").out.splitlines()[-1 if words[0] == "save" else 0].split(" ")[0]
        for words in (
            ("save", "decision", "Logs are JSON", *DECISION, "--force"),
            ("save", "decision", "Dates are UTC", *DECISION, "--supersedes=logs-are-json", "--draft"),
            ("update", "jobs-are-rows", "--tag=queue"),
        )
    ]

    assert first_words == [f"\x1b[32m{word}\x1b[0m" for word in ("saved", "drafted", "updated")]


@pytest.mark.parametrize(
    ("option", "flags"),
    [
        ("TITLE", ["decision", "A title"]),
        ("--file", ["--file=-"]),
        ("--tag", ["--tag=x"]),
        ("--trigger", ["--trigger=x"]),
        ("--related", ["--related=x"]),
        ("--check", ['--check={"on": "command", "starts": ["npm install"], "say": "pnpm add"}']),
        ("--set", ["--set=context=c"]),
    ],
)
def test_a_kept_form_has_all_fields_itself(project, onrecord, option, flags):
    (project / "form.md").write_text("")

    refused = onrecord("save", *flags, "--from=form.md")

    assert (refused.code, refused.err.splitlines()[0]) == (2, f"onrecord save: --from and {option} exclude each other")


@pytest.mark.parametrize(
    ("words", "message", "fix"),
    [
        (
            ("save", "--set=context=c", "--file=-"), "save needs the category of the record",
            "onrecord save --help; then name one of decision, constraint, preference, runbook, tech_debt, "
            "session_summary",
        ),
        (
            ("save", "decision", "X", "--suggested"), "there is no open suggestion in this session",
            "leave out --suggested",
        ),
        (
            ("save",), "there is nothing to save",
            "give a category, a title and --set flags, --file FILE, or JSON on standard input",
        ),
    ],
)  # fmt: skip
def test_what_is_missing_is_said_with_what_to_give(project, onrecord, words, message, fix):
    error = json.loads(onrecord(*words, "--json", stdin="" if words == ("save",) else "{}").out)["error"]

    assert (error["code"], error["message"], error["fix"]) == ("BAD_INPUT", message, fix)


@pytest.mark.parametrize(
    ("mode", "flags", "state"),
    [
        ("propose", [], "drafted"), ("auto", [], "saved"), ("auto", ["--draft"], "drafted"),
        ("propose", ["--dry-run"], "suggested"),
    ],
)  # fmt: skip
def test_a_suggestion_is_answered_once_it_is_written(project, onrecord, monkeypatch, mode, flags, state):
    onrecord("config", "set", "--user", "capture.mode", mode)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-2")
    suggestions.add(str(project), "suggested", "decision", "s-1", ("other words",))
    suggestions.add(str(project), "suggested", "decision", "s-2", ("we go with rows",))

    words = ("save", "decision", "Jobs are rows", *DECISION, "--suggested", *flags, "--json")
    answer = json.loads(onrecord(*words).out)

    last = suggestions.read(str(project))[-1]
    assert (last.state, last.session, last.evidence) == (state, "s-2", ("we go with rows",))
    assert ("draft" in answer) == (mode == "propose" or bool(flags))


@pytest.mark.parametrize(("flags", "origin"), [((), "user"), (("--draft",), "agent")])
def test_a_draft_without_a_terminal_is_an_agents(project, onrecord, flags, origin):
    onrecord("save", "decision", "Jobs are rows", *DECISION, *flags)

    (path,) = project.glob(f".claude/memory/{'inbox' if flags else 'decisions'}/*.json")
    text = json.loads(path.read_text())
    assert text.get("record", text)["origin"] == origin


CHECKS = [
    '{"on": "command", "starts": ["npm install"], "say": "pnpm add"}',
    '{"on": "command", "starts": ["yarn add"], "say": "pnpm add"}',
]


def test_a_check_is_added_to_those_that_are_there_and_once_only(project, onrecord):
    onrecord("save", "decision", "Use pnpm", *DECISION, f"--check={CHECKS[0]}")

    for checks in ([CHECKS[0]], [CHECKS[1]], CHECKS):
        assert onrecord("update", "use-pnpm", *(f"--check={one}" for one in checks)).code == 0

    record = json.loads(onrecord("show", "use-pnpm", "--json").out)["record"]
    assert [check["starts"] for check in record["checks"]] == [["npm install"], ["yarn add"]]
    assert record["times_updated"] == 1

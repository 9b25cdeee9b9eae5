"""The summary that a session leaves in the inbox: what it holds, and when there is none."""

from __future__ import annotations

import os
from typing import Any

import pytest

from onrecord import state_file, timestamps
from onrecord.capture import session_summary
from onrecord.record import compose
from onrecord.record.drafts import Draft
from onrecord.settings import Settings
from onrecord.store.inbox import Inbox
from tests.conversation import does, prompt, result, says, write_transcript

NOW = "2026-03-02T09:30:00Z"
PROJECT = "/p"


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: NOW)
    return str(tmp_path / ".claude" / "memory")


def _edits(count: int, folder: str = PROJECT) -> list[dict[str, Any]]:
    return [does("Edit", file_path=f"{folder}/src/f{number}.py") for number in range(count)]


def _draft(tmp_path, store: str, *lines: dict[str, Any], session: str = "s-1", **settings: Any) -> Draft | None:
    transcript = write_transcript(tmp_path / "t.jsonl", *lines)
    own = Settings()
    own.take("user", True, settings)
    return session_summary.draft(project=PROJECT, store=store, session=session, transcript=transcript, settings=own)


def test_a_summary_says_what_was_changed_what_failed_and_what_is_left(tmp_path, store):
    draft = _draft(
        tmp_path,
        store,
        prompt("convert  the\nreports"),
        *_edits(2),
        does("Write", file_path="/elsewhere/notes.md"),
        does("Bash", command="make test"),
        result("Exit code 2", error=True),
        says("The reports are converted. The invoices are not migrated yet."),
    )

    assert draft and draft.name == "session-s-1" and draft.session == "s-1"
    record = draft.record
    assert (record.title, record.tags, record.related_files, record.confidence) == (
        "Session: convert the reports",
        ("machine-made", "session"),
        ("src/f0.py", "src/f1.py"),
        0.3,
    )
    assert record.content == {
        "goal": "convert the reports",
        "outcome": "partial",
        "completed": ["Changed 3 files: src/f0.py, src/f1.py, /elsewhere/notes.md"],
        "next_actions": ["The invoices are not migrated yet."],
        "blockers": ["Failed when last run: make test"],
    }
    assert (record.source, record.origin, record.created_at) == (
        "session s-1, summed up by onrecord from its transcript",
        "tool",
        NOW,
    )
    assert [kept.name for kept in Inbox(store).newest(9)] == ["session-s-1"]


def test_a_long_session_is_cut_to_what_can_be_read(tmp_path, store):
    failures = [
        line for n in range(6) for line in (does("Bash", command=f"run {n} {'x' * 300}"), result("Exit code 1"))
    ]
    answer = says(" ".join(f"Step {'abcdefg'[number]} of the import is not migrated yet." for number in range(7)))

    draft = _draft(tmp_path, store, prompt("word " * 100), *_edits(13), *failures, answer)

    assert draft
    content = draft.record.content
    names = ", ".join(f"src/f{number}.py" for number in range(12))
    assert content["completed"] == [f"Changed 13 files: {names} and 1 more"]
    assert len(draft.record.related_files) == 12
    assert [len(line) for line in content["blockers"]] == [len("Failed when last run: ") + 200] * 5
    assert len(content["next_actions"]) == 5
    assert len(content["goal"]) <= 300 and content["goal"].endswith("…")
    assert len(draft.record.title) <= len("Session: ") + 90 and draft.record.title.endswith("…")


def test_twelve_files_are_all_named(tmp_path, store):
    draft = _draft(tmp_path, store, prompt("go"), *_edits(12))

    assert draft and draft.record.content["completed"][0].endswith("src/f11.py")


@pytest.mark.parametrize(
    ("files", "other_calls", "is_drafted"), [(2, 0, False), (3, 0, True), (1, 6, False), (1, 7, True), (0, 20, False)]
)
def test_a_session_is_summed_up_if_enough_was_done(tmp_path, store, files, other_calls, is_drafted):
    calls = [does("Read", file_path="/p/a.py") for _ in range(other_calls)]

    draft = _draft(tmp_path, store, prompt("go"), *_edits(files), *calls)

    assert bool(draft) is is_drafted
    assert os.path.exists(store) is is_drafted


def test_a_session_without_a_name_is_not_summed_up(tmp_path, store):
    assert _draft(tmp_path, store, prompt("go"), *_edits(3), session="") is None


@pytest.mark.parametrize(("session", "name"), [("A b/../c", "session-a-b-c"), ("S_1", "session-s-1")])
def test_the_name_of_a_summary_is_made_of_that_of_its_session(tmp_path, store, session, name):
    draft = _draft(tmp_path, store, prompt("go"), *_edits(3), session=session)

    assert draft and draft.name == name


def test_a_session_whose_prompt_is_gone_has_no_goal(tmp_path, store):
    draft = _draft(tmp_path, store, *_edits(3))

    assert draft and draft.record.text("goal") == "Unknown: the first prompt is no longer in the transcript"
    assert draft.record.title == "Session: Unknown: the first prompt is no longer in the transcript"


def _put(store: str, name: str, session: str, category: str = "session_summary", **fields: Any) -> None:
    content = {"goal": "g"} if category == "session_summary" else {"context": "c", "decision": "d", "rationale": ["r"]}
    record = compose.compose(category, {"title": f"By hand {name}", "content": content, **fields})
    Inbox(store).put(Draft(name, record, made_at=NOW, session=session))


@pytest.mark.parametrize(
    ("session", "category", "is_drafted"),
    [("s-1", "session_summary", False), ("s-2", "session_summary", True), ("s-1", "decision", True)],
)
def test_where_the_agent_has_drafted_a_summary_there_is_no_other(tmp_path, store, session, category, is_drafted):
    _put(store, "own", session, category)

    assert bool(_draft(tmp_path, store, prompt("go"), *_edits(3))) is is_drafted


@pytest.mark.parametrize(("limit", "left"), [(1, ["session-s-3"]), (2, ["session-s-2", "session-s-3"])])
def test_of_summaries_that_nobody_looks_at_only_the_newest_stay(tmp_path, store, limit, left):
    for number in (1, 2, 3):
        session = f"s-{number}"
        _draft(
            tmp_path,
            store,
            prompt("go"),
            *_edits(3),
            session=session,
            **{"categories.session_summary.max_retained": limit},
        )
        os.utime(Inbox(store).path(f"session-{session}"), (number, number))

    assert sorted(draft.name for draft in Inbox(store).newest(9)) == left


def test_a_summary_that_cannot_be_written_is_logged(tmp_path, store):
    secret = "AK" + "IA0123456789ABCDEF"

    assert _draft(tmp_path, store, prompt(f"use {secret}"), *_edits(3)) is None

    ((_, task, error),) = state_file.recent_failures()
    assert task == "session summary" and error.startswith("SECRET_FOUND: ")

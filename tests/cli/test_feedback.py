"""`onrecord feedback`: what a person says about a record, and where it counts."""

from __future__ import annotations

import json

import pytest

from onrecord.usage import Happening, event_log, usage_log


def _feedback(onrecord, *words: str):
    answer = onrecord("feedback", *words, "--json")
    assert answer.code == 0, answer
    return json.loads(answer.out)["feedback"]


def test_it_is_noted_counted_and_taken_back(sample, onrecord):
    store = str(sample / ".claude/memory")

    assert onrecord("feedback", "use-uv", "wrong").out.startswith("noted: ")
    assert usage_log.per_record(store)["decisions/use-uv.json"].wrong == 1
    assert "you said: wrong 1 time" in onrecord("stats").out
    assert _feedback(onrecord, "use-uv", "not-relevant")["wrong"] == 0
    assert _feedback(onrecord, "use-uv", "taken-back") == {"helped": 0, "not_relevant": 0, "wrong": 0, "last": ""}
    assert usage_log.per_record(store)["decisions/use-uv.json"].wrong == 0


def test_it_is_about_the_last_showing_as_on_the_page(sample, onrecord):
    store = str(sample / ".claude/memory")
    event_log.append([Happening(store, "shown", "decisions/use-uv.json", "prompt", "rule")], "codex", "s")

    _feedback(onrecord, "use-uv", "helped")

    (showing,) = event_log.newest(store)
    assert showing.feedback == "helped"


def test_what_could_not_be_written_down_is_not_called_noted(sample, onrecord, tmp_path, monkeypatch):
    """The flaw of 0.3.0-dev: on a full or failing disk it said "noted", and nothing was."""
    (tmp_path / "no-folder").write_text("a file where the state folder should be")
    monkeypatch.setenv("ONRECORD_STATE_DIR", str(tmp_path / "no-folder"))

    answer = onrecord("feedback", "use-uv", "wrong")

    assert (answer.code, answer.out) == (1, "")
    assert "UNWRITABLE: cannot write " in answer.err
    assert "so nothing was noted" in " ".join(answer.err.split())


def test_improve_lists_what_was_called_wrong_until_it_is_changed(sample, onrecord):
    onrecord("feedback", "use-uv", "wrong")

    printed = " ".join(onrecord("improve", "--check", "feedback").out.split())
    assert "you called it wrong 1 time" in printed
    assert "onrecord edit use-uv" in printed

    event_log.give_feedback(str(sample / ".claude/memory"), "decisions/use-uv.json", "taken_back")
    assert "you called it" not in onrecord("improve", "--check", "feedback").out


def test_improve_lists_what_was_not_relevant_twice(sample, onrecord):
    store = str(sample / ".claude/memory")
    event_log.give_feedback(store, "decisions/use-uv.json", "not_relevant", "a")
    assert "you called it" not in onrecord("improve", "--check", "feedback").out

    event_log.give_feedback(store, "decisions/use-uv.json", "not_relevant", "b")

    assert "you called it not relevant 2 times" in onrecord("improve", "--check", "feedback").out


@pytest.mark.parametrize("words", [("use-uv", "great"), ("use-uv",), ("no-such-record", "helped")])
def test_what_says_nothing_is_refused(sample, onrecord, words):
    assert onrecord("feedback", *words).code != 0


def test_an_agent_does_not_judge_for_the_user(sample, onrecord, monkeypatch):
    monkeypatch.setenv("CLAUDECODE", "1")

    answer = onrecord("feedback", "use-uv", "helped")

    assert answer.code == 1
    assert "only a person" in answer.err

"""Nothing is suggested twice."""

from __future__ import annotations

import multiprocessing
import os

import pytest

from onrecord import paths, state_file
from onrecord.capture import suggestions

SAID = ("We go with Postgres.", "Redis lost sessions.")


def test_what_was_offered_is_known_in_every_later_session():
    suggestions.add("/p", "suggested", "decision", "s1", SAID)

    made = suggestions.read("/p")

    assert [(one.state, one.category, one.session, one.evidence) for one in made] == [
        ("suggested", "decision", "s1", SAID)
    ]
    assert suggestions.any_suggested(made, SAID)
    assert suggestions.any_suggested(made, ("Redis lost sessions.",))
    assert not suggestions.any_suggested(made, ("Something else.",))


@pytest.mark.parametrize("again", ["we go with postgres", "We  go with\nPostgres!", "“We go with Postgres.”"])
def test_spacing_case_and_punctuation_make_no_difference(again):
    suggestions.add("/p", "suggested", "decision", "s1", SAID)

    assert suggestions.any_suggested(suggestions.read("/p"), (again,))


def test_projects_do_not_know_of_each_other():
    suggestions.add("/p", "suggested", "decision", "s1", SAID)

    assert suggestions.read("/q") == []


def test_an_offer_is_counted_once_whatever_becomes_of_it():
    suggestions.add("/p", "suggested", "decision", "s1", SAID)
    suggestions.add("/p", "drafted", "decision", "s1", SAID)
    suggestions.add("/p", "suggested", "constraint", "s1", ("Another.",))
    suggestions.add("/p", "suggested", "constraint", "s2", ("A third.",))

    made = suggestions.read("/p")

    assert suggestions.count(made, "s1") == 2


def test_the_newest_suggestion_of_a_session_is_answered_and_each_only_once():
    first = suggestions.add("/p", "suggested", "decision", "s1", SAID)
    second = suggestions.add("/p", "suggested", "constraint", "s1", ("Another.",))
    other = suggestions.add("/p", "suggested", "constraint", "s2", ("A third.",))

    assert suggestions.newest_open("/p", "s1") == second
    assert suggestions.newest_open("/p", "") == other
    suggestions.add("/p", "drafted", "constraint", "s1", ("Another.",))
    assert suggestions.newest_open("/p", "s1") == first
    suggestions.add("/p", "rejected", "decision", "s1", SAID)
    assert suggestions.newest_open("/p", "s1") is None


def test_the_file_stays_bounded_and_keeps_the_newest(monkeypatch):
    monkeypatch.setattr(suggestions, "MAX_LOG_BYTES", 4_000)
    for number in range(100):
        suggestions.add("/p", "suggested", "decision", "s", (f"Sentence number {number}.",))

    made = suggestions.read("/p")

    assert os.path.getsize(suggestions._file("/p").path) <= 4_300
    assert suggestions.any_suggested(made, ("Sentence number 99.",))
    assert not suggestions.any_suggested(made, ("Sentence number 0.",))


def test_damage_costs_only_the_damaged_lines():
    suggestions.add("/p", "suggested", "decision", "s", SAID)
    with open(suggestions._file("/p").path, "ab") as file:
        file.write(b'{"keys": \xff\n[]\n{"keys": []}\nnonsense\n')
    suggestions.add("/p", "suggested", "decision", "s", ("Later.",))

    assert [one.evidence for one in suggestions.read("/p")] == [SAID, ("Later.",)]


def _note(number: int) -> None:
    suggestions.add("/p", "suggested", "decision", f"s{number}", (f"Said in session {number}.",))


def test_racing_sessions_lose_nothing():
    with multiprocessing.get_context("fork").Pool(4) as pool:
        pool.map(_note, range(40))

    assert len(suggestions.read("/p")) == 40


def test_a_state_folder_that_cannot_be_written_is_traced_not_raised(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    suggestions.add("/p", "suggested", "decision", "s", SAID)
    monkeypatch.setattr(paths, "state_dir", lambda: str(tmp_path / "file" / "below"))
    kept = []
    monkeypatch.setattr(state_file, "log_failure", lambda what, error: kept.append(what))

    suggestions.add("/p", "suggested", "decision", "s", SAID)

    assert kept == ["suggestions"]
    assert suggestions.read("/p") == []

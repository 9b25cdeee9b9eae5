"""The log of suggestions: nothing is suggested twice."""

from __future__ import annotations

import multiprocessing
import os

import pytest

from onrecord import paths, state_file
from onrecord.capture import suggestions
from onrecord.capture.triage import SaveCandidate

EVIDENCE = ("We go with Postgres.", "Redis lost sessions.")


def test_what_was_offered_is_known_in_every_later_session():
    suggestions.add("/p", "suggested", "decision", "s1", EVIDENCE)

    log = suggestions.read("/p")

    assert [(suggestion.state, suggestion.category, suggestion.session, suggestion.evidence) for suggestion in log] == [
        ("suggested", "decision", "s1", EVIDENCE)
    ]
    assert suggestions.any_suggested(log, EVIDENCE)
    assert suggestions.any_suggested(log, ("Redis lost sessions.",))
    assert not suggestions.any_suggested(log, ("Something else.",))


@pytest.mark.parametrize("again", ["we go with postgres", "We  go with\nPostgres!", "“We go with Postgres.”"])
def test_spacing_case_and_punctuation_make_no_difference(again):
    suggestions.add("/p", "suggested", "decision", "s1", EVIDENCE)

    assert suggestions.any_suggested(suggestions.read("/p"), (again,))


def test_projects_do_not_know_of_each_other():
    suggestions.add("/p", "suggested", "decision", "s1", EVIDENCE)

    assert suggestions.read("/q") == []


def test_an_offer_is_counted_once_whatever_becomes_of_it():
    suggestions.add("/p", "suggested", "decision", "s1", EVIDENCE)
    suggestions.add("/p", "drafted", "decision", "s1", EVIDENCE)
    suggestions.add("/p", "suggested", "constraint", "s1", ("Another.",))
    suggestions.add("/p", "suggested", "constraint", "s2", ("A third.",))

    log = suggestions.read("/p")

    assert suggestions.count(log, "s1") == 2


def test_the_newest_suggestion_of_a_session_is_answered_and_each_only_once():
    first = suggestions.add("/p", "suggested", "decision", "s1", EVIDENCE)
    second = suggestions.add("/p", "suggested", "constraint", "s1", ("Another.",))
    other = suggestions.add("/p", "suggested", "constraint", "s2", ("A third.",))

    assert suggestions.newest_open("/p", "s1") == second
    assert suggestions.newest_open("/p", "") == other
    suggestions.add("/p", "drafted", "constraint", "s1", ("Another.",))
    assert suggestions.newest_open("/p", "s1") == first
    suggestions.add("/p", "rejected", "decision", "s1", EVIDENCE)
    assert suggestions.newest_open("/p", "s1") is None


def test_the_file_stays_bounded_and_keeps_the_newest(monkeypatch):
    monkeypatch.setattr(suggestions, "MAX_LOG_BYTES", 4_000)
    for number in range(100):
        suggestions.add("/p", "suggested", "decision", "s", (f"Sentence number {number}.",))

    log = suggestions.read("/p")

    assert os.path.getsize(suggestions._file("/p").path) <= 4_300
    assert suggestions.any_suggested(log, ("Sentence number 99.",))
    assert not suggestions.any_suggested(log, ("Sentence number 0.",))


def test_damage_costs_only_the_damaged_lines():
    suggestions.add("/p", "suggested", "decision", "s", EVIDENCE)
    with open(suggestions._file("/p").path, "ab") as file:
        file.write(b'{"keys": \xff\n[]\n{"keys": []}\nnonsense\n')
    suggestions.add("/p", "suggested", "decision", "s", ("Later.",))

    assert [suggestion.evidence for suggestion in suggestions.read("/p")] == [EVIDENCE, ("Later.",)]


def _note(number: int) -> None:
    suggestions.add("/p", "suggested", "decision", f"s{number}", (f"Said in session {number}.",))


def test_racing_sessions_lose_nothing():
    with multiprocessing.get_context("fork").Pool(4) as pool:
        pool.map(_note, range(40))

    assert len(suggestions.read("/p")) == 40


def test_a_state_folder_that_cannot_be_written_is_traced_not_raised(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    suggestions.add("/p", "suggested", "decision", "s", EVIDENCE)
    monkeypatch.setattr(paths, "state_dir", lambda: str(tmp_path / "file" / "below"))
    failures = []
    monkeypatch.setattr(state_file, "log_failure", lambda what, error: failures.append(what))

    suggestions.add("/p", "suggested", "decision", "s", EVIDENCE)

    assert failures == ["suggestions"]
    assert suggestions.read("/p") == []


def candidate(core: str, *around: str) -> SaveCandidate:
    return SaveCandidate("decision", 0.9, core, (core,), around)


@pytest.mark.parametrize(("beside", "is_new"), [("We take NATS now.", False), ("We take NATS.", True)])
def test_a_sentence_of_four_words_beside_a_suggestion_is_not_asked_about_again_in_its_session(beside, is_new):
    suggestions.add("/p", "suggested", "decision", "s1", [beside])
    earlier = suggestions.read("/p")

    assert suggestions.is_new(candidate("Kafka needs three brokers.", beside), earlier, "s1") is is_new
    assert suggestions.is_new(candidate("Kafka needs three brokers.", beside), earlier, "s2")
    assert not suggestions.is_new(candidate(beside), earlier, "s2")


def test_a_note_quotes_the_evidence_up_to_320_characters():
    quoted = suggestions.note(candidate("w" * 400), "memory:save").split('"')[1]

    assert (len(quoted), quoted[-1]) == (320, "…")

"""Nothing is offered twice."""

from __future__ import annotations

import multiprocessing
import os

import pytest

from recollect import failure_log, paths
from recollect.capture import suggestion_log

SAID = ("We go with Postgres.", "Redis lost sessions.")


def test_what_was_offered_is_known_in_every_later_session():
    suggestion_log.note("/p", "offered", "decision", "s1", SAID)

    made = suggestion_log.read("/p")

    assert [(one.state, one.category, one.session, one.evidence) for one in made] == [
        ("offered", "decision", "s1", SAID)
    ]
    assert suggestion_log.were_made(made, SAID)
    assert suggestion_log.were_made(made, ("Redis lost sessions.",))
    assert not suggestion_log.were_made(made, ("Something else.",))


@pytest.mark.parametrize("again", ["we go with postgres", "We  go with\nPostgres!", "“We go with Postgres.”"])
def test_spacing_case_and_punctuation_make_no_difference(again):
    suggestion_log.note("/p", "offered", "decision", "s1", SAID)

    assert suggestion_log.were_made(suggestion_log.read("/p"), (again,))


def test_projects_do_not_know_of_each_other():
    suggestion_log.note("/p", "offered", "decision", "s1", SAID)

    assert suggestion_log.read("/q") == []


def test_an_offer_is_counted_once_whatever_becomes_of_it():
    first = suggestion_log.note("/p", "offered", "decision", "s1", SAID)
    suggestion_log.note("/p", "drafted", "decision", "s1", SAID)
    suggestion_log.note("/p", "offered", "constraint", "s1", ("Another.",))
    suggestion_log.note("/p", "offered", "constraint", "s2", ("A third.",))

    made = suggestion_log.read("/p")

    assert suggestion_log.count(made, "s1") == 2
    found = suggestion_log.find("/p", first.key)
    assert found is not None and found.state == "drafted"
    assert suggestion_log.find("/p", "") is None
    assert suggestion_log.find("/p", "nonsense") is None


def test_the_file_stays_bounded_and_keeps_the_newest(monkeypatch):
    monkeypatch.setattr(suggestion_log, "LARGEST", 4_000)
    for number in range(100):
        suggestion_log.note("/p", "offered", "decision", "s", (f"Sentence number {number}.",))

    made = suggestion_log.read("/p")

    assert os.path.getsize(suggestion_log._file("/p")) <= 4_300
    assert suggestion_log.were_made(made, ("Sentence number 99.",))
    assert not suggestion_log.were_made(made, ("Sentence number 0.",))


def test_damage_costs_only_the_damaged_lines():
    suggestion_log.note("/p", "offered", "decision", "s", SAID)
    with open(suggestion_log._file("/p"), "ab") as file:
        file.write(b'{"keys": \xff\n[]\n{"keys": []}\nnonsense\n')
    suggestion_log.note("/p", "offered", "decision", "s", ("Later.",))

    assert [one.evidence for one in suggestion_log.read("/p")] == [SAID, ("Later.",)]


def _note(number: int) -> None:
    suggestion_log.note("/p", "offered", "decision", f"s{number}", (f"Said in session {number}.",))


def test_racing_sessions_lose_nothing():
    with multiprocessing.get_context("fork").Pool(4) as pool:
        pool.map(_note, range(40))

    assert len(suggestion_log.read("/p")) == 40


def test_a_state_folder_that_cannot_be_written_is_traced_not_raised(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    suggestion_log.note("/p", "offered", "decision", "s", SAID)
    monkeypatch.setattr(paths, "state_dir", lambda: str(tmp_path / "file" / "below"))
    kept = []
    monkeypatch.setattr(failure_log, "leave", lambda what, error: kept.append(what))

    suggestion_log.note("/p", "offered", "decision", "s", SAID)

    assert kept == ["offers"]
    assert suggestion_log.read("/p") == []

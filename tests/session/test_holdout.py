"""The holdout: which sessions are in it, and when the share was changed."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from onrecord import state_file, timestamps
from onrecord.session import holdout
from onrecord.session.holdout import Period


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch):
    """Set the time with a text."""

    def set_to(moment: str) -> None:
        monkeypatch.setattr(timestamps, "now", lambda: moment)

    return set_to


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_about_the_share_of_sessions_is_held_out(share):
    count = sum(holdout.is_held_out(f"session-{number}", share) for number in range(10_000))

    assert abs(count - share * 10_000) < 200


@pytest.mark.parametrize("share", [0, 0.0, -0.2, float("nan")])
def test_without_a_share_no_session_is_held_out(share):
    assert not any(holdout.is_held_out(f"session-{number}", share) for number in range(1_000))


def test_half_of_the_sessions_at_most_is_held_out():
    sessions = [f"session-{number}" for number in range(500)]

    assert [holdout.is_held_out(name, 9) for name in sessions] == [holdout.is_held_out(name, 0.5) for name in sessions]


def test_the_choice_is_the_same_every_time_and_a_larger_share_keeps_who_is_in():
    small = {number for number in range(1_000) if holdout.is_held_out(f"s{number}", 0.1)}
    large = {number for number in range(1_000) if holdout.is_held_out(f"s{number}", 0.3)}

    assert small < large
    # A fixed one, so that a later version chooses the same sessions.
    assert [holdout.is_held_out(name, 0.5) for name in ("one", "two", "s", "a")] == [True, True, False, False]


def test_a_session_without_an_id_is_never_held_out():
    assert not holdout.is_held_out("", 0.5)


def test_each_change_of_the_share_is_noted_once(clock):
    for moment, share in (
        ("2026-01-01T00:00:00Z", 0.0),
        ("2026-01-02T00:00:00Z", 0.2),
        ("2026-01-03T00:00:00Z", 0.2),
        ("2026-01-04T00:00:00Z", 0.0),
        ("2026-01-05T00:00:00Z", 0.0),
        ("2026-01-06T00:00:00Z", 0.1),
    ):
        clock(moment)
        holdout.note(share)

    assert holdout.periods() == [
        Period("2026-01-02T00:00:00Z", "2026-01-04T00:00:00Z", 0.2),
        Period("2026-01-06T00:00:00Z", "9999", 0.1),
    ]
    assert Path(state_file.state_path("holdout")).read_text().count("\n") == 3


def test_without_a_holdout_no_file_is_made():
    holdout.note(0.0)

    assert holdout.periods() == []
    assert not Path(state_file.state_path("holdout")).exists()


def test_damaged_lines_are_ignored():
    file = Path(state_file.state_path("holdout"))
    file.parent.mkdir(parents=True)
    file.write_text("nonsense\n2026-01-02T00:00:00Z\t0.2\nyesterday\t0.3\n2026-01-03T00:00:00Z\tnan\n2026-01-04T")

    assert holdout.periods() == [Period("2026-01-02T00:00:00Z", "9999", 0.2)]


def test_a_session_belongs_to_a_time_if_it_began_and_ended_in_it():
    period = Period("2026-01-02T00:00:00Z", "2026-01-04T00:00:00Z", 0.2)

    assert period.covers("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z")
    assert not period.covers("2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z")
    assert not period.covers("2026-01-03T00:00:00Z", "2026-01-05T00:00:00Z")


def test_hooks_at_the_same_time_note_a_change_once(clock):
    clock("2026-01-02T00:00:00Z")
    threads = [threading.Thread(target=holdout.note, args=(0.2,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert holdout.periods() == [Period("2026-01-02T00:00:00Z", "9999", 0.2)]

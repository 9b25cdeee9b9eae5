"""The time budget in this process: what is left, what a step gets of it, and counts of a long reading."""

from __future__ import annotations

import time

import pytest

from onrecord import budget, state_file

pytest.importorskip("resource")

ENDLESS = float("inf")


@pytest.fixture
def clocks(monkeypatch):
    """Clocks that stand still: 1,000 seconds on the wall, 10 of computing; and timers that only note what they get."""
    set_timers = []
    monkeypatch.setattr(budget.time, "monotonic", lambda: 1_000.0)
    monkeypatch.setattr(budget.time, "process_time", lambda: 10.0)
    monkeypatch.setattr(budget, "_set_timers", lambda wall, cpu: set_timers.append((round(wall, 4), round(cpu, 4))))
    yield set_timers
    budget.stop()


def test_without_a_budget_time_is_endless():
    assert (budget.remaining(), budget.wall_left()) == (ENDLESS, ENDLESS)


def test_a_budget_limits_the_clock_from_now_and_computing_from_the_start_of_the_process(clocks):
    budget.start(wall=3.0, cpu=14.0)
    assert (budget.wall_left(), budget.remaining()) == (3.0, 3.0)

    budget.start(wall=30.0, cpu=14.0)
    assert (budget.wall_left(), budget.remaining()) == (30.0, 4.0)
    assert clocks == [(3.0, 4.0), (30.0, 4.0)]

    budget.stop()
    assert (budget.wall_left(), budget.remaining(), clocks[-1]) == (ENDLESS, ENDLESS, (0, 0))


def test_a_step_leaves_time_for_the_reply_and_then_all_of_it_is_there_again(clocks):
    budget.start(wall=30.0, cpu=40.0)

    left = budget.attempt("look", (0.0, 0.0), lambda: (budget.wall_left(), budget.remaining()))

    assert left == pytest.approx((29.8, 29.8))
    assert clocks == [(30.0, 30.0), (29.8, 29.8), (30.0, 30.0)]


@pytest.mark.parametrize(("seconds", "cpu"), [(60.0, 60.0), (5.0, 5.0), (500.0, 489.8)])
def test_a_step_may_compute_for_a_minute_or_as_long_as_it_is_told(clocks, seconds, cpu):
    budget.start(wall=10_000.0, cpu=500.0)

    budget.attempt("look", None, lambda: None, seconds=seconds)

    assert clocks[1] == (9_999.8, cpu)


def test_a_step_has_a_minute_unless_something_else_is_said(clocks):
    budget.start(wall=10_000.0, cpu=500.0)

    budget.attempt("look", None, lambda: None)

    assert clocks[1] == (9_999.8, 60.0)


def test_a_timer_whose_time_is_up_already_still_fires(clocks):
    budget.start(wall=-1.0, cpu=1.0)

    assert clocks == [(0.0001, 0.0001)]


def test_the_alarm_raises_once_and_only_if_the_time_is_up(clocks):
    budget.start(wall=3.0, cpu=14.0)
    budget._ring(0, None)

    budget.start(wall=0.0, cpu=14.0)
    with pytest.raises(budget.OutOfTime, match="took too long"):
        budget._ring(0, None)
    budget._ring(0, None)


def test_an_alarm_after_the_end_of_a_budget_interrupts_nothing(clocks, monkeypatch):
    budget.start(wall=0.0, cpu=1.0)
    budget.stop()
    monkeypatch.setattr(budget, "remaining", lambda: -1.0)

    budget._ring(0, None)


def test_a_step_that_takes_too_long_is_left_out_and_logged(clocks):
    def takes_too_long():
        raise budget.OutOfTime

    budget.start(wall=3.0, cpu=14.0)

    assert budget.attempt("look", "default", takes_too_long) == "default"
    assert budget.attempt("add", 0, lambda a, b: a + b, 1, 2) == 3
    assert [row[1:] for row in state_file.recent_failures()] == [("look", "took too long and was left out")]


def test_no_handler_takes_the_end_of_the_time_for_an_error():
    assert not issubclass(budget.OutOfTime, Exception)


def test_a_timer_ends_what_computes_for_too_long():
    budget.start(wall=100.0, cpu=time.process_time() + 0.25)
    try:
        with pytest.raises(budget.OutOfTime):
            while True:
                pass
    finally:
        budget.stop()


def test_without_timers_the_process_is_ended_unless_the_budget_has_ended(clocks, monkeypatch):
    ended = []
    monkeypatch.setattr(budget.time, "sleep", lambda seconds: ended.append(seconds))
    monkeypatch.setattr(budget.os, "_exit", lambda code: ended.append(("exit", code)))

    budget._end_process(3.0)
    assert ended == [3.0]
    budget.start(wall=3.0, cpu=14.0)
    budget._end_process(3.0)

    assert ended == [3.0, 3.0, ("exit", 0)]
    assert [row[1:] for row in state_file.recent_failures()] == [("hook", "took too long and was ended")]


def test_a_long_reading_is_counted_where_the_program_shows_counts(monkeypatch):
    monkeypatch.setattr(budget, "_counters", [])
    assert list(budget.counted([1, 2], "reading")) == [1, 2]

    budget.show_counts_with(lambda elements, what: [(what, element) for element in elements])
    budget.show_counts_with(lambda elements, what: [f"{what} {element}" for element in elements])

    assert budget.counted([1, 2], "reading") == ["reading 1", "reading 2"]

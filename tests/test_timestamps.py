from __future__ import annotations

import calendar
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord import timestamps


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-02T09:30:00Z",
        "2026-03-02T09:30:00.5Z",
        "2026-03-02T09:30:00.123456+00:00",
        "2024-02-29T00:00:00Z",
        "2000-02-29T23:59:59Z",
        "2016-12-31T23:59:60Z",
    ],
)
def test_moments_in_utc(text):
    assert timestamps.is_instant(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "now", "2026-03-02", "2026-03-02T09:30:00", "2026-03-02 09:30:00Z", "2026-03-02T09:30:00+01:00",
        "2026-13-02T09:30:00Z", "2026-02-29T09:30:00Z", "1900-02-29T09:30:00Z", "2026-00-10T09:30:00Z",
        "2026-01-00T09:30:00Z", "2026-03-02T24:00:00Z", "2026-03-02T09:60:00Z", "2026-03-02T09:30:61Z",
        "2026-03-02T09:30:00.Z", "2026-03-02T09:30:00,5Z", "2026-03-02T09:30:00Z ", "2026-03-02T09:30:00Z\n",
        "٢٠٢٦-03-02T09:30:00Z", "+026-03-02T09:30:00Z", "2026-03-02T09:30:0_Z", "26-03-02T09:30:00Z",
    ],
)  # fmt: skip
def test_what_is_no_moment(text):
    assert not timestamps.is_instant(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-02", True),
        ("2026-03-02T09:30:00Z", True),
        ("2026-03-02 at noon", True),
        ("2026-02-30", False),
        ("2026-03-02x", False),
        ("with v3", False),
        ("", False),
    ],
)
def test_days(text, expected):
    assert timestamps.is_day(text) is expected


@given(st.integers(-62_000_000_000, 32_503_680_000))
def test_seconds_undo_at(seconds):
    year = time.gmtime(seconds).tm_year
    if year >= 1000:
        assert timestamps.seconds(timestamps.from_seconds(seconds)) == seconds == calendar.timegm(time.gmtime(seconds))


@given(st.integers(0, 4_000_000_000), st.integers(0, 4_000_000_000))
def test_text_order_is_time_order(one, other):
    assert (timestamps.from_seconds(one) < timestamps.from_seconds(other)) == (one < other)


@pytest.mark.parametrize(
    ("days", "expected"),
    [(0, "2026-03-02T09:30:00Z"), (1.5, "2026-02-28T21:30:00Z"), (365, "2025-03-02T09:30:00Z")],
)
def test_days_before(days, expected):
    assert timestamps.days_before("2026-03-02T09:30:00Z", days) == expected


@given(st.text(max_size=30))
def test_any_text_is_a_moment_or_not_but_never_an_error(text):
    assert timestamps.is_instant(text) in (True, False)
    assert timestamps.is_day(text) in (True, False)


def test_now_is_a_moment():
    assert timestamps.is_instant(timestamps.now())


@pytest.mark.parametrize(
    ("moment", "age", "ago"),
    [
        ("2026-03-02T09:30:00Z", "now", "just now"),
        ("2026-03-02T09:30:40Z", "now", "just now"),
        ("2026-03-02T09:29:00Z", "1 minute", "1 minute ago"),
        ("2026-03-02T08:29:00Z", "1 hour", "1 hour ago"),
        ("2026-03-01T09:30:00Z", "1 day", "1 day ago"),
        ("2026-02-24T09:30:00Z", "6 days", "6 days ago"),
        ("2026-02-05T09:30:00Z", "3 weeks", "3 weeks ago"),
        ("2025-10-01T09:30:00Z", "5 months", "5 months ago"),
        ("2025-03-02T09:30:00Z", "1 year", "1 year ago"),
        ("2016-03-02", "10 years", "10 years ago"),
        ("2026-03-02", "today", "today"),
        ("2026-02-28", "2 days", "2 days ago"),
        ("2099-01-01T00:00:00Z", "2099-01-01", "on 2099-01-01"),
    ],
)
def test_ages(moment, age, ago, monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-02T09:30:00Z")

    assert (timestamps.age(moment), timestamps.ago(moment)) == (age, ago)


@given(st.text(max_size=25))
def test_no_text_breaks_an_age(text):
    assert isinstance(timestamps.ago(text), str)


def test_moments_with_a_fraction_sorted_before_the_same_second_without():
    in_order = [
        "2026-03-02",
        "2026-03-02T09:29:59.999Z",
        "2026-03-02T09:30:00Z",
        "2026-03-02T09:30:00.0005Z",
        "2026-03-02T09:30:00.25+00:00",
        "2026-03-02T09:30:00.5Z",
        "2026-03-02T09:30:01Z",
    ]

    assert sorted([*in_order[4:], *in_order[:4]], key=timestamps.order) == in_order


def test_a_moment_has_one_order_however_it_is_written():
    spellings = ("2026-03-02T09:30:00Z", "2026-03-02T09:30:00.000Z", "2026-03-02T09:30:00.0+00:00")

    assert {timestamps.order(text) for text in spellings} == {"2026-03-02T09:30:00"}


@pytest.mark.parametrize("text", ["", "2026-03-02", "soon", "2026-03-02T09:30:00+01:00"])
def test_other_text_stays_as_it_is_in_order(text):
    assert timestamps.order(text) == text

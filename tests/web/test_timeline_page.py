"""The timeline: marks with titles, lines to successors, and dates."""

from __future__ import annotations

import re

import pytest

from onrecord import timestamps
from onrecord.record import compose
from onrecord.search.listing import Listed
from onrecord.store.writer import Writer
from onrecord.web import timeline_page

CONTENT = {"context": "It came up", "decision": "Yes", "rationale": ["it was agreed"]}


@pytest.fixture
def save_at(project):
    """Save a decision as of a day, and return its path."""

    def save(title: str, day: str) -> str:
        record = compose.compose("decision", {"title": title, "content": CONTENT}, now=f"{day}T12:00:00Z")
        return Writer(project.store, project.settings).save(record).path

    return save


def _titles(text: str) -> list[str]:
    return re.findall(r'class="mark-title"[^>]*>([^<]*)<', text)


def test_each_mark_has_its_title_where_there_is_room(browser, save_at):
    save_at("Sessions live in Postgres", "2026-01-03")
    save_at("A title that goes on for much longer than the picture has room for it", "2026-05-01")
    save_at("The newest one", "2026-10-20")

    text = browser.get("/timeline").text

    shortened = "A title that goes on for much longer than the picture has …"
    assert _titles(text) == ["Sessions live in Postgres", shortened, "The newest one"]
    assert re.search(r'text-anchor="end" class="mark-title"[^>]*>The newest one<', text)
    assert "<h2" in text and "October 2026" in text


def test_many_records_of_one_day_are_marks_without_titles_and_a_number(browser, save_at):
    for number in range(12):
        save_at(f"Decision number {number}", "2026-01-03")
    save_at("Much later", "2026-09-01")

    text = browser.get("/timeline").text

    assert _titles(text) == []
    assert "5 more decision records of these days" in text and ">+5<" in text


def test_the_line_of_a_replaced_record_ends_at_the_mark_of_its_successor(browser, save_at, project):
    old, new = save_at("Sessions live in Redis", "2026-01-03"), save_at("Sessions live in Postgres", "2026-06-01")
    Writer(project.store, project.settings).supersede(old, new)

    text = browser.get("/timeline").text

    ((start, end),) = re.findall(r'<path d="M(\d+) \d+C[\d -]+ (\d+) \d+" class="chain" marker-end', text)
    marks = dict(re.findall(r'aria-label="([^:"]*):[^"]*"[^>]*>.*?<rect x="(\d+)"', text))
    assert int(start) - 8 == int(marks["Sessions live in Redis"])
    assert int(end) - 8 == int(marks["Sessions live in Postgres"])


@pytest.mark.parametrize(
    ("first", "last", "ticks"),
    [
        ("2026-01-15", "2026-04-20", ["Feb 2026", "Mar", "Apr"]),
        ("2023-06-15", "2026-04-20", ["Jul 2023", "Jan 2024", "Jul", "Jan 2025", "Jul", "Jan 2026"]),
        ("2026-03-01", "2026-03-08", ["24 Feb", "26 Feb", "28 Feb", "2 Mar", "4 Mar", "6 Mar", "8 Mar"]),
    ],
)
def test_the_axis_has_the_first_days_of_months_or_days(browser, save_at, first, last, ticks):
    save_at("First", first)
    save_at("Last", last)

    text = browser.get("/timeline").text

    assert re.findall(r'<text x="\d+" y="13">([^<]*)<', text) == ticks


def _row(number: int, day: str, title: str = "", status: str = "active", category: str = "decision") -> Listed:
    moment = f"{day}T12:00:00Z"
    title = title or f"Record {number}"
    return Listed(f"r{number}", category, title, (), status, moment, moment, f"decisions/r{number}.json", "")


def _ticks(first: str, last: str) -> list[str]:
    axis = timeline_page.Axis(timestamps.seconds(first), timestamps.seconds(last))
    return [tick.label for tick in timeline_page._ticks(axis)]


@pytest.mark.parametrize(
    ("first", "last", "labels"),
    [
        ("2026-01-15", "2026-09-20", "Feb 2026, Mar, Apr, May, Jun, Jul, Aug, Sep"),
        ("2026-01-15", "2026-10-20", "Mar 2026, May, Jul, Sep"),
        ("2025-01-15", "2026-06-20", "Mar 2025, May, Jul, Sep, Nov, Jan 2026, Mar, May"),
        ("2025-01-15", "2026-07-20", "Apr 2025, Jul, Oct, Jan 2026, Apr, Jul"),
        ("2024-01-15", "2026-03-20", "Apr 2024, Jul, Oct, Jan 2025, Apr, Jul, Oct, Jan 2026"),
        ("2024-01-15", "2026-04-20", "Jul 2024, Jan 2025, Jul, Jan 2026"),
        ("2021-07-15", "2025-12-20", "Jan 2022, Jul, Jan 2023, Jul, Jan 2024, Jul, Jan 2025, Jul"),
        ("2021-07-15", "2026-01-20", "Jan 2022, Jan 2023, Jan 2024, Jan 2025"),
        ("2010-02-15", "2019-02-20", "Jan 2012, Jan 2014, Jan 2016, Jan 2018"),
        ("2000-02-15", "2018-02-20", "Jan 2005, Jan 2010, Jan 2015"),
        ("1980-02-15", "2025-02-20", "Jan 1990, Jan 2000, Jan 2010, Jan 2020"),
        ("1970-02-15", "2025-02-20", "Jan 1980, Jan 1990, Jan 2000, Jan 2010, Jan 2020"),
        ("2026-01-01", "2026-03-02", "1 Jan, 8 Jan, 15 Jan, 22 Jan, 29 Jan, 5 Feb, 12 Feb, 19 Feb, 26 Feb"),
        ("2026-01-01", "2026-03-03", "Jan 2026, Feb, Mar"),
        ("2026-01-01", "2026-01-18", "1 Jan, 3 Jan, 5 Jan, 7 Jan, 9 Jan, 11 Jan, 13 Jan, 15 Jan, 17 Jan"),
        ("2026-01-01", "2026-01-19", "1 Jan, 8 Jan, 15 Jan"),
    ],
)
def test_the_axis_has_few_dates_far_apart_or_many_close_together(first, last, labels):
    assert ", ".join(_ticks(first, last)) == labels


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("a" * 30 + " " + "b" * 29, "a" * 30 + " " + "b" * 29),
        ("a" * 30 + " " + "b" * 30, "a" * 30 + " …"),
        ("a" * 30 + " " + "b" * 28 + " cc", "a" * 30 + " " + "b" * 28 + " …"),
        ("a" * 61 + " b", "a" * 61 + " …"),
    ],
)
def test_a_title_of_more_than_sixty_characters_ends_after_a_word(title, shown):
    assert timeline_page._shortened(title) == shown


@pytest.mark.parametrize(("number", "has_titles"), [(8, True), (9, False)])
def test_eight_titles_of_one_day_are_below_each_other(number, has_titles):
    rows = [_row(position, "2026-03-01") for position in range(number)] + [_row(99, "2026-09-01", category="runbook")]

    drawing = timeline_page._draw(rows, {})

    decisions = [mark for mark in drawing.marks if mark.category == "decision"]
    assert [bool(mark.label) for mark in decisions] == [has_titles] * len(decisions)
    assert len(decisions) == (8 if has_titles else 7)
    assert [rest.number for rest in drawing.rests] == ([] if has_titles else [2])
    assert [lane.height for lane in drawing.lanes] == [8 * 22, 22]


def test_the_picture_of_two_records_that_replace_each_other():
    rows = [_row(1, "2026-03-01", "Rows", "superseded"), _row(2, "2026-03-11", "Tables")]

    drawing = timeline_page._draw(rows, {"decisions/r1.json": "r2"})

    first, last = drawing.marks
    assert (first.x, last.x, first.y, last.y) == (358, 944, 41, 41)
    assert (first.text, first.is_current) == ("Rows: decision, 2026-03-01, superseded", False)
    assert (last.text, last.is_current) == ("Tables: decision, 2026-03-11", True)
    assert (first.is_label_before, last.is_label_before) == (False, True)
    assert drawing.chains == (timeline_page.Chain("M358 34C431 19 871 19 944 32", "Rows was replaced by Tables"),)
    assert drawing.lanes == (timeline_page.Lane("decision", 30, 22),)
    assert drawing.height == 66


@pytest.mark.parametrize(
    ("span", "touches"), [((50, 90), False), ((50, 91), True), ((209, 300), True), ((210, 300), False)]
)
def test_between_a_title_and_the_next_mark_are_ten_units(span, touches):
    assert timeline_page._overlap([(0, 20), (100, 200)], span) is touches


def test_a_record_that_was_saved_on_no_day_is_left_out_of_the_picture():
    rows = [_row(1, "2026-03-02"), _row(2, "someday"), _row(3, "2026-13-45")]

    drawing = timeline_page._draw(rows, {})

    assert [mark.address for mark in drawing.marks] == [timeline_page._mark(rows[0], 0, 0).address]
    assert timeline_page._draw(rows[1:], {}) is None


def test_without_records_there_is_no_picture():
    assert timeline_page._draw([], {}) is None

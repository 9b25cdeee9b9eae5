"""The timeline: marks with titles, lines to successors, and dates."""

from __future__ import annotations

import re

import pytest

from onrecord.record import compose
from onrecord.store.writer import Writer

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

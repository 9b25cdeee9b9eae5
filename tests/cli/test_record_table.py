"""Numbered lists of records on a terminal, and the numbers of the last one."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from onrecord import paths, timestamps
from onrecord.cli import record_table
from onrecord.cli.output import Screen
from onrecord.cli.record_table import ListedPath, TableRow

from .conftest import DECISION

COLOURS = Screen(60, is_terminal=True, has_colour=True)
DAY = 86_400


def test_the_first_lines_of_a_record_that_takes_several():
    assert record_table.head(Screen(), 7, "Use uv") == " 7  Use uv"
    assert record_table.head(COLOURS, 12, "Use\x1b[2Juv") == "12  \x1b[1mUse [2Juv\x1b[0m"
    assert record_table.facts("decision", "", "now", "") == "    decision · now"


def test_matching_words_are_coloured_and_no_record_sets_a_colour():
    snippet = "jobs \x02run\x03 in \x02tables.\x03 \x1b[31m"

    assert record_table.coloured(COLOURS, snippet) == ("jobs \x1b[1;36mrun\x1b[0m in \x1b[1;36mtables.\x1b[0m  [31m")
    assert record_table.coloured(Screen(), snippet) == "jobs run in tables.  [31m"


def test_numbers_are_as_wide_as_the_largest_and_groups_have_a_heading(monkeypatch):
    monkeypatch.setattr(timestamps, "now", lambda: "2026-03-02T09:30:00Z")
    rows = [TableRow(f"T{n}", "decision", "2026-03-02T09:30:00Z", f"t{n}", "a" if n < 9 else "") for n in range(10)]

    lines = record_table.render(COLOURS, rows).split("\n")

    assert lines[:4] == [
        "\x1b[1m    title  category  age  id\x1b[0m", "", "\x1b[1;36ma\x1b[0m", " 1  T0     decision  now  t0",
    ]  # fmt: skip
    assert lines[-2:] == [" 9  T8     decision  now  t8", "10  T9     decision  now  t9"]
    assert record_table.render(COLOURS, rows[:9]).split("\n")[3] == "1  T0     decision  now  t0"


def test_a_record_outside_the_project_is_typed_with_the_flag_of_its_store(project, onrecord):
    for flags in ((), ("--user",)):
        assert onrecord("save", "decision", "Jobs are rows", *DECISION, *flags).code == 0
    own, user = str(project / ".claude" / "memory"), paths.user_store()
    path = "decisions/jobs-are-rows.json"

    assert record_table.names([ListedPath(user, path), ListedPath(own, path)]) == ["--user jobs", "jobs"]


@pytest.fixture
def at_terminal(monkeypatch):
    """Return a function that makes some of the standard streams the terminal /dev/pts/7."""

    def set_streams(*names):
        for name in ("stdin", "stdout", "stderr"):
            stream = io.StringIO()
            stream.isatty = lambda name=name: name in names
            stream.fileno = lambda: 0
            monkeypatch.setattr(sys, name, stream)
        monkeypatch.setattr(os, "ttyname", lambda handle: "/dev/pts/7")

    return set_streams


def _listing(count):
    return [ListedPath("/store", f"decisions/r-{number}.json") for number in range(1, count + 1)]


def _file() -> Path:
    (file,) = Path(paths.state_dir(), "listings").iterdir()
    return file


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1), ("3", 3), ("03", 3), ("0003", 3),
        ("0", None), ("4", None), ("00003", None), ("-1", None), ("", None), ("x", None), ("²", None), ("٣", None),
    ],
)  # fmt: skip
def test_only_a_number_of_the_last_listing_names_a_record(at_terminal, text, number):
    at_terminal("stdin", "stdout")
    record_table.save_listing(_listing(3))

    assert record_table.listed_path(text) == (number and _listing(3)[number - 1])


def test_of_a_long_listing_the_first_thousand_have_numbers(at_terminal):
    at_terminal("stdin", "stdout")
    record_table.save_listing(_listing(1_001))

    assert record_table.listed_path("1000") == _listing(1_000)[-1]
    assert record_table.listed_path("1001") is None


def test_each_terminal_and_each_session_of_it_has_numbers_of_its_own(at_terminal, monkeypatch):
    at_terminal("stdin", "stdout")
    record_table.save_listing(_listing(1))
    for change in (("ttyname", "/dev/pts/8"), ("getsid", 12_345)):
        with monkeypatch.context() as patch:
            patch.setattr(os, change[0], lambda handle, change=change: change[1])
            assert record_table.listed_path("1") is None

    assert record_table.listed_path("1") == _listing(1)[0]


@pytest.mark.parametrize("names", [("stdin",), ("stdout",), ("stderr",)])
def test_any_stream_that_is_the_terminal_tells_which_it_is_but_only_what_a_person_saw_is_kept(at_terminal, names):
    at_terminal(*names)
    record_table.save_listing(_listing(1))
    at_terminal("stdin", "stdout")

    assert record_table.listed_path("1") == (_listing(1)[0] if names == ("stdout",) else None)


def test_without_a_terminal_there_are_no_numbers(at_terminal):
    at_terminal("stdin", "stdout")
    record_table.save_listing(_listing(1))
    at_terminal()

    assert record_table.listed_path("1") is None


@pytest.mark.parametrize(("days", "is_known"), [(0.9, True), (1.1, False)])
def test_numbers_are_forgotten_after_a_day(at_terminal, days, is_known):
    at_terminal("stdin", "stdout")
    record_table.save_listing(_listing(1))
    moment = _file().stat().st_mtime - days * DAY
    os.utime(_file(), (moment, moment))

    assert (record_table.listed_path("1") is not None) == is_known


@pytest.mark.parametrize("content", ["", "[", "1", "[1]", '[["a"]]', json.dumps([["/store", "x", "y"]])])
def test_a_listing_that_was_cut_off_or_changed_has_no_numbers(at_terminal, content):
    at_terminal("stdin", "stdout")
    record_table.save_listing(_listing(1))
    _file().write_text(content)

    assert record_table.listed_path("1") is None

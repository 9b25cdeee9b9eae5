"""A person picks one of several lines: with keys in a window, or with a number where the terminal only prints."""

from __future__ import annotations

import io
import sys

import pytest

from onrecord.cli import terminal
from onrecord.cli.terminal import DOWN, END, ENTER, ESCAPE, HOME, PAGE_DOWN, PAGE_UP, UP, pick_line

LINES = [f"line {number}" for number in range(1, 24)]
HELP = "up/down and Enter, or a number; Esc leaves"


@pytest.fixture
def pressed(monkeypatch):
    """Return a function that sets the keys that a person presses; after them comes the end of the input."""
    monkeypatch.setenv("TERM", "xterm")

    def set_keys(*keys):
        remaining = iter(keys)

        def read_key():
            for key in remaining:
                return key
            raise EOFError

        monkeypatch.setattr(terminal, "read_key", read_key)

    return set_keys


@pytest.mark.parametrize(
    ("keys", "position"),
    [
        ([ENTER], 0),
        ([DOWN, ENTER], 1),
        (["j", "j", "k", ENTER], 1),
        ([UP, ENTER], 0),
        ([PAGE_DOWN, ENTER], 10),
        ([PAGE_DOWN, DOWN, PAGE_UP, ENTER], 1),
        ([END, ENTER], 22),
        ([END, DOWN, ENTER], 22),
        ([END, UP, HOME, ENTER], 0),
        ([PAGE_DOWN, PAGE_DOWN, PAGE_DOWN, ENTER], 22),
        (["1"], 0),
        (["9"], 8),
        (["0"], 9),
        ([PAGE_DOWN, "2"], 11),
        ([PAGE_DOWN, "0"], 19),
        ([END, "3"], 22),
        ([END, "4", ENTER], 22),
        (["x", "tab", ENTER], 0),
        ([DOWN, ESCAPE], None),
        (["q"], None),
        ([DOWN], None),
    ],
)
def test_keys_move_and_digits_pick_in_the_window(pressed, keys, position):
    pressed(*keys)

    assert pick_line("Which?", LINES) == position


def test_a_digit_beyond_a_short_list_picks_nothing(pressed):
    pressed("3", "0", "2")

    assert pick_line("Which?", LINES[:2]) == 1


def test_a_short_list_is_drawn_whole_and_erased_at_the_end(pressed, capsys):
    pressed(DOWN, ENTER)

    pick_line("Which?", LINES[:2])

    assert capsys.readouterr().out == (
        f"Which?\n> 1  line 1\n  2  line 2\n{HELP}\n\033[4A\033[J"
        f"Which?\n  1  line 1\n> 2  line 2\n{HELP}\n\033[4A\033[J"
    )


def test_the_window_over_a_long_list_has_ten_lines_and_says_where_it_is(pressed, capsys):
    pressed(END, ENTER)

    pick_line("Which?", LINES)

    first, second, end = capsys.readouterr().out.split("\033[J")
    rows = ["> 1  line 1", *(f"  {number % 10}  line {number}" for number in range(2, 11))]
    assert first.split("\n") == ["Which?", *rows, f"{HELP}  (1 of 23)", "\033[12A"]
    assert second.split("\n") == [
        "Which?", "  1  line 21", "  2  line 22", "> 3  line 23", f"{HELP}  (23 of 23)", "\033[5A",
    ]  # fmt: skip
    assert end == ""


def test_ten_lines_fit_into_the_window(pressed, capsys):
    pressed(ENTER)

    pick_line("Which?", LINES[:10])

    assert f"  0  line 10\n{HELP}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "position"),
    [
        ("1\n", 0),
        (" 23 \n", 22),
        ("0\n", None),
        ("24\n", None),
        ("-1\n", None),
        ("x\n", None),
        ("²\n", None),
        ("", None),
    ],
)
def test_a_terminal_that_only_prints_takes_a_number(monkeypatch, capsys, typed, position):
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))

    assert pick_line("Which?", LINES) == position
    out = capsys.readouterr().out.split("\n")
    assert (out[0], out[1], out[23:]) == ("Which?", "  1  line 1", [" 23  line 23", "number: "])

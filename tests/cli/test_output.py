from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.cli.output import Screen, clean, clean_lines, fit, table, width_of, wrap

TERMINAL = Screen(30, is_terminal=True)


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("시간", 4), ("ｆｕｌｌ", 8), ("é", 1), ("e\u0301", 1), ("日本 x", 6)]
)
def test_width(text, width):
    assert width_of(text) == width


@pytest.mark.parametrize(
    ("text", "width", "fitted"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("시간은", 5, "시간…"), ("시간은", 4, "시…"), ("a b c d", 4, "a b…")],
)
def test_fit(text, width, fitted):
    assert fit(text, width) == fitted
    assert width_of(fit(text, width)) <= width


def test_wrap_breaks_at_spaces_and_leaves_long_words_whole():
    assert wrap("one two three incomprehensibilities x", 12, "  ") == (
        "  one two\n  three\n  incomprehensibilities\n  x"
    )


def test_a_pipe_gets_tab_separated_cells_without_heads():
    assert table(Screen(), ("id", "title"), [("a", "x\ty"), ("b", "z")]) == "a\tx y\nb\tz"


def test_a_terminal_gets_aligned_columns_by_displayed_width():
    assert table(TERMINAL, ("id", "title"), [("시간", "x"), ("abcdef", "y")]) == ("id      title\n시간    x\nabcdef  y")


def test_the_last_column_gives_way_first_then_the_widest():
    rows = [("a" * 12, "t" * 40)]

    assert table(TERMINAL, ("id", "title"), rows).splitlines()[1] == "a" * 12 + "  " + "t" * 15 + "…"
    assert table(TERMINAL, ("id", "title"), [("a" * 40, "t" * 40)]).splitlines()[1] == (
        "a" * 17 + "…  " + "t" * 9 + "…"
    )


@pytest.mark.parametrize(
    ("style", "code"), [("bold", 1), ("dim", 2), ("red", 31), ("green", 32), ("yellow", 33), ("cyan", 36)]
)
def test_styles_are_those_that_every_terminal_has(style, code):
    assert Screen(80, True, True).paint("x", style) == f"\x1b[{code}mx\x1b[0m"


def test_a_file_is_never_painted():
    assert Screen.for_stream(io.StringIO()).paint("x", "red") == "x"
    assert Screen(80, True, True).paint("x", "red", "bold") == "\x1b[31;1mx\x1b[0m"
    # `demo` showed "[m" before what the user and the agent say.
    assert Screen(80, True, True).paint("x") == "x"


def test_clean_text_has_nothing_invisible():
    assert clean("a\x1b[31m\u202eb\nc") == "a [31mb c"
    assert clean_lines("a\nb\x07\r\nc") == ["a", "b ", "c"]


def test_wrap_breaks_japanese_between_characters_and_never_before_a_full_stop():
    text = "運用は「監視」とPostgreSQLを管理する。次も"

    lines = wrap(text, 12).split("\n")

    assert lines == ["運用は「監", "視」と", "PostgreSQLを", "管理する。次", "も"]


@given(st.text("aé、。「」（ー漢字カひx! ", max_size=40), st.integers(4, 30))
def test_wrap_loses_nothing_of_a_text(text, width):
    lines = wrap(text, width).split("\n")

    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(width_of(line) <= width or " " not in line for line in lines)

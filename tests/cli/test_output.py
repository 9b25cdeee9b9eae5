from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onrecord.cli.output import (
    CommandResult,
    Screen,
    add_store_flags,
    clean,
    clean_lines,
    emit,
    emit_error,
    fit,
    fitted,
    labelled,
    readable,
    rows_of,
    safe,
    store_flags,
    table,
    to_json,
    width_of,
    wrap,
)  # fmt: skip
from onrecord.errors import BadInput

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


@pytest.mark.parametrize(("columns", "width"), [("30", 40), ("40", 40), ("41", 41), ("200", 200)])
def test_a_terminal_counts_as_at_least_40_columns_wide(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)

    assert Screen.for_stream(_terminal())[:2] == (width, True)


@pytest.mark.parametrize(
    ("platform", "env", "has_colour"),
    [
        ("linux", {}, True),
        ("linux", {"TERM": "xterm"}, True),
        ("linux", {"TERM": "dumb"}, False),
        ("linux", {"NO_COLOR": "1"}, False),
        ("linux", {"NO_COLOR": ""}, True),
        ("win32", {}, False),
        ("win32", {"WT_SESSION": "1"}, True),
        ("win32", {"TERM": "xterm"}, True),
        ("win32", {"TERM": "xterm", "NO_COLOR": "1"}, False),
    ],
)
def test_colours_where_the_terminal_has_them_and_nobody_minds(monkeypatch, platform, env, has_colour):
    for name in ("NO_COLOR", "TERM", "WT_SESSION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    stream = _terminal()
    monkeypatch.setattr(sys, "platform", platform)

    assert Screen.for_stream(stream).has_colour == has_colour


def _terminal():
    stream = io.StringIO()
    stream.isatty = lambda: True
    return stream


@pytest.fixture
def colours(monkeypatch):
    monkeypatch.setattr(Screen, "for_stream", classmethod(lambda cls, stream: Screen(30, True, True)))


def test_a_result_with_a_warning_and_a_note_in_colours(colours, capsys):
    result = CommandResult({}, lambda screen: "done\n\n", warning="one").warned("", "two")

    emit(result._replace(note="a note that is wider\nthan the screen"), as_json=False, is_paged=False)

    out, err = capsys.readouterr()
    assert out == "done\n\n"
    assert (
        err == "\x1b[33mwarning\x1b[0m: one; two\n\x1b[2ma note that is wider than the\x1b[0m\n\x1b[2mscreen\x1b[0m\n"
    )


def test_a_result_for_programs_is_json_alone(colours, capsys):
    emit(CommandResult({"a": "é\u202e"}, lambda screen: "text", warning="w", note="n"), as_json=True, is_paged=True)

    assert capsys.readouterr() == ('{\n  "a": "é\\u202e"\n}\n', "")


def test_nothing_to_say_is_no_empty_line(capsys):
    emit(CommandResult({}, lambda screen: ""), as_json=False, is_paged=False)

    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("fix", ["try again", ""])
def test_an_error_in_colours(colours, capsys, fix):
    emit_error(BadInput("wrong", fix=fix), as_json=False)

    lines = ["\x1b[31mBAD_INPUT\x1b[0m: wrong", *([f"\x1b[1mfix\x1b[0m: {fix}"] if fix else [])]
    assert capsys.readouterr() == ("", "\n".join([*lines, "\x1b[2mdocs: onrecord docs BAD_INPUT\x1b[0m"]) + "\n")


@pytest.mark.parametrize(
    ("line", "rows"), [("", 1), ("x" * 29, 1), ("x" * 30, 1), ("x" * 31, 2), ("\x1b[1m" + "x" * 30 + "\x1b[0m", 1)]
)
def test_rows_of_a_line(line, rows):
    assert rows_of(line, TERMINAL) == rows


@pytest.mark.parametrize(
    ("label", "lines"),
    [
        ("l" * 4, ["llll: xx xx xx xx xx xx xx xx", " " * 6 + "xx xx xx xx"]),
        ("l" * 19, ["l" * 19 + ": xx xx xx", *[" " * 21 + "xx xx xx"] * 3]),
        ("l" * 20, ["l" * 20 + ": xx xx xx", *[" " * 22 + "xx xx xx"] * 3]),
        ("l" * 21, ["l" * 21 + ": xx xx", *[" " * 22 + "xx xx"] * 5]),
    ],
)
def test_a_long_message_goes_on_below_its_text_and_below_a_long_label_further_left(label, lines):
    assert labelled(TERMINAL, label, " ".join(["xx"] * 12)).split("\n") == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a" * 14 + " " + "b" * 13, ["  " + "a" * 14 + " " + "b" * 13]),
        ("a" * 14 + " " + "b" * 14, ["  " + "a" * 14, "  " + "b" * 14]),
        ("either this; or that: onrecord show x y z", ["  either this", "  or that: onrecord show x y z"]),
        ("or rather that: onrecord show x y z", ["  or rather that:", "    onrecord show x y z"]),
        ("onrecord save --reason 'one; two'; or", ["  onrecord save --reason 'one; two'", "  or"]),
        ("say; git commit --all --message=more words", ["  say", "  git commit --all --message=more words"]),
    ],
)
def test_a_message_is_broken_at_its_parts_and_no_command_is(text, lines):
    assert fitted(TERMINAL, text, "  ").split("\n") == lines
    assert fitted(Screen(30), text, "  ") == f"  {text}"


@pytest.mark.parametrize(
    ("fix", "flags", "flagged"),
    [
        ("onrecord show x", "", "onrecord show x"),
        ("onrecord show x; or: onrecord inbox", " --user", "onrecord show x --user; or: onrecord inbox --user"),
        ("onrecord show x --remote r", " --user", "onrecord show x --remote r"),
        ("onrecord show x --project p", " --user", "onrecord show x --project p"),
        ("onrecord show x --user", " --project p", "onrecord show x --user"),
        ("onrecord connect --list", " --user", "onrecord connect --list"),
        ("onrecord hub status", " --user", "onrecord hub status"),
        ("onrecord remote list", " --project p", "onrecord remote list"),
        ("onrecord sync platform", " --remote platform", "onrecord sync platform"),
        ("onrecord import --dry-run", " --project p", "onrecord import --dry-run --project p"),
        ("onrecord import --dry-run", " --user", "onrecord import --dry-run --user"),
        ("onrecord check --staged", " --user", "onrecord check --staged"),
        ("onrecord check --staged", " --project p", "onrecord check --staged --project p"),
    ],
)  # fmt: skip
def test_a_fix_names_the_store_of_the_command_where_its_commands_take_one(fix, flags, flagged):
    assert add_store_flags(fix, flags) == flagged


@pytest.mark.parametrize(
    ("user", "remote", "project", "flags"),
    [
        (False, "", ".", ""),
        (False, "", "a b", " --project 'a b'"),
        (False, "platform", ".", " --remote platform"),
        (True, "", ".", " --user"),
    ],
)
def test_the_flags_of_a_store(user, remote, project, flags):
    assert store_flags(user=user, remote_name=remote, project=project) == flags


@pytest.mark.parametrize(
    ("text", "has_colour", "printed"),
    [
        ("a\tb\nc", False, "a\tb\nc"),
        ("a\x1b[1mb\x1b[0m\tc\nd", True, "a\x1b[1mb\x1b[0m\tc\nd"),
        ("a\x1b[1;36mb\x1b[0m", True, "a\x1b[1;36mb\x1b[0m"),
        ("a\x1b[5mb\x1b[0m", True, "a [5mb\x1b[0m"),
        ("a\x1b[1mb\x1b[0m\n\tc", False, "a [1mb [0m\n\tc"),
    ],
)
def test_only_our_own_styles_reach_a_screen_and_only_one_that_shows_them(text, has_colour, printed):
    assert safe(text, Screen(80, True, has_colour)) == printed


def test_json_on_one_line_escapes_what_is_invisible():
    assert to_json({"a": ["\x9b", "é"]}, indent=None) == '{"a": ["\\u009b", "é"]}'


@pytest.mark.parametrize("mark", ["\u20dd", "\ufe0f", "\u200b", "\u0301", "\U0001d165"], ids=ascii)
def test_a_character_on_another_takes_no_column(mark):
    assert width_of(f"é{mark}") == 1


@pytest.mark.parametrize(("size", "text"), [(9_999, "9,999 bytes"), (10_000, "10 kB"), (1_234_567, "1,235 kB")])
def test_sizes_for_people(size, text):
    assert readable(size) == text


def test_words_fill_a_line_to_the_last_column():
    assert wrap("four five six", 9) == "four five\nsix"
    assert wrap("four five six", 8) == "four\nfive six"
    assert wrap("four five six", 10, " ") == " four five\n six"


def test_no_column_of_a_table_gets_narrower_than_ten():
    long, short = "l" * 40, "s" * 9

    assert table(TERMINAL, ("a",) * 4, [(long, short, long, long)]).split("\n")[1] == (
        f"{'l' * 9}…  {short}  {'l' * 9}…  {'l' * 9}…"
    )
    assert table(TERMINAL, ("a", "b"), [("l" * 12, "r" * 17)], gives_way=0).split("\n")[1] == f"{'l' * 10}…  {'r' * 17}"
    assert table(TERMINAL, ("a", "b"), [("l" * 11, "r" * 17)], gives_way=0).split("\n")[1] == f"{'l' * 11}  {'r' * 17}"
    assert table(TERMINAL, ("a", "b"), [("l" * 12, "r" * 19)], gives_way=0).split("\n")[1] == f"{'l' * 9}…  {'r' * 17}…"


def test_the_heads_of_a_table_are_bold():
    assert table(Screen(30, True, True), ("id", "x"), [("a", "b")]) == "\x1b[1mid  x\x1b[0m\na   b"

"""Questions to a person: what is printed, which answers count, and what is asked again."""

from __future__ import annotations

import io
import sys

import pytest

from onrecord.cli import questions, terminal
from onrecord.cli.output import Screen
from onrecord.cli.questions import Asker, Option
from onrecord.record import author

PIPE, TERMINAL = Screen(), Screen(40, is_terminal=True)
CHOICES = (
    Option("y", "yes", "yes: do it"),
    Option("A", "All", "All: each of them", is_exact=True),
    Option("a", "later", "", is_exact=True),
    Option("v", "", "view: see more"),
    Option("x", "keep", "x: keep it"),
)


@pytest.fixture
def typed(monkeypatch):
    """Return a function that sets the keys that a person presses, or the lines that are typed."""

    def set_input(*keys, lines=()):
        remaining = iter(keys)
        monkeypatch.setattr(terminal, "read_key", lambda: next(remaining))
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))

    return set_input


def test_a_choice_names_its_keys_in_its_words_and_explains_them_after_any_other_key(typed, capsys):
    typed("?", "enter", "V")

    assert questions.read_choice("Do it?", CHOICES, TERMINAL) == "v"

    question = "Do it? [y]es [A]ll l[a]ter [x] keep [?]: "
    meanings = "  y  yes: do it\n  A  All: each of them\n  a  later\n  v  view: see more\n  x  x: keep it\n"
    assert capsys.readouterr().out == f"{question}?\n{meanings}{question}\n{meanings}{question}V\n"


@pytest.mark.parametrize(("keys", "answer"), [("y", "y"), ("Y", "y"), ("A", "A"), ("a", "a"), ("zX", "x")])
def test_the_case_of_a_key_counts_only_where_the_other_case_means_something_else(typed, keys, answer):
    typed(*keys)

    assert questions.read_choice("", CHOICES, PIPE) == answer


def test_an_exact_key_in_the_other_case_is_no_answer(typed, capsys):
    exact = (Option("a", "accept", "accept it", is_exact=True), Option("q", "quit", "quit"))
    typed("A", "q")

    assert questions.read_choice("", exact, PIPE) == "q"
    assert capsys.readouterr().out == "[a]ccept [q]uit [?]:   a  accept it\n  q  quit\n[a]ccept [q]uit [?]: "


@pytest.mark.parametrize(
    ("key", "answer", "echo"), [("y", True, "y\n"), ("Y", True, "Y\n"), ("n", False, "n\n"), ("enter", False, "\n")]
)
def test_only_y_is_a_yes_and_a_key_without_a_character_is_not_written(typed, capsys, key, answer, echo):
    typed(key, key)

    assert (questions.confirm("Sure?", TERMINAL), questions.confirm("Sure?", PIPE)) == (answer, answer)
    assert capsys.readouterr().out == f"Sure? [y/N] {echo}Sure? [y/N] "


def test_the_end_of_the_input_is_a_no(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))

    assert not questions.confirm("Sure?", TERMINAL)
    assert capsys.readouterr().out == "Sure? [y/N] \n"


def test_a_list_of_choices_is_aligned_and_asks_until_one_of_its_keys_is_pressed(typed, capsys):
    choices = (Option("d", "decision", "what was decided"), Option("p", "preference", "what is liked"))
    typed("x", "enter", "P")

    assert questions.read_list_choice("What is it?", choices, PIPE) == "p"
    assert capsys.readouterr().out == (
        "What is it?\n  d  decision    what was decided\n  p  preference  what is liked\n"
        "Press its key: x\nPress its key: \nPress its key: p\n"
    )


def test_a_text_is_asked_for_until_there_is_one(typed, capsys):
    typed(lines=("", "  ", " a rule "))
    narrow = Screen(20, is_terminal=True, has_colour=True)

    assert questions.read_text("title", "One line that says it.", narrow) == "a rule"
    assert capsys.readouterr().out == (
        "\n\x1b[1mtitle\x1b[0m: One line that\nsays it.\n> This cannot be left out.\n> This cannot be left out.\n> "
    )


def test_items_end_with_an_empty_line_and_one_with_a_flaw_is_told_and_not_taken(typed, capsys):
    typed(lines=("one", "bad", "two", "", "three"))
    texts: list[str] = []

    questions.read_items(texts, "files", "Which?", PIPE, flaw_of=lambda line: "no such file" if line == "bad" else "")

    assert texts == ["one", "two"]
    assert capsys.readouterr().out == (
        "\nfiles: Which? One per line; an empty line ends, or leaves it out.\n- - no such file\n- - "
    )


@pytest.mark.parametrize(
    ("lines", "taken", "asked"),
    [(("", "a", ""), ["a"], 1), (("a", ""), ["a"], 0), (("", "", "a", ""), ["a"], 2)],
)
def test_items_of_which_one_is_needed_cannot_be_left_out(typed, capsys, lines, taken, asked):
    typed(lines=lines)
    texts: list[str] = []

    questions.read_items(texts, "why", "Which?", PIPE, min_items=1)

    assert texts == taken
    out = capsys.readouterr().out
    assert out.startswith("\nwhy: Which? One per line; an empty line ends.\n- ")
    assert out.count("This cannot be left out.\n") == asked


@pytest.mark.parametrize(
    ("is_json", "at_terminal", "agent", "can_ask"),
    [
        (False, True, "", True), (True, True, "", False), (False, False, "", False), (False, True, "CLAUDECODE", False),
    ],
)  # fmt: skip
def test_only_a_person_at_a_terminal_is_asked(monkeypatch, is_json, at_terminal, agent, can_ask):
    for name in author.HOST_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    if agent:
        monkeypatch.setenv(agent, "1")
    monkeypatch.setattr(terminal, "at_terminal", lambda: at_terminal)

    assert Asker("show", is_json, is_dry_run=False).can_ask == can_ask

"""Which commands a line has, how a check reads in words, and how much of a command, a line or a text is compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from onrecord.record import check, memory
from onrecord.record.check import Check, CheckProblem, FileLines, Line
from onrecord.record.schema import Flaw
from tests.records import raw


def programs(line: str) -> set[str]:
    """Return the commands of a line that begin with the program `x`."""
    return {" ".join(words) for words in check.simple_commands(line) if words[0] == "x"}


@pytest.mark.parametrize(
    "line",
    [
        "x a", "sudo x a", "sudo -u me x a", "sudo -n x a", "xargs -n 5 x a", "sudo -E x a", "doas x a",
        "env A=1 B=2 x a", "A=1 x a",
        "exec x a", "builtin x a", "setsid x a", "timeout 5 x a", "timeout -k 9 5 x a", "timeout -s INT 5 x a",
        "timeout --kill-after 9 --signal INT 5 x a", "timeout --foreground 5 x a", "if true; then :; elif x a; then :",
        ">out x a", "> out x a", "nice -n 5 x a", "/usr/bin/x a", "./x a", "'C:\\bin\\x.exe' a", "x.CMD a", "x.bat a",
        "sh -c 'x a'", "bash -lc 'x a'", "zsh -e -c 'x a'", "dash -e -u -c 'x a'", "/bin/sh -c 'sudo x a'",
    ],
)  # fmt: skip
def test_a_program_is_known_behind_what_runs_it(line: str) -> None:
    assert programs(line) == {"x a"}


@pytest.mark.parametrize(
    "line",
    ["echo x a", "sh x a", "fish -c 'x a'", "sh -c", "sh -a -b -d -c 'x a'", "sh -x y 'x a'", "y/z a", "xx a", ""],
)
def test_a_program_that_is_an_argument_is_not_run(line: str) -> None:
    assert programs(line) == set()


def test_each_way_to_name_a_command_is_listed_once() -> None:
    assert check.simple_commands("sudo /bin/x.exe a") == [
        ("sudo", "/bin/x.exe", "a"), ("/bin/x.exe", "a"), ("x", "a")
    ]  # fmt: skip
    assert check.simple_commands("x a; x a") == [("x", "a")]
    assert check.simple_commands("A=1") == [("A=1",)]


@pytest.mark.parametrize(("before", "is_broken"), [(199, True), (200, False)])
def test_two_hundred_commands_of_a_line_are_compared(before: int, is_broken: bool) -> None:
    assert check.breaks_command(Check(("command",), starts=("x",)), "y; " * before + "x") is is_broken


@pytest.mark.parametrize("one", [Check(("command",), starts=("x",)), Check(("command",), has=("x",))])
def test_twenty_thousand_characters_of_a_command_are_compared(one: Check) -> None:
    line = "y " * 9_999 + ";x"

    assert len(line) == 20_000
    assert check.breaks_command(one, line)
    assert not check.breaks_command(one, " " + line)


def test_two_thousand_characters_of_a_line_are_compared() -> None:
    def is_broken(text: str, one: Check) -> bool:
        return bool(check.broken_lines(one, FileLines("a", [Line(1, text)])))

    for one in (Check(("edit",), has=("x",)), Check(("edit",), adds=("x",))):
        assert is_broken("-" * 1_998 + ".x", one)
        assert not is_broken("-" * 1_999 + ".x", one)
    (line,) = check.added_lines("a", "", "y" * 2_001, is_new=False).added
    assert len(line.text) == 2_000


def test_a_text_is_tried_as_a_whole_word_at_a_thousand_places() -> None:
    assert check.has_text("xx " * 499 + " x", "x")
    assert not check.has_text("xx " * 500 + " x", "x")


@pytest.mark.parametrize(
    ("text", "part", "has"),
    [
        ("a-x", "x", False), ("a_x", "x", False), ("ax", "x", False), ("äx", "x", False), ("a.x", "x", True),
        ("x-a", "x", False), ("xä", "x", False), ("x.a", "x", True), ("xx.", "x.", False), ("x.a", "x.", True),
        ("a(x)b", "(x)", True), ("", "x", False), ("xx x", "x", True),
    ],
)  # fmt: skip
def test_a_text_is_a_whole_word_where_it_begins_or_ends_with_one(text: str, part: str, has: bool) -> None:
    assert check.has_text(text, part) is has


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (Check(("command",), starts=("npm i", "yarn"), say="use pnpm"),
         "on command starts 'npm i' or 'yarn' → use pnpm"),
        (Check(("edit", "write"), paths=("*.py", "a/"), has=("x",), adds=("y",), unless=("z",)),
         "on edit or write in *.py, a/ has 'x' adds 'y' unless 'z'"),
    ],
)  # fmt: skip
def test_a_check_in_words(one: Check, words: str) -> None:
    assert check.describe(one) == words


@pytest.mark.parametrize(
    ("one", "keys"),
    [
        (Check(("edit",), paths=("a",)), ("",)),
        (Check(("command",), starts=("npm install", "yarn add")), ("install", "yarn")),
        (Check(("edit",), has=("&&",)), ("",)),
        (Check(("edit",), has=("&&", "b"), adds=("one", "two", "three")), ("one", "three", "two")),
        (Check(("edit",), has=("one", "two"), adds=("three",)), ("three",)),
    ],
)
def test_the_key_words_are_those_of_the_shortest_list_that_has_words(one: Check, keys: tuple[str, ...]) -> None:
    assert check.key_words(one) == keys


@pytest.mark.parametrize(
    ("on", "kind", "is_about"),
    [
        (("command",), "command", True), (("command",), "edit", False), (("edit",), "edit", True),
        (("edit",), "write", True), (("write",), "write", True), (("write",), "edit", False),
        (("command",), "write", False), (("edit",), "command", False),
    ],
)  # fmt: skip
def test_to_create_a_file_is_a_change_of_it_and_not_the_other_way_round(
    on: tuple[str, ...], kind: str, is_about: bool
) -> None:
    assert Check(on).is_about(kind) is is_about


def test_a_line_begins_with_a_text_as_with_a_whole_word() -> None:
    one = Check(("edit",), starts=(" print( ", "import x"))

    def is_broken(text: str) -> bool:
        return bool(check.broken_lines(one, FileLines("a", [Line(1, text)])))

    assert [is_broken(text) for text in ("print(1)", "  print(1)", "import x", "import x.y", "import x as y")] == [
        True, True, True, True, True
    ]  # fmt: skip
    assert [is_broken(text) for text in ("importx", "import xy", "a print(1)", "import x-y")] == [False] * 4


def test_a_line_that_only_moved_is_not_the_one_that_was_added() -> None:
    one = Check(("edit",), adds=("x",))
    moved, new = Line(1, " x = 1"), Line(2, "x = 2")

    assert check.broken_lines(one, FileLines("a", [moved, new], ["x = 1"])) == [new]
    assert check.broken_lines(one, FileLines("a", [moved, moved], ["x = 1"])) == [moved, moved]


def test_a_long_text_is_shortened_in_a_problem() -> None:
    def problems(text: str) -> list[CheckProblem]:
        examples = check.parse({"on": "command", "starts": ["npm i"], "examples": {"breaks": [text]}})
        return list(check.problems(examples))

    assert problems("y" * 60)[0].message == f"does not break the check: {'y' * 60!r}"
    assert problems("y" * 61)[0].message == f"does not break the check: {'y' * 59 + '…'!r}"


def test_a_check_is_read_and_written_with_what_this_version_does_not_know() -> None:
    stored = {
        "paths": ["*.py"], "starts": None, "has": ["x"], "later": [1], "unknown": 3, "on": "edit",
        "examples": {"breaks": ["a"], "fits": None, "later": 2},
    }  # fmt: skip

    one = check.parse(stored)

    assert one == Check(
        ("edit",),
        ("*.py",),
        has=("x",),
        examples=check.CheckExamples(("a",), (), {"later": 2}),
        unknown={"later": [1], "unknown": 3},
    )
    assert check.to_json(one) == {
        "on": "edit", "paths": ["*.py"], "has": ["x"], "examples": {"breaks": ["a"], "later": 2}, "later": [1],
        "unknown": 3,
    }  # fmt: skip
    assert check.to_json(Check(("edit", "write"), has=("x",))) == {"on": ["edit", "write"], "has": ["x"]}
    assert check.parse({"on": ["edit"], "examples": None}) == Check(("edit",))


def test_eight_checks_of_a_record_are_carried_out() -> None:
    checks = [Check(("command",), starts=(f"tool{number} run",)) for number in range(9)]

    assert check.sound(checks) == checks[:8]
    assert check.sound([Check(("command",)), *checks[:2]]) == checks[:2]
    assert check.problem_together(checks) == ""
    assert check.problem_together([Check(("edit",), has=("(", "=", ":", "."))]) == "", "one is refused by itself"
    broad = [Check(("edit",), has=(text,)) for text in ("(", "=", ":", ".")]
    assert check.problem_together(broad) == (
        "would together be broken by ordinary commands or changes, whatever they are about"
    )


@pytest.mark.parametrize(
    ("part", "most"),
    [
        (lambda number: {"has": [f"tool{text} run" for text in range(number)]}, 12),
        (lambda number: {"has": ["x" * number]}, 200),
        (lambda number: {"say": "x" * number}, 200),
        (lambda number: {"examples": {"breaks": ["x"] * number}}, 8),
        (lambda number: {"examples": {"fits": ["y" * number]}}, 500),
    ],
    ids=["texts", "characters of a text", "characters to say", "examples", "characters of an example"],
)
def test_a_part_of_a_check_may_be_so_long_and_no_longer(part: Callable[[int], dict[str, Any]], most: int) -> None:
    def flaws(number: int) -> list[Flaw]:
        return memory.flaws_in(raw(checks=[{"on": "command", "starts": ["x"], **part(number)}]))

    assert flaws(most) == []
    assert [flaw.where.partition(".")[0] for flaw in flaws(most + 1)] == ["checks[0]"]


def test_a_record_may_have_eight_checks() -> None:
    checks = [{"on": "command", "starts": [f"tool{number} run"]} for number in range(9)]

    assert memory.flaws_in(raw(checks=checks[:8])) == []
    assert [flaw.where for flaw in memory.flaws_in(raw(checks=checks))] == ["checks"]


@pytest.mark.parametrize(
    ("part", "text", "is_in"),
    [
        ("->flush(", "$this->em->flush();", True),
        ("->", "p->next", True),
        ("<-", "x<-read()", True),
        ("-->", "<!--x-->", True),
        ("->get", "x->getAll()", False),
        ("--force", "push --force-with-lease", False),
        ("--force", "push x--force", False),
        ("-m", "pip-m", False),
        ("x-", "x-y", False),
        ("--", "i--j", False),
        ("--", "git checkout -- .", True),
    ],
)
def test_an_arrow_at_the_edge_of_a_text_is_no_part_of_a_word(part: str, text: str, is_in: bool) -> None:
    """A check with `->flush(` was saved, and no line could ever break it: a name stands before the arrow."""
    assert check.has_text(text, part) is is_in
    one = Check(("edit",), paths=("a",), adds=(part,))
    assert bool(check.broken_lines(one, FileLines("a", [Line(1, text)]))) is is_in
    assert not is_in or set(check.key_words(one)) & ({""} | check.words_of(text))

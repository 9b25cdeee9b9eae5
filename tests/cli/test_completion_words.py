"""Which words a shell is offered, how many, and how they are printed; tests/cli/test_completion.py asks real shells."""

from __future__ import annotations

import argparse
import json

import pytest

from onrecord.cli import completion, parser_of
from onrecord.cli.completion import Word
from onrecord.setting_table import SETTINGS

from .conftest import DECISION


def texts(*words: str, splits_values: bool = False) -> list[str] | None:
    suggestions = completion.candidates(list(words[:-1]), words[-1], splits_values=splits_values)
    return None if suggestions is None else [word.text for word in suggestions]


@pytest.fixture
def printed(onrecord, capfd):
    """Return what is printed for a line, by shell."""

    def run(*words: str) -> str:
        outcome = onrecord("__complete", *words)
        assert (outcome.code, outcome.err) == (0, "")
        return outcome.out

    return run


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (("fish", "gc"), "words\ngc\tRetire and delete records that are due.\n"),
        (("fish", "inbox", "te"), "words\ntests-run-in-docker\tTests run in Docker\n"),
        (("fish", "import", "docs"), "files\n"),
        (("fish", "list", "--category=te"), "words\n--category=tech_debt\t\n"),
        (("zsh", "list", "--category=te"), "words\n--category=tech_debt\t\n"),
        (("bash", "list", "--category", "=", "te"), "words\ntech_debt\t\n"),
        (("bash", "show", "'use-u"), "words\nuse-uv\tUse uv\n"),
        (("fish", "show", "'use-u"), "words\n"),
        (("fish", "nothing", ""), "words\n"),
        (("fish", "list", "--project=/nowhere/at/all", "--tag", ""), "words\n"),
        (("fish", "update", "no-such-record", "--set", ""), "words\n"),
    ],
)
def test_what_a_shell_reads(sample, printed, words, out):
    assert printed(*words) == out


def test_without_a_word_all_commands_are_printed(sample, printed):
    for words in ((), ("fish",), ("fish", "")):
        lines = printed(*words).split("\n")
        assert lines[0] == "words" and lines[1].startswith("init\tMake a memory")


def test_two_hundred_words_are_offered_and_fifty_drafts_have_titles(sample):
    inbox = sample / ".claude/memory/inbox"
    draft = (inbox / "tests-run-in-docker.json").read_text()
    for number in range(205):
        (inbox / f"a{number:03}.json").write_text(draft)

    words = completion.candidates(["inbox"], "a", splits_values=False)

    assert [word.text for word in words] == [f"a{number:03}" for number in range(200)]
    assert [word.meaning for word in words[:51]] == ["Tests run in Docker"] * 50 + [""]


def test_a_draft_that_cannot_be_read_has_no_title(sample):
    (sample / ".claude/memory/inbox/broken.json").write_text("{")

    assert completion.candidates(["inbox"], "bro", splits_values=False) == [("broken", "")]


def test_the_last_changes_come_first_with_their_action_and_day(sample, onrecord):
    for tag in ("one", "two"):
        onrecord("update", "use-uv", f"--tag={tag}")
    logged = json.loads(onrecord("log", "--json").out)["changes"]

    words = completion.candidates(["undo"], "", splits_values=False)

    assert [word.text for word in words] == [change["id"] for change in logged]
    assert {word.meaning for word in words} == {"update, 2026-03-02"}


def test_remotes_settings_and_agents_are_described(sample, onrecord):
    onrecord("remote", "add", "--offline", "platform", "/srv/memory.git")

    assert completion.candidates(["sync"], "p", splits_values=False) == [("platform", "/srv/memory.git")]
    assert completion.candidates(["config"], "capture.mode", splits_values=False) == [
        ("capture.mode", SETTINGS["capture.mode"].doc)
    ]
    assert completion.candidates(["connect"], "codex", splits_values=False) == [("codex", "Codex CLI")]
    assert texts("config", "set", "no.such.setting", "") == []
    assert texts("config", "set", "retrieval.max_inject", "") == []
    assert texts("show", "--remote", "platform", "") == []


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["help", ""], "commands"),
        (["--json", "help", "und"], ["undo"]),
        (["remote", ""], ["list", "add", "remove", "withdraw", "status"]),
        (["remote", "add", "x", ""], []),
        (["list", "--category", "decision", "--category", "te"], ["tech_debt"]),
        (["list", "--", "--j"], ["--json"]),
        (["update", "use-uv", "--set", "dec"], ["decision="]),
        (["save", "decision", "T", "--set", "ti"], ["title="]),
        (["save", "--set", "co"], ["confidence="]),
        (["save", "decision", "T", "--set", "tag"], []),
        (["save", "decision", "T", "--file", "x"], None),
        (["export", "--file=x"], None),
        (["merge-driver", "x"], None),
        (["merge-driver", "a", "b", "x"], None),
    ],
)
def test_more_words_that_are_offered(sample, words, offered):
    found = texts(*words)

    assert (len(found) > 40 and found[0] == "init") if offered == "commands" else found == offered


def test_an_option_that_was_given_is_offered_again_only_if_it_may_be_repeated(sample):
    options = texts("list", "--json", "--tag", "x", "--category=decision", "--")

    assert "--json" not in options
    assert {"--tag", "--limit"} <= set(options) and "--category" not in options
    meanings = dict(completion.candidates(["audit"], "--max", splits_values=False))
    assert meanings["--max-rate"].endswith("0.05 and 5% are the same)")


@pytest.mark.parametrize(
    ("words", "splits_values", "offered"),
    [
        (("list", "--status=re"), False, ["--status=retired"]),
        (("list", "--status=re"), True, ["retired"]),
        (("list", "--status", "re"), False, ["retired"]),
    ],
)
def test_a_value_behind_an_equals_sign_comes_with_its_option(sample, words, splits_values, offered):
    assert texts(*words, splits_values=splits_values) == offered


@pytest.mark.parametrize(
    ("words", "split"),
    [
        (["a=b"], (["a=b"], "", "")),
        (["--tag", "=", "="], (["--tag"], "", "")),
        (["="], (["="], "", "")),
    ],
)
def test_an_equals_sign_elsewhere_is_a_word(words, split):
    assert completion.split_values(words, "") == split
    assert completion.split_values(["save"], "=") == (["save"], "=", "")
    assert completion.split_values([], "-x=y") == ([], "-x=y", "")


def test_the_words_of_a_line_belong_to_its_arguments():
    line = completion.parse_line(parser_of("supersede"), ["old", "--json", "--project", "p", "new", "more"])

    assert line.values == {"old": ["old"], "json": [], "project": ["p"], "new": ["new"]}
    assert (line.awaited, line.is_value, line.actions) == (None, False, ())
    assert (line.value("project"), line.value("json"), line.value("nothing")) == ("p", "", "")
    waiting = completion.parse_line(parser_of("list"), ["--tag"])
    assert isinstance(waiting.awaited, argparse.Action) and waiting.is_value
    many = completion.parse_line(parser_of("show"), ["a", "b"])
    assert many.value(many.awaited.dest) == "b"


def test_words_that_cannot_be_printed_are_left_out_and_the_head_is_put_before_each():
    words = [Word("ab"), Word("a\nb"), Word("b"), Word("ac", "meaning")]

    assert completion._matching(words, "a", "--x=") == [("--x=ab", ""), ("--x=ac", "meaning")]


def test_the_tags_of_the_newest_records_are_counted(project, onrecord):
    assert texts("list", "--tag", "") == []
    for title, tags in (("One", ("b", "a")), ("Two", ("b",))):
        onrecord("save", "decision", title, *DECISION, "--force", *(f"--tag={tag}" for tag in tags))

    assert completion.candidates(["list", "--tag"], "", splits_values=False) == [("a", "1 record"), ("b", "2 records")]


@pytest.mark.parametrize("shell", completion.SCRIPTS)
def test_the_script_of_a_shell_is_printed_and_in_json(onrecord, shell):
    script = onrecord("completion", shell).out

    assert json.loads(onrecord("completion", shell, "--json").out) == {"shell": shell, "script": script}
    assert f"completion {shell}" in script or "completions/onrecord.fish" in script

"""Help fits on 80 columns, and its examples run in the project that they are about."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from onrecord.cli import help, main, output, parser_of
from onrecord.cli.commands import COMMANDS, GROUPS
from onrecord.cli.output import Screen
from tests.model_server import ModelServer, keeps

EXAMPLES = [(name, example.command) for name, row in COMMANDS.items() for example in row.examples]
SHOWN_ELSEWHERE = {"demo", "demo --keep", "mcp", "web", "web --no-open --port 8700",
                   *(example.command for example in COMMANDS["hub"].examples)}  # fmt: skip
"""The demo takes three seconds, and servers go on: test_demo.py, tests/mcp and tests/web run them.
A hub needs a server of its own: tests/shared/hub."""


def _helped(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    capsys.readouterr()
    assert main(words) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_fits_and_ends_with_examples(capsys, name):
    lines = _helped(capsys, name, "--help")

    assert [line for line in lines if len(line) > 80] == []
    headings = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings[-2:] == ["for every command:", "examples:"]
    assert lines == _helped(capsys, "help", name)
    assert f"  onrecord {COMMANDS[name].examples[0].command}".split("\n")[0] in lines


def test_the_list_of_commands_has_a_line_for_each_in_its_group(capsys):
    lines = _helped(capsys, "--help")

    assert list(GROUPS) == ["start here", "every day", "look after", "under the hood"]
    assert [line for line in lines if len(line) > 80] == []
    for group, commands in GROUPS.items():
        at = lines.index(group) + 1
        listed = [line.split() for line in lines[at : at + len(commands)]]
        assert [(words[0], " ".join(words[1:])) for words in listed] == [
            (name, command.summary) for name, command in commands.items()
        ]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_of_itself_and_explains_each(name):
    examples = COMMANDS[name].examples

    assert any(example.command.split()[0] == name for example in examples)
    assert all(example.meaning for example in examples)


@pytest.mark.parametrize(("name", "command"), EXAMPLES)
def test_an_example_runs(sample, onrecord, monkeypatch, name, command):
    if command in SHOWN_ELSEWHERE:
        return
    monkeypatch.setenv("EDITOR", "true")
    # The log of changes lies elsewhere, so the copy has none yet.
    assert onrecord("update", "use-uv", "--tag=quick").code == 0
    if name in ("remote", "share") and " add " not in command:
        assert onrecord("remote", "add", "--offline", "platform", "/srv/memory.git").code == 0
    if name == "sync":
        shared = str(sample.parent / "memory.git")
        subprocess.run(("git", "init", "-q", "--bare", shared), check=True, timeout=120)
        assert onrecord("remote", "add", "--offline", "platform", shared).code == 0
    if " add " in command:
        shared = str(sample.parent / "memory.git")
        subprocess.run(("git", "init", "-q", "--bare", shared), check=True, timeout=120)
        command = command.replace("/srv/memory.git", shared)
    words = shlex.split(command.replace("\\\n", ""))
    assert parser_of(words[0])
    if name == "judge":
        with ModelServer(keeps("Webhook handlers are idempotent by event id")) as server:
            for key, value in (("endpoint", server.url), ("model", "small"), ("enabled", "true")):
                onrecord("config", "set", "--user", f"retrieval.judge.{key}", value)
            outcome = onrecord(*words)
    else:
        outcome = onrecord(*words, stdin="q\n")

    assert outcome.code == 0, outcome


def test_wrong_usage_says_what_is_wrong_and_what_may_be_given(onrecord):
    assert onrecord("list", "--catgory=decision") == (
        2,
        "",
        "onrecord list: unrecognized arguments: --catgory=decision; did you mean --category?\n"
        "usage: onrecord list [options]\nonrecord list --help shows more\ndocs: onrecord docs BAD_INPUT\n",
    )
    assert onrecord("retire", "x").err == (
        "onrecord retire: the following arguments are required: --reason\n"
        "usage: onrecord retire ID --reason TEXT [options]\nonrecord retire --help shows more\n"
        "docs: onrecord docs BAD_INPUT\n"
    )


@pytest.mark.parametrize("words", [("list", "--all"), ("list", "--retired"), ("clean", "--all")])
def test_an_option_that_is_like_no_other_is_not_said_to_mean_one(onrecord, words):
    assert "did you mean" not in onrecord(*words).err


def test_headings_are_bold_on_a_terminal():
    screen = Screen(80, is_terminal=True, has_colour=True)

    assert "\x1b[1mstart here\x1b[0m" in help.overview(screen)
    assert "\x1b[1mexamples:\x1b[0m" in help.page(parser_of("save"), screen)


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if not command.has_store])
@pytest.mark.parametrize("flag", ["--user", "--remote=platform"])
def test_a_command_that_acts_on_no_one_store_lets_nobody_choose_one(onrecord, name, flag):
    """It would act as if the flag were not there."""
    outcome = onrecord(name, flag)

    assert (outcome.code, outcome.out) == (2, "")
    assert flag.partition("=")[0] not in onrecord(name, "--help").out


def test_a_fix_chooses_a_store_only_for_a_command_that_acts_on_one():
    fix = "onrecord clean x; onrecord list; then look"

    user, project = (output.add_store_flags(fix, flags) for flags in (" --user", " --project y"))

    assert user == "onrecord clean x; onrecord list --user; then look"
    assert project == "onrecord clean x --project y; onrecord list --project y; then look"

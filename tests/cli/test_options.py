"""Numbers and common options are read alike by every command."""

from __future__ import annotations

import argparse
import importlib
import json
import shlex
from collections.abc import Iterator

import pytest

from onrecord.cli import COMMANDS, parser_of
from onrecord.cli.help import Parser
from onrecord.cli.output import CommandResult

COMMON = {
    "--json": [],
    "--no-pager": [],
    "--project": ["."],
    "--user": [],
    "--remote": ["platform"],
}
_WITHOUT_OPTION = {"merge-driver size"}
"""Numbers that are arguments."""


def _parsers(name: str) -> Iterator[Parser]:
    parser = parser_of(name)
    yield from (parser, *parser.actions.values())


NUMBERS = {
    f"{parser.prog.removeprefix('onrecord ')} {action.option_strings[-1] if action.option_strings else action.dest}": (
        parser,
        action,
    )
    for name in COMMANDS
    for parser in _parsers(name)
    for action in parser._actions
    if action.type is not None or (isinstance(action.default, (int, float)) and not isinstance(action.default, bool))
}


def test_the_numbers_of_all_commands():
    assert sorted(NUMBERS) == [
        "effect --limit",
        "improve --limit",
        "list --limit",
        "log --limit",
        "merge-driver size",
        "search --limit",
        "stats --limit",
        "sync --every",
        "try --last",
        "web --port",
    ]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("text", ["-3", "many", "", "nan"])
def test_a_number_out_of_range_is_refused_in_the_same_words(onrecord, name, text):
    parser, action = NUMBERS[name]
    with pytest.raises(argparse.ArgumentTypeError, match=r"^must be \d+ (or more|to \d+), not "):
        action.type(text)
    if name in _WITHOUT_OPTION:
        return
    option = action.option_strings[-1]

    refused, as_json = (onrecord(parser.name, f"{option}={text}", *more) for more in ([], ["--json"]))

    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"{parser.prog}: {option} must be ")
    assert (as_json.code, as_json.err) == (2, "")
    error = json.loads(as_json.out)["error"]
    assert (error["code"], error["fix"]) == ("BAD_INPUT", f"{parser.prog} --help")
    assert error["message"].startswith(f"{option} must be ")


def test_the_largest_number_is_cut_to_one_that_the_index_takes(project, onrecord):
    onrecord("init")

    assert onrecord("list", "--limit", "9" * 30).code == 0


@pytest.mark.parametrize("option", COMMON)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_common_option_may_stand_before_and_after_the_command(onrecord, monkeypatch, name, option):
    calls = []
    if COMMANDS[name].module:
        module = importlib.import_module(f"onrecord.cli.{COMMANDS[name].module}")
        monkeypatch.setattr(module, "run", lambda args: calls.append(vars(args)) or CommandResult({}, lambda _: ""))
    command, *rest = shlex.split(COMMANDS[name].examples[0].command.replace("\\\n", ""))
    is_refused = option in ("--user", "--remote") and not COMMANDS[name].has_store
    words = ["=".join([option, *COMMON[option]])] if is_refused else [option, *COMMON[option]]

    before, after = onrecord(*words, command, *rest), onrecord(command, *words, *rest)

    assert before == after
    if is_refused:
        assert (before.code, calls) == (2, []) and f"unrecognized arguments: {option}" in before.err
    elif COMMANDS[name].module:
        assert calls[0] == calls[1] and calls[0][option.lstrip("-").replace("-", "_")]


def test_two_stores_cannot_be_chosen_at_once(onrecord):
    refused = onrecord("--user", "list", "--remote", "platform")

    assert (refused.code, refused.err.splitlines()[0]) == (2, "onrecord list: --user and --remote exclude each other")


def test_an_unknown_command_is_json_where_that_is_wanted(onrecord):
    refused = onrecord("--json", "lst")

    assert (refused.code, json.loads(refused.out)["error"]["fix"]) == (2, "did you mean list?")


def test_an_empty_search_says_what_is_wrong(project, onrecord):
    onrecord("init")

    refused = onrecord("search", "")

    assert refused.code == 1 and refused.err.startswith("BAD_INPUT: the text to search for is empty\n")

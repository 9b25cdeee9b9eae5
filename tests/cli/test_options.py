"""Numbers and common options are read alike by every command."""

from __future__ import annotations

import argparse
import importlib
import json
import re
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
BAD_VALUES = {
    "count": ("-3", "many", "nan"),
    "seconds": ("-3", "many", "nan"),
    "file": ("no-such-file", "."),
    "folder": ("no-such-folder",),
    "present": ("no-such-thing",),
    "category": ("nonsense",),
    "since": ("yesterday", "2026-13-01", "d", "-1d", "3x"),
    "check": ("x", "[]"),
    "assignment": ("decision",),
    "_rate_limit": ("many", "7", "nonsense=5%", "-1"),
    "output_format": ("{nme}", "{id.__class__}", "{}", "{id", "csv"),
    "_not_empty": ("  ",),
}
"""Values that each kind of argument refuses, besides the empty text."""


def _parsers(name: str) -> Iterator[Parser]:
    parser = parser_of(name)
    yield from (parser, *parser.actions.values())


def _kind(action: argparse.Action) -> str:
    return getattr(action.type, "__qualname__", "").partition(".")[0]


def _bad_commands() -> Iterator[tuple[str, ...]]:
    """Every command and action with one bad value for each of its arguments and options."""
    for name in COMMANDS:
        for parser in _parsers(name):
            words = tuple(parser.prog.split()[1:])
            needed = tuple(
                f"{action.option_strings[-1]}=x"
                for action in parser._actions
                if action.required and action.option_strings
            )
            before: tuple[str, ...] = ()
            for action in parser._actions:
                if action.nargs == 0 or isinstance(action, argparse._SubParsersAction) or parser.actions:
                    continue
                bad = (*(("zzz",) if action.choices else BAD_VALUES[_kind(action)]), "")
                for value in bad:
                    option = action.option_strings[-1:]
                    yield (*words, f"{option[0]}={value}") if option else (*words, *needed, "--", *before, value)
                if not action.option_strings:
                    good = next(iter(action.choices), "x") if action.choices else "decision"
                    before = (*before, "7" if _kind(action) == "count" else str(good))


def test_every_kind_of_value_has_bad_ones_to_try():
    kinds = {
        _kind(action)
        for name in COMMANDS
        for parser in _parsers(name)
        for action in parser._actions
        if action.nargs != 0 and not isinstance(action, argparse._SubParsersAction) and not action.choices
    }

    assert kinds == set(BAD_VALUES)


@pytest.mark.parametrize("words", [" ".join(map(shlex.quote, words)) for words in _bad_commands()])
def test_a_bad_value_is_refused_in_the_same_words_by_every_command(onrecord, project, words):
    typed = shlex.split(words)

    refused, as_json = onrecord(*typed), onrecord(typed[0], "--json", *typed[1:])

    assert (refused.code, refused.out) == (2, "")
    program, colon, message = refused.err.splitlines()[0].partition(": ")
    assert colon and program.split()[0] == "onrecord"
    assert re.match(r"\S+ must (be .+, not |not be empty$)", message), message
    assert (as_json.code, as_json.err) == (2, "")
    error = json.loads(as_json.out)["error"]
    assert (error["code"], error["message"], error["fix"]) == ("BAD_INPUT", message, f"{program} --help")
    assert list(project.iterdir()) == []


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

"""A command line that somebody is typing: which command it is, what was given so far, and what the next word is for."""

from __future__ import annotations

import argparse
import shlex

from onrecord.cli import help
from onrecord.cli.help import Parser
from onrecord.coldstart import NamedTuple


class Line(NamedTuple):
    """The words before the one that is typed, by the arguments they are for, and what that one is for."""

    parser: Parser
    values: dict[str, list[str]]
    """What was given for each argument and option, by its name."""
    awaited: argparse.Action | None
    """The option or argument whose value is typed; None where nothing more is taken."""
    is_value: bool
    """Whether it is the value of an option, which may begin with a hyphen."""
    actions: tuple[argparse.Action, ...] = ()
    """The actions of the command, if one of them may come next."""

    def value(self, name: str) -> str:
        """The last value of an argument or option; empty if there is none."""
        return (self.values.get(name) or [""])[-1]


def read(parser: Parser, words: list[str]) -> Line:
    """The line before the word that is typed."""
    has_action = parser.first_word(words) < len(words)
    actions = () if has_action else tuple(dict(help.sections(parser)).get("actions", ()))
    parser, words = parser.for_action(words)
    values: dict[str, list[str]] = {}
    arguments = [action for action in parser._get_positional_actions() if action.help is not argparse.SUPPRESS]
    awaited: argparse.Action | None = None
    for word in words:
        if awaited is not None:
            values.setdefault(awaited.dest, []).append(word)
            awaited = None
        elif word in parser._option_string_actions:
            option = parser._option_string_actions[word]
            values.setdefault(option.dest, [])
            awaited = option if option.nargs != 0 else None
        elif arguments:
            values.setdefault(arguments[0].dest, []).append(word)
            arguments = arguments if arguments[0].nargs in ("+", "*") else arguments[1:]
    if awaited is not None:
        return Line(parser, values, awaited, True)
    return Line(parser, values, arguments[0] if arguments else None, False, actions)


def split(before: list[str], last: str) -> tuple[list[str], str, str]:
    """The words with each `--option=value` as two, and what stands before the value that is typed.

    bash has split them already, with the sign as a word of its own.
    """
    words: list[str] = []
    for word in before:
        option, equals, value = word.partition("=")
        if word == "=" and _is_option(words):
            continue
        words += [option, value] if equals and option.startswith("--") else [word]
    if last == "=" and _is_option(words):
        return words, "", ""
    option, equals, value = last.partition("=")
    if equals and option.startswith("--"):
        return [*words, option], value, f"{option}="
    return words, last, ""


def _is_option(words: list[str]) -> bool:
    return bool(words) and words[-1].startswith("--")


def unquoted(word: str) -> str:
    """A word as the command will get it, from the way it is typed."""
    try:
        parts = shlex.split(word)
    except ValueError:  # a quote that is still open
        return word.lstrip("'\"")
    return parts[0] if len(parts) == 1 else word

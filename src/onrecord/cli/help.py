"""What `onrecord --help` and `onrecord COMMAND --help` print, and what wrong usage does, alike on every Python."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable, Iterator
from typing import NoReturn

from onrecord.cli.command import Example
from onrecord.cli.commands import COMMANDS, GROUPS
from onrecord.cli.output import Screen, clean, wrap

WIDTH = 80
COMMON = "for every command"
_ABOUT = "A project memory for coding agents: plain files in the repository."
_TITLE = 20
"""Columns of an argument in a help text; a longer one has its line to itself."""


class Parser(argparse.ArgumentParser):
    """The parser of one command, with help and errors in our own words."""

    def __init__(self, name: str) -> None:
        super().__init__(prog=f"onrecord {name}", add_help=False, allow_abbrev=False)
        self.name = name
        self.usage_line = ""
        self.set_defaults(command=name)

    def add_common(self) -> None:
        """The options of every command, behind its own; only where it acts on one store, those that choose it."""
        common = self.add_argument_group(COMMON)
        common.add_argument("--json", action="store_true", help="answer, and report errors, as JSON on standard output")
        self.set_defaults(user=False, remote="")
        if COMMANDS[self.name].has_store:
            common.add_argument("--user", action="store_true", help="act on your own store, the one for every project")
            common.add_argument(
                "--remote", metavar="REMOTE", default="", help="act on the replica of this shared store"
            )
        common.add_argument("--project", metavar="DIR", default=".", help="act on the project of DIR (default: here)")
        common.add_argument("--no-pager", action="store_true", help="print a long answer without a pager")
        common.add_argument("-h", "--help", action="help", help="show this help")
        # Made now: while `parse_intermixed_args` runs, arguments do not say whether they may be left out.
        self.usage_line = _usage(self)

    def format_help(self) -> str:
        return page(self, Screen.of(sys.stdout)) + "\n"

    def error(self, message: str) -> NoReturn:
        hint = _hint(message, self._option_string_actions)
        wrong, screen = f"{self.prog}: {clean(_plain(message))}{hint}", Screen.of(sys.stderr)
        wrong = wrap(wrong, screen.width) if screen.is_terminal else wrong
        self.exit(2, f"{wrong}\n{self.usage_line}\nonrecord {self.name} --help shows more\n")


def overview(screen: Screen) -> str:
    """What `onrecord --help` prints: the commands in their groups, a line each."""
    widest = max(map(len, COMMANDS))
    lines = [
        "usage: onrecord COMMAND [options]",
        "",
        _ABOUT,
    ]
    for title, commands in GROUPS.items():
        lines += ["", screen.paint(title, "bold")]
        lines += [f"  {name:<{widest}}  {command.summary}" for name, command in commands.items()]
    return "\n".join([*lines, "", "onrecord COMMAND --help shows its options, and examples."])


def page(parser: Parser, screen: Screen) -> str:
    """The help text of a command: what it is called with, its own options, those of every command, examples."""
    command = COMMANDS[parser.name]
    lines = [parser.usage_line, "", wrap(command.summary, WIDTH)]
    for title, actions in sections(parser):
        lines += [
            "",
            screen.paint(f"{title}:", "bold"),
            *(_lines(title_of(each), meaning_of(each)) for each in actions),
        ]
    lines += ["", screen.paint("examples:", "bold")]
    for example in command.examples:
        lines += [screen.paint(f"  # {example.meaning}", "dim"), f"  {typed(example)}"]
    return "\n".join(lines)


def typed(example: Example) -> str:
    """An example as it is typed in a shell."""
    return "onrecord " + example.command.replace("\n", "\n  ")


def _usage(parser: Parser) -> str:
    """One line: what must be given, and that there are options."""
    own = [action for title, actions in sections(parser) if title != COMMON for action in actions]
    words = [argument_of(action) for action in own if not action.option_strings]
    needed = [title_of(action) for action in own if action.option_strings and action.required]
    return " ".join(["usage: onrecord", parser.name, *words, *needed, "[options]"])


def sections(parser: Parser) -> Iterator[tuple[str, list[argparse.Action]]]:
    """The arguments of a command, its own options, and those of every command."""
    common = [action for group in parser._action_groups if group.title == COMMON for action in group._group_actions]
    own = [action for action in parser._actions if action not in common]
    arguments = [action for action in own if not action.option_strings]
    options = [action for action in own if action.option_strings]
    for title, actions in (("arguments", arguments), ("options", options), (COMMON, common)):
        if actions:
            yield title, actions


def argument_of(action: argparse.Action) -> str:
    """An argument as the usage line names it: in brackets if it may be left out, with dots if it may be repeated."""
    title = title_of(action)
    repeated = f"{title} …" if action.nargs in ("+", "*") else title
    return f"[{repeated}]" if action.nargs in ("?", "*") else repeated


def title_of(action: argparse.Action) -> str:
    """An argument or option with its value."""
    choices = "|".join(map(str, action.choices)) if action.choices else ""
    if not action.option_strings:
        return str(action.metavar or choices or action.dest)
    value = "" if action.nargs == 0 else f" {action.metavar or choices or action.dest.upper()}"
    return ", ".join(action.option_strings) + value + (" …" if action.nargs in ("+", "*") else "")


def meaning_of(action: argparse.Action) -> str:
    """What an argument or option is for."""
    return (action.help or "").replace("%%", "%")


def _lines(title: str, meaning: str) -> str:
    """An option and its meaning beside it, or below it where the option takes too much room."""
    indent = " " * (_TITLE + 4)
    text = wrap(meaning, WIDTH, indent)
    if len(title) > _TITLE:
        return f"  {title}\n{text}"
    return f"  {title:<{_TITLE}}  {text.removeprefix(indent)}"


def _plain(message: str) -> str:
    """The message with a list of choices as it is on every Python: some put each in quotes."""
    head, mark, choices = message.partition("(choose from ")
    return head + mark + choices.replace("'", "")


def _hint(message: str, options: Iterable[str]) -> str:
    """The option that was meant, where one was misspelt."""
    _, unknown, words = message.partition("unrecognized arguments: ")
    typed = words.split()[0] if unknown and words.strip() else ""
    nearest = next(iter(difflib.get_close_matches(typed, list(options), n=1)), "")
    return f"; did you mean {nearest}?" if nearest else ""

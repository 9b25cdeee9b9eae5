"""The parser of a command, its help page and its error messages, the same on every Python."""

from __future__ import annotations

import argparse
import difflib
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from onrecord import files
from onrecord.cli.commands import COMMANDS, GROUPS, Example
from onrecord.cli.output import Screen, clean, docs_line, emit_error, labelled, wrap
from onrecord.errors import BadInput
from onrecord.text import cut

WIDTH = 80
COMMON = "for every command"
_ABOUT = "A project memory for coding agents: plain files in the repository."
_TITLE = 20
"""Columns for an argument in a help text; a longer one has a line of its own."""


_HELP = ("-h", "--help")
_QUOTE = "'"
_MAX_VALUE = 60
"""Characters of a wrong value in a message."""

_MIN_LIKENESS = 0.7
"""Share of common letters at which an option that does not exist means another."""

_BAD_VALUE = re.compile(r"argument (\S+): must ")
_BAD_CHOICE = re.compile(r"argument (\S+): invalid choice: (.*) \(choose from (.*)\)$")
_EXCLUDED = re.compile(r"argument (\S+): not allowed with argument (\S+)")


def folder(text: str) -> str:
    """Return the path of a folder: a `type=`. Raises Unwritable if the disk does not tell."""
    status = files.status(text)
    if status is None or not stat.S_ISDIR(status.st_mode):
        raise argparse.ArgumentTypeError(f"must be a folder, not {cut(text, _MAX_VALUE)}")
    return text


class _LeftOut(str):
    """The empty text of an argument that was not typed."""

    __slots__ = ()


def _not_empty(text: str) -> str:
    """Return `text`: the `type=` of every text that may not be empty, unless it is the default."""
    if not text.strip() and not isinstance(text, _LeftOut):
        raise argparse.ArgumentTypeError("must not be empty")
    return text


class Parser(argparse.ArgumentParser):
    """The parser of a command, or of one action of a command, with our own help and errors.

    A command has actions if it calls `add_subparsers`; the default of `action` is the one that may be left out.
    """

    usage_line: str
    """The first line of the help, which `add_common` sets."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog=prog, add_help=False, allow_abbrev=False, **options)
        self.name = prog.split()[1] if " " in prog else ""
        self._is_json = False
        if self.name:
            self.set_defaults(command=self.name)

    @property
    def actions(self) -> Mapping[str, Parser]:
        """The parsers of the actions, by name; empty for a command without actions."""
        groups = [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        return groups[0].choices if groups else {}

    def add_common(self) -> None:
        """Add the options of every command; `--user` and `--remote` only if the command acts on one store."""
        common = self.add_argument_group(COMMON)
        common.add_argument("--json", action="store_true", help="print the result, or the error, as JSON")
        self.set_defaults(user=False, remote="")
        if not self.name or COMMANDS[self.name].has_store:
            store = common.add_mutually_exclusive_group()
            store.add_argument(
                "--user", action="store_true", help="act on your own store, which is for all your projects"
            )
            store.add_argument("--remote", metavar="REMOTE", default="", help="act on the replica of this shared store")
        common.add_argument(
            "--project",
            metavar="DIR",
            type=folder,
            default=".",
            help="act on the project of DIR (default: the current folder)",
        )
        common.add_argument("--no-pager", action="store_true", help="print a long result without a pager")
        common.add_argument(*_HELP, action="help", help="show this help")
        for action in _actions_of(self):
            parser, meaning = self.actions[action.dest], action.help or ""
            parser.description = f"{meaning[:1].upper()}{meaning[1:]}."
            parser.set_defaults(action=action.dest)
            action.metavar = " ".join(
                [action.dest, *(argument_of(argument) for argument in _shown(parser) if not argument.option_strings)]
            )
            parser.add_common()
        for action in self._actions:
            if action.nargs != 0 and action.type is None and not isinstance(action, argparse._SubParsersAction):
                action.type = _not_empty
                action.default = _LeftOut() if action.default == "" else action.default
        # Computed now: while `parse_intermixed_args` runs, every argument is optional.
        self.usage_line = _usage(self)

    def first_word(self, words: Sequence[str]) -> int:
        """Return the position of the first word that is neither an option nor the value of one; or the length."""
        options = dict(self._option_string_actions)
        for parser in self.actions.values():
            options.update(parser._option_string_actions)
        position = 0
        while position < len(words) and words[position].startswith("-"):
            option = options.get(words[position])
            position += 1 if option is None or option.nargs == 0 else 2
        return min(position, len(words))

    def for_action(self, words: Sequence[str]) -> tuple[Parser, list[str]]:
        """Return the parser of the action that `words` name, or of the default action, and the other words.

        Return `self` and `words` if there are no actions, no such action, or if help for the command is asked for.
        """
        position = self.first_word(words)
        name, default = "".join(words[position : position + 1]), self.actions.get(self.get_default("action"))
        if set(words[:position]) & set(_HELP):
            return self, list(words)
        if name in self.actions:
            return self.actions[name], [*words[:position], *words[position + 1 :]]
        if default and (not name or default._get_positional_actions()):
            return default, list(words)
        return self, list(words)

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse arguments and options in any order, which argparse does only for a parser without actions."""
        parser, words = self.for_action(words)
        self._is_json = parser._is_json = "--json" in words
        return parser.parse_args(words) if parser.actions else parser.parse_intermixed_args(words)

    def format_help(self) -> str:
        return page(self, Screen.for_stream(sys.stdout)) + "\n"

    def error(self, message: str) -> NoReturn:
        """Print what is wrong with the command line, and exit with 2."""
        problem = clean(_plain(message)) + _hint(message, self._option_string_actions)
        if self._is_json:
            emit_error(BadInput(problem, fix=f"{self.prog} --help"), as_json=True)
            self.exit(2)
        screen = Screen.for_stream(sys.stderr)
        lines = labelled(screen, self.prog, problem, "red")
        more = docs_line(screen, BadInput.code)
        self.exit(2, f"{lines}\n{self.usage_line}\n{self.prog} --help shows more\n{more}\n")


def overview(screen: Screen) -> str:
    """Return the text of `onrecord --help`: the commands in their groups, a line each."""
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
    """Return the help text of a command or action: its usage, its own options, those of every command, examples."""
    command = COMMANDS[parser.name]
    lines = [parser.usage_line, "", wrap(parser.description or command.summary, WIDTH)]
    for title, actions in sections(parser):
        lines += [
            "",
            screen.paint(f"{title}:", "bold"),
            *(_lines(title_of(action), meaning_of(action)) for action in actions),
        ]
    own = [example for example in command.examples if f"onrecord {example.command} ".startswith(f"{parser.prog} ")]
    lines += ["", screen.paint("examples:", "bold")]
    for example in own or command.examples:
        lines += [screen.paint(f"  # {example.meaning}", "dim"), f"  {shell_line(example)}"]
    return "\n".join(lines)


def shell_line(example: Example) -> str:
    """Return an example as it is typed in a shell."""
    return "onrecord " + example.command.replace("\n", "\n  ")


def _usage(parser: Parser) -> str:
    """Return the usage line: the arguments, and that there are options."""
    own = [action for action in _shown(parser) if action not in _common(parser)]
    words = [argument_of(action) for action in own if not action.option_strings]
    needed = [title_of(action) for action in own if action.option_strings and action.required]
    return " ".join(["usage:", parser.prog, *words, *needed, "[options]"])


def sections(parser: Parser) -> Iterator[tuple[str, list[argparse.Action]]]:
    """Yield the sections of a help page: actions, their arguments, arguments, options, and options of every command."""
    common = _common(parser)
    own = [action for action in _shown(parser) if action not in common and action.nargs != argparse.PARSER]
    own += _of_every(parser.actions)
    of_actions = [
        (f"for {name}", [action for action in _shown(subparser) if action not in (*_common(subparser), *own)])
        for name, subparser in parser.actions.items()
    ]
    for title, actions in (
        ("actions", _actions_of(parser)),
        *of_actions,
        ("arguments", [action for action in own if not action.option_strings]),
        ("options", [action for action in own if action.option_strings]),
        (COMMON, common),
    ):
        if actions:
            yield title, actions


def _shown(parser: Parser) -> list[argparse.Action]:
    """Return the arguments that the help shows; the others exist for a better error."""
    return [action for action in parser._actions if action.help is not argparse.SUPPRESS]


def _actions_of(parser: Parser) -> list[argparse.Action]:
    """Return the argparse entries of a command's actions, each with name, arguments and help."""
    groups = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return [action for group in groups for action in group._choices_actions]


def _of_every(parsers: Mapping[str, Parser]) -> list[argparse.Action]:
    """Return the arguments that all actions of a command take."""
    first, others = next(iter(parsers.values()), None), list(parsers.values())[1:]
    return [action for action in (first._actions if first else ()) if all(action in other._actions for other in others)]


def _common(parser: Parser) -> list[argparse.Action]:
    return [action for group in parser._action_groups if group.title == COMMON for action in group._group_actions]


def argument_of(argument: argparse.Action) -> str:
    """Return an argument for the usage line: in brackets if it is optional, with dots if it can be repeated."""
    title = title_of(argument)
    title = f"{title} …" if argument.nargs in ("+", "*") else title
    is_optional = argument.nargs in ("?", "*") or (argument.nargs == argparse.PARSER and not argument.required)
    return f"[{title}]" if is_optional else title


def title_of(argument: argparse.Action) -> str:
    """Return an argument, or an option with its value, for a help page."""
    choices = "|".join(map(str, argument.choices)) if argument.choices else ""
    if not argument.option_strings:
        return str(argument.metavar or choices or argument.dest)
    value = "" if argument.nargs == 0 else f" {argument.metavar or choices or argument.dest.upper()}"
    return ", ".join(argument.option_strings) + value + (" …" if argument.nargs in ("+", "*") else "")


def meaning_of(argument: argparse.Action) -> str:
    """Return the help text of an argument or option."""
    return (argument.help or "").replace("%%", "%")


def _lines(title: str, meaning: str) -> str:
    """Return an option with its meaning beside it, or below it if the option is too long."""
    indent = " " * (_TITLE + 4)
    text = wrap(meaning, WIDTH, indent)
    if len(title) > _TITLE:
        return f"  {title}\n{text}"
    return f"  {title:<{_TITLE}}  {text.removeprefix(indent)}"


def _plain(message: str) -> str:
    """Return an argparse message in our words; some Pythons put the choices in quotes."""
    message = _BAD_VALUE.sub(r"\1 must ", _EXCLUDED.sub(r"\2 and \1 exclude each other", message))
    choice = _BAD_CHOICE.match(message)
    if choice:
        name, typed, choices = choice.groups()
        return f"{name} must be one of {choices.replace(_QUOTE, '')}, not {cut(typed.strip(_QUOTE), _MAX_VALUE)}"
    return message


def _hint(message: str, option_names: Iterable[str]) -> str:
    """Return "did you mean" with the nearest option, if one was misspelt."""
    _, unknown, words = message.partition("unrecognized arguments: ")
    word = words.split()[0] if unknown and words.strip() else ""
    by_name = {name.lstrip("-"): name for name in option_names}
    # The dashes are alike in all options: with them --all is near --tag.
    nearest = next(
        iter(difflib.get_close_matches(word.lstrip("-").split("=")[0], list(by_name), n=1, cutoff=_MIN_LIKENESS)), ""
    )
    return f"; did you mean {by_name[nearest]}?" if nearest else ""

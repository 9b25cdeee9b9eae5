"""The commands in a fix, which can be pasted: they act on the store that the command they answer acted on.

A fix has parts, with `; ` between them. A part that begins with `onrecord`, or has it behind a colon, is a command up
to its end; every other part is for people.
"""

from __future__ import annotations

import re
import shlex

from onrecord.cli.commands import COMMANDS

_COMMAND = re.compile(r"""(?:(?<=^)|(?<=; )|(?<=: ))onrecord(?: (?:'[^']*'|"[^"]*"|[^\s;'"])+)+(?=; |$)""")

_ANY_COMMAND = re.compile(r"(?:(?<=^)|(?<=: ))(?:onrecord|claude|git|ln|unset) .*$")
_WITHIN = "\0"
_WITHOUT_STORE = ("connect", "hub", "remote", "sync")
"""Commands for which no flag chooses a store."""


def commands(fix: str) -> list[str]:
    """The commands in a fix, as they can be typed."""
    return _COMMAND.findall(fix)


def parts_of(text: str) -> list[str]:
    """The parts of a fix or message, each without what separates it from the next."""
    # A command may have the separator in a quoted word.
    whole = _COMMAND.sub(lambda match: match[0].replace("; ", _WITHIN), text)
    return [part.replace(_WITHIN, "; ") for part in whole.split("; ")]


def split(part: str) -> tuple[str, str]:
    """The words of a part and the command behind them, of ours or of another program; either may be empty."""
    match = _ANY_COMMAND.search(part)
    return (part[: match.start()].rstrip(), part[match.start() :]) if match else (part, "")


def placed(fix: str, where: str) -> str:
    """A fix whose commands act on a store: `where` holds the flags that name it."""
    return _COMMAND.sub(lambda match: match[0] + ("" if _names_store(match[0], where) else where), fix)


def where(*, user: bool, remote: str, project: str) -> str:
    """Return the flags that name the store of a command; empty for the one of the folder it was typed in."""
    if user:
        return " --user"
    if remote:
        return f" --remote {shlex.quote(remote)}"
    return "" if project == "." else f" --project {shlex.quote(project)}"


def _names_store(command: str, where: str) -> bool:
    """Whether a command says on which store it acts, or cannot be told so."""
    words = shlex.split(command)
    takes_project_only = words[1] in COMMANDS and not COMMANDS[words[1]].has_store and "--project" not in where
    is_named = bool({"--user", "--remote", "--project"}.intersection(words))
    return words[1] in _WITHOUT_STORE or takes_project_only or is_named

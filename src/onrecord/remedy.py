"""What to do about an error, as data, and how each surface says it.

A fix is written once, for the command line: its parts are separated by `; `, and a part that begins with `onrecord`, or
has it behind a colon, is a command. Here it is taken apart. An agent on MCP has tools in place of most commands, and
their arguments in place of flags; what only a person may do, it is to ask for. A page has links.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from onrecord.coldstart import NamedTuple

COMMAND = re.compile(r"""(?:(?<=^)|(?<=; )|(?<=: ))onrecord(?: (?:'[^']*'|"[^"]*"|[^\s;'"])+)+(?=; |$)""")
_FLAG = re.compile(r"--([a-z][a-z-]*)(?: [A-Z]+\b)?")
_TOOL_CALLS = {
    "search": ("search", "query"),
    "list": ("overview", ""),
    "status": ("overview", ""),
    "digest": ("overview", ""),
    "show": ("show", "id"),
    "edit": ("save", "updates"),
    "update": ("save", "updates"),
    "save": ("save", ""),
    "recall": ("recall", "task"),
    "why": ("recall", "task"),
}
"""The tool in place of a command, and its argument for the command's words."""

_FIELD = re.compile(r"--set (\w+)=…")
_TOOL_ARGUMENTS = {
    "force": "force",
    "limit": "limit",
    "category": "category",
    "tag": "tags",
    "tags": "tags",
    "trigger": "triggers",
    "related": "related_files",
}
"""The flags that are arguments of a tool as well, by the name of the flag."""

_PAGES = {
    "review": "/inbox",
    "inbox": "/inbox",
    "doctor": "/health",
    "improve": "/health",
    "freshness": "/health",
    "config": "/settings",
    "search": "/search",
    "list": "/search",
    "status": "/",
}
"""The page of the web in place of a command."""


class Remedy(NamedTuple):
    """One part of a fix: an instruction, or a command and what it is for."""

    words: str
    command: str = ""

    @property
    def page(self) -> str:
        """The page on which the same can be done; empty if there is none."""
        words = _words(self.command)
        return _PAGES.get(words[1], "") if len(words) > 1 else ""

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.words, self.command)))


def parse(fix: str) -> list[Remedy]:
    """Return the parts of a fix."""
    remedies: list[Remedy] = []
    position = 0
    for command in COMMAND.finditer(fix):
        *instructions, purpose = fix[position : command.start()].split("; ")
        remedies += [Remedy(words) for words in instructions if words]
        remedies.append(Remedy(purpose.removesuffix(": "), command[0]))
        position = command.end() + len("; ")
    return [*remedies, *(Remedy(words) for words in fix[position:].split("; ") if words)]


def for_agent(fix: str) -> str:
    """Return a fix for an agent that has the tools of MCP and no command line."""
    return "; ".join(": ".join(filter(None, (_without_flags(part.words), _call(part.command)))) for part in parse(fix))


def _call(command: str) -> str:
    """Return the call of a tool that does what a command does, or the request to ask the user for it."""
    words = _words(command)
    if not words:
        return ""
    tool, argument = _TOOL_CALLS.get(words[1], ("", ""))
    values = [word for word in words[2:] if not word.startswith("--")]
    # A flag that names another store, or asks for what no tool gives, is for a person.
    is_for_user = not tool or any(word in ("--user", "--remote", "--project", "--draft") for word in words)
    if is_for_user or (argument and not values):
        return f"ask the user to run `{command}`"
    return f'call {tool} with {argument} "{" ".join(values)}"' if argument else f"call {tool}"


def _words(command: str) -> Sequence[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _without_flags(instruction: str) -> str:
    """Return an instruction with the arguments of tools in place of flags; one with another flag is for the user."""
    instruction = _FIELD.sub(r"content.\1", instruction)
    if all(match[1] in _TOOL_ARGUMENTS for match in _FLAG.finditer(instruction)):
        return _FLAG.sub(lambda match: _TOOL_ARGUMENTS[match[1]], instruction)
    return f"ask the user, who has a command line: {instruction}"

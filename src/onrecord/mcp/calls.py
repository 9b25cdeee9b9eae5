"""A call of a tool: its arguments checked, carried out, and what came of it as a result that an agent can read."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from typing import Any

from onrecord import switches
from onrecord.errors import BadInput, NoStore, OnrecordError, SwitchedOff
from onrecord.mcp import drafting, reading, tool_table
from onrecord.mcp.messages import BAD_PARAMS, Fault, Request
from onrecord.mcp.server import Caller
from onrecord.mcp.tool_table import COUNT, FLAG, OBJECT, TEXT, TEXTS, Argument, Outcome, Tool
from onrecord.project import Project
from onrecord.text import flat, for_agent

_READING: dict[str, Callable[..., Outcome]] = {
    "recall": reading.recall,
    "search": reading.search,
    "show": reading.show,
}
_WRITING: dict[str, Callable[..., Outcome]] = {"save": drafting.save, "supersede": drafting.supersede}
_LONGEST_TEXT = 20_000
"""Characters of one argument that is a text; what is longer is a document."""

_IN_WORDS = {
    TEXT: "a text",
    TEXTS: "a list of texts",
    COUNT: "a whole number",
    FLAG: "true or false",
    OBJECT: "an object",
}


def carry_out(request: Request, caller: Caller) -> Mapping[str, Any]:
    """The result of a call; what went wrong is part of it, so that the agent can do better."""
    tool = tool_table.BY_TOOL.get(request.text("name"))
    if tool is None:
        raise Fault(BAD_PARAMS, f"no tool {request.text('name')[:80]!r}; there are {', '.join(tool_table.BY_TOOL)}")
    arguments = request.object("arguments")
    try:
        _refuse_if_off()
        outcome = _outcome(tool, Project(caller.folder), caller, arguments)
    except NoStore as error:
        # An agent makes no store: it may be at work in any folder.
        return _failure(NoStore(error.message, fix="if the user wants a memory for this project: onrecord init"))
    except OnrecordError as error:
        return _failure(error)
    content = [{"type": "text", "text": for_agent(outcome.text)}]
    return {"content": content, "structuredContent": _harmless(outcome.data), "isError": False}


def _failure(error: OnrecordError) -> Mapping[str, Any]:
    lines = [_harmless(str(error)), *([f"fix: {_harmless(error.fix)}"] if error.fix else [])]
    return {"content": [{"type": "text", "text": "\n".join(lines)}], "isError": True}


def _outcome(tool: Tool, project: Project, caller: Caller, arguments: Mapping[str, Any]) -> Outcome:
    checked = _checked(tool, arguments)
    if tool.is_read_only:
        return _READING[tool.name](project, **checked)
    return _WRITING[tool.name](project, caller.client, **checked)


def _refuse_if_off() -> None:
    """SwitchedOff where the user has switched everything off."""
    if os.environ.get(switches.EVERYTHING):
        raise SwitchedOff(
            f"the project memory is switched off: {switches.EVERYTHING} is set",
            fix=f"unset {switches.EVERYTHING} and start the agent again",
        )


def _harmless(value: Any) -> Any:
    """Data for an agent: each text on one line, with nothing invisible in it, and no tag in it left a tag."""
    if isinstance(value, str):
        return for_agent(flat(value))
    if isinstance(value, Mapping):
        return {_harmless(str(key)): _harmless(item) for key, item in value.items()}
    return [_harmless(item) for item in value] if isinstance(value, (list, tuple)) else value


def _checked(tool: Tool, values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that were given; BadInput for one that is missing, unknown or of the wrong kind."""
    names = {argument.name: argument for argument in tool.arguments}
    for name in values:
        if name not in names:
            nearest = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"use {', '.join(names)}"
            raise BadInput(f"{tool.name} has no argument {name[:80]!r}", fix=hint)
    given_values = {name: value for name, value in values.items() if value is not None}
    for argument in tool.arguments:
        if argument.name in given_values:
            _check(argument, given_values[argument.name])
        elif argument.is_required:
            raise BadInput(f"{tool.name} needs {argument.name}", fix=f"{argument.name}: {argument.doc}")
    return given_values


def _check(argument: Argument, value: Any) -> None:
    if not _fits(argument, value):
        allowed = f"one of {', '.join(argument.choices)}" if argument.choices else _IN_WORDS[argument.kind]
        least, most = argument.range
        within = f" from {least} to {most}" if most else ""
        raise BadInput(f"{argument.name} must be {allowed}{within}", fix=f"{argument.name}: {argument.doc}")


def _fits(argument: Argument, value: Any) -> bool:
    if argument.choices:
        return value in argument.choices
    if argument.kind == TEXT:
        return _is_text(value)
    if argument.kind == TEXTS:
        return isinstance(value, list) and all(map(_is_text, value))
    if argument.kind == COUNT:
        return (
            isinstance(value, int) and not isinstance(value, bool) and argument.range[0] <= value <= argument.range[1]
        )
    return isinstance(value, bool if argument.kind == FLAG else dict)


def _is_text(value: Any) -> bool:
    """Whether a value is a text of bounded length that a file can hold."""
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        return False
    return value == value.encode("utf-8", "replace").decode("utf-8")

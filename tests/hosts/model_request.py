"""One call that a client makes to its model, in whichever of the four APIs it speaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Union

Json = dict[str, Any]

_SAID = ("system", "instructions", "systemInstruction", "messages", "input", "contents")
_LABELS = {"type", "id", "role", "name", "call_id", "tool_call_id", "tool_use_id", "status", "arguments", "tool_calls"}
_RESULTS = {"function_call_output", "custom_tool_call_output", "mcp_tool_call_output", "tool_result"}
_CALLS = {"function_call", "custom_tool_call", "tool_use"}


class Tool(NamedTuple):
    """A reply in which the model calls a tool. The Responses API has tools that take plain text, and namespaces."""

    name: str
    input: Union[Json, str]
    namespace: str = ""


class ModelRequest(NamedTuple):
    """The texts that the model would have read."""

    headers: dict[str, str]
    body: Json

    @property
    def kind(self) -> str:
        """`main`, or `side` for titles, checks and the like, which get no tools."""
        return "main" if self.body.get("tools") else "side"

    @property
    def texts(self) -> list[str]:
        """Every text of the conversation in order, except the tool calls, which are the mock's own words."""
        return [text for key in _SAID for text in _texts(self.body.get(key))]

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @property
    def results(self) -> str:
        """The text of all tool results."""
        parts = [part for key in _SAID for part in _results(self.body.get(key))]
        return "\n".join(text for part in parts for text in _texts(part))


def _texts(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, list):
        for item in part:
            yield from _texts(item)
    elif isinstance(part, dict) and part.get("type") not in _CALLS and "functionCall" not in part:
        for key, value in part.items():
            if key not in _LABELS:
                yield from _texts(value)


def _results(part: object) -> Iterator[object]:
    if isinstance(part, list):
        for item in part:
            yield from _results(item)
    elif isinstance(part, dict):
        if part.get("type") in _RESULTS or part.get("role") == "tool" or "functionResponse" in part:
            yield part
        else:
            yield from _results([part.get("content"), part.get("parts")])

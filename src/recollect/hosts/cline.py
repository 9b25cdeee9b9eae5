"""Cline CLI, through a plugin in JavaScript: one call runs several commands or reads several files."""

from __future__ import annotations

from recollect.hosts import shim
from recollect.hosts.question import READ, SHELL, WRITE, Payload, Question, absolute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TOOLS = {"run_commands": SHELL, "read_files": READ, "editor": WRITE, "apply_patch": WRITE}
_LISTS = ("commands", "files", "paths", "file_paths")
_MOST_ITEMS = 100

write = shim.write


def read(event: str, payload: Payload) -> Question:
    question = shim.read(event, payload, _TOOLS)
    listed = list(_listed(payload.inner("tool_input")))
    if question.tool == SHELL:
        question = question._replace(command="\n".join([*filter(None, [question.command]), *listed]))
    names = listed if question.tool in (READ, WRITE) else []
    return question._replace(
        prompt=_typed(question.prompt),
        files=question.files or absolute(names, question.cwd),
        error="\n".join(_failures(payload)) if question.tool == SHELL else "",
        shows_files=event == "pre_tool_use",
    )


def _listed(tool_input: Payload) -> Iterator[str]:
    """The commands or files of a call, each a text or an object that names it."""
    for key in _LISTS:
        for item in tool_input.items(key)[:_MOST_ITEMS]:
            named = Payload(item if isinstance(item, dict) else {"path": item})
            yield from filter(None, (named.text("path"), named.text("command")))


def _failures(payload: Payload) -> Iterator[str]:
    """What the commands printed that failed."""
    for item in payload.items("tool_response")[:_MOST_ITEMS]:
        result = Payload(item if isinstance(item, dict) else {})
        if result.fields.get("success") is False:
            error = result.text("error").replace("Command exited with code", "Exit code")
            yield f"{error}\n{result.text('result')}"


def _typed(prompt: str) -> str:
    """What a person typed: the host puts it into an element."""
    start, end = prompt.find("<user_input"), prompt.rfind("</user_input>")
    inner = prompt[start:end].partition(">")[2] if 0 <= start < end else prompt
    return inner.strip()

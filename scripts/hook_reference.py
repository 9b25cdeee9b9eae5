"""The reference page of hook events, read off hooks/hooks.json and the source of the handlers."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
HANDLERS = ROOT / "src" / "recollect" / "hooks"

_PROPERTIES = {"session": "session_id", "in_subagent": "agent_id"}
_READERS = ("text", "flag", "fields", "has_items")
_ANSWERS = {
    "context": "a text for the model (`hookSpecificOutput.additionalContext`)",
    "denial": "that the tool must not run, with the command to use instead (`permissionDecision: deny`)",
}

_INTRODUCTION = """\
Recollect is called by the host at these moments, as `hooks/hooks.json` says. Each call is one short process: an event
as JSON on standard input, an answer as JSON on standard output or nothing at all, exit code 0 whatever happens. A
failure leaves a line for `recollect doctor`.

No hook does anything where `RECOLLECT_OFF` is set, or where neither the project nor you have a memory (a session's
start also looks for [knowledge banks](../digest.md)). Every hook reads `cwd` to find the project. No answer is longer
than 10,000 characters."""


class Handler(NamedTuple):
    """What the source of an event's handler says: its sentences, what it reads, obeys and answers."""

    sentences: tuple[str, ...]
    reads: tuple[str, ...]
    settings: tuple[str, ...]
    answers: tuple[str, ...]


def lines() -> Iterator[str]:
    """The page below its title."""
    yield _INTRODUCTION
    yield from ("", "| event | tools | time limit | what happens |", "| --- | --- | --- | --- |")
    entries = list(_entries())
    for event, tools, seconds, module in entries:
        what = handler(module).sentences[0]
        yield f"| [{event}](#{event.lower()}) | {tools.replace('|', ', ')} | {seconds} s | {what} |"
    for event, _, _, module in entries:
        yield from ("", f"## {event}", "", *_section(module))


def _entries() -> Iterator[tuple[str, str, int, str]]:
    wiring = json.loads((ROOT / "hooks" / "hooks.json").read_text(encoding="utf-8"))
    for event, groups in wiring["hooks"].items():
        for group in groups:
            for hook in group["hooks"]:
                yield event, group.get("matcher", ""), hook["timeout"], hook["args"][-1]


def _section(module: str) -> Iterator[str]:
    found = handler(module)
    yield " ".join(found.sentences)
    yield ""
    yield f"- Handler: [`hooks/{module}.py`](../../src/recollect/hooks/{module}.py)"
    yield f"- Reads of the event: {_code(found.reads)}"
    if found.settings:
        yield f"- Obeys: {_code(found.settings)} ([settings](config.md))"
    yield f"- May answer: {'; '.join(_ANSWERS[name] for name in found.answers) or 'nothing'}"


def _code(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing else"


def handler(module: str) -> Handler:
    """What the source of one handler says, with the functions it takes from its neighbours."""
    tree = _tree(module)
    nodes = [tree, *_borrowed(tree)]
    handle = next((one for one in _functions(nodes) if one.name == "handle"), None)
    sentences = [_docstring(tree), _docstring(handle) if handle else ""]
    return Handler(
        tuple(text for text in sentences if text),
        _once(name for node in nodes for name in _fields(node)),
        _once(name for node in nodes for name in _settings(node)),
        _once(name for node in nodes for name in _calls(node) if name in _ANSWERS),
    )


def _tree(module: str) -> ast.Module:
    return ast.parse((HANDLERS / f"{module}.py").read_text(encoding="utf-8"))


def _borrowed(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The functions of neighbouring handlers that this one imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("recollect.hooks."):
            neighbour = (node.module or "").rpartition(".")[2]
            wanted = {alias.name for alias in node.names}
            if neighbour != "event":
                source = _tree(neighbour)
                yield from (one for one in _functions([source]) if one.name in wanted)
                # What is handed on (a handler that is another's) brings along what it borrowed itself.
                yield from _borrowed(source) if "handle" in wanted else ()


def _functions(nodes: list[ast.AST]) -> list[ast.FunctionDef]:
    return [one for node in nodes for one in ast.walk(node) if isinstance(one, ast.FunctionDef)]


def _fields(node: ast.AST) -> Iterator[str]:
    """The fields of the event that are read, by `event.text("…")` and its like or by a property."""
    yield from (_first(call) for method, call in _methods(node, "event") if method in _READERS)
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "event":
            yield _PROPERTIES.get(one.attr, "")


def _settings(node: ast.AST) -> Iterator[str]:
    for method, call in _methods(node, "settings"):
        yield "categories.*.enabled" if method == "is_enabled" else _first(call)


def _methods(node: ast.AST, receiver: str) -> Iterator[tuple[str, ast.Call]]:
    """The calls of a receiver's methods."""
    for call in ast.walk(node):
        method = call.func if isinstance(call, ast.Call) else None
        if isinstance(method, ast.Attribute) and isinstance(method.value, ast.Name) and method.value.id == receiver:
            yield method.attr, call


def _first(call: ast.Call) -> str:
    """The first argument where it is a literal; what a formatted one leaves open is a star."""
    argument = call.args[0] if call.args else None
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    if isinstance(argument, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "*" for part in argument.values)
    return ""


def _calls(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name):
            yield one.func.id


def _docstring(node: ast.Module | ast.FunctionDef) -> str:
    return " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())


def _once(names: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))

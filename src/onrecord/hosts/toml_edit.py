"""Adding, reading and removing one table of a TOML text; everything else stays as it is, byte for byte.

Only tables and keys are parsed; values are skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn, Union

from onrecord.coldstart import NamedTuple

Values = Mapping[str, Union[str, Sequence[str]]]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\n]*'""")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")
_CLOSE = re.compile(r"[ \t]*\]\]?[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\[\s\S])*?"{3,5}|' + r"'''[\s\S]*?'{3,5}|"
    r""""[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\n]*'|\#[^\n]*|[\[{\]}]|\r?\n|[^"'#\[\]{}\r\n]+|\r"""
)


class Assignment(NamedTuple):
    """A key, and start and end of its value in the text."""

    key: tuple[str, ...]
    start: int
    end: int


class Table(NamedTuple):
    """A table: its name, empty for the keys before the first header, and its position in the text."""

    name: tuple[str, ...]
    start: int
    body: int
    """Position after the line of its header."""
    end: int
    """Position after the line of its last key; comments below belong to the next table."""
    assignments: tuple[Assignment, ...]


def tables(text: str) -> list[Table]:
    """Return the tables of a text in order. Raises ValueError if it is not valid TOML, as far as it is parsed."""
    result: list[Table] = []
    name: tuple[str, ...] = ()
    start, body, end = 0, 0, 0
    assignments: list[Assignment] = []
    while (position := _skip(text, end)) < len(text):
        if text[position] == "[":
            result.append(Table(name, start, body, end, tuple(assignments)))
            name, body = _header(text, position)
            start, end, assignments = position, body, []
        else:
            assignment, end = _assignment(text, position)
            assignments.append(assignment)
    return [*result, Table(name, start, body, end, tuple(assignments))]


def put(text: str, name: Sequence[str], values: Values) -> str:
    """Return `text` with `values` in the table `name`; other keys of the table stay."""
    table = _table(text, name)
    if table is None:
        return _append(text, name, values)
    for assignment in reversed(table.assignments):
        if len(assignment.key) == 1 and assignment.key[0] in values:
            text = text[: assignment.start] + _render(values[assignment.key[0]]) + text[assignment.end :]
    missing = [key for key in values if (key,) not in [assignment.key for assignment in table.assignments]]
    newline = _newline(text)
    lines = "".join(f"{key} = {_render(values[key])}{newline}" for key in missing)
    header = text[: table.body]
    return header + (newline if lines and not header.endswith("\n") else "") + lines + text[table.body :]


def drop(text: str, name: Sequence[str]) -> str:
    """Return `text` without the table `name` and its sub-tables."""
    for table in reversed(tables(text)):
        if table.name[: len(name)] == tuple(name) and table.name:
            text = _remove(text, table)
    return text


def rename(text: str, name: Sequence[str], last: str) -> str:
    """Return `text` with the table `name`, and its sub-tables, under another last name."""
    for table in reversed(tables(text)):
        if table.name[: len(name)] == tuple(name):
            start = _key_start(text, table.start)
            new_name = (*name[:-1], last, *table.name[len(name) :])
            text = text[:start] + _rendered_key(new_name) + text[_key(text, start)[1] :]
    return text


def has(text: str, name: Sequence[str]) -> bool:
    """True if `text` has the table `name`."""
    return _table(text, name) is not None


def texts(text: str, name: Sequence[str]) -> dict[str, str]:
    """Return the values of a table's keys as they are written."""
    table = _table(text, name)
    return {a.key[0]: text[a.start : a.end] for a in table.assignments if len(a.key) == 1} if table else {}


def _table(text: str, name: Sequence[str]) -> Table | None:
    """Return the table `name`, or None. Raises ValueError if it is written as keys, or twice."""
    path = tuple(name)
    for table in tables(text):
        for assignment in table.assignments:
            full = (*table.name, *assignment.key)
            is_inline = full == path[: len(full)]
            is_dotted = full[: len(path)] == path and table.name[: len(path)] != path
            if is_inline or is_dotted:
                _fail(text, assignment.start, f"{'.'.join(full)} is written as a key, not as a table")
    matches = [table for table in tables(text) if table.name == path]
    if len(matches) > 1:
        raise ValueError(f"the table {'.'.join(path)} is there twice")
    return matches[0] if matches else None


def _append(text: str, name: Sequence[str], values: Values) -> str:
    """Return `text` with a new table at its end; without a final line break if `text` has none."""
    newline = _newline(text)
    lines = [f"[{_rendered_key(name)}]", *(f"{key} = {_render(value)}" for key, value in values.items())]
    block = newline.join(lines)
    if not text:
        return block + newline
    return f"{text}{newline}{block}{newline}" if text.endswith("\n") else f"{text}{newline}{newline}{block}"


def _rendered_key(name: Sequence[str]) -> str:
    return ".".join(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else _render(part) for part in name)


def _remove(text: str, toml_table: Table) -> str:
    """Return `text` without `toml_table` and the empty line that `_append` writes before it."""
    before, after, newline = text[: toml_table.start], text[toml_table.end :], _newline(text)
    is_open = not after and not text.endswith("\n")
    if is_open:
        return before.removesuffix(newline * 2)
    return (before.removesuffix(newline) if before.endswith(f"\n{newline}") else before) + after


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _render(toml_value: str | Sequence[str]) -> str:
    return json.dumps(toml_value if isinstance(toml_value, str) else list(toml_value), ensure_ascii=False)


def _skip(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _header(text: str, position: int) -> tuple[tuple[str, ...], int]:
    """Return the name in a header, and the position of the next line."""
    name, end = _key(text, _key_start(text, position))
    close = _CLOSE.match(text, end)
    if not close:
        _fail(text, position, "the header of a table does not end")
    return name, close.end()


def _key_start(text: str, position: int) -> int:
    """Return the position of the name in the header at `position`."""
    return _spaces(text, position + (2 if text.startswith("[[", position) else 1))


def _assignment(text: str, position: int) -> tuple[Assignment, int]:
    key, end = _key(text, position)
    equals = _EQUALS.match(text, end)
    if not equals:
        _fail(text, position, "a key without a value")
    end, next_line = _value_end(text, equals.end())
    return Assignment(key, equals.end(), end), next_line


def _value_end(text: str, start: int) -> tuple[int, int]:
    """Return the position after a value, and that of the next line."""
    position, end, depth = start, start, 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if not token:
            _fail(text, position, "a text that does not end")
        word, position = token[0], token.end()
        if word in ("\n", "\r\n") and depth == 0:
            return end, position
        depth += (word in ("[", "{")) - (word in ("]", "}"))
        if word.strip() and not word.startswith("#"):
            end = token.start() + len(word.rstrip())
    if depth:
        _fail(text, start, "a list that does not end")
    return end, position


def _key(text: str, position: int) -> tuple[tuple[str, ...], int]:
    parts: list[str] = []
    while True:
        part = _PART.match(text, position)
        if not part:
            _fail(text, position, "a key is expected")
        parts.append(_plain(part[0]))
        dot = _DOT.match(text, part.end())
        if not dot:
            return tuple(parts), part.end()
        position = dot.end()


def _plain(part: str) -> str:
    """Return a part of a key without its quotation marks."""
    if part[0] == "'":
        return part[1:-1]
    try:
        return str(json.loads(part)) if part[0] == '"' else part
    except ValueError:
        return part[1:-1]


def _spaces(text: str, position: int) -> int:
    while text[position : position + 1] in (" ", "\t"):
        position += 1
    return position


def _fail(text: str, position: int, problem: str) -> NoReturn:
    raise ValueError(f"line {text.count(chr(10), 0, position) + 1}: {problem}")

"""One table of a TOML text, put in, read and taken out; everything else stays as it is, byte for byte.

Only tables and keys are recognised. The value of a key is skipped over, whatever it is.
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
    """A key with its value: where the value stands in the text."""

    key: tuple[str, ...]
    start: int
    end: int


class Table(NamedTuple):
    """A table: its name, empty for the keys before the first one, and where it stands with its header."""

    name: tuple[str, ...]
    start: int
    body: int
    """Behind the line of its header."""
    end: int
    """Behind the line of its last key; comments below belong to what follows."""
    assignments: tuple[Assignment, ...]


def tables(text: str) -> list[Table]:
    """The tables of a text, in order; ValueError if it is not TOML as far as this module knows it."""
    made: list[Table] = []
    name: tuple[str, ...] = ()
    start, body, end = 0, 0, 0
    assignments: list[Assignment] = []
    while (at := _skip(text, end)) < len(text):
        if text[at] == "[":
            made.append(Table(name, start, body, end, tuple(assignments)))
            name, body = _header(text, at)
            start, end, assignments = at, body, []
        else:
            assignment, end = _assignment(text, at)
            assignments.append(assignment)
    return [*made, Table(name, start, body, end, tuple(assignments))]


def put(text: str, name: Sequence[str], values: Values) -> str:
    """The text with these values in a table; other keys in it stay."""
    table = _table(text, name)
    if table is None:
        return _appended(text, name, values)
    for assignment in reversed(table.assignments):
        if len(assignment.key) == 1 and assignment.key[0] in values:
            text = text[: assignment.start] + _rendered(values[assignment.key[0]]) + text[assignment.end :]
    missing = [key for key in values if (key,) not in [assignment.key for assignment in table.assignments]]
    newline = _newline(text)
    lines = "".join(f"{key} = {_rendered(values[key])}{newline}" for key in missing)
    header = text[: table.body]
    return header + (newline if lines and not header.endswith("\n") else "") + lines + text[table.body :]


def drop(text: str, name: Sequence[str]) -> str:
    """The text without a table and the tables below it."""
    for table in reversed(tables(text)):
        if table.name[: len(name)] == tuple(name) and table.name:
            text = _without(text, table)
    return text


def has(text: str, name: Sequence[str]) -> bool:
    """Whether a text has a table."""
    return _table(text, name) is not None


def texts(text: str, name: Sequence[str]) -> dict[str, str]:
    """The values of a table's keys as they are written."""
    table = _table(text, name)
    return {a.key[0]: text[a.start : a.end] for a in table.assignments if len(a.key) == 1} if table else {}


def _table(text: str, name: Sequence[str]) -> Table | None:
    """The table of a name; ValueError if its values are written in another way, or twice."""
    wanted = tuple(name)
    for table in tables(text):
        for assignment in table.assignments:
            full = (*table.name, *assignment.key)
            is_inline = full == wanted[: len(full)]
            is_dotted = full[: len(wanted)] == wanted and table.name[: len(wanted)] != wanted
            if is_inline or is_dotted:
                _fail(text, assignment.start, f"{'.'.join(full)} is written as a key, not as a table")
    matches = [table for table in tables(text) if table.name == wanted]
    if len(matches) > 1:
        raise ValueError(f"the table {'.'.join(wanted)} is there twice")
    return matches[0] if matches else None


def _appended(text: str, name: Sequence[str], values: Values) -> str:
    """A table behind everything else; without a line break at the end if the text has none there."""
    newline = _newline(text)
    header = ".".join(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else _rendered(part) for part in name)
    lines = [f"[{header}]", *(f"{key} = {_rendered(value)}" for key, value in values.items())]
    block = newline.join(lines)
    if not text:
        return block + newline
    return f"{text}{newline}{block}{newline}" if text.endswith("\n") else f"{text}{newline}{newline}{block}"


def _without(text: str, table: Table) -> str:
    """The text without a table, and without the empty line that `_appended` puts before it."""
    before, behind, newline = text[: table.start], text[table.end :], _newline(text)
    is_open = not behind and not text.endswith("\n")
    if is_open:
        return before.removesuffix(newline * 2)
    return (before.removesuffix(newline) if before.endswith(f"\n{newline}") else before) + behind


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _rendered(value: str | Sequence[str]) -> str:
    return json.dumps(value if isinstance(value, str) else list(value), ensure_ascii=False)


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _header(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """The name in a header, and where the next line begins."""
    name, behind = _key(text, _spaces(text, at + (2 if text.startswith("[[", at) else 1)))
    close = _CLOSE.match(text, behind)
    if not close:
        _fail(text, at, "the header of a table does not end")
    return name, close.end()


def _assignment(text: str, at: int) -> tuple[Assignment, int]:
    key, behind = _key(text, at)
    equals = _EQUALS.match(text, behind)
    if not equals:
        _fail(text, at, "a key without a value")
    end, next_line = _value_end(text, equals.end())
    return Assignment(key, equals.end(), end), next_line


def _value_end(text: str, start: int) -> tuple[int, int]:
    """Where a value ends, and where the next line begins."""
    at, end, depth = start, start, 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if not token:
            _fail(text, at, "a text that does not end")
        word, at = token[0], token.end()
        if word in ("\n", "\r\n") and depth == 0:
            return end, at
        depth += (word in ("[", "{")) - (word in ("]", "}"))
        if word.strip() and not word.startswith("#"):
            end = token.start() + len(word.rstrip())
    if depth:
        _fail(text, start, "a list that does not end")
    return end, at


def _key(text: str, at: int) -> tuple[tuple[str, ...], int]:
    parts: list[str] = []
    while True:
        part = _PART.match(text, at)
        if not part:
            _fail(text, at, "a key is expected")
        parts.append(_plain(part[0]))
        dot = _DOT.match(text, part.end())
        if not dot:
            return tuple(parts), part.end()
        at = dot.end()


def _plain(part: str) -> str:
    """A part of a key without its quotation marks."""
    if part[0] == "'":
        return part[1:-1]
    try:
        return str(json.loads(part)) if part[0] == '"' else part
    except ValueError:
        return part[1:-1]


def _spaces(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at


def _fail(text: str, at: int, what: str) -> NoReturn:
    raise ValueError(f"line {text.count(chr(10), 0, at) + 1}: {what}")

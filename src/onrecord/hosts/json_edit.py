"""Edits of a JSON text that keep the rest of it, byte for byte, and can be undone without a trace.

An entry in an object or array that was empty follows its bracket directly; an object or array that is created for an
entry has the entry on a line of its own. So `drop` can tell which of them existed before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from onrecord.coldstart import NamedTuple

_MAX_LINE_CHARS = 120
_MAX_ITEMS = 20
"""Items of ours in one list: more cannot come from us."""

_INDENTED = re.compile(r'\n([ \t]+)["\]}]')
_BLOCK = r"[ \t]*/\*(?:(?!\*/)[^\r\n])*\*/"
_LINE_REST = re.compile(rf"(?:{_BLOCK})*[ \t]*//[^\r\n]*|(?:{_BLOCK})+")
"""Comments after a value on the same line, which belong to it."""

_SPACE = " \t\r\n"


class _Style(NamedTuple):
    """Indentation and line breaks of a text."""

    unit: str
    newline: str

    @classmethod
    def detect(cls, text: str) -> _Style:
        match = _INDENTED.search(text)
        return cls(match[1] if match else "  ", "\r\n" if "\r\n" in text else "\n")


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Return `text` with `value` at a path of keys; missing objects are created."""
    return _put(text, path, value, levels=0)


def drop(text: str, path: Sequence[str]) -> str:
    """Return `text` without the member at `path` and what was created for it; empty if nothing else is left."""
    chain = _chain(text, path)
    return _drop(text, chain) if len(chain) > len(path) else text


def put_item(text: str, path: Sequence[str], value: Any, is_ours: Callable[[Any], bool]) -> str:
    """Return `text` with `value` as the only item of ours in the array at `path`; it keeps its position."""
    chain = _chain(text, path)
    if len(chain) <= len(path):
        return _put(text, path, [value], levels=1)
    array = _array(chain[-1], path)
    ours = _matching(text, array, is_ours)
    if not ours:
        return _insert(text, array, "", value, 0)
    if len(ours) > 1:
        # Removing the last item moves its neighbours, so the text is parsed again.
        return put_item(_remove(text, array, ours[-1]), path, value, is_ours)
    return _replace(text, ours[0].value, value)


def drop_items(text: str, path: Sequence[str], is_ours: Callable[[Any], bool]) -> str:
    """Return `text` without our items in the array at `path` and what was created for them."""
    while text:
        chain = _chain(text, path)
        if len(chain) <= len(path):
            return text
        ours = _matching(text, _array(chain[-1], path), is_ours)
        if not ours:
            return text
        text = _drop(text, [*chain, ours[-1].value])
    return text


def items(text: str, path: Sequence[str]) -> list[Any]:
    """Return the items of the array at `path`; none if there is no such array."""
    chain = _chain(text, path)
    return value_of(text, _array(chain[-1], path)) if len(chain) > len(path) else []


def keys(text: str) -> list[str]:
    """Return the keys of the outermost object, in order."""
    return [member.key for node in _chain(text, ("",))[:1] for member in node.members]


def get(text: str, path: Sequence[str]) -> Any:
    """Return the value at a path of keys, or None."""
    chain = _chain(text, path)
    return value_of(text, chain[-1]) if len(chain) > len(path) else None


def _chain(text: str, path: Sequence[str]) -> list[Node]:
    """Return the values along `path`, from the outermost to the last that exists."""
    if not text.strip():
        return []
    chain = [parse(text, path)]
    if chain[0].kind != "object":
        raise ValueError("it is not a JSON object")
    for key in path:
        member = member_of(chain[-1], key)
        if member is None:
            break
        chain.append(member.value)
    return chain


def _matching(text: str, array: Node, is_ours: Callable[[Any], bool]) -> list[JsonMember]:
    """Return our items in an array. Raises ValueError if there are too many."""
    ours = [item for item in array.members if is_ours(value_of(text, item.value))]
    if len(ours) > _MAX_ITEMS:
        raise ValueError(f"there are {len(ours):,} entries of Onrecord in one list")
    return ours


def _array(node: Node, path: Sequence[str]) -> Node:
    if node.kind != "array":
        raise ValueError(f"{'.'.join(path)} is not a list")
    return node


def _put(text: str, path: Sequence[str], value: Any, levels: int) -> str:
    chain = _chain(text, path)
    if len(chain) > len(path):
        return _replace(text, chain[-1], value)
    for key in reversed(path[len(chain) :]):
        value = {key: value}
        levels += 1
    if not chain:
        return _render(value, _Style("  ", "\n"), "", levels) + "\n"
    return _insert(text, chain[-1], path[len(chain) - 1], value, levels)


def _replace(text: str, node: Node, value: Any) -> str:
    if value_of(text, node) == value:
        return text
    return text[: node.start] + _render(value, _Style.detect(text), _indent(text, node.start), 0) + text[node.end :]


def _insert(text: str, container: Node, key: str, value: Any, levels: int) -> str:
    """Return `text` with a new last member or item in `container`."""
    style, name = _Style.detect(text), f"{_quoted(key)}: " if key else ""
    if not container.members:
        start = container.start + 1
        return text[:start] + name + _render(value, style, _indent(text, start), levels) + text[start:]
    last = container.members[-1]
    before = text[: last.start]
    is_on_own_line = "\n" in before[len(before.rstrip(_SPACE)) :]
    indent = _indent(text, last.start if is_on_own_line else container.start)
    rest = _LINE_REST.match(text, last.end)
    end = rest.end() if rest else last.end
    gap = style.newline + indent if is_on_own_line or (rest and "//" in rest[0]) else " "
    entry = gap + name + _render(value, style, indent, levels) + ("," if last.has_comma else "")
    return text[: last.value.end] + ("" if last.has_comma else ",") + text[last.value.end : end] + entry + text[end:]


def _drop(text: str, chain: Sequence[Node]) -> str:
    """Return `text` without the last value of `chain` and those that were created for it."""
    *outer, container, target = chain
    member = next(member for member in container.members if member.value == target)
    if not _was_created_for(text, container, member):
        return _remove(text, container, member)
    return _drop(text, [*outer, container]) if outer else ""


def _was_created_for(text: str, container: Node, member: JsonMember) -> bool:
    """True if `member` is all that `container` has, and is on a line of its own."""
    before, after = text[container.start + 1 : member.start], text[member.end : container.end - 1]
    return "\n" in before and not before.strip(_SPACE) and not after.strip(_SPACE)


def _remove(text: str, container: Node, member: JsonMember) -> str:
    start = len(text[: member.start].rstrip(_SPACE))
    number = container.members.index(member)
    previous_end = container.members[number - 1].end if number else container.start + 1
    is_in_comment = "//" in text[previous_end:start].rpartition("\n")[2]
    if is_in_comment and not text[member.end :].lstrip(" \t").startswith(("\r", "\n")):
        # The rest of the line would become part of the comment before it.
        start = member.start
    if member.has_comma or number == 0:
        return text[:start] + text[member.end :]
    comma = container.members[number - 1].comma
    return text[:comma] + text[comma + 1 : start] + text[member.end :]


def _indent(text: str, position: int) -> str:
    """Return the spaces at the start of the line of `position`."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _render(value: Any, style: _Style, indent: str, levels: int) -> str:
    """Return a value as JSON. The outermost `levels`, and lines that would be too long, get a line for each member."""
    line = _quoted(value)
    if not isinstance(value, (dict, list)) or not value or (levels <= 0 and len(indent) + len(line) <= _MAX_LINE_CHARS):
        return line
    inner = indent + style.unit
    if isinstance(value, dict):
        parts = [f"{_quoted(key)}: {_render(part, style, inner, levels - 1)}" for key, part in value.items()]
    else:
        parts = [_render(part, style, inner, levels - 1) for part in value]
    lines = f",{style.newline}".join(inner + part for part in parts)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}{style.newline}{lines}{style.newline}{indent}{closing}"


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_MAX_DEPTH = 64
_SKIPPED = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*[\s\S]*?\*/)*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_PLAIN = re.compile(r'(?:[^"\[\]{}/]+|"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"|//[^\r\n]*|/\*[\s\S]*?\*/)*')
"""Everything up to the next bracket that is in no string or comment."""

_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")


class Node(NamedTuple):
    """A value in a text; `members` are the members of an object or the items of an array."""

    kind: str
    """object, array or scalar"""
    start: int
    end: int
    members: tuple[JsonMember, ...] = ()


class JsonMember(NamedTuple):
    """A member of an object, or an item of an array, which has no key."""

    key: str
    start: int
    value: Node
    comma: int
    """Position of the comma after it; -1 if there is none."""

    @property
    def end(self) -> int:
        """Position after its value and its comma."""
        return self.comma + 1 if self.has_comma else self.value.end

    @property
    def has_comma(self) -> bool:
        return self.comma >= 0


def check(text: str) -> None:
    """Raise ValueError unless a text is JSON, which may have comments and trailing commas, or empty."""
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        if text.strip():
            parse(text)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def parse(text: str, path: Sequence[str] | None = None) -> Node:
    """Parse JSON, which may have comments and trailing commas. Raises ValueError.

    With `path`, only the values along this path of keys have members; the others are passed over, which is what makes
    many edits of a large text possible.
    """
    reader = _Reader(text)
    node = reader.value(reader.skip(0), 0, path)
    if reader.skip(node.end) != len(text):
        reader.fail(reader.skip(node.end), "something follows the value")
    return node


def value_of(text: str, node: Node) -> Any:
    """Return the value of a node."""
    if node.kind == "array":
        return [value_of(text, item.value) for item in node.members]
    if node.kind == "object":
        return {member.key: value_of(text, member.value) for member in node.members}
    return json.loads(text[node.start : node.end])


def member_of(node: Node, key: str) -> JsonMember | None:
    """Return the member of an object with `key`, or None. Raises ValueError if two have it: programs differ there."""
    if node.kind != "object":
        raise ValueError(f"{key!r} is looked for in something that is no object")
    members = [member for member in node.members if member.key == key]
    if len(members) > 1:
        raise ValueError(f"the key {key!r} is there twice")
    return members[0] if members else None


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def skip(self, position: int) -> int:
        """Return the position of the next token, after spaces and comments."""
        match = _SKIPPED.match(self._text, position)
        return match.end() if match else position

    def fail(self, position: int, problem: str) -> NoReturn:
        raise ValueError(f"line {self._text.count(chr(10), 0, position) + 1}: {problem}")

    def value(self, position: int, depth: int, path: Sequence[str] | None) -> Node:
        first = self._text[position : position + 1]
        if first in ("{", "["):
            return self._container(position, depth + 1, path)
        match = (_STRING if first == '"' else _SCALAR).match(self._text, position)
        if not match:
            self.fail(position, "a value is expected")
        return Node("scalar", position, match.end())

    def _passed_over(self, start: int, depth: int) -> Node:
        """Return the object or array at `start` without its members."""
        level, position = 0, start
        while True:
            position = self._plain_end(position)
            bracket = self._text[position : position + 1]
            if bracket not in ("{", "[", "}", "]") or not bracket:
                self.fail(position, "a bracket is not closed")
            level += 1 if bracket in "{[" else -1
            if depth + level > _MAX_DEPTH:
                self.fail(position, "nested too deeply")
            position += 1
            if level == 0:
                return Node("object" if self._text[start] == "{" else "array", start, position)

    def _plain_end(self, position: int) -> int:
        match = _PLAIN.match(self._text, position)
        return match.end() if match else position

    def _container(self, start: int, depth: int, path: Sequence[str] | None) -> Node:
        if depth > _MAX_DEPTH:
            self.fail(start, "nested too deeply")
        kind, close = ("object", "}") if self._text[start] == "{" else ("array", "]")
        members: list[JsonMember] = []
        position = self.skip(start + 1)
        while self._text[position : position + 1] != close:
            if members and not members[-1].has_comma:
                self.fail(position, f"a comma or {close} is expected")
            members.append(self._member(position, kind, depth, path))
            position = self.skip(members[-1].end)
        return Node(kind, start, position + 1, tuple(members))

    def _member(self, start: int, kind: str, depth: int, path: Sequence[str] | None) -> JsonMember:
        key, position = self._key(start) if kind == "object" else ("", start)
        if path and key != path[0] and self._text[position : position + 1] in ("{", "["):
            value = self._passed_over(position, depth)
        else:
            value = self.value(position, depth, path[1:] or None if path else None)
        end = self.skip(value.end)
        return JsonMember(key, start, value, end if self._text[end : end + 1] == "," else -1)

    def _key(self, position: int) -> tuple[str, int]:
        """Return a key and the position of its value."""
        match = _STRING.match(self._text, position)
        colon = self.skip(match.end()) if match else position
        if not match or self._text[colon : colon + 1] != ":":
            self.fail(position, "a key and a colon are expected")
        return json.loads(match[0]), self.skip(colon + 1)

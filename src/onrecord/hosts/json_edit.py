"""Changes to a JSON text that keep the rest of it, byte for byte, and that can be taken back without a trace.

What is put into an empty object or array stands right behind its bracket; an object or array that is made for an entry
has its entry on a line of its own. So `drop` can tell which of them were there before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from onrecord.coldstart import NamedTuple

_WIDEST = 120
_MOST = 20
_INDENTED = re.compile(r'\n([ \t]+)["\]}]')
_BLOCK = r"[ \t]*/\*(?:(?!\*/)[^\r\n])*\*/"
_LINE_REST = re.compile(rf"(?:{_BLOCK})*[ \t]*//[^\r\n]*|(?:{_BLOCK})+")
"""Comments behind a value on its line, which belong to it."""

_SPACE = " \t\r\n"


class _Style(NamedTuple):
    """How a text breaks and indents its lines."""

    unit: str
    newline: str

    @classmethod
    def of(cls, text: str) -> _Style:
        indented = _INDENTED.search(text)
        return cls(indented[1] if indented else "  ", "\r\n" if "\r\n" in text else "\n")


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a value at a path of keys; objects on the way are made."""
    return _put(text, path, value, levels=0)


def drop(text: str, path: Sequence[str]) -> str:
    """The text without the member at a path, and without what was made for it; empty if nothing else is left."""
    chain = _chain(text, path)
    return _dropped(text, chain) if len(chain) > len(path) else text


def put_item(text: str, path: Sequence[str], value: Any, is_ours: Callable[[Any], bool]) -> str:
    """The text with one item of ours, this value, in the array at a path; it stays where it was."""
    chain = _chain(text, path)
    if len(chain) <= len(path):
        return _put(text, path, [value], levels=1)
    array = _array(chain[-1], path)
    ours = _matching(text, array, is_ours)
    if not ours:
        return _inserted(text, array, "", value, 0)
    if len(ours) > 1:
        # Without the last one its neighbours stand elsewhere, so the text is read again.
        return put_item(_removed(text, array, ours[-1]), path, value, is_ours)
    return _replaced(text, ours[0].value, value)


def drop_items(text: str, path: Sequence[str], is_ours: Callable[[Any], bool]) -> str:
    """The text without our items in the array at a path, and without what was made for them."""
    while text:
        chain = _chain(text, path)
        if len(chain) <= len(path):
            return text
        ours = _matching(text, _array(chain[-1], path), is_ours)
        if not ours:
            return text
        text = _dropped(text, [*chain, ours[-1].value])
    return text


def items(text: str, path: Sequence[str]) -> list[Any]:
    """The items of the array at a path; none if there is no such array."""
    chain = _chain(text, path)
    return value_of(text, _array(chain[-1], path)) if len(chain) > len(path) else []


def get(text: str, path: Sequence[str]) -> Any:
    """The value at a path of keys; None if there is none."""
    chain = _chain(text, path)
    return value_of(text, chain[-1]) if len(chain) > len(path) else None


def _chain(text: str, path: Sequence[str]) -> list[Node]:
    """The values on the way along a path, from the outermost to the last that is there."""
    if not text.strip():
        return []
    chain = [parse(text)]
    if chain[0].kind != "object":
        raise ValueError("it does not hold an object")
    for key in path:
        member = member_of(chain[-1], key)
        if member is None:
            break
        chain.append(member.value)
    return chain


def _matching(text: str, array: Node, is_ours: Callable[[Any], bool]) -> list[Member]:
    """Our items in an array; ValueError if they are so many that nobody can have written them."""
    ours = [item for item in array.members if is_ours(value_of(text, item.value))]
    if len(ours) > _MOST:
        raise ValueError(f"there are {len(ours):,} entries of Onrecord in one list")
    return ours


def _array(node: Node, path: Sequence[str]) -> Node:
    if node.kind != "array":
        raise ValueError(f"{'.'.join(path)} is not a list")
    return node


def _put(text: str, path: Sequence[str], value: Any, levels: int) -> str:
    chain = _chain(text, path)
    if len(chain) > len(path):
        return _replaced(text, chain[-1], value)
    for key in reversed(path[len(chain) :]):
        value = {key: value}
        levels += 1
    if not chain:
        return _rendered(value, _Style("  ", "\n"), "", levels) + "\n"
    return _inserted(text, chain[-1], path[len(chain) - 1], value, levels)


def _replaced(text: str, node: Node, value: Any) -> str:
    if value_of(text, node) == value:
        return text
    return text[: node.start] + _rendered(value, _Style.of(text), _indent(text, node.start), 0) + text[node.end :]


def _inserted(text: str, container: Node, key: str, value: Any, levels: int) -> str:
    """The text with a new last member or item in a container."""
    style, name = _Style.of(text), f"{_quoted(key)}: " if key else ""
    if not container.members:
        behind = container.start + 1
        return text[:behind] + name + _rendered(value, style, _indent(text, behind), levels) + text[behind:]
    last = container.members[-1]
    before = text[: last.start]
    is_on_own_line = "\n" in before[len(before.rstrip(_SPACE)) :]
    indent = _indent(text, last.start if is_on_own_line else container.start)
    rest = _LINE_REST.match(text, last.end)
    at = rest.end() if rest else last.end
    gap = style.newline + indent if is_on_own_line or (rest and "//" in rest[0]) else " "
    entry = gap + name + _rendered(value, style, indent, levels) + ("," if last.has_comma else "")
    return text[: last.value.end] + ("" if last.has_comma else ",") + text[last.value.end : at] + entry + text[at:]


def _dropped(text: str, chain: Sequence[Node]) -> str:
    """The text without the last of some values, each in the one before, and without those that were made for it."""
    *outer, container, target = chain
    member = next(member for member in container.members if member.value == target)
    if not _was_made_for(text, container, member):
        return _removed(text, container, member)
    return _dropped(text, [*outer, container]) if outer else ""


def _was_made_for(text: str, container: Node, member: Member) -> bool:
    """Whether a container holds nothing but one member, and has it on a line of its own."""
    before, behind = text[container.start + 1 : member.start], text[member.end : container.end - 1]
    return "\n" in before and not before.strip(_SPACE) and not behind.strip(_SPACE)


def _removed(text: str, container: Node, member: Member) -> str:
    start = len(text[: member.start].rstrip(_SPACE))
    number = container.members.index(member)
    behind = container.members[number - 1].end if number else container.start + 1
    is_in_comment = "//" in text[behind:start].rpartition("\n")[2]
    if is_in_comment and not text[member.end :].lstrip(" \t").startswith(("\r", "\n")):
        # What follows on the line would become part of the comment before it.
        start = member.start
    if member.has_comma or number == 0:
        return text[:start] + text[member.end :]
    comma = container.members[number - 1].comma
    return text[:comma] + text[comma + 1 : start] + text[member.end :]


def _indent(text: str, at: int) -> str:
    """The spaces at the beginning of the line that a position is in."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _rendered(value: Any, style: _Style, indent: str, levels: int) -> str:
    """A value as JSON; the outermost `levels`, and what would be too long a line, with each member on its own."""
    line = _quoted(value)
    if not isinstance(value, (dict, list)) or not value or (levels <= 0 and len(indent) + len(line) <= _WIDEST):
        return line
    inner = indent + style.unit
    if isinstance(value, dict):
        parts = [f"{_quoted(key)}: {_rendered(part, style, inner, levels - 1)}" for key, part in value.items()]
    else:
        parts = [_rendered(part, style, inner, levels - 1) for part in value]
    lines = f",{style.newline}".join(inner + part for part in parts)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}{style.newline}{lines}{style.newline}{indent}{closing}"


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_DEEPEST = 64
_SKIPPED = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*[\s\S]*?\*/)*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")


class Node(NamedTuple):
    """A value in a text; `members` are those of an object or the items of an array."""

    kind: str
    """object, array or scalar"""
    start: int
    end: int
    members: tuple[Member, ...] = ()


class Member(NamedTuple):
    """A member of an object, or an item of an array: that has no key."""

    key: str
    start: int
    value: Node
    comma: int
    """Where the comma behind it is; -1 without."""

    @property
    def end(self) -> int:
        """Behind its value, and behind its comma if it has one."""
        return self.comma + 1 if self.has_comma else self.value.end

    @property
    def has_comma(self) -> bool:
        return self.comma >= 0


def parse(text: str) -> Node:
    """The value that a text holds; ValueError if it is not JSON, which may have comments and trailing commas."""
    reader = _Reader(text)
    node = reader.value(reader.skip(0), 0)
    if reader.skip(node.end) != len(text):
        reader.fail(reader.skip(node.end), "something follows the value")
    return node


def value_of(text: str, node: Node) -> Any:
    """What a node of a text stands for."""
    if node.kind == "array":
        return [value_of(text, item.value) for item in node.members]
    if node.kind == "object":
        return {member.key: value_of(text, member.value) for member in node.members}
    return json.loads(text[node.start : node.end])


def member_of(node: Node, key: str) -> Member | None:
    """The member of an object that has a key; ValueError if two have it: programs differ in which one they take."""
    if node.kind != "object":
        raise ValueError(f"{key!r} is looked for in something that is no object")
    members = [member for member in node.members if member.key == key]
    if len(members) > 1:
        raise ValueError(f"the key {key!r} is there twice")
    return members[0] if members else None


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def skip(self, at: int) -> int:
        """Where the next token begins, behind spaces and comments."""
        match = _SKIPPED.match(self._text, at)
        return match.end() if match else at

    def fail(self, at: int, what: str) -> NoReturn:
        raise ValueError(f"line {self._text.count(chr(10), 0, at) + 1}: {what}")

    def value(self, at: int, depth: int) -> Node:
        first = self._text[at : at + 1]
        if first in ("{", "["):
            return self._container(at, depth + 1)
        match = (_STRING if first == '"' else _SCALAR).match(self._text, at)
        if not match:
            self.fail(at, "a value is expected")
        return Node("scalar", at, match.end())

    def _container(self, start: int, depth: int) -> Node:
        if depth > _DEEPEST:
            self.fail(start, "nested too deeply")
        kind, close = ("object", "}") if self._text[start] == "{" else ("array", "]")
        members: list[Member] = []
        at = self.skip(start + 1)
        while self._text[at : at + 1] != close:
            if members and not members[-1].has_comma:
                self.fail(at, f"a comma or {close} is expected")
            members.append(self._member(at, kind, depth))
            at = self.skip(members[-1].end)
        return Node(kind, start, at + 1, tuple(members))

    def _member(self, start: int, kind: str, depth: int) -> Member:
        key, at = self._key(start) if kind == "object" else ("", start)
        value = self.value(at, depth)
        behind = self.skip(value.end)
        return Member(key, start, value, behind if self._text[behind : behind + 1] == "," else -1)

    def _key(self, at: int) -> tuple[str, int]:
        """A key, and where its value begins."""
        match = _STRING.match(self._text, at)
        colon = self.skip(match.end()) if match else at
        if not match or self._text[colon : colon + 1] != ":":
            self.fail(at, "a key and a colon are expected")
        return json.loads(match[0]), self.skip(colon + 1)

"""JSON with comments, read with the position of every value, so that a change leaves all other text as it is."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from onrecord.coldstart import NamedTuple

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

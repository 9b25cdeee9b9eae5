"""Symbols: the part of a file a memory is about, found by its text alone: a definition's name, or lines."""

from __future__ import annotations

import re

from recollect.coldstart import digest

MOST_LINES = 500
_LONGEST_LINE = 400
_MOST_COMPARED = 200_000
_RANGE = re.compile(r"[Ll]?(\d{1,6})(?:\s*[-–:]\s*[Ll]?(\d{1,6}))?")
_KEYWORDS = (
    "def class func fn fun function sub proc macro type typedef interface struct enum union trait impl protocol"
    " extension module namespace package object record const let var val static define defn defmodule CREATE TABLE"
).split()
_OPENERS = ("{", ":", "(", "[", "=>", "=")
_CLOSER = re.compile(r"[)\]}{]|end\b")
_ATTRIBUTES = ("@", "#[")


def lines_of(symbol: str) -> tuple[int, int] | None:
    """The first and last line that a symbol such as `L10-L20` names, or None if it is a name."""
    match = _RANGE.fullmatch(symbol.strip())
    if not match:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    return (first, last) if 1 <= first <= last < first + MOST_LINES else None


def mark(data: bytes, symbol: str) -> str:
    """A fingerprint of the part of a file that a symbol names; empty if there is no such part."""
    lines = _lines(data)
    span = lines_of(symbol)
    part = lines[span[0] - 1 : span[1]] if span else _definitions(lines, symbol)
    return _fingerprint(part) if any(part) else ""


def is_unchanged(data: bytes, symbol: str, known: str) -> bool:
    """Whether the part that had a fingerprint is still there; lines may have moved up or down."""
    span = lines_of(symbol)
    if not span:
        return mark(data, symbol) == known
    lines, length = _lines(data), span[1] - span[0] + 1
    reach = _MOST_COMPARED // length
    places = range(max(0, span[0] - 1 - reach), min(len(lines) - length, span[0] - 1 + reach) + 1)
    return any(_fingerprint(lines[at : at + length]) == known for at in places)


def _lines(data: bytes) -> list[str]:
    return [line.rstrip() for line in data.decode("utf-8", "replace").split("\n")]


def _fingerprint(lines: list[str]) -> str:
    return digest("\n".join(lines).encode("utf-8", "replace"))


def _definitions(lines: list[str], symbol: str) -> list[str]:
    """Every block that defines a name: overloads, and a property's getter and setter, are one symbol.

    A dotted name such as `Session.renew` is looked for inside the block of its first part.
    """
    for name in re.split(r"\.|::", symbol.strip().removesuffix("()")):
        lines = [line for start in _starts(lines, name) for line in _block(lines, start)]
    return lines


def _starts(lines: list[str], name: str) -> list[int]:
    """Where a name is defined: behind a keyword if it is anywhere, else where it is bound, else as a method."""
    said = re.escape(name)
    keyword = re.compile(rf"(?:^|[\s(])(?:{'|'.join(_KEYWORDS)})\b[^=;{{]*?(?<![\w$]){said}(?![\w$])", re.IGNORECASE)
    bound = re.compile(rf"\s*(?:export\s+|pub\s+|[\w$.]+\.)?['\"]?{said}['\"]?\s*(?::=|=(?!=)|:(?!:))")
    method = re.compile(rf"\s*(?:[\w<>\[\],*&?~]+\s+)*{said}\s*(?:<[^>]*>)?\([^;]*$")
    found: list[int] = []
    for matches in (keyword.search, bound.match, method.match):
        found = found or [at for at, line in enumerate(lines) if len(line) <= _LONGEST_LINE and matches(line)]
    return found


def _block(lines: list[str], start: int) -> list[str]:
    """The lines of a definition: its attributes above, all that is indented below it, and what closes it."""
    depth, end = _indent(lines[start]), start + 1
    while end < len(lines):
        line = lines[end].strip()
        if line and _indent(lines[end]) <= depth:
            if _indent(lines[end]) < depth or not _CLOSER.match(line):
                break
            if not line.endswith(_OPENERS):
                end += 1
                break
        end += 1
    while start and lines[start - 1].strip().startswith(_ATTRIBUTES) and _indent(lines[start - 1]) == depth:
        start -= 1
    while not lines[end - 1].strip():
        end -= 1
    return lines[start:end]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())

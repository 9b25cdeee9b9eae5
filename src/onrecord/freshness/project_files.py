"""Reads a project's files, up to a size limit and never outside the project, and identifies their content.

A record may refer to a part of a file: the definition of a symbol, or a range of lines. Such a code block is
identified by its text alone, not by its position. Hooks import this module, so it imports next to nothing at the top.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files, paths
from onrecord.errors import UnsafePath
from onrecord.git import work_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from onrecord.freshness.check import IndexedAnchor

MAX_FILE_BYTES = 2_000_000
"""Largest file that is anchored; an anchored file that grows beyond it counts as changed."""

MAX_RANGE_LINES = 500
"""Lines in a range such as `L10-L20`."""

MAX_MENTIONS = 2_000
"""A name that occurs in more lines than this is not looked up."""

MAX_BLOCK_LINES = 5_000
"""Lines of all definitions of a name together; above that, the whole file is anchored."""

_MAX_SYMBOL_NAMES = 8
"""Names in a dotted symbol."""

_MAX_LINE_CHARACTERS = 400
"""Longest line that is searched for a definition; longer lines are usually generated code."""

_MAX_COMPARED_CHARACTERS = 10_000_000
"""Characters compared to find lines that have moved."""

_KEYWORDS = (
    "def class func fn fun function sub proc macro type typedef interface struct enum union trait impl protocol"
    " extension module namespace package object record const let var val static define defn defmodule CREATE TABLE"
).split()
_OPENERS = ("{", ":", "(", "[", "=>", "=")
_ATTRIBUTES = ("@", "#[")


def is_lexically_inside(path: str) -> bool:
    """True if `path` is relative and has no `..`: only a link can lead it out of the project."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    if not path or "\0" in path or os.path.isabs(path) or os.path.splitdrive(path)[0]:
        return False
    return ".." not in path.replace(os.sep, "/").split("/")


def read(root: str, path: str) -> bytes | None:
    """Return the content of a project's file; None if there is no such file. Raises UnsafePath.

    At most `MAX_FILE_BYTES` + 1 bytes are read, so a longer result means that the file is too large.
    """
    full = os.path.join(root, path)
    if not is_lexically_inside(path) or not paths.is_within(root, full):
        raise UnsafePath(f"{path!r} leads out of the project", fix="name a file of the project, relative to it")
    try:
        return files.read(full, MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnsafePath(f"{path!r} cannot be read: {reason}", fix="name a readable file of the project") from error


def is_same(data: bytes, anchor: IndexedAnchor) -> bool:
    """True if `data` is the anchored version of the file, or contains the anchored block unchanged."""
    if len(data) > MAX_FILE_BYTES:
        return False
    return work_tree.has_id(data, anchor.id) or bool(anchor.block and has_block(data, anchor.symbol, anchor.block))


def line_range(symbol: str) -> tuple[int, int] | None:
    """Return the first and last line number of a symbol such as `L10-L20`; None if it is a name."""
    import re

    match = re.fullmatch(r"[Ll]?(\d{1,6})(?:\s*[-–:]\s*[Ll]?(\d{1,6}))?", symbol.strip())
    if not match:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    return (first, last) if 1 <= first <= last < first + MAX_RANGE_LINES else None


def block_id(data: bytes, symbol: str) -> str:
    """Return a hash of the part of a file that `symbol` refers to; empty if there is no such part."""
    lines, span = _lines(data), line_range(symbol)
    part = lines[span[0] - 1 : span[1]] if span else _definitions(lines, symbol)
    return _block_hash(part) if any(part) else ""


def has_block(data: bytes, symbol: str, block: str) -> bool:
    """True if the part whose hash is `block` is still in `data`; a range of lines may have moved up or down."""
    span = line_range(symbol)
    if not span:
        return block_id(data, symbol) == block
    lines, length, remaining = _lines(data), span[1] - span[0] + 1, _MAX_COMPARED_CHARACTERS
    last = len(lines) - length
    nearest = min(span[0] - 1, last)
    # From the original position, or the last one if the file is shorter now, outwards in both directions.
    for start in (start for distance in range(len(lines)) for start in {nearest - distance, nearest + distance}):
        if not 0 <= start <= last:
            continue
        part = lines[start : start + length]
        remaining -= length + sum(map(len, part))
        if remaining < 0:
            break
        if _block_hash(part) == block:
            return True
    return False


def _lines(data: bytes) -> list[str]:
    return [line.rstrip() for line in data.decode("utf-8", "replace").split("\n")]


def _block_hash(lines: list[str]) -> str:
    return coldstart.content_hash("\n".join(lines).encode("utf-8", "replace"))


def _definitions(lines: list[str], symbol: str) -> list[str]:
    """Return the lines of all definitions of a symbol, such as overloads, or a property's getter and setter.

    A dotted name such as `Session.renew` is looked up inside the block of its first part.
    """
    names = symbol.strip().removesuffix("()").replace("::", ".").split(".")
    if len(names) > _MAX_SYMBOL_NAMES or not all(names):
        return []
    for name in names:
        blocks: list[str] = []
        for start in _starts(lines, name):
            blocks += _block(lines, start)
            # Blocks of the same name can be nested, so the sum can grow with the square of the file's length.
            if len(blocks) > MAX_BLOCK_LINES:
                return []
        lines = blocks
    return lines


def _starts(lines: list[str], name: str) -> list[int]:
    """Return the indexes of the lines that define `name`: after a keyword, else in an assignment, else as a method."""
    folded = name.lower()
    mentions = [
        number for number, line in enumerate(lines) if folded in line.lower() and len(line) <= _MAX_LINE_CHARACTERS
    ]
    if len(mentions) > MAX_MENTIONS:
        return []
    starts: list[int] = []
    for matches in _definition_forms(name):
        starts = starts or [number for number in mentions if matches(lines[number])]
    return starts


def _definition_forms(name: str) -> tuple[Callable[[str], object], ...]:
    """Return predicates for a line that defines `name`, most reliable first; each takes linear time."""
    import re

    escaped = re.escape(name)
    keyword = re.compile(rf"(?:^|[\s(])(?:{'|'.join(_KEYWORDS)})\b", re.IGNORECASE)
    word = re.compile(rf"(?<![\w$]){escaped}(?![\w$])", re.IGNORECASE)
    segment = re.compile(r"[^=;{]+")

    def follows_keyword(line: str) -> bool:
        for part in segment.finditer(line):
            start = keyword.search(line, part.start(), part.end())
            if start and word.search(line, start.end(), part.end()):
                return True
        return False

    assignment = re.compile(rf"\s*(?:export\s+|pub\s+|[\w$.]+\.)?['\"]?{escaped}['\"]?\s*(?::=|=(?!=)|:(?!:))")
    method = re.compile(rf"\s*(?:[\w<>\[\],*&?~]+\s+)*{escaped}\s*(?:<[^>]*>)?\([^;]*$")
    return follows_keyword, assignment.match, method.match


def _block(lines: list[str], start: int) -> list[str]:
    """Return the lines of a definition: attributes above it, the indented lines below it, and the closing line.

    More than `MAX_BLOCK_LINES` lines in the result mean that the definition is too long.
    """
    depth, end = _indent(lines[start]), start + 1
    while end < min(len(lines), start + MAX_BLOCK_LINES + 1):
        line = lines[end].strip()
        if line and _indent(lines[end]) <= depth:
            if _indent(lines[end]) < depth or not _is_closer(line):
                break
            if not line.endswith(_OPENERS):
                end += 1
                break
        end += 1
    while start and lines[start - 1].strip().startswith(_ATTRIBUTES) and _indent(lines[start - 1]) == depth:
        start -= 1
    while end - start <= MAX_BLOCK_LINES and not lines[end - 1].strip():
        end -= 1
    return lines[start:end]


def _is_closer(line: str) -> bool:
    return line[0] in ")]}{" or (line.startswith("end") and not (line[3:4].isalnum() or line[3:4] == "_"))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())

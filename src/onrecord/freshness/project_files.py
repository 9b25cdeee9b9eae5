"""Content of a project's files: read within bounds and never outside the project, identified as git does.

Of a file a record may mean one part only: the definition of a name, or some lines. Such a code block is recognised by
its text alone. A hook reads this for records about to be shown, so it imports next to nothing at the top.
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
"""Bytes of the largest file that is anchored; one that has grown beyond it has changed."""

MAX_RANGE_LINES = 500
"""Lines that a range may name."""

MAX_MENTIONS = 2_000
"""Lines with a name that are examined. One that is on more is no use to find a definition by."""

MAX_BLOCK_LINES = 5_000
"""Lines of all definitions of a name. A larger part is about as good as the whole file."""

_MOST_NAMES = 8
"""Names in a dotted symbol."""

_LONGEST_LINE = 400
"""Characters of a line with a definition; longer ones are generated."""

_MOST_COMPARED = 10_000_000
"""Characters compared while looking for lines that have moved."""

_KEYWORDS = (
    "def class func fn fun function sub proc macro type typedef interface struct enum union trait impl protocol"
    " extension module namespace package object record const let var val static define defn defmodule CREATE TABLE"
).split()
_OPENERS = ("{", ":", "(", "[", "=>", "=")
_ATTRIBUTES = ("@", "#[")


def is_lexically_inside(path: str) -> bool:
    """Whether a relative path stays below where it starts, as far as its text shows."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    if not path or "\0" in path or os.path.isabs(path) or os.path.splitdrive(path)[0]:
        return False
    return ".." not in path.replace(os.sep, "/").split("/")


def read(root: str, path: str) -> bytes | None:
    """What a project's file holds, None if it is not there; UnsafePath if it is not a file of the project.

    One byte more than `LARGEST` means that the file is larger.
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
    """Whether content is what was anchored: all of it, or the block that was meant."""
    if len(data) > MAX_FILE_BYTES:
        return False
    return work_tree.has_id(data, anchor.id) or bool(anchor.block and has_block(data, anchor.symbol, anchor.block))


def line_range(symbol: str) -> tuple[int, int] | None:
    """The first and last line that a symbol such as `L10-L20` names, or None if it is a name."""
    import re

    match = re.fullmatch(r"[Ll]?(\d{1,6})(?:\s*[-–:]\s*[Ll]?(\d{1,6}))?", symbol.strip())
    if not match:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    return (first, last) if 1 <= first <= last < first + MAX_RANGE_LINES else None


def block_id(data: bytes, symbol: str) -> str:
    """Return the hash of the part of a file that a symbol names; empty if there is no such part."""
    lines, span = _lines(data), line_range(symbol)
    part = lines[span[0] - 1 : span[1]] if span else _definitions(lines, symbol)
    return _block_hash(part) if any(part) else ""


def has_block(data: bytes, symbol: str, block: str) -> bool:
    """Whether the part that had a hash is still there; lines may have moved up or down."""
    span = line_range(symbol)
    if not span:
        return block_id(data, symbol) == block
    lines, length, left = _lines(data), span[1] - span[0] + 1, _MOST_COMPARED
    last = len(lines) - length
    # From where the lines were outwards, upwards first.
    for at in (place for step in range(len(lines)) for place in {span[0] - 1 - step, span[0] - 1 + step}):
        if not 0 <= at <= last:
            continue
        part = lines[at : at + length]
        left -= length + sum(map(len, part))
        if left < 0:
            break
        if _block_hash(part) == block:
            return True
    return False


def _lines(data: bytes) -> list[str]:
    return [line.rstrip() for line in data.decode("utf-8", "replace").split("\n")]


def _block_hash(lines: list[str]) -> str:
    return coldstart.content_hash("\n".join(lines).encode("utf-8", "replace"))


def _definitions(lines: list[str], symbol: str) -> list[str]:
    """Every block that defines a name: overloads, and a property's getter and setter, are one symbol.

    A dotted name such as `Session.renew` is looked for inside the block of its first part.
    """
    names = symbol.strip().removesuffix("()").replace("::", ".").split(".")
    if len(names) > _MOST_NAMES or not all(names):
        return []
    for name in names:
        blocks: list[str] = []
        for start in _starts(lines, name):
            blocks += _block(lines, start)
            # Blocks of the same name may lie inside each other, so that their sum grows with the square of the file.
            if len(blocks) > MAX_BLOCK_LINES:
                return []
        lines = blocks
    return lines


def _starts(lines: list[str], name: str) -> list[int]:
    """Where a name is defined: behind a keyword if it is anywhere, else where it is bound, else as a method."""
    folded = name.lower()
    mentions = [at for at, line in enumerate(lines) if folded in line.lower() and len(line) <= _LONGEST_LINE]
    if len(mentions) > MAX_MENTIONS:
        return []
    starts: list[int] = []
    for matches in _definition_forms(name):
        starts = starts or [at for at in mentions if matches(lines[at])]
    return starts


def _definition_forms(name: str) -> tuple[Callable[[str], object], ...]:
    """Tests of a line, each linear in its length."""
    import re

    escaped = re.escape(name)
    keyword = re.compile(rf"(?:^|[\s(])(?:{'|'.join(_KEYWORDS)})\b", re.IGNORECASE)
    word = re.compile(rf"(?<![\w$]){escaped}(?![\w$])", re.IGNORECASE)
    segment = re.compile(r"[^=;{]+")

    def behind_keyword(line: str) -> bool:
        for part in segment.finditer(line):
            start = keyword.search(line, part.start(), part.end())
            if start and word.search(line, start.end(), part.end()):
                return True
        return False

    bound = re.compile(rf"\s*(?:export\s+|pub\s+|[\w$.]+\.)?['\"]?{escaped}['\"]?\s*(?::=|=(?!=)|:(?!:))")
    method = re.compile(rf"\s*(?:[\w<>\[\],*&?~]+\s+)*{escaped}\s*(?:<[^>]*>)?\([^;]*$")
    return behind_keyword, bound.match, method.match


def _block(lines: list[str], start: int) -> list[str]:
    """The lines of a definition: its attributes above, all that is indented below it, and what closes it.

    One that is too long comes back with more than `MOST_BLOCK_LINES` lines.
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

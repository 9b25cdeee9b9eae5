"""The blocks of a page that can be quoted as they are: plain prose, whose lines and marks leave nothing to guess.

A block with marks other than emphasis, code and links, with parts of its own, or with lines that may be separate texts
is not quoted, and says why.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from onrecord import markdown
from onrecord.coldstart import NamedTuple
from onrecord.markdown import Block

_ITEM_MARK = re.compile(r"(\s*)(?:[-*+]|[(\[]?(\d{1,3})[.)\]])\s+")
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"(?<!!)\[[^\[\]\n]{0,300}\]\([^()\n]{0,500}\)")
_BOLD = re.compile(r"(\*\*|__)(?=\S)(.{1,300}?)\1(.*)", re.DOTALL)
_EMPHASIS = re.compile(r"(?<![\w`*])(?:_([^_`\n]{1,300})_|\*([^\s*`][^*`\n]{0,300})\*)(?![\w`*])")
_ALL_ITALIC = re.compile(r"_[^_]+_|\*[^*]+\*")
_ENDS_SENTENCE = re.compile(r"[.!?][\"'”’)]*$")
_GOES_ON = re.compile(
    r"\b(?:includes?|including|are|is|be|to|will|should|must|can|may|needs?|have|has|with|that|by|because|as|of|and|or|"
    r"for|from|the|an?|in|on|at|into|than|which|when|such|like|following)$",
    re.IGNORECASE,
)
"""Words after which a list or code continues the sentence."""

_MIN_WIDTH = 60
"""Characters that a page has in a line at least: a shorter one before a capital letter may be a text of its own."""

_MAX_BLOCKS = 100
"""Blocks of a section that are read; a draft has room for a few."""


class Quotable(NamedTuple):
    """A paragraph, an item of a list, or a figure: its text, and why it cannot be quoted (empty: it can)."""

    kind: str
    """`paragraph`, `item` or `figure`: a table, code or a picture."""

    text: str = ""
    flaw: str = ""
    label: str = ""
    """The bold words at its beginning, if more follows."""

    number: str = ""
    """The number of an item of a numbered list."""

    is_open: bool = False
    """True if it leads to the block that follows it: a list, a table or code."""


def read(blocks: Sequence[Block]) -> list[Quotable]:
    """Return what the blocks of a section have, in order, without quotations and notes in italics."""
    parts = list(itertools.islice((part for block in blocks for part in _parts(block)), _MAX_BLOCKS))
    following = [*parts[1:], Quotable("paragraph")]
    return [part._replace(is_open=_is_open(part, after)) for part, after in zip(parts, following)]


def _parts(block: Block) -> Iterator[Quotable]:
    source = block.source.strip("\n")
    if block.kind in ("code", "table"):
        yield Quotable("figure")
    elif block.kind == "paragraph":
        bare = source.strip()
        if bare.startswith(("![", ":::", "<")):
            yield Quotable("figure")
        elif not bare.startswith(">") and not _ALL_ITALIC.fullmatch(bare):
            yield _quotable("paragraph", bare.split("\n"))
    else:
        items = _items(source.split("\n"))
        yield from (_quotable("item", lines)._replace(number=number) for number, lines in items)


def _items(lines: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return number and lines of each item of a list, the first line without its mark."""
    items: list[tuple[str, list[str]]] = []
    for line in lines:
        mark = _ITEM_MARK.match(line)
        if mark and (not items or len(mark[1]) < 2):
            items.append((mark[2] or "", [line[mark.end() :]]))
        elif items:
            items[-1][1].append(line)
    return items


def _quotable(kind: str, lines: Sequence[str]) -> Quotable:
    source = "\n".join(lines).strip()
    text = plain(source)
    bold = _BOLD.match(source)
    label = plain(bold[2]) if bold and bold[3].strip(" .:") and not _is_sentence(plain(bold[2])) else ""
    return Quotable(kind, text, _flaw(source), label)


def _is_sentence(text: str) -> bool:
    return bool(_ENDS_SENTENCE.search(text)) and len(text.split()) > 4


def plain(source: str) -> str:
    """Return a text on one line, without emphasis and the targets of links to other sites."""
    parts = markdown.plain(source).split("`")
    parts = [part if number % 2 else _EMPHASIS.sub(_emphasised, part) for number, part in enumerate(parts)]
    return " ".join("`".join(parts).split())


def _emphasised(match: re.Match[str]) -> str:
    return match[1] or match[2]


def _flaw(source: str) -> str:
    prose = _LINK.sub("link", _CODE.sub("code", source))
    lines = source.split("\n")
    if "`" in prose or "![" in prose or "<br" in prose:
        return "it has more than plain text"
    if any(_ITEM_MARK.match(line) for line in lines[1:]):
        return "it has a list of its own"
    if not all(line.strip() for line in lines):
        return "it has several parts"
    return "its lines may be separate" if _has_separate_lines(lines) else ""


def _has_separate_lines(lines: Sequence[str]) -> bool:
    """True if a line ends where its author ended it, in the middle of what would be a sentence.

    A line that was wrapped has no room for the next word.
    """
    width = max(_MIN_WIDTH, *map(len, lines))
    for line, following in zip(lines, lines[1:]):
        word = following.split()[0]
        is_wrapped = len(line.rstrip()) + 1 + len(word) > width or word[0].islower()
        if not (is_wrapped or _ENDS_SENTENCE.search(line.rstrip())):
            return True
    return False


def _is_open(part: Quotable, following: Quotable) -> bool:
    if part.kind == "figure":
        return False
    text = part.text.rstrip()
    is_ended = bool(_ENDS_SENTENCE.search(text))
    return (
        text.endswith(":")
        or (not is_ended and (following.kind == "figure" or bool(_GOES_ON.search(text[-20:]))))
        or (part.kind == "paragraph" and following.kind == "item" and not is_ended)
    )

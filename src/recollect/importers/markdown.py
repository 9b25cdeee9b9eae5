"""Outline: a Markdown text as headings with what stands under each, every piece with the line it begins on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

LONGEST_TEXT = 1_000_000
MOST_LINES = 20_000
LONGEST_LINE = 10_000
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)$")
_BULLET = re.compile(r"( *)[-*+][ \t]+(?=\S)")
_NUMBER = re.compile(r"( *)\d{1,4}[.)][ \t]+(?=\S)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_TASK = re.compile(r"\[[ xX]\][ \t]+")
_AROUND_TITLES = " :.?0123456789"
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\(([^()\n]{0,500})\)")


class Block(NamedTuple):
    """A piece of text under a heading: a paragraph, a bullet, a whole numbered list, a table or code."""

    kind: str
    text: str
    line: int
    language: str = ""
    """Of code, as its fence names it."""


class Section(NamedTuple):
    """A heading, the headings above it, and the blocks that follow it directly."""

    title: str
    level: int
    line: int
    above: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()

    def texts(self, *kinds: str) -> list[str]:
        return [block.text for block in self.blocks if block.kind in kinds]

    @property
    def lines(self) -> list[str]:
        """Its text line by line, without code."""
        return [line for block in self.blocks if block.kind != "code" for line in block.text.split("\n")]

    @property
    def prose(self) -> str:
        """All that is said under it, without code and tables."""
        return "\n".join(self.texts("paragraph", "bullet", "numbered"))


class Page(NamedTuple):
    """A whole text: its front matter, then its sections; what stands before any heading is a section without title."""

    front: dict[str, list[str]]
    sections: tuple[Section, ...]

    def section(self, *names: str) -> Section | None:
        """The first section with one of these titles, the names tried in their order."""
        for name in names:
            for section in self.sections:
                if section.title.lower().strip(_AROUND_TITLES) == name.lower().strip(_AROUND_TITLES):
                    return section
        return None

    def inside(self, section: Section) -> list[Section]:
        """A section and those of a deeper level that follow it."""
        at = self.sections.index(section)
        found = [section]
        for other in self.sections[at + 1 :]:
            if other.level <= section.level:
                break
            found.append(other)
        return found

    def items(self, section: Section | None) -> list[str]:
        """What a section says, item by item, with the sections inside it."""
        inside = self.inside(section) if section else []
        return [flat(text) for each in inside for text in each.texts("paragraph", "bullet", "numbered")]

    def said(self, section: Section | None) -> str:
        """What a section says itself, or what the sections inside it say."""
        return flat(section.prose) or "; ".join(self.items(section)) if section else ""


def read(text: str) -> Page:
    """The outline of any text."""
    lines = _lines(text)
    front, start = _front_matter(lines)
    sections: list[Section] = []
    above: list[tuple[int, str]] = []
    title, level, line = "", 0, start + 1
    pending: list[tuple[int, str]] = []
    for number, content, depth in _classified(lines, start):
        if depth is None:
            pending.append((number, content))
            continue
        sections.append(Section(title, level, line, tuple(t for _, t in above), tuple(_blocks(pending))))
        above = [(deep, name) for deep, name in [*above, (level, title)] if name and deep < depth]
        title, level, line, pending = plain(content), depth, number, []
    sections.append(Section(title, level, line, tuple(t for _, t in above), tuple(_blocks(pending))))
    return Page(front, tuple(section for section in sections if section.title or section.blocks))


def plain(text: str) -> str:
    """Text on one line without Markdown's marks of emphasis and links; code keeps its backticks."""
    text = _LINK.sub(_link, text)
    text = text.replace("**", "").replace("__", "") if "`" not in text else _outside_code(text)
    return " ".join(text.split())


def flat(text: str) -> str:
    """A block on one line: items below an item, which a semicolon leads, become clauses of it."""
    return " ".join(text.split()).replace(" ; ", "; ").replace(":; ", ": ").replace(".; ", ". ")


def _link(match: re.Match[str]) -> str:
    """A link's words, and its target where that is a text of the same project."""
    is_near = ".md" in match[2] and "://" not in match[2] and match[2] not in match[1]
    return f"{match[1]} ({match[2]})" if is_near else match[1]


def _outside_code(text: str) -> str:
    parts = text.split("`")
    return "`".join(part if at % 2 else part.replace("**", "") for at, part in enumerate(parts))


def _lines(text: str) -> list[str]:
    text = text[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8").lstrip("\ufeff").replace("\0", " ")
    return [line[:LONGEST_LINE].expandtabs(4).rstrip() for line in _without_comments(text).splitlines()[:MOST_LINES]]


def _without_comments(text: str) -> str:
    """Comments blanked out, line breaks kept, so that lines keep their numbers."""
    kept: list[str] = []
    end = 0
    while (start := text.find("<!--", end)) >= 0:
        closing = text.find("-->", start + 4)
        if closing < 0:
            break
        kept += [text[end:start], "\n" * len(text[start:closing].splitlines()[1:])]
        end = closing + 3
    return "".join((*kept, text[end:]))


def _front_matter(lines: list[str]) -> tuple[dict[str, list[str]], int]:
    """Keys with their values, each a list, and the number of the line after; nested keys are passed over."""
    closing = next((at for at, line in enumerate(lines[1:200], 1) if line.strip() == "---"), 0)
    if not lines or lines[0].strip() != "---" or not closing:
        return {}, 0
    found: dict[str, list[str]] = {}
    key = ""
    for line in lines[1:closing]:
        item = line.strip()
        if item.startswith("- ") and key:
            found[key].append(_unquoted(item[2:]))
        elif line[:1].isalpha() and ":" in line:
            key, _, value = line.partition(":")
            key = key.strip().lower()
            found[key] = [_unquoted(part) for part in _items(value)]
    return {key: [value for value in values if value] for key, values in found.items()}, closing + 1


def _items(value: str) -> list[str]:
    value = value.strip()
    return value[1:-1].split(",") if value.startswith("[") and value.endswith("]") else [value]


def _unquoted(value: str) -> str:
    return value.strip().strip("'\"").strip()


def _classified(lines: list[str], start: int) -> Iterator[tuple[int, str, int | None]]:
    """Each line with its number, and its depth if it is a heading; an underlined heading is one line."""
    fence = ""
    skip = False
    for at in range(start, len(lines)):
        line = lines[at]
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
            yield at + 1, line, None
            continue
        below = lines[at + 1] if at + 1 < len(lines) else ""
        heading = None if fence else _HEADING.match(line)
        if skip:
            skip = False
        elif heading:
            yield at + 1, heading[2].rstrip("# "), len(heading[1])
        elif not fence and _is_underlined(line, below):
            skip = True
            yield at + 1, line, 1 if below.strip()[0] == "=" else 2
        else:
            yield at + 1, line, None


def _is_underlined(line: str, below: str) -> bool:
    is_text = bool(line.strip()) and not line.startswith("    ") and not _BULLET.match(line) and not _NUMBER.match(line)
    return is_text and "|" not in line and len(below.strip()) >= 3 and bool(_UNDERLINE.match(below))


def _blocks(lines: list[tuple[int, str]]) -> Iterator[Block]:
    kind, first, gathered = "", 0, list[str]()
    for number, line in lines:
        begins = _beginning(kind, line, bool(gathered) and not gathered[-1].strip())
        if begins:
            yield from _block(kind, gathered, first)
            kind, first, gathered = begins, number, []
        gathered.append(line)
        if kind == "code" and len(gathered) > 1 and line.strip()[:3] == gathered[0].strip()[:3]:
            yield from _block(kind, gathered, first)
            kind, gathered = "", []
    yield from _block(kind, gathered, first)


def _beginning(kind: str, line: str, after_gap: bool) -> str:
    """The kind of block that a line begins; empty if it goes on with the one before."""
    if kind == "code":
        return ""
    stripped = line.strip()
    if stripped[:3] in ("```", "~~~"):
        return "code" if not (kind in ("bullet", "numbered") and line[:1] == " ") else ""
    if not stripped:
        return ""
    if stripped.startswith("|"):
        return "" if kind == "table" and not after_gap else "table"
    bullet, number = _BULLET.match(line), _NUMBER.match(line)
    if bullet and len(bullet[1]) < 2:
        return "bullet"
    if number and len(number[1]) < 2:
        return "" if kind == "numbered" else "numbered"
    if kind in ("bullet", "numbered") and (line[0] == " " or not after_gap):
        return ""
    return "" if kind == "paragraph" and not after_gap else "paragraph"


def _block(kind: str, lines: list[str], first: int) -> Iterator[Block]:
    language = lines[0].strip(" `~").lower() if kind == "code" else ""
    if kind == "code":
        text = "\n".join(line for line in lines[1:] if line.strip()[:3] not in ("```", "~~~"))
    elif kind == "table":
        text = "\n".join(line for line in lines if line.strip())
    else:
        text = "\n".join(plain(_unmarked(line)) for line in lines if line.strip()[:3] not in ("```", "~~~"))
    if kind and text.strip():
        yield Block(kind, text.strip("\n"), first, language)


def _unmarked(line: str) -> str:
    """A line without what makes it an item or a quotation; the number of a step stays."""
    bullet = _BULLET.match(line)
    below = "; " if bullet and len(bullet[1]) > 1 else ""
    line = line[bullet.end() :] if bullet else line.lstrip(" >")
    return below + (_TASK.sub("", line, count=1) if line.startswith("[") else line)

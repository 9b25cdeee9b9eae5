"""A parser for Markdown: front matter, headings, the blocks under each heading, and prose without code and comments.

The session start hook imports it, so `re` is loaded only where links are rewritten.
"""

from __future__ import annotations

from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

MAX_CHARACTERS = 1_000_000
MAX_LINES = 20_000
# A longer line is data, not prose; cutting it bounds the time for each line.
MAX_LINE_CHARACTERS = 10_000
# Front matter has a few keys; a page whose first `---` comes later than this has none.
_MAX_FRONT_LINES = 200
_FENCES = ("```", "~~~")
_LINK = r"!?\[([^\[\]\n]{0,300})\]\(([^()\n]{0,500})\)"
PROSE = ("paragraph", "bullet", "numbered")


class Block(NamedTuple):
    """A paragraph, a bullet, a whole numbered list, a table or code under a heading."""

    kind: str
    text: str
    line: int
    language: str
    """The language of code, from its fence."""

    source: str = ""
    """The lines as they are on the page, with all marks."""


class Section(NamedTuple):
    """A heading, the headings above it, and the blocks that follow it directly."""

    title: str
    level: int
    line: int
    above: tuple[str, ...]
    source: str = ""
    """The original text below the heading, with comments."""

    blocks: tuple[Block, ...] = ()

    @property
    def lines(self) -> list[str]:
        """Its lines without code and emphasis."""
        return [line for block in self.blocks if block.kind != "code" for line in block.text.split("\n")]

    @property
    def prose(self) -> list[str]:
        """Its paragraphs, bullets and numbered lists."""
        return [block.text for block in self.blocks if block.kind in PROSE]


class MarkdownPage(NamedTuple):
    """A page: front matter and sections; the text before the first heading is a section with an empty title."""

    front: dict[str, list[str]]
    sections: tuple[Section, ...]

    def first(self, key: str) -> str:
        """Return the first value of `key` in the front matter, or nothing."""
        return (self.front.get(key) or [""])[0]


def parse(text: str) -> MarkdownPage:
    """Parse any text as Markdown."""
    text = text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8").lstrip("\ufeff").replace("\0", " ")
    source = text.splitlines()[:MAX_LINES]
    visible = _without_comments(text).splitlines()[:MAX_LINES]
    lines = [line[:MAX_LINE_CHARACTERS].expandtabs(4).rstrip() for line in visible]
    front, first = _front_matter(lines)
    headings = [("", 0, first, first), *_headings(lines, first)]
    sections: list[Section] = []
    above: list[tuple[int, str]] = []
    for (title, level, start, body), end in zip(headings, [*(row[2] for row in headings[1:]), len(source)]):
        above = [(depth, name) for depth, name in above if name and depth < level]
        blocks = tuple(_blocks(lines[body:end], body + 1))
        original = "\n".join(source[body:end])
        if title or original.strip():
            sections.append(Section(title, level, start + 1, tuple(name for _, name in above), original, blocks))
        above.append((level, title))
    return MarkdownPage(front, tuple(sections))


def prose_lines(text: str) -> list[str]:
    """Return the lines of `text` that are neither in a fenced block nor in a comment."""
    return [line for line, is_code in _with_fences(_without_comments(text).splitlines()) if not is_code]


_MAX_NAME_WORDS = 3


def first_paragraph(text: str) -> str:
    """Return the first paragraph on one line, without front matter, headings, comments, code, tables and rules.

    A block of `Key: value` lines, such as the author and the date, is passed over where prose follows.
    """
    lines = prose_lines(text)
    facts: list[str] = []
    paragraph: list[str] = []
    for line in [*lines[_front_matter(lines)[1] :], ""]:
        stripped = line.strip()
        if stripped and stripped[0] not in "#|" and stripped.strip("-=*_ "):
            paragraph.append(stripped)
        elif paragraph and all(map(_is_fact, paragraph)):
            facts = facts or paragraph
            paragraph = []
        elif paragraph:
            break
    return " ".join(" ".join(paragraph or facts).split())


def _is_fact(line: str) -> bool:
    """True for a line such as `- **Created:** 2026-05-10`: a short name, a colon and a value that is no sentence."""
    bare = line.lstrip("-> ")
    name, colon, value = bare.replace("*", "").partition(":")
    is_short = bool(colon and value.strip()) and len(name.split()) <= _MAX_NAME_WORDS
    return is_short and (bare.startswith("**") or not value.rstrip().endswith("."))


def plain(text: str) -> str:
    """Return `text` on one line without emphasis and links; code keeps its backticks."""
    if "](" in text:
        import re

        text = re.sub(_LINK, _link, text)
    # Two underscores stay: they are part of a name in Python more often than emphasis.
    parts = text.split("`")
    plain_parts = (part if number % 2 else part.replace("**", "") for number, part in enumerate(parts))
    return " ".join("`".join(plain_parts).split())


def flat(text: str) -> str:
    """Return a block on one line; nested items, which start with a semicolon, become clauses."""
    return " ".join(text.split()).replace(" ; ", "; ").replace(":; ", ": ").replace(".; ", ". ")


def _link(match: re.Match[str]) -> str:
    """Return the words of a link, and its target if that is a page of the same project; nothing for a picture."""
    if match[0][0] == "!":
        return ""
    is_near = ".md" in match[2] and "://" not in match[2] and match[2] not in match[1]
    return f"{match[1]} ({match[2]})" if is_near else match[1]


def _without_comments(text: str) -> str:
    """Return `text` without comments but with their line breaks, so that line numbers stay the same."""
    parts: list[str] = []
    end = 0
    while (start := text.find("<!--", end)) >= 0:
        closing = text.find("-->", start + 4)
        if closing < 0:
            return "".join((*parts, text[end:start]))
        parts += [text[end:start], "\n" * len(text[start : closing + 3].splitlines()[1:])]
        end = closing + 3
    return "".join((*parts, text[end:]))


def _with_fences(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Yield each line, and True if it is part of a fenced block, which includes its fences."""
    fence = ""
    for line in lines:
        mark = line.strip()[:3]
        if mark in _FENCES and fence in ("", mark):
            fence = "" if fence else mark
            yield line, True
        else:
            yield line, bool(fence)


def _front_matter(lines: list[str]) -> tuple[dict[str, list[str]], int]:
    """Return the front matter's keys and values, and the index of the line after it; nested keys are skipped."""
    rules = (number for number, line in enumerate(lines[1:_MAX_FRONT_LINES], 1) if line.strip() == "---")
    closing = next(rules, 0)
    if not closing or lines[0].strip() != "---":
        return {}, 0
    front: dict[str, list[str]] = {}
    key, is_block = "", False
    for line in lines[1:closing]:
        item = line.strip()
        if item.startswith("- ") and key:
            front[key] += _values(item[2:])
        elif is_block and line[:1] == " " and item:
            front[key] = _values(" ".join((*front[key], item)))
        elif line[:1].isalpha() and ":" in line:
            key, _, value = line.partition(":")
            key = key.strip().lower()
            is_list = value.strip()[:1] == "[" and value.strip()[-1:] == "]"
            # In YAML, these announce a text on the following lines.
            is_block = value.strip() in ("|", "|-", ">", ">-")
            value = "" if is_block else value
            front[key] = _values(*(value.strip()[1:-1].split(",") if is_list else [value]))
    return front, closing + 1


def _values(*parts: str) -> list[str]:
    return [value for part in parts if (value := part.strip().strip("'\"").strip())]


def _headings(lines: list[str], start: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield each heading with its level, the index of its line, and that of the line after it."""
    body = start
    for index, (line, is_code) in enumerate(_with_fences(lines[start:]), start):
        if is_code or index < body:
            continue
        below = lines[index + 1].strip() if index + 1 < len(lines) else ""
        text = line.lstrip(" ")
        title = text.lstrip("#")
        level = len(text) - len(title)
        body = index + 1
        if 1 <= level <= 6 and len(line) - len(text) <= 3 and title[:1] == " ":
            yield plain(title.rstrip("# ")), level, index, body
        elif _is_underlined(line, below):
            body = index + 2
            yield plain(line), 1 if below[0] == "=" else 2, index, body


def _is_underlined(line: str, below: str) -> bool:
    is_rule = len(below) >= 3 and below[0] in "=-" and not below.strip(below[0])
    return is_rule and bool(line) and "|" not in line and not line.startswith("    ") and not _item(line)[0]


def _item(line: str) -> tuple[str, int, str]:
    """Return the kind of list item that `line` starts, or nothing, its indentation, and its text without a bullet."""
    body = line.lstrip(" ")
    mark, _, rest = body.partition(" ")
    indent = len(line) - len(body)
    if rest and mark in ("-", "*", "+"):
        return "bullet", indent, rest.lstrip()
    is_numbered = rest and mark[-1:] in (".", ")") and mark[:-1].isdigit() and len(mark) <= 5
    return "numbered" if is_numbered else "", indent, body


def _blocks(lines: list[str], start: int) -> Iterator[Block]:
    kind, first, block = "", 0, list[str]()
    for number, line in enumerate(lines, start):
        new_kind = _new_kind(kind, line, bool(block) and not block[-1])
        if new_kind:
            yield from _block(kind, block, first)
            kind, first, block = new_kind, number, []
        block.append(line)
        if kind == "code" and len(block) > 1 and line.strip()[:3] == block[0].strip()[:3]:
            yield from _block(kind, block, first)
            kind, block = "", []
    yield from _block(kind, block, first)


def _new_kind(kind: str, line: str, after_gap: bool) -> str:
    """Return the kind of block that `line` starts; empty if it continues the current block, of `kind`."""
    stripped = line.strip()
    is_in_list = kind in ("bullet", "numbered")
    if kind == "code" or not stripped:
        return ""
    if stripped[:3] in _FENCES:
        return "" if is_in_list and line[0] == " " else "code"
    if stripped[0] == "|":
        return "" if kind == "table" and not after_gap else "table"
    item, indent, _ = _item(line)
    if item and indent < 2:
        return "" if item == kind == "numbered" else item
    goes_on = (is_in_list and (line[0] == " " or not after_gap)) or (kind == "paragraph" and not after_gap)
    return "" if goes_on else "paragraph"


def _block(kind: str, lines: list[str], first: int) -> Iterator[Block]:
    language = lines[0].strip(" `~").lower() if kind == "code" else ""
    inside = [line for line in lines if line.strip()[:3] not in _FENCES]
    if kind == "table":
        text = "\n".join(line for line in inside if line)
    else:
        text = "\n".join(inside if kind == "code" else (plain(_unmarked(line)) for line in inside))
    if kind and text.strip():
        yield Block(kind, text.strip("\n"), first, language, "\n".join(lines).strip("\n"))


def _unmarked(line: str) -> str:
    """Return `line` without the marks of an item or a quotation; the number of a step stays."""
    kind, indent, text = _item(line)
    text = text if kind else text.lstrip(" >")
    is_task = text[:1] == "[" and text[1:2] in " xX" and text[2:4] == "] "
    return ("; " if kind == "bullet" and indent > 1 else "") + (text[4:].lstrip() if is_task else text)

"""Markdown as front matter, headings and the blocks under each, or as lines of prose without code and comments.

Session starts import it: regular expressions are loaded only where links are rewritten.
"""

from __future__ import annotations

from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

MAX_CHARACTERS = 1_000_000
MAX_LINES = 20_000
# A longer line is data, not prose; cutting it bounds everything that looks at lines.
MAX_LINE_CHARACTERS = 10_000
# Front matter is a few keys; a page whose first rule is far below has none.
_LONGEST_FRONT = 200
_AROUND_TITLES = " :.?0123456789"
_FENCES = ("```", "~~~")
_LINK = r"!?\[([^\[\]\n]{0,300})\]\(([^()\n]{0,500})\)"
_PROSE = ("paragraph", "bullet", "numbered")


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
    source: str = ""
    """What is below the heading as it was written, comments too."""

    blocks: tuple[Block, ...] = ()

    @property
    def lines(self) -> list[str]:
        """Its text line by line, without code and marks of emphasis."""
        return [line for block in self.blocks if block.kind != "code" for line in block.text.split("\n")]

    @property
    def prose(self) -> list[str]:
        """Its paragraphs, bullets and numbered lists."""
        return [block.text for block in self.blocks if block.kind in _PROSE]


class MarkdownPage(NamedTuple):
    """A whole text: its front matter, then its sections; what comes before any heading is a section without title."""

    front: dict[str, list[str]]
    sections: tuple[Section, ...]

    def first(self, key: str) -> str:
        """The first value of a key in the front matter; empty if there is none."""
        return (self.front.get(key) or [""])[0]

    def section(self, *names: str) -> Section | None:
        """The first section with one of these titles, the names tried in their order."""
        for name in names:
            for section in self.sections:
                if section.title.lower().strip(_AROUND_TITLES) == name.lower().strip(_AROUND_TITLES):
                    return section
        return None

    def items(self, section: Section | None) -> list[str]:
        """The paragraphs and list items of a section and of the deeper sections that follow it."""
        if section is None:
            return []
        items = [flat(text) for text in section.prose]
        for other in self.sections[self.sections.index(section) + 1 :]:
            if other.level <= section.level:
                break
            items += [flat(text) for text in other.prose]
        return items

    def text_of(self, section: Section | None) -> str:
        """The text of a section on one line; if it has none itself, that of the sections inside it."""
        return flat("\n".join(section.prose)) or "; ".join(self.items(section)) if section else ""


def parse(text: str) -> MarkdownPage:
    """The front matter and the sections of any text."""
    text = text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8").lstrip("\ufeff").replace("\0", " ")
    source = text.splitlines()[:MAX_LINES]
    visible = _without_comments(text).splitlines()[:MAX_LINES]
    lines = [line[:MAX_LINE_CHARACTERS].expandtabs(4).rstrip() for line in visible]
    front, start = _front_matter(lines)
    headings = [("", 0, start, start), *_headings(lines, start)]
    sections: list[Section] = []
    above: list[tuple[int, str]] = []
    for (title, level, at, body), end in zip(headings, [*(at for _, _, at, _ in headings[1:]), len(source)]):
        above = [(depth, name) for depth, name in above if name and depth < level]
        blocks = tuple(_blocks(lines[body:end], body + 1))
        written = "\n".join(source[body:end])
        if title or written.strip():
            sections.append(Section(title, level, at + 1, tuple(name for _, name in above), written, blocks))
        above.append((level, title))
    return MarkdownPage(front, tuple(sections))


def prose_lines(text: str) -> list[str]:
    """The lines of a text that are neither in a fenced block nor in a comment."""
    return [line for line, is_code in _with_fences(_without_comments(text).splitlines()) if not is_code]


def first_paragraph(text: str) -> str:
    """The first prose on one line: no front matter, headings, comments, code, tables or rules."""
    lines = prose_lines(text)
    paragraph: list[str] = []
    for line in lines[_front_matter(lines)[1] :]:
        stripped = line.strip()
        if stripped and stripped[0] not in "#|" and stripped.strip("-=*_ "):
            paragraph.append(stripped)
        elif paragraph:
            break
    return " ".join(" ".join(paragraph).split())


def plain(text: str) -> str:
    """Text on one line without Markdown's marks of emphasis and links; code keeps its backticks."""
    if "](" in text:
        import re

        text = re.sub(_LINK, _link, text)
    # Two underscores stay: they are part of a name in Python more often than emphasis.
    parts = text.split("`")
    return " ".join("`".join(part if at % 2 else part.replace("**", "") for at, part in enumerate(parts)).split())


def flat(text: str) -> str:
    """A block on one line: items below an item, which a semicolon leads, become clauses of it."""
    return " ".join(text.split()).replace(" ; ", "; ").replace(":; ", ": ").replace(".; ", ". ")


def _link(match: re.Match[str]) -> str:
    """A link's words, and its target where that is a text of the same project."""
    is_near = ".md" in match[2] and "://" not in match[2] and match[2] not in match[1]
    return f"{match[1]} ({match[2]})" if is_near else match[1]


def _without_comments(text: str) -> str:
    """Comments blanked out, their line breaks left, so that lines keep their numbers; an open one runs to the end."""
    parts: list[str] = []
    end = 0
    while (start := text.find("<!--", end)) >= 0:
        closing = text.find("-->", start + 4)
        if closing < 0:
            return "".join((*parts, text[end:start]))
        parts += [text[end:start], "\n" * len(text[start:closing].splitlines()[1:])]
        end = closing + 3
    return "".join((*parts, text[end:]))


def _with_fences(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is in a fenced block; the fences belong to it."""
    fence = ""
    for line in lines:
        mark = line.strip()[:3]
        if mark in _FENCES and fence in ("", mark):
            fence = "" if fence else mark
            yield line, True
        else:
            yield line, bool(fence)


def _front_matter(lines: list[str]) -> tuple[dict[str, list[str]], int]:
    """Keys with their values, each a list, and the number of the line after; nested keys are passed over."""
    closing = next((at for at, line in enumerate(lines[1:_LONGEST_FRONT], 1) if line.strip() == "---"), 0)
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
            # A text on the lines below, as YAML writes long ones.
            is_block = value.strip() in ("|", "|-", ">", ">-")
            value = "" if is_block else value
            front[key] = _values(*(value.strip()[1:-1].split(",") if is_list else [value]))
    return front, closing + 1


def _values(*parts: str) -> list[str]:
    return [value for part in parts if (value := part.strip().strip("'\"").strip())]


def _headings(lines: list[str], start: int) -> Iterator[tuple[str, int, int, int]]:
    """Each heading with its level, the index of its line, and that of the line after it."""
    body = start
    for at, (line, is_code) in enumerate(_with_fences(lines[start:]), start):
        if is_code or at < body:
            continue
        below = lines[at + 1].strip() if at + 1 < len(lines) else ""
        text = line.lstrip(" ")
        title = text.lstrip("#")
        level = len(text) - len(title)
        body = at + 1
        if 1 <= level <= 6 and len(line) - len(text) <= 3 and title[:1] == " ":
            yield plain(title.rstrip("# ")), level, at, body
        elif _is_underlined(line, below):
            body = at + 2
            yield plain(line), 1 if below[0] == "=" else 2, at, body


def _is_underlined(line: str, below: str) -> bool:
    is_rule = len(below) >= 3 and below[0] in "=-" and not below.strip(below[0])
    return is_rule and bool(line) and "|" not in line and not line.startswith("    ") and not _item(line)[0]


def _item(line: str) -> tuple[str, int, str]:
    """What sort of list item a line begins, if any, how far it is indented, and its text without a bullet."""
    body = line.lstrip(" ")
    mark, _, rest = body.partition(" ")
    indent = len(line) - len(body)
    if rest and mark in ("-", "*", "+"):
        return "bullet", indent, rest.lstrip()
    is_numbered = rest and mark[-1:] in (".", ")") and mark[:-1].isdigit() and len(mark) <= 5
    return "numbered" if is_numbered else "", indent, body


def _blocks(lines: list[str], number: int) -> Iterator[Block]:
    kind, first, gathered = "", 0, list[str]()
    for at, line in enumerate(lines, number):
        begins = _beginning(kind, line, bool(gathered) and not gathered[-1])
        if begins:
            yield from _block(kind, gathered, first)
            kind, first, gathered = begins, at, []
        gathered.append(line)
        if kind == "code" and len(gathered) > 1 and line.strip()[:3] == gathered[0].strip()[:3]:
            yield from _block(kind, gathered, first)
            kind, gathered = "", []
    yield from _block(kind, gathered, first)


def _beginning(kind: str, line: str, after_gap: bool) -> str:
    """The kind of block that a line begins; empty if it goes on with the one before."""
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
        yield Block(kind, text.strip("\n"), first, language)


def _unmarked(line: str) -> str:
    """A line without what makes it an item or a quotation; the number of a step stays."""
    kind, indent, text = _item(line)
    text = text if kind else text.lstrip(" >")
    is_task = text[:1] == "[" and text[1:2] in " xX" and text[2:4] == "] "
    return ("; " if kind == "bullet" and indent > 1 else "") + (text[4:].lstrip() if is_task else text)

"""`onrecord docs`: print a page of the documentation, or the passages that have some words.

The pages come with the package. They are found by name, by heading, or by words.
"""

from __future__ import annotations

import argparse
import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from onrecord import files, markdown
from onrecord.cli.output import CommandResult, Screen, clean, table, width_of, wrap
from onrecord.coldstart import NamedTuple
from onrecord.errors import NotFound
from onrecord.markdown import Block

INDEX = "README"
_SETTINGS = "reference/config"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_FOLDERS = (os.path.join(_PACKAGE, "docs"), os.path.join(os.path.dirname(os.path.dirname(_PACKAGE)), "docs"))
"""In a wheel the pages are in the package, in a clone beside `src`."""

_MAX_LISTED = 10
_IN_HEADING, _IN_TITLE, _MOST_IN_TEXT = 6, 3, 3
"""Weights of a word: in the heading of a passage, in the title of its page, and at most in its text."""

_LINK = re.compile(r"([\w.-]+)? \(([\w./-]+)\.md(?:#[\w-]*)?\)")
_BROKEN_LINK = re.compile(r"\[([^\[\]\n]*)\n *([^\[\]\n]*)\]\(")
_INDENT = "    "
_MIN_COLUMN = 12
_GAP = "  "


class ManualPassage(NamedTuple):
    """A section of a page with what is below it, or a whole page."""

    page: str
    """The name of the page: its path without the ending."""
    title: str
    """The title of the page."""
    heading: str
    """The heading of the section; empty for the whole page."""
    source: str
    """The text in Markdown."""

    @property
    def name(self) -> str:
        """The name that prints this passage again."""
        return f"{self.page}#{anchor(self.heading)}" if self.heading else self.page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        metavar="WORD",
        nargs="*",
        help="a page, a heading, a command, a setting, an error's code, or words to look for; without one, all pages",
    )


def run(args: argparse.Namespace) -> CommandResult:
    passages = find(args.words or [INDEX])
    if len(passages) == 1:
        return CommandResult(_data(passages[0]), lambda screen: rendered(passages[0], screen))
    matches = [{"name": passage.name, "title": passage.title, "heading": passage.heading} for passage in passages]
    note = "print one: onrecord docs NAME"
    return CommandResult({"matches": matches}, lambda screen: _list(screen, passages), note=note)


def _data(passage: ManualPassage) -> dict[str, Any]:
    return {
        "name": passage.name,
        "title": passage.title,
        "heading": passage.heading,
        "text": passage.source.strip(),
    }


def _list(screen: Screen, passages: Sequence[ManualPassage]) -> str:
    rows = [(passage.name, passage.heading or passage.title) for passage in passages]
    return table(screen, ("name", "heading"), rows, gives_way=1)


def anchor(heading: str) -> str:
    """Return the name of a heading in links, as forges and the site have it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def pages() -> list[ManualPassage]:
    """Return all pages, by name. Raises NotFound if this installation has none."""
    folder = next((folder for folder in _FOLDERS if files.is_regular(os.path.join(folder, f"{INDEX}.md"))), "")
    if not folder:
        raise NotFound(
            "this installation has no pages",
            fix="install Onrecord again, or read the pages in the docs folder of its repository",
        )
    found_pages = []
    for root, _, names in files.walk(folder):
        for name in names:
            if name.endswith(".md"):
                path = os.path.join(root, name)
                with open(path, encoding="utf-8") as file:
                    source = file.read()
                page = os.path.relpath(path, folder)[: -len(".md")].replace(os.sep, "/")
                title = next((line[2:] for line in source.split("\n") if line.startswith("# ")), page)
                found_pages.append(ManualPassage(page, title, "", source))
    return sorted(found_pages)


def find(words: Sequence[str]) -> list[ManualPassage]:
    """Return the passage that the words name, or those that have all of the words, best first. Raises NotFound."""
    manual_pages = pages()
    text = " ".join(words)
    name, _, section = text.lower().removesuffix(".md").partition("#")
    pages_by_name = [page for page in manual_pages if page.page.lower() == name]
    pages_by_name = pages_by_name or [page for page in manual_pages if posixpath.basename(page.page).lower() == name]
    if pages_by_name and not section:
        return pages_by_name
    setting = _setting(manual_pages, text)
    if setting:
        return [setting]
    passages = [passage for page in pages_by_name or manual_pages for passage in _sections(page)]
    wanted = anchor(section or text)
    exact = [passage for passage in passages if anchor(passage.heading) == wanted]
    if exact:
        return exact
    scores = [(_score(passage, text.lower().split()), passage) for passage in passages]
    matches = [passage for score, passage in sorted(scores, key=lambda pair: (-pair[0], pair[1])) if score]
    if not matches:
        raise NotFound(f"no page has all of these words: {clean(text)}", fix="use fewer words; onrecord docs")
    return matches[:_MAX_LISTED]


def _sections(passage: ManualPassage) -> list[ManualPassage]:
    """Return the sections of a page, each with the text of the smaller ones in it."""
    sections = markdown.parse(passage.source).sections
    lines = passage.source.split("\n")
    passages = []
    for position, section in enumerate(sections):
        if section.level < 2:
            continue
        after = (other.line - 1 for other in sections[position + 1 :] if other.level <= section.level)
        source = "\n".join(lines[section.line - 1 : next(after, len(lines))])
        passages.append(passage._replace(heading=section.title, source=source))
    return passages


def _setting(manual_pages: Sequence[ManualPassage], key: str) -> ManualPassage | None:
    """Return the row of a setting in the table of all settings, as a table of its own."""
    page = next(page for page in manual_pages if page.page == _SETTINGS)
    lines = page.source.split("\n")
    row = next((line for line in lines if line.startswith(f"| `{key}` |")), "")
    head = next(number for number, line in enumerate(lines) if line.startswith("| key |"))
    return page._replace(heading=key, source="\n".join((*lines[head : head + 2], row))) if row else None


def _score(passage: ManualPassage, words: Sequence[str]) -> int:
    """Return how well a section fits the words; 0 unless it or its page's title has each of them."""
    heading, title, text = passage.heading.lower(), passage.title.lower(), passage.source.lower()
    total = 0
    for word in words:
        score = _IN_HEADING * (word in heading) + _IN_TITLE * (word in title)
        score += min(text.count(word), _MOST_IN_TEXT)
        if not score:
            return 0
        total += score
    return total


def rendered(passage: ManualPassage, screen: Screen) -> str:
    """Return a passage for a terminal: wrapped, with links as names of pages; in a pipe, its Markdown."""
    if not screen.is_terminal:
        return passage.source.strip()
    folder = posixpath.dirname(passage.page)
    parts = []
    # A link whose words go over two lines is read as one.
    source = _BROKEN_LINK.sub(r"[\1 \2](", passage.source)
    for section in markdown.parse(source).sections:
        if section.title:
            heading = wrap(section.title, screen.width)
            parts.append(screen.paint(heading, "bold", *(["cyan"] if section.level < 3 else [])))
        kinds = [block.kind for block in section.blocks]
        for position, block in enumerate(section.blocks):
            text = _rendered_block(block, folder, screen)
            # Bullets of one list stand close together.
            is_next_bullet = block.kind == "bullet" and position and kinds[position - 1] == "bullet"
            if is_next_bullet:
                parts[-1] += f"\n{text}"
            else:
                parts.append(text)
    return "\n\n".join(parts)


def _rendered_block(markdown_block: Block, folder: str, screen: Screen) -> str:
    if markdown_block.kind == "code":
        return "\n".join(screen.paint(f"{_INDENT}{line}", "cyan") for line in markdown_block.text.split("\n"))
    if markdown_block.kind == "table":
        return _table(markdown_block.text.split("\n"), folder, screen)
    text = _with_names(markdown_block.text, folder)
    if markdown_block.kind == "bullet":
        lines = wrap(markdown.flat(text), screen.width, "  ")
        return f"- {lines[2:]}"
    if markdown_block.kind == "numbered":
        return "\n".join(wrap(line, screen.width, "") for line in text.split("\n"))
    return wrap(text, screen.width)


def _with_names(text: str, folder: str) -> str:
    """Return a text of a page in `folder`, with the names of pages in place of addresses."""

    def named(link: re.Match[str]) -> str:
        name = posixpath.normpath(posixpath.join(folder, link[2]))
        return name if link[1] == name else f"{link[1] or ''} ({name})"

    return _LINK.sub(named, text)


def _table(lines: Sequence[str], folder: str, screen: Screen) -> str:
    """Return a table whose cells are wrapped, so that none of their text is lost."""
    grid = [
        [_with_names(markdown.plain(cell), folder) for cell in _cells(line)] for line in lines if line.strip("|-: ")
    ]
    columns = max(map(len, grid))
    grid = [[*cells, *[""] * (columns - len(cells))] for cells in grid]
    if columns * (_MIN_COLUMN + len(_GAP)) > screen.width:
        return "\n\n".join(_stacked(grid[0], cells, screen) for cells in grid[1:])
    widths = _widths([max(map(width_of, column)) for column in zip(*grid)], screen.width - len(_GAP) * (columns - 1))
    texts = ["\n".join(_wrapped(cells, widths)) for cells in grid]
    return "\n".join((screen.paint(texts[0], "bold"), *texts[1:]))


def _wrapped(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """Yield the lines that the cells of a row take."""
    columns = [wrap(cell, width).split("\n") for cell, width in zip(cells, widths)]
    for parts in zip_longest(*columns, fillvalue=""):
        padded = (part + " " * (width - width_of(part)) for part, width in zip(parts, widths))
        yield _GAP.join(padded).rstrip()


def _stacked(heads: Sequence[str], cells: Sequence[str], screen: Screen) -> str:
    """Return a row of a table that is too wide for the screen, one cell below the other."""
    first = screen.paint(wrap(cells[0], screen.width), "bold")
    rest = (wrap(f"{head}: {cell}", screen.width, "  ") for head, cell in zip(heads[1:], cells[1:]) if cell)
    return "\n".join((first, *rest))


def _cells(line: str) -> list[str]:
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def _widths(widths: list[int], available: int) -> list[int]:
    """Return the widths of columns that fit: the widest gives way first."""
    while sum(widths) > available and max(widths) > _MIN_COLUMN:
        widths[widths.index(max(widths))] -= 1
    return widths

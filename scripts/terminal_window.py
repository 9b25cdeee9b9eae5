"""A terminal window as SVG, in the colours that the reader's page has: light or dark."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

CHAR, LINE, SIZE, MARGIN, BAR = 9.3, 23, 15.4, 28, 40
"""Sizes of a character, a line, the type, the margin and the window's bar, in units of the SVG."""

STYLE = """
  text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }
  .window { fill: #ffffff; stroke: #d0d7de } .bar { fill: #f6f8fa } .caption { fill: #59636e }
  @media (prefers-color-scheme: dark) {
    .window { fill: #0d1117; stroke: #30363d } .bar { fill: #161b22 } .caption { fill: #9198a1 }
  }
"""
_BUTTONS = ((24, "#ff5f57"), (44, "#febc2e"), (64, "#28c840"))


def top_of(row: int) -> int:
    """Return the upper edge of a row of text."""
    return BAR + MARGIN - 8 + row * LINE


def text(words: str, kind: str, row: int, column: int = 0) -> str:
    """Return words in a row, from a column on, in the style of their kind."""
    bare = words.lstrip(" ")
    x = MARGIN + (column + len(words) - len(bare)) * CHAR
    length = f' textLength="{len(bare) * CHAR:g}"'
    return f'<text class="{kind}" x="{x:g}" y="{top_of(row) + 16}"{length}>{escape(bare, quote=False)}</text>'


def draw(title: str, columns: int, rows: int, style: str, drawing: Iterable[str]) -> str:
    """Return the window with a drawing in it."""
    width = columns * CHAR + 2 * MARGIN
    height = BAR + rows * LINE + 2 * MARGIN - 12
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}"'
            f' font-size="{SIZE}" role="img">',
            f"<title>{escape(title, quote=False)}</title>",
            f"<style>{STYLE}{style}</style>",
            f'<rect class="window" x=".5" y=".5" width="{width - 1:g}" height="{height - 1}" rx="9"/>',
            f'<path class="bar" d="M1 {BAR}V10a9 9 0 0 1 9 -9H{width - 10:g}a9 9 0 0 1 9 9V{BAR}z"/>',
            *(f'<circle cx="{x}" cy="20" r="6" fill="{colour}"/>' for x, colour in _BUTTONS),
            *drawing,
            "</svg>",
            "",
        )
    )

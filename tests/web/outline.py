"""A page as an outline: what a person reads, where links and buttons lead, what forms send, what pictures draw."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_TOLD = (
    "id", "class", "href", "action", "name", "value", "type", "for", "checked", "selected", "required", "open", "title",
    "aria-label", "aria-current", "aria-pressed", "placeholder", "viewBox", "d", "x", "y", "x1", "x2", "y1", "y2", "cx",
    "cy", "width", "height", "min", "max", "step", "maxlength", "transform", "text-anchor", "data-records",
)  # fmt: skip
"""Attributes that a person sees or sends."""

_LINES = frozenset(
    "article circle dd details div dl dt figcaption figure form g h1 h2 h3 h4 label legend li line main nav ol option p"
    " pre rect section select svg table td text textarea th tr ul".split()
)
"""Elements that begin a line."""

_CLASSES = re.compile(r"(?:bad|warn|info|none|done|due|current|main|extra|past|bare|covered|changed|corrected|is-.*)$")
_LEFT_OUT = re.compile(
    r'<svg class="(?:icon|shape).*?</svg>|<defs>.*?</defs>|<p [^>]*data-gone.*?</p>|<input[^>]* name="form_token".*?>',
    re.DOTALL,
)
"""Icons, patterns, what a page says when its server has ended, and the secret of a run."""


class _Outline(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines = [""]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in _LINES:
            self.lines.append("")
        told = [_pair(name, value or "") for name, value in attributes if name in _TOLD]
        if any(told):
            self.lines[-1] += f" <{tag}{''.join(told)}>"

    def handle_data(self, data: str) -> None:
        self.lines[-1] += f" {' '.join(data.split())}"


def _pair(name: str, value: str) -> str:
    if name == "class":
        value = " ".join(word for word in value.split() if _CLASSES.match(word))
        return f" {value}" if value else ""
    return f" {name}={value}"


def of(page: str, start: str = "<h1", end: str = "</main>") -> str:
    """Return the lines of a part of a page; by default of all but its frame."""
    outline = _Outline()
    outline.feed(_LEFT_OUT.sub("", start + page.partition(start)[2].partition(end)[0]))
    outline.close()
    return "".join(f"{text}\n" for line in outline.lines if (text := " ".join(line.split())))

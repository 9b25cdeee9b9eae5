"""Parts of a document that no importer can read with certainty, named for an agent that can."""

from __future__ import annotations

from onrecord import markdown
from onrecord.coldstart import NamedTuple

_MOST = 60
"""Sections of one document that are named; a longer one is read as a whole."""


class Passage(NamedTuple):
    """A part of a document: its lines, its heading, and why no record was made of it."""

    first: int
    last: int
    heading: str
    reason: str


def whole(text: str, reason: str, first: int = 1) -> tuple[Passage, ...]:
    """A document from some line on, as one passage."""
    last = len(text.splitlines())
    return (Passage(first, max(first, last), "", reason),)


def sections(text: str, reason: str) -> tuple[Passage, ...]:
    """The sections of a document that hold text."""
    filled = [section for section in markdown.read(text).sections if section.source.strip()]
    if not 0 < len(filled) <= _MOST:
        return whole(text, reason)
    ends = [*(section.line - 1 for section in filled[1:]), len(text.splitlines())]
    return tuple(
        Passage(section.line, max(end, section.line), section.title, reason) for section, end in zip(filled, ends)
    )

"""The passage that a draft was made of: the page of a decision that was imported, with the lines that the draft has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from onrecord import files
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.record.memory import Memory

_MAX_BYTES = 400_000
_MAX_LINES = 160
_LINES_BEFORE = 20
"""Lines of a long page above the one that the record names."""

_MAX_LINE_CHARACTERS = 1_000
_MIN_CHARACTERS = 12
"""Shorter lines, such as headings of one word, occur everywhere."""

_SOURCE = re.compile(r"(.+):([0-9]{1,7})")
_SIGNS = re.compile(r"[\W_]+")


class PassageLine(NamedTuple):
    """A line of the source, marked if the draft has its words."""

    number: int
    text: str
    is_marked: bool


class SourcePassage(NamedTuple):
    """The part of a file that a draft rests on, or why it cannot be read."""

    path: str
    lines: tuple[PassageLine, ...] = ()
    flaw: str = ""


def find(project: str, record: Memory) -> SourcePassage | None:
    """Return the passage in a file of the project that a record names as its source; None if it names none."""
    source = _SOURCE.fullmatch(record.source)
    if source is None or not project or record.origin != "import":
        return None
    try:
        text = files.read_inside(project, source[1], _MAX_BYTES).decode("utf-8", "replace")
    except (OSError, OnrecordError) as error:
        reason = error.message if isinstance(error, OnrecordError) else error.strerror or error
        return SourcePassage(source[1], flaw=f"cannot be read: {reason}")
    texts = text.splitlines()
    start = max(0, int(source[2]) - 1 - _LINES_BEFORE) if len(texts) > _MAX_LINES else 0
    record_text = _plain(" ".join(_texts([record.title, record.content])))
    sentences = [plain for each in _texts(record.content) if len(plain := _plain(each)) >= _MIN_CHARACTERS]
    lines = (
        PassageLine(number, line[:_MAX_LINE_CHARACTERS], _is_said(_plain(line), record_text, sentences))
        for number, line in enumerate(texts[start : start + _MAX_LINES], start + 1)
    )
    return SourcePassage(source[1], tuple(lines))


def _is_said(line: str, said: str, sentences: Iterable[str]) -> bool:
    """True if a record has the words of a line, or the line those of one of its sentences."""
    return len(line) >= _MIN_CHARACTERS and (line in said or any(sentence in line for sentence in sentences))


def _plain(text: str) -> str:
    return _SIGNS.sub(" ", text.lower()).strip()


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)

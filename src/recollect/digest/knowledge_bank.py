"""Knowledge banks: what people wrote in Markdown about patterns, anti-patterns and heuristics. Read, never rewritten.

An entry is a `###` heading, prose, and bullets of which some are metadata:

    ### Reading a file while it is written
    The parser saw half a line. Write to a temporary file and rename it.
    - Observation count: 4
    - Confidence: high
    - Last observed: 2026-03-02
"""

from __future__ import annotations

import os

from recollect import coldstart, failure_log, files, markdown, paths
from recollect.search import terms
from recollect.text import cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

BANKS = {"anti-patterns.md": "anti_pattern", "patterns.md": "pattern", "heuristics.md": "heuristic"}
LARGEST_FILE = 1_000_000
MOST_ENTRIES = 2_000
_KINDS = ("anti-pattern:", "pattern:", "heuristic:")
_CONFIDENCE = {"high": 3.0, "medium": 2.0, "low": 1.0}
_COUNTS = ("observation count", "observations", "observed", "times observed", "count")
_DATES = ("last observed", "last seen")


class Lesson:
    """One entry of a knowledge bank. Confidence goes from 1 to 3; `last_observed` sorts as text."""

    __slots__ = ("category", "confidence", "is_local", "last_observed", "observations", "path", "text", "title")

    def __init__(self, category: str, title: str, path: str, *, is_local: bool) -> None:
        self.category = category
        self.title = title
        self.path = path
        self.is_local = is_local
        self.text = ""
        self.observations = 1
        self.confidence = 2.0
        self.last_observed = ""

    @property
    def identity(self) -> str:
        """The hash of the normalised description, by which duplicates are known."""
        plain = " ".join(terms.words((self.text or self.title).lower()))
        return coldstart.digest(plain.encode("utf-8", "replace"))


def lessons(folders: Sequence[tuple[str, str, str]]) -> list[Lesson]:
    """The entries of the banks in some folders; of duplicates the one observed more often stays.

    A folder comes with its name for the agent and, if it is a project's, the project, which no link may lead out of.
    """
    kept: dict[str, Lesson] = {}
    for folder, source, project in folders:
        for name, category in BANKS.items():
            text = _read(os.path.join(folder, name), within=project)
            for lesson in parse(text, category, source + name, is_local=bool(project)) if text else ():
                rival = kept.get(lesson.identity)
                if rival is None or lesson.observations > rival.observations:
                    kept[lesson.identity] = lesson
    return list(kept.values())


def parse(text: str, category: str, path: str, *, is_local: bool) -> list[Lesson]:
    """The entries of one Markdown text; headings in code and in comments are not entries."""
    found: list[Lesson] = []
    body = [_CLOSED]
    for line in markdown.prose_lines(text):
        if not line.startswith("#"):
            body.append(line)
            continue
        _finish(found, body)
        body = []
        if line.startswith("### ") and _name(line):
            found.append(Lesson(category, _name(line), path, is_local=is_local))
        elif len(line) - len(line.lstrip("#")) <= 3:
            body = [_CLOSED]
        if len(found) > MOST_ENTRIES:
            failure_log.leave("knowledge bank", f"{path}: only the first {MOST_ENTRIES} entries are used")
            return found[:MOST_ENTRIES]
    _finish(found, body)
    return found


_CLOSED = "\0"
"""Stands at the start of lines that follow a heading which is no entry: they belong to nobody."""


def _finish(found: list[Lesson], lines: list[str]) -> None:
    """Give an entry the lines that followed its heading; a deeper heading goes on with the same entry."""
    if not found or lines[:1] == [_CLOSED]:
        return
    lesson = found[-1]
    prose, bullets = [], []
    for line in map(str.strip, lines):
        if line[:2] in ("- ", "* "):
            if not _take(lesson, line[2:]):
                bullets.append(line[2:].replace("**", "").strip())
        elif line:
            prose.append(line)
    said = " ".join(" ".join((lesson.text, *(prose or ([] if lesson.text else bullets)))).split())
    lesson.text = cut(said, 600)


def _take(lesson: Lesson, bullet: str) -> bool:
    """Whether a bullet is metadata; if so it is taken over."""
    key, colon, value = bullet.replace("**", "").replace("__", "").partition(":")
    key, value = " ".join(key.lower().split()), value.strip()
    if not colon:
        return False
    if key in _COUNTS:
        digits = value.split()[0] if value else ""
        if digits.isascii() and digits.isdigit() and len(digits) < 9:
            lesson.observations = max(int(digits), 1)
            return True
        return key == "observation count"
    if key == "confidence":
        lesson.confidence = _CONFIDENCE.get(value.lower().strip(".*_` "), lesson.confidence)
        return True
    if key in _DATES:
        lesson.last_observed = _sortable(value)
        return True
    return False


def _sortable(value: str) -> str:
    """A date as it is; a number such as that of `Feature #12` below all dates, in its order."""
    for word in value.replace("(", " ").replace(")", " ").replace(",", " ").split():
        if len(word) >= 10 and word[4:5] == word[7:8] == "-" and word[:4].isdigit() and word[8:10].isdigit():
            return word[:10]
    digits = "".join(char if char.isascii() and char.isdigit() else " " for char in value).split()
    return f"0000-{int(digits[-1][:9]):09d}" if digits else ""


def _name(line: str) -> str:
    name = " ".join(line.lstrip("#").split()).rstrip("# ")
    for kind in _KINDS:
        if name.lower().startswith(kind):
            name = name[len(kind) :].strip()
    return cut(name, 120)


def _read(path: str, within: str) -> str:
    """The text of a bank; empty if there is none, or none that may be read."""
    if not os.path.lexists(path):
        return ""
    try:
        if within and not paths.is_within(within, path):
            raise ValueError("leads out of the project")
        data = files.read(path, LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise ValueError(f"larger than {LARGEST_FILE:,} bytes")
        return data.decode("utf-8-sig", "replace")
    except (OSError, ValueError) as error:
        failure_log.leave("knowledge bank", f"{path}: {error}")
        return ""

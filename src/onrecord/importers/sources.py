"""Files that may hold something to import: found in a project, or named by somebody, and told apart by name and place.

A file is the same kind of source whether it was found or named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from onrecord import markdown, paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput

# A project has a handful of such files; these bounds only keep a walk through a huge tree from taking minutes.
MAX_FOLDERS = 5_000
MAX_FILES = 2_000
_DEEPEST = 7
_ADR_FOLDER = re.compile(
    r"adrs?|decisions?|decision[-_ ]?(?:records?|logs?)|architectur\w*[-_ ]decisions?(?:[-_ ](?:records?|logs?))?"
)
_ADR_FILE = re.compile(r"adr[-_ ]?\d+.*\.md")
_NO_DECISION = re.compile(r"(?:readme|index|_index|toc|summary|about|changelog|contributing|license|.*template).*")
_LOADED = re.compile(
    r"(?:.*/)?(?:claude(?:\.local)?\.md|agents(?:\.override)?\.md|gemini\.md|\.cursorrules|\.windsurfrules|\.clinerules|"
    r"\.github/copilot-instructions\.md|\.junie/guidelines\.md)"
    r"|(?:.*/)?\.(?:claude|cursor|windsurf|clinerules|roo|continue)/rules/.*\.mdc?|(?:.*/)?\.clinerules/.*\.md"
    r"|\.github/instructions/.*\.md"
)
_GUIDE = re.compile(
    r"(?:(?:docs?|\.github)/)?(?:contributing|development|developing|hacking|style[-_ ]?guide|conventions|architecture|"
    r"testing|troubleshooting|runbook|releasing|maintaining)\.md|(?:.*/)?runbooks?/.*\.md"
)
_MEMORY = re.compile(r"(?:.*/)?\.serena/memories/.*\.md|(?:.*/)?projects/[^/]+/memory/.*\.md")
_DATABASE = (".db", ".sqlite", ".sqlite3")
_READABLE = (".md", ".mdc", ".markdown", ".json", ".jsonl", ".cursorrules", ".windsurfrules", ".clinerules", *_DATABASE)
_OTHER_MARKUP = (".rst", ".adoc", ".asciidoc", ".org")
_VENDORED = frozenset("node_modules vendor third_party target build dist venv env site-packages __pycache__".split())
_HIDDEN = {
    "": (
        ".claude",
        ".cursor",
        ".github",
        ".serena",
        ".clinerules",
        ".windsurf",
        ".roo",
        ".continue",
        ".junie",
        ".decisions",
    ),
    # Claude Code's own folder holds much else, such as whole copies of the project.
    ".claude": ("rules",),
    ".cursor": ("rules",),
    ".serena": ("memories",),
}
_MOST = 60
"""Sections of one document that are named; a longer one is read as a whole."""


class Source(NamedTuple):
    """A file to import, and its kind.

    `decision`, `loaded` (agents load it themselves), `guide`, `memory` (of another tool), `page` (anything else that
    was named), `aside` (in a folder of decisions, and none).
    """

    path: str
    kind: str


class Passage(NamedTuple):
    """A part of a document: its lines, its heading, and why no record was made of it."""

    first: int
    last: int
    heading: str
    reason: str


def discover(project: str) -> list[Source]:
    """What could be imported of a project, nearest to its root first, each file once."""
    candidates = [Source(path, kind) for path in _files(project) if (kind := kind_of(path))]
    unique: dict[str, Source] = {}
    for source in sorted(candidates, key=lambda each: (each.path.count("/"), each.path)):
        full = os.path.join(project, source.path)
        if paths.is_within(project, full):
            unique.setdefault(os.path.realpath(full), source)
    return list(unique.values())[:MAX_FILES]


def from_names(project: str, names: Sequence[str]) -> list[Source]:
    """The named files, and what can be read in named folders and those below; BadInput for what does not exist."""
    full: list[str] = []
    for name in names:
        path = os.path.abspath(name)
        if os.path.isdir(path):
            full += [os.path.join(path, *each.split("/")) for each in _files(path) if each.lower().endswith(_READABLE)]
        elif os.path.isfile(path):
            full.append(path)
        else:
            raise BadInput(f"there is no file or folder {name!r}", fix="name a file to import, or a folder of them")
    shown = [_relative(project, path) for path in full[:MAX_FILES]]
    return [Source(path, kind_of(path) or _other_kind(path)) for path in dict.fromkeys(shown)]


def kind_of(path: str) -> str:
    """The kind of a file by its name and folder; empty for what is not looked for."""
    lower = path.lower()
    folder, _, name = lower.rpartition("/")
    if _LOADED.fullmatch(lower):
        return "loaded"
    if _MEMORY.fullmatch(lower.replace(os.sep, "/")):
        return "memory"
    is_for_decisions = any(_ADR_FOLDER.fullmatch(part) for part in folder.split("/"))
    if is_for_decisions and name.endswith((".md", *_OTHER_MARKUP)):
        return "aside" if _NO_DECISION.fullmatch(name) else "decision"
    if _ADR_FILE.fullmatch(name) and not _NO_DECISION.fullmatch(name):
        return "decision"
    return "guide" if _GUIDE.fullmatch(lower) else ""


def _other_kind(path: str) -> str:
    return "memory" if path.lower().endswith((*_DATABASE, ".json", ".jsonl")) else "page"


def _relative(project: str, path: str) -> str:
    root = project.rstrip(os.sep) + os.sep
    return path[len(root) :].replace(os.sep, "/") if path.startswith(root) else path


def _files(root: str) -> Iterator[str]:
    """The files below a folder, without hidden folders and other people's code."""
    for count, (here, folders, names) in enumerate(os.walk(root)):
        below = os.path.relpath(here, root).replace(os.sep, "/")
        below = "" if below == "." else below
        if count >= MAX_FOLDERS:
            return
        yield from (f"{below}/{name}" if below else name for name in sorted(names))
        inside = [name for name in folders if name[0] != "." and name.lower() not in _VENDORED]
        inside = list(_HIDDEN[below]) if below and below in _HIDDEN else [*inside, *_HIDDEN[""]]
        folders[:] = sorted(set(inside) & set(folders)) if below.count("/") + 1 < _DEEPEST else []


def whole_document(text: str, reason: str, first: int = 1) -> tuple[Passage, ...]:
    """A document from some line on, as one passage."""
    last = len(text.splitlines())
    return (Passage(first, max(first, last), "", reason),)


def sections(text: str, reason: str) -> tuple[Passage, ...]:
    """The sections of a document that hold text."""
    filled = [section for section in markdown.parse(text).sections if section.source.strip()]
    if not 0 < len(filled) <= _MOST:
        return whole_document(text, reason)
    ends = [*(section.line - 1 for section in filled[1:]), len(text.splitlines())]
    return tuple(
        Passage(section.line, max(end, section.line), section.title, reason) for section, end in zip(filled, ends)
    )

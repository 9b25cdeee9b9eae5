"""Find the files to import, in a project or by name, with their kind; and divide documents into passages.

The kind depends on name and folder only: it is the same for a file that was found and one that was named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from onrecord import files, markdown, paths
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput

# A project has a handful of such files; the limits only keep the walk through a huge tree short.
MAX_FOLDERS = 5_000
MAX_FILES = 2_000
_MAX_DEPTH = 7
_ADR_FOLDER = re.compile(
    r"adrs?|decisions?|decision[-_ ]?(?:records?|logs?)|architectur\w*[-_ ]decisions?(?:[-_ ](?:records?|logs?))?"
)
_ADR_FILE = re.compile(r"adr[-_ ]?\d+.*\.md")
_ADR_NUMBER = re.compile(r"(?:^|[-_ ])\d{2,6}(?=[-_. ])|^\d{1,6}(?=[-_. ])|^adr[-_ ]?\d")
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
    # Claude Code's own folder has much else, such as whole copies of the project.
    ".claude": ("rules",),
    ".cursor": ("rules",),
    ".serena": ("memories",),
}
_MAX_SECTIONS = 60
"""Sections of one document; a document with more is one passage."""


class Source(NamedTuple):
    """A file to import, and its kind.

    The kind is `decision`, `loaded` (agents load it themselves), `guide`, `memory` (of another tool), `page` (any
    other file that was named) or `aside` (in a folder of decisions, but no decision).
    """

    path: str
    kind: str


class Passage(NamedTuple):
    """A part of a document: its lines, its heading, and the reason why it is no record."""

    first: int
    last: int
    heading: str
    reason: str


def decoded(data: bytes) -> str:
    """Return the text of a document, up to the limit for its size."""
    return data[: markdown.MAX_CHARACTERS].decode("utf-8", "replace").removeprefix("\ufeff")


def discover(project: str) -> list[Source]:
    """Return the files of a project that can be imported, those near its root first, each once."""
    candidates = [Source(path, kind) for path in _files(project) if (kind := kind_of(path))]
    unique: dict[str, Source] = {}
    for source in sorted(candidates, key=lambda source: (source.path.count("/"), source.path)):
        full = os.path.join(project, source.path)
        if paths.is_within(project, full):
            unique.setdefault(os.path.realpath(full), source)
    return list(unique.values())[:MAX_FILES]


def become_drafts(project: str) -> list[Source]:
    """Return the files of a project that an import makes drafts of; the others only say what an agent may do."""
    return [source for source in discover(project) if source.kind in ("decision", "memory")]


def from_names(project: str, names: Sequence[str]) -> list[Source]:
    """Return the named files and the readable files in named folders and their subfolders. Raises BadInput."""
    full: list[str] = []
    for name in names:
        path = os.path.abspath(name)
        if files.is_folder(path):
            full += [os.path.join(path, *file.split("/")) for file in _files(path) if file.lower().endswith(_READABLE)]
        elif files.is_regular(path):
            full.append(path)
        else:
            raise BadInput(f"there is no file or folder {name!r}", fix="name a file to import, or a folder of them")
    relative = [_relative(project, path) for path in full[:MAX_FILES]]
    return [Source(path, kind_of(path) or _other_kind(path)) for path in dict.fromkeys(relative)]


def kind_of(path: str) -> str:
    """Return the kind of a file by its name and folder; empty for a file that is not imported."""
    lower = path.lower()
    folder, _, name = lower.rpartition("/")
    if _LOADED.fullmatch(lower):
        return "loaded"
    if _MEMORY.fullmatch(lower.replace(os.sep, "/")):
        return "memory"
    is_for_decisions = any(_ADR_FOLDER.fullmatch(part) for part in folder.split("/"))
    is_aside = bool(_NO_DECISION.fullmatch(name)) and not is_numbered(lower)
    if is_for_decisions and name.endswith((".md", *_OTHER_MARKUP)):
        return "aside" if is_aside else "decision"
    if _ADR_FILE.fullmatch(name):
        return "decision"
    return "guide" if _GUIDE.fullmatch(lower) else ""


def is_numbered(path: str) -> bool:
    """True if a file has a number as decision records have, or the folder that it is the page of.

    Whether it has a decision, its text tells.
    """
    *_, folder, name = f"//{path.lower()}".split("/")
    is_page_of_folder = name in ("readme.md", "index.md")
    return bool(_ADR_NUMBER.search(folder if is_page_of_folder else name))


def _other_kind(path: str) -> str:
    return "memory" if path.lower().endswith((*_DATABASE, ".json", ".jsonl")) else "page"


def _relative(project: str, path: str) -> str:
    root = project.rstrip(os.sep) + os.sep
    return path[len(root) :].replace(os.sep, "/") if path.startswith(root) else path


def _files(root: str) -> Iterator[str]:
    """Yield the files in a folder tree, without hidden folders and vendored code."""
    for count, (path, folders, names) in enumerate(files.walk(root)):
        folder = os.path.relpath(path, root).replace(os.sep, "/")
        folder = "" if folder == "." else folder
        if count >= MAX_FOLDERS:
            return
        yield from (f"{folder}/{name}" if folder else name for name in sorted(names))
        inside = [name for name in folders if name[0] != "." and name.lower() not in _VENDORED]
        inside = list(_HIDDEN[folder]) if folder and folder in _HIDDEN else [*inside, *_HIDDEN[""]]
        folders[:] = sorted(set(inside) & set(folders)) if folder.count("/") + 1 < _MAX_DEPTH else []


def whole_document(text: str, reason: str, first: int = 1) -> tuple[Passage, ...]:
    """Return a document from line `first` as one passage."""
    last = len(text.splitlines())
    return (Passage(first, max(first, last), "", reason),)


def sections(text: str, reason: str) -> tuple[Passage, ...]:
    """Return the sections of a document that have text, or the whole document if there are too many."""
    filled = [section for section in markdown.parse(text).sections if section.source.strip()]
    if not 0 < len(filled) <= _MAX_SECTIONS:
        return whole_document(text, reason)
    ends = [*(section.line - 1 for section in filled[1:]), len(text.splitlines())]
    return tuple(
        Passage(section.line, max(end, section.line), section.title, reason) for section, end in zip(filled, ends)
    )

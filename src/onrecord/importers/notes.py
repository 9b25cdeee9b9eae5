"""Read Markdown notes of other tools as audit items: Claude Code's auto memory, and any folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from onrecord import files, markdown, paths, timestamps
from onrecord.audit.audit_item import AuditItem
from onrecord.errors import BadInput
from onrecord.importers import memories
from onrecord.markdown import MarkdownPage, Section

# A folder with more files is no folder of notes, and reading it would take minutes.
MAX_FILES = 20_000
INDEX = "MEMORY.md"
_OUTDATED = re.compile(
    r"\b(?:superseded(?: by)?|no longer (?:true|valid|used|applies|holds)|deprecated|obsolete|replaced by|outdated)\b",
    re.IGNORECASE,
)


def claude_memory(folder: str) -> list[AuditItem]:
    """Return the notes in an auto memory folder: each file, and each section of an index that has notes itself."""
    items: list[AuditItem] = []
    for path, page, modified in _pages(folder):
        if os.path.basename(path) != INDEX or page.front:
            changed = page.first("modified") or modified
            items.append(_item(path, _title(page), page.sections, changed, page.first("type")))
        elif not memories.is_index(page):
            items += _by_section(path, page, modified)
    return items


def markdown_folder(folder: str) -> list[AuditItem]:
    """Return the notes in a folder of Markdown: one for each section, or the whole file if it has no sections."""
    return [item for path, page, changed in _pages(folder) for item in _by_section(path, page, changed)]


def _title(page: MarkdownPage) -> str:
    heading = next((section.title for section in page.sections if section.title), "")
    return page.first("name") or page.first("description") or heading


def _pages(folder: str) -> Iterator[tuple[str, MarkdownPage, str]]:
    """Yield path, page and time of change of the Markdown files in a folder tree. Raises BadInput."""
    if not os.path.isdir(folder):
        raise BadInput(f"{folder!r} is not a folder", fix="name the folder of the Markdown files")
    full: list[str] = []
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        full += [os.path.join(here, name) for name in sorted(names) if name.lower().endswith(".md")]
        if len(full) > MAX_FILES:
            raise BadInput(f"{folder!r} has more than {MAX_FILES:,} Markdown files", fix="name one of its subfolders")
    for path in full:
        if paths.is_within(folder, path):
            try:
                text = files.read(path, markdown.MAX_CHARACTERS).decode("utf-8-sig", "replace")
                changed = timestamps.from_seconds(os.stat(path).st_mtime)
            except OSError as error:
                raise BadInput(f"cannot read {path!r}: {error}", fix="check its type and permissions") from error
            yield os.path.relpath(path, folder).replace(os.sep, "/"), markdown.parse(text), changed


def _by_section(path: str, page: MarkdownPage, changed: str) -> list[AuditItem]:
    filled = [section for section in page.sections if _text([section])]
    return [
        _item(
            f"{path}#{section.title}" if section.title and len(filled) > 1 else path, section.title, [section], changed
        )
        for section in filled
    ]


def _text(sections: Sequence[Section]) -> str:
    """Return the lines of `sections` without empty lines and rules."""
    lines = (line for section in sections for line in section.source.split("\n"))
    return "\n".join(line for line in lines if line.strip("=- ")).strip()


def _item(path: str, title: str, sections: Sequence[Section], changed: str, kind: str = "") -> AuditItem:
    name, text = title or os.path.basename(path).rpartition(".")[0], _text(sections)
    return AuditItem(
        path,
        path,
        name,
        text,
        statement=text.split("\n")[0].strip(),
        tags=(kind,) if kind else (),
        updated=changed,
        says_superseded=bool(_OUTDATED.search(name) or _OUTDATED.search(text[:200])),
        raw={"title": name, "text": "\n".join(section.source for section in sections)},
    )

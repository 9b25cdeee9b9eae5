"""Other people's stores, read and never written: Claude Code's auto memory folder, a folder of Markdown notes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from recollect import files, paths, timestamps
from recollect.audit.audit_item import Item
from recollect.errors import BadInput

LARGEST_FILE = 1_000_000
MOST_FILES = 20_000
_INDEX = "MEMORY.md"
_POINTER = re.compile(r"\]\([^)\s]+\.md\)|^[-*]\s+`?[\w./-]+\.md\b")
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*$")
_OVER = re.compile(
    r"\b(?:superseded(?: by)?|no longer (?:true|valid|used|applies|holds)|deprecated|obsolete|replaced by|outdated)\b",
    re.IGNORECASE,
)


def claude_memory(folder: str) -> list[Item]:
    """The notes in an auto memory folder: a file each; its index counts only where it holds notes itself."""
    items: list[Item] = []
    for path, text, changed in _files(folder):
        if os.path.basename(path) == _INDEX and _is_index(text):
            continue
        front, body = _front_matter(text)
        if front or os.path.basename(path) != _INDEX:
            items.append(_item(path, front.get("name") or front.get("description") or "", body, front, changed))
        else:
            items += _sections(path, body, changed)
    return items


def markdown(folder: str) -> list[Item]:
    """The notes in a folder of Markdown: a section each, or a whole file where it has no sections."""
    return [item for path, text, changed in _files(folder) for item in _sections(path, _front_matter(text)[1], changed)]


def _files(folder: str) -> Iterator[tuple[str, str, str]]:
    if not os.path.isdir(folder):
        raise BadInput(f"{folder!r} is not a folder", fix="name the folder that holds the Markdown files")
    count = 0
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        for name in sorted(names):
            full = os.path.join(here, name)
            if not name.lower().endswith(".md") or not paths.is_within(folder, full):
                continue
            count += 1
            if count > MOST_FILES:
                raise BadInput(f"{folder!r} holds more than {MOST_FILES:,} Markdown files", fix="name a folder in it")
            text, changed = _read(full)
            yield os.path.relpath(full, folder).replace(os.sep, "/"), text, changed


def _read(full: str) -> tuple[str, str]:
    try:
        data = files.read(full, LARGEST_FILE)
        return data.decode("utf-8-sig", "replace"), timestamps.at(os.stat(full).st_mtime)
    except OSError as error:
        raise BadInput(f"cannot read {full!r}: {error}", fix="check the file's type and permissions") from error


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    lines = text.split("\n")
    closing = next((n for n, line in enumerate(lines[1:60], 1) if line.strip() == "---"), 0)
    if lines[0].strip() != "---" or not closing:
        return {}, text
    pairs = (line.partition(":") for line in lines[1:closing] if not line.startswith((" ", "\t", "#")))
    return {key.strip(): value.strip().strip("'\"") for key, _, value in pairs}, "\n".join(lines[closing + 1 :])


def _is_index(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    return sum(bool(_POINTER.search(line)) for line in lines) * 2 > len(lines)


def _sections(path: str, text: str, changed: str) -> list[Item]:
    parts: list[tuple[str, list[str]]] = [("", [])]
    fence = False
    for line in text.split("\n"):
        fence ^= line.lstrip().startswith(("```", "~~~"))
        heading = None if fence else _HEADING.match(line)
        if heading:
            parts.append((heading[2], []))
        else:
            parts[-1][1].append(line)
    filled = [(title, "\n".join(lines).strip()) for title, lines in parts if any(line.strip() for line in lines)]
    return [
        _item(f"{path}#{title}" if title and len(filled) > 1 else path, title, body, {}, changed)
        for title, body in filled
    ]


def _item(path: str, title: str, body: str, front: dict[str, str], changed: str) -> Item:
    heading = next((match[2] for match in map(_HEADING.match, body.split("\n")[:10]) if match), "")
    name = title or heading or os.path.basename(path).rpartition(".")[0]
    lines = [line for line in body.split("\n") if line.strip() and not _HEADING.match(line)]
    said = "\n".join(lines).strip()
    return Item(
        path,
        path,
        name,
        said,
        statement=lines[0].strip() if lines else "",
        tags=tuple(filter(None, (front.get("type", ""),))),
        updated=front.get("modified", "") or changed,
        says_superseded=bool(_OVER.search(name) or _OVER.search(said[:200])),
        raw={"title": name, "text": body},
    )

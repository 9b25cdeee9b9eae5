"""The feature being worked on, where a project keeps its features in `docs/features/<name>/.meta.json`."""

from __future__ import annotations

import os

from recollect import coldstart, files, markdown, paths
from recollect.text import cut

FOLDER = os.path.join("docs", "features")
MOST_FEATURES = 500
"""The last by name: where features are numbered these are the newest."""

LARGEST_FILE = 60_000
LONGEST_PARAGRAPH = 400


class Feature:
    """What is being built: its slug, the first paragraph of its specification, and the last phase completed."""

    __slots__ = ("paragraph", "phase", "slug")

    def __init__(self, slug: str, paragraph: str, phase: str) -> None:
        self.slug = slug
        self.paragraph = paragraph
        self.phase = phase


def active(project: str, notes: list[str]) -> Feature | None:
    """The newest active feature of a project; what could not be read is added to the notes."""
    found: list[tuple[int, str, dict[str, object]]] = []
    for name in _folders(project):
        path = os.path.join(FOLDER, name, ".meta.json")
        meta = _meta(project, path, notes)
        if meta.get("status") == "active":
            found.append((_modified(os.path.join(project, path)), name, meta))
    if not found:
        return None
    _, name, meta = max(found, key=lambda one: one[:2])
    if not _text(meta.get("slug")):
        notes.append(f"{os.path.join(FOLDER, name, '.meta.json')}: no slug; the folder's name is used")
    spec = _read(project, os.path.join(FOLDER, name, "spec.md"), notes)
    paragraph = cut(markdown.first_paragraph(spec), LONGEST_PARAGRAPH)
    return Feature(_text(meta.get("slug")) or name, paragraph, _text(meta.get("lastCompletedPhase")))


def _folders(project: str) -> list[str]:
    try:
        return sorted(os.listdir(os.path.join(project, FOLDER)))[-MOST_FEATURES:]
    except OSError:
        return []


def _meta(project: str, path: str, notes: list[str]) -> dict[str, object]:
    text = _read(project, path, notes)
    if not text:
        return {}
    try:
        meta = coldstart.loads(text.lstrip("\ufeff"))
    except ValueError as error:
        notes.append(f"{path}: {error}")
        return {}
    if not isinstance(meta, dict):
        notes.append(f"{path}: not a JSON object")
        return {}
    return meta


def _read(project: str, path: str, notes: list[str]) -> str:
    full = os.path.join(project, path)
    if not os.path.lexists(full):
        return ""
    if not paths.is_within(project, full):
        notes.append(f"{path}: leads out of the project")
        return ""
    try:
        return files.read(full, LARGEST_FILE).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        notes.append(f"{path}: {error}")
        return ""


def _modified(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _text(value: object) -> str:
    return " ".join(value.split())[:200] if isinstance(value, str) else ""

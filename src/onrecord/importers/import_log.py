"""Which documents were imported and what was proposed from them, so that nothing is proposed twice.

What was rejected in review is in it like what was accepted. Taking an import back takes it out. It is one user's, in
the state folder: losing it costs a second look at the same drafts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from onrecord import coldstart, paths
from onrecord.coldstart import NamedTuple
from onrecord.record.memory import Memory
from onrecord.state_file import StateFile

FOLDER = "imports"
_LARGEST = 4_000_000
"""Bytes for one store: a line for each imported document, about 30,000 of them."""


class ImportedDocument(NamedTuple):
    """A document as it was when it was imported: its fingerprint, and those of what was proposed from it."""

    source: str
    fingerprint: str
    proposals: tuple[str, ...] = ()
    is_read: bool = False
    """Whether an agent has read what the importer could not."""


def add(root: str, change_id: str, documents: Iterable[ImportedDocument]) -> None:
    """Note what an import proposed; `change_id` is the change that an undo would take back."""
    lines = [json.dumps({"change": change_id, **document._asdict()}) for document in documents]
    if lines:
        _file(root).append("\n".join(lines) + "\n")


def forget(root: str, change_id: str) -> None:
    """Take the documents of a change out again: it was undone."""
    if any(line.get("change") == change_id for line in _lines(root)):
        _file(root).append(json.dumps({"forget": change_id}) + "\n")


def read(root: str) -> dict[str, ImportedDocument]:
    """The documents imported before, by path, each as it was the last time, with all that was ever proposed from it."""
    lines = _lines(root)
    forgotten = {line.get("forget") for line in lines}
    documents: dict[str, ImportedDocument] = {}
    for line in lines:
        source, proposals = line.get("source"), line.get("proposals")
        if isinstance(source, str) and isinstance(proposals, list) and line.get("change") not in forgotten:
            before = documents.get(source)
            every = (*(before.proposals if before else ()), *map(str, proposals))
            documents[source] = ImportedDocument(source, str(line.get("fingerprint")), every, bool(line.get("is_read")))
    return documents


def text_hash(text: str) -> str:
    """The fingerprint of a document."""
    return coldstart.content_hash(text.encode("utf-8", "replace"))


def proposal_hash(record: Memory) -> str:
    """The fingerprint of what a record says: its title and content, not where it stands or when it was read."""
    wording = json.dumps([record.category, record.title, record.content], sort_keys=True, default=str)
    return coldstart.content_hash(wording.encode("utf-8", "replace"))


def _file(root: str) -> StateFile:
    name = coldstart.content_hash(os.path.realpath(root).encode("utf-8", "surrogatepass"))
    return StateFile(os.path.join(paths.state_dir(), FOLDER, f"{name}.jsonl"), _LARGEST, "imports")


def _lines(root: str) -> list[dict[str, Any]]:
    lines = []
    for text in _file(root).lines():
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            continue
        lines += [line] if isinstance(line, dict) else []
    return lines

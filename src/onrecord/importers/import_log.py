"""The log of imported documents and what was proposed from them, so that nothing is proposed twice.

It includes proposals that were rejected in review; undoing an import removes its documents. The log belongs to one
user and is in the state folder: without it, the same drafts are proposed again. That of 0.2.0 is read too.
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
_MAX_LOG_BYTES = 4_000_000
"""Size for one store: about 30,000 documents, a line for each."""


class ImportedDocument(NamedTuple):
    """An imported document: the hash of its text then, and the hashes of what was proposed from it."""

    source: str
    fingerprint: str
    proposals: tuple[str, ...] = ()
    is_read: bool = False
    """True if an agent has read what the importer could not."""


def add(root: str, change_id: str, documents: Iterable[ImportedDocument]) -> None:
    """Add the documents of an import; `change_id` is the change that an undo would revert."""
    lines = [json.dumps({"change": change_id, **document._asdict()}) for document in documents]
    if lines:
        _file(root).append("\n".join(lines) + "\n")


def forget(root: str, change_id: str) -> None:
    """Remove the documents of a change that was undone."""
    if any(line.get("change") == change_id for line in _lines(root)):
        _file(root).append(json.dumps({"forget": change_id}) + "\n")


def read(root: str) -> dict[str, ImportedDocument]:
    """Return the imported documents by path, each with its last text hash and all that was ever proposed from it."""
    lines = _lines(root)
    forgotten = {line.get("forget") for line in lines}
    documents: dict[str, ImportedDocument] = {}
    for line in lines:
        source, proposals = line.get("source"), line.get("proposals")
        if isinstance(source, str) and isinstance(proposals, list) and line.get("change") not in forgotten:
            earlier = documents.get(source)
            proposals = (*(earlier.proposals if earlier else ()), *map(str, proposals))
            documents[source] = ImportedDocument(
                source, str(line.get("fingerprint")), proposals, bool(line.get("is_read"))
            )
    return documents


def text_hash(text: str) -> str:
    return coldstart.content_hash(text.encode("utf-8", "replace"))


def proposal_hash(record: Memory) -> str:
    """Return the hash of what a record says: category, title and content, not its source or dates."""
    wording = json.dumps([record.category, record.title, record.content], sort_keys=True, default=str)
    return coldstart.content_hash(wording.encode("utf-8", "replace"))


def _file(root: str, state_dir: str = "") -> StateFile:
    name = coldstart.content_hash(os.path.realpath(root).encode("utf-8", "surrogatepass"))
    folder = os.path.join(state_dir or paths.state_dir(), FOLDER)
    return StateFile(os.path.join(folder, f"{name}.jsonl"), _MAX_LOG_BYTES, "imports")


def _lines(root: str) -> list[dict[str, Any]]:
    lines = []
    old_file = _file(root, paths.standard_dir("state", paths.OLD_NAME))
    for text in (*old_file.lines(), *_file(root).lines()):
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            continue
        lines += [line] if isinstance(line, dict) else []
    return lines

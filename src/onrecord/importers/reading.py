"""Read one source: records that are certain, passages for an agent, or the reason for neither."""

from __future__ import annotations

import os
import re

from onrecord import files, markdown, paths
from onrecord.coldstart import NamedTuple
from onrecord.importers import adr, import_log, memories, sources
from onrecord.importers.adr import Adr
from onrecord.importers.sources import Passage, Source
from onrecord.record.memory import Memory

_LOADED = "agents load it themselves: rules that always apply stay there"
_MAX_FILES = 12
"""Files that a decision is about; a decision with more than twice as many is about none in particular."""

_PATH = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*")


class Reading(NamedTuple):
    """The content of a source: a decision, other records, passages for an agent, or the reason for none."""

    source: Source
    fingerprint: str = ""
    decision: Adr | None = None
    records: tuple[Memory, ...] = ()
    passages: tuple[Passage, ...] = ()
    left_out: str = ""


def read_source(project: str, source: Source, now: str) -> Reading:
    """Read a source, up to the limit for its size."""
    full = os.path.join(project, source.path)
    try:
        if memories.is_database(full):
            database = memories.read_claude_mem(full, source.path, project, now)
            return Reading(source, database.fingerprint, records=database.records, left_out=database.left_out)
        text = files.read(full, markdown.MAX_CHARACTERS).decode("utf-8-sig", "replace")
    except OSError as error:
        return Reading(source, left_out=f"cannot be read: {error.strerror or error}")
    if not text.strip():
        return Reading(source, left_out="empty")
    return _read_text(project, source, text, now)._replace(fingerprint=import_log.text_hash(text))


def _read_text(project: str, source: Source, text: str, now: str) -> Reading:
    if source.kind == "aside":
        return Reading(source, left_out="an index, a template or a page about the folder")
    if source.kind == "memory":
        return _read_memory(source, text, now)
    if source.kind in ("loaded", "guide"):
        reason = _LOADED if source.kind == "loaded" else memories.PROSE
        return Reading(source, passages=sources.sections(text, reason))
    if not source.path.lower().endswith((".md", ".markdown", ".mdx")):
        return Reading(source, passages=sources.whole_document(text, "not Markdown"))
    return _read_decision(project, source, text, now)


def _read_memory(source: Source, text: str, now: str) -> Reading:
    content = memories.read(source.path, text, now)
    left_out = "" if content.records or content.passages else "no memories in it"
    return Reading(source, records=content.records, passages=content.passages, left_out=left_out)


def _read_decision(project: str, source: Source, text: str, now: str) -> Reading:
    decision = adr.read(text, source.path, now)
    if isinstance(decision, Adr):
        record = decision.record._replace(related_files=mentioned_files(project, source.path, text))
        return Reading(source, decision=decision._replace(record=record))
    if source.kind == "page":
        return _read_memory(source, text, now)
    if not decision.is_for_agent:
        return Reading(source, left_out=decision.reason)
    return Reading(source, passages=sources.whole_document(text, decision.reason, decision.line))


def mentioned_files(project: str, path: str, text: str) -> tuple[str, ...]:
    """Return the project's files that a decision mentions in code or as a link, except those of its own folder."""
    own = os.path.dirname(path)
    related: dict[str, None] = {}
    for name, is_link in _names(text):
        candidates = [os.path.normpath(os.path.join(own, name))] if is_link else []
        for candidate in (*candidates, os.path.normpath(name)):
            inside = candidate.replace(os.sep, "/")
            if _is_related(project, inside, own):
                related.setdefault(inside)
                break
    return tuple(related)[:_MAX_FILES] if len(related) <= 2 * _MAX_FILES else ()


def _names(text: str) -> list[tuple[str, bool]]:
    code = [(name, False) for name in re.findall(r"`([^`\n]{3,200})`", text)]
    links = [(name.partition("#")[0], True) for name in re.findall(r"\]\(([^()\s:]{3,300})\)", text)]
    return [
        (name, is_link)
        for name, is_link in (*code, *links)
        if _PATH.fullmatch(name.removeprefix("./").replace("../", ""))
    ]


def _is_related(project: str, inside: str, own: str) -> bool:
    full = os.path.join(project, inside)
    is_own = os.path.dirname(inside) == own or (own and inside.startswith(f"{own}/"))
    is_path = "." in os.path.basename(inside) or "/" in inside
    return bool(
        is_path
        and not is_own
        and not inside.startswith("..")
        and files.is_file(full)
        and paths.is_within(project, full)
    )

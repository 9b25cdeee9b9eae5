"""What other tools remember: Claude Code's auto memory, basic-memory and Obsidian, mem0, Serena, claude-mem.

What says itself what it is (a decision with its reason, feedback with its why) becomes a record. The rest is named to
an agent, item by item.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterator
from typing import Any

from onrecord import coldstart, markdown, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.errors import Invalid
from onrecord.importers import sources
from onrecord.importers.sources import Passage
from onrecord.markdown import MarkdownPage
from onrecord.record import compose
from onrecord.record.memory import Memory
from onrecord.text import cut

PROSE = "prose: only a reader can tell what holds sometimes"
_TYPE = re.compile(r"^\s*type:\s*[\"']?(\w+)", re.MULTILINE)
_WHY = re.compile(r"(?:^|\s)why:\s*", re.IGNORECASE)
_HOW = re.compile(r"(?:^|\s)how to apply:\s*", re.IGNORECASE)
_OBSERVATION = re.compile(r"\[([\w -]{2,40})\]\s+(\S.*)")
_IN_PARENTHESES = re.compile(r"\s*\(([^()]{8,400})\)\s*$")
_HASHTAG = re.compile(r"(?:^|\s)#([\w/-]{2,60})")
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]{1,200}\|)?([^\[\]|]{1,200})\]\]")
_MOST_MEMORIES = 500
"""Memories of one export; nobody reviews more."""

_LONGEST_SHOWN = 300
_LONGEST_TITLE = 100
_LONGEST = 2_000
HEADER = b"SQLite format 3\0"
_MOST = 500
"""Decisions that are read, newest first: nobody reviews more."""

_COLUMNS = ("id", "title", "subtitle", "narrative", "facts", "files_modified", "created_at")
_MAX_CLAUDE_MEM_TEXT = 4_000
_LONGEST_LINE = 600
_MOST_LINES = 12


class ToolMemories(NamedTuple):
    """What a file of another tool gives: records, and passages for an agent."""

    records: tuple[Memory, ...] = ()
    passages: tuple[Passage, ...] = ()


class Database(NamedTuple):
    """What a database gave: records, a fingerprint of what was read, and what was left out."""

    records: tuple[Memory, ...] = ()
    fingerprint: str = ""
    left_out: str = ""


def read(path: str, text: str, now: str) -> ToolMemories:
    """What a text file of another tool holds."""
    if path.lower().endswith((".json", ".jsonl")):
        return ToolMemories(passages=_exported(text))
    page = markdown.parse(text)
    if os.path.basename(path) == "MEMORY.md" and is_index(page):
        return ToolMemories()
    observations = _observations(page, path, now)
    if observations.records or observations.passages:
        return observations
    feedback = _feedback(page, text, path, now)
    return ToolMemories((feedback,)) if feedback else ToolMemories(passages=sources.sections(text, PROSE))


def is_index(page: MarkdownPage) -> bool:
    """True if most lines only point to other files."""
    lines = [line for section in page.sections for block in section.blocks for line in block.text.split("\n")]
    pointers = sum(bool(re.search(r"\([^()\s]+\.md\)|^`?[\w./-]+\.md\b", line)) for line in lines)
    return pointers * 2 >= len(lines)


def compose_record(category: str, values: dict[str, Any], now: str) -> Memory | None:
    """A record with its origin; None if it would not be valid."""
    try:
        return compose.compose(category, {"origin": "import", **values}, now=now, allow_secret=True)
    except Invalid:
        return None


def dates_from(moment: str, now: str) -> dict[str, str]:
    """The dates of a record made at some moment, if that is one of the past."""
    moment = re.sub(r"(?:\.\d+)?(?:\+00:00|Z)?$", "Z", moment.strip().replace(" ", "T", 1), count=1)
    is_past = timestamps.is_instant(moment) and moment <= now
    return {"created_at": moment, "updated_at": moment} if is_past else {}


def _feedback(page: MarkdownPage, text: str, path: str, now: str) -> Memory | None:
    """A note of the auto memory that says what the user wants, and why."""
    kind = _TYPE.search(text[: text.find("\n---", 3) + 1])
    body = markdown.flat(" ".join(text for section in page.sections for text in section.prose))
    rule, *how = _HOW.split(body, maxsplit=1)
    rule, *why = (part.strip() for part in _WHY.split(rule, maxsplit=1))
    if not kind or kind[1] != "feedback" or not rule or not why:
        return None
    title = page.first("description") or page.first("name").replace("_", " ").replace("-", " ") or rule
    content = {
        "topic": cut(title, 200),
        "value": cut(" ".join((rule, *how)).strip(), _LONGEST),
        "reason": cut(why[0], _LONGEST),
    }
    values = {"title": cut(title, _LONGEST_TITLE), "content": content, "source": f"{path}:1"[-1_000:]}
    return compose_record("preference", {**values, **dates_from(page.first("modified"), now)}, now)


def _observations(page: MarkdownPage, path: str, now: str) -> ToolMemories:
    """The observations of a note in the style of basic-memory: `- [decision] text #tag (context)`."""
    title = page.first("title") or next((section.title for section in page.sections if section.title), "")
    prose = (text for section in page.sections for text in section.prose if not _OBSERVATION.match(text))
    intro = next((markdown.flat(text) for text in prose if len(text.split()) > 5 and "[[" not in text), "")
    records, left = list[Memory](), list[Passage]()
    for section in page.sections:
        for block in section.blocks:
            match = _OBSERVATION.match(markdown.flat(block.text)) if block.kind == "bullet" else None
            if not match:
                continue
            record = _observed(
                match[1].lower(), match[2], title=title, intro=intro, source=f"{path}:{block.line}", now=now
            )
            if record:
                records.append(record)
            else:
                left.append(Passage(block.line, block.line, cut(match[0], _LONGEST_SHOWN), PROSE))
    return ToolMemories(tuple(records), tuple(left))


def _observed(kind: str, text: str, *, title: str, intro: str, source: str, now: str) -> Memory | None:
    """A record of an observation that says what it is and why; None for any other."""
    tags = _HASHTAG.findall(text)
    text = _WIKI_LINK.sub(r"\1", _HASHTAG.sub("", text)).strip()
    reason = _IN_PARENTHESES.search(text)
    text = text[: reason.start()] if reason else text
    why = reason[1] if reason else cut(intro, _LONGEST_SHOWN)
    contents: dict[str, dict[str, Any]] = {
        "decision": {"decision": text, "context": cut(intro, _LONGEST) or title, "rationale": [why]},
        "preference": {"topic": title, "value": text, "reason": why},
        "constraint": {"rule": text, "impact": [why]},
    }
    if kind not in contents or not why or not title:
        return None
    values = {"title": cut(text, _LONGEST_TITLE), "content": contents[kind], "source": source[-1_000:]}
    return compose_record(kind, {**values, **({"tags": tags[:12]} if tags else {})}, now)


def _exported(text: str) -> tuple[Passage, ...]:
    """The memories of a mem0 export, each a passage: what kind of record it is, only a reader can tell."""
    rows = _rows(text)
    lines = [(row.get("memory") or row.get("text") or row.get("content"), at) for at, row in enumerate(rows, 1)]
    reason = "a sentence without a reason: only a reader can tell what it is"
    return tuple(
        Passage(at, at, cut(line, _LONGEST_SHOWN), reason) for line, at in lines if isinstance(line, str) and line
    )


def _rows(text: str) -> list[dict[str, Any]]:
    """The objects of an export: a list, `{"results": […]}`, `{"memories": […]}`, or one a line."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        lines = (_decoded(line) for line in text.splitlines()[:_MOST_MEMORIES])
        value = [line for line in lines if line]
    if isinstance(value, dict):
        value = value.get("results") or value.get("memories") or value.get("data") or []
    rows = value if isinstance(value, list) else []
    return [row for row in rows[:_MOST_MEMORIES] if isinstance(row, dict)]


def _decoded(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def is_database(full: str) -> bool:
    """Whether a file is an SQLite database; OSError if it cannot be read."""
    from onrecord import files

    return files.read(full, len(HEADER)) == HEADER


def read_claude_mem(full: str, path: str, project: str, now: str) -> Database:
    """The decisions that claude-mem has noted for a project, by the name of its folder."""
    name = os.path.basename(project.rstrip(os.sep))
    try:
        connection = sqlite3.connect(f"file:{_quoted(full)}?mode=ro", uri=True, timeout=2)
        try:
            rows, others = list(_claude_mem_rows(connection, name)), _others(connection, name)
        finally:
            connection.close()
    except sqlite3.Error as error:
        return Database(left_out=f"cannot be read as a database of claude-mem: {error}")
    fingerprint = coldstart.content_hash(json.dumps(rows, default=str).encode("utf-8", "replace"))
    records = tuple(record for row in rows if (record := _record(dict(zip(_COLUMNS, row)), path, project, now)))
    if not rows:
        return Database((), fingerprint, f"it holds no decision for a project called {name!r}; {others}")
    return Database(records, fingerprint, others)


def _quoted(full: str) -> str:
    return re.sub(r"[%?#]", lambda match: f"%{ord(match[0]):02X}", os.path.abspath(full))


def _claude_mem_rows(connection: sqlite3.Connection, project: str) -> Iterator[tuple[object, ...]]:
    where = "type = 'decision' AND project = ? ORDER BY id DESC LIMIT ?"
    yield from connection.execute(f"SELECT {', '.join(_COLUMNS)} FROM observations WHERE {where}", (project, _MOST))


def _others(connection: sqlite3.Connection, project: str) -> str:
    query = "SELECT count(*) FROM observations WHERE type <> 'decision' AND project = ?"
    count = connection.execute(query, (project,)).fetchone()[0]
    if count == 1:
        return "1 observation that is no decision"
    return f"{count:,} observations that are no decisions" if count else ""


def _record(row: dict[str, object], path: str, project: str, now: str) -> Memory | None:
    text = {key: value.strip() if isinstance(value, str) else "" for key, value in row.items()}
    facts = [cut(fact, _LONGEST_LINE) for fact in _texts(text["facts"])]
    reasons = facts or ([cut(text["subtitle"], _LONGEST_LINE)] if text["subtitle"] else [])
    if not text["title"] or not (text["narrative"] or text["subtitle"]) or not reasons:
        return None
    content = {
        "decision": cut(text["narrative"] or text["subtitle"], _MAX_CLAUDE_MEM_TEXT),
        "context": cut(text["subtitle"] or text["title"], _MAX_CLAUDE_MEM_TEXT),
        "rationale": reasons[:_MOST_LINES],
    }
    values = {
        "title": cut(text["title"], 120),
        "content": content,
        "source": f"{path}:{row['id']}"[-1_000:],
        "related_files": [name for name in _texts(text["files_modified"]) if _is_here(project, name)][:_MOST_LINES],
    }
    return compose_record("decision", {**values, **dates_from(text["created_at"], now)}, now)


def _texts(value: str) -> list[str]:
    """The texts of a list in JSON."""
    try:
        items = json.loads(value or "[]")
    except (ValueError, RecursionError):
        return []
    return [item.strip() for item in items if isinstance(item, str) and item.strip()] if isinstance(items, list) else []


def _is_here(project: str, name: str) -> bool:
    return not os.path.isabs(name) and ".." not in name.split("/") and os.path.isfile(os.path.join(project, name))

"""claude-mem's database: the observations of a project that are decisions, as records.

It is opened for reading alone. Bug fixes, features and discoveries are what happened in a session, not what holds.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterator

from onrecord import coldstart
from onrecord.coldstart import NamedTuple
from onrecord.importers import memories
from onrecord.record.memory import Memory
from onrecord.text import cut

HEADER = b"SQLite format 3\0"
_MOST = 500
"""Decisions that are read, newest first: nobody reviews more."""

_COLUMNS = ("id", "title", "subtitle", "narrative", "facts", "files_modified", "created_at")
_LONGEST = 4_000
_LONGEST_LINE = 600
_MOST_LINES = 12


class Database(NamedTuple):
    """What a database gave: records, a fingerprint of what was read, and what was left out."""

    records: tuple[Memory, ...] = ()
    fingerprint: str = ""
    left_out: str = ""


def is_database(full: str) -> bool:
    """Whether a file is an SQLite database; OSError if it cannot be read."""
    from onrecord import files

    return files.read(full, len(HEADER)) == HEADER


def read(full: str, path: str, project: str, now: str) -> Database:
    """The decisions that claude-mem has noted for a project, by the name of its folder."""
    name = os.path.basename(project.rstrip(os.sep))
    try:
        connection = sqlite3.connect(f"file:{_quoted(full)}?mode=ro", uri=True, timeout=2)
        try:
            rows, others = list(_rows(connection, name)), _others(connection, name)
        finally:
            connection.close()
    except sqlite3.Error as error:
        return Database(left_out=f"cannot be read as a database of claude-mem: {error}")
    fingerprint = coldstart.digest(json.dumps(rows, default=str).encode("utf-8", "replace"))
    records = tuple(record for row in rows if (record := _record(dict(zip(_COLUMNS, row)), path, project, now)))
    if not rows:
        return Database((), fingerprint, f"it holds no decision for a project called {name!r}; {others}")
    return Database(records, fingerprint, others)


def _quoted(full: str) -> str:
    return re.sub(r"[%?#]", lambda match: f"%{ord(match[0]):02X}", os.path.abspath(full))


def _rows(connection: sqlite3.Connection, project: str) -> Iterator[tuple[object, ...]]:
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
        "decision": cut(text["narrative"] or text["subtitle"], _LONGEST),
        "context": cut(text["subtitle"] or text["title"], _LONGEST),
        "rationale": reasons[:_MOST_LINES],
    }
    values = {
        "title": cut(text["title"], 120),
        "content": content,
        "source": f"{path}:{row['id']}"[-1_000:],
        "related_files": [name for name in _texts(text["files_modified"]) if _is_here(project, name)][:_MOST_LINES],
    }
    return memories.composed("decision", {**values, **memories.when(text["created_at"], now)}, now)


def _texts(value: str) -> list[str]:
    """The texts of a list in JSON."""
    try:
        items = json.loads(value or "[]")
    except (ValueError, RecursionError):
        return []
    return [item.strip() for item in items if isinstance(item, str) and item.strip()] if isinstance(items, list) else []


def _is_here(project: str, name: str) -> bool:
    return not os.path.isabs(name) and ".." not in name.split("/") and os.path.isfile(os.path.join(project, name))

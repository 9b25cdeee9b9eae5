"""Read the memories of other tools: Claude Code's auto memory, basic-memory, Obsidian, mem0, Serena, claude-mem.

A memory with a known type and a reason, such as a decision with its rationale, becomes a record. The rest is left to
an agent as passages.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onrecord import coldstart, files, markdown, paths, timestamps
from onrecord.audit.audit_item import AuditItem
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, Invalid
from onrecord.importers import sources
from onrecord.importers.sources import Passage
from onrecord.markdown import MarkdownPage, Section
from onrecord.record import compose
from onrecord.record.author import IMPORT, RecordAuthor
from onrecord.record.memory import Memory
from onrecord.text import cut

PROSE = "prose: only a reader can tell which part is worth a record"
_TYPE = re.compile(r"^\s*type:\s*[\"']?(\w+)", re.MULTILINE)
_WHY = re.compile(r"(?:^|\s)why:\s*", re.IGNORECASE)
_HOW = re.compile(r"(?:^|\s)how to apply:\s*", re.IGNORECASE)
_OBSERVATION = re.compile(r"\[([\w -]{2,40})\]\s+(\S.*)")
_IN_PARENTHESES = re.compile(r"\s*\(([^()]{8,400})\)\s*$")
_HASHTAG = re.compile(r"(?:^|\s)#([\w/-]{2,60})")
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]{1,200}\|)?([^\[\]|]{1,200})\]\]")
_MAX_MEMORIES = 500
"""Memories of one export, or decisions of one database: more are not reviewed."""

_MAX_HEADING_LENGTH = 300
_MAX_TITLE_LENGTH = 100
_MAX_TEXT_LENGTH = 2_000
_SQLITE_HEADER = b"SQLite format 3\0"
_COLUMNS = ("id", "title", "subtitle", "narrative", "facts", "files_modified", "created_at")
_MAX_VALUE_LENGTH = 100_000
"""Characters of a value that are read from a database; a record keeps far fewer."""

_DATABASE_SECONDS = 5.0
"""Time limit for a database; half a million observations take less than one second."""

_STEPS = 10_000
"""Steps of SQLite between two looks at the clock."""

_READ, _SELECT, _FUNCTION = 20, 21, 31
"""Actions that SQLite asks an authorizer about (sqlite3.SQLITE_READ and so on, which Python 3.9 does not all have)."""

_MAX_NARRATIVE_LENGTH = 4_000
_MAX_LINE_LENGTH = 600
_MAX_LINES = 12
# A folder with more files is no folder of notes, and reading it would take minutes.
MAX_FILES = 20_000
INDEX = "MEMORY.md"
_OUTDATED = re.compile(
    r"\b(?:superseded(?: by)?|no longer (?:true|valid|used|applies|holds)|deprecated|obsolete|replaced by|outdated)\b",
    re.IGNORECASE,
)


class ToolMemories(NamedTuple):
    """The memories in a file of another tool: records, and passages for an agent."""

    records: tuple[Memory, ...] = ()
    passages: tuple[Passage, ...] = ()


class DatabaseMemories(NamedTuple):
    """The decisions in a database: records, a hash of what was read, and what was left out."""

    records: tuple[Memory, ...] = ()
    fingerprint: str = ""
    left_out: str = ""


def read(path: str, text: str, now: str) -> ToolMemories:
    """Return the memories in a text file of another tool."""
    if path.lower().endswith((".json", ".jsonl")):
        return ToolMemories(passages=_read_export(text))
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


def compose_record(category: str, fields: Mapping[str, Any], now: str) -> Memory | None:
    """Return a record of origin `import`; None if it would not be valid."""
    try:
        return compose.compose(category, fields, now=now, allow_secret=True, written_by=RecordAuthor(IMPORT))
    except Invalid:
        return None


def dates_from(created: str, now: str) -> dict[str, str]:
    """Return the date fields of a record that was created then; none for a time that is invalid or in the future."""
    instant = re.sub(r"(?:\.\d+)?(?:\+00:00|Z)?$", "Z", created.strip().replace(" ", "T", 1), count=1)
    is_past = timestamps.is_instant(instant) and instant <= now
    return {"created_at": instant, "updated_at": instant} if is_past else {}


def _feedback(page: MarkdownPage, text: str, path: str, now: str) -> Memory | None:
    """Return a preference from a note of the auto memory with the user's feedback and its reason; None for others."""
    kind = _TYPE.search(text[: text.find("\n---", 3) + 1])
    body = markdown.flat(" ".join(text for section in page.sections for text in section.prose))
    rule, *how = _HOW.split(body, maxsplit=1)
    rule, *why = (part.strip() for part in _WHY.split(rule, maxsplit=1))
    if not kind or kind[1] != "feedback" or not rule or not why:
        return None
    title = page.first("description") or page.first("name").replace("_", " ").replace("-", " ") or rule
    content = {
        "topic": cut(title, 200),
        "value": cut(" ".join((rule, *how)).strip(), _MAX_TEXT_LENGTH),
        "reason": cut(why[0], _MAX_TEXT_LENGTH),
    }
    fields = {"title": cut(title, _MAX_TITLE_LENGTH), "content": content, "source": f"{path}:1"[-1_000:]}
    return compose_record("preference", {**fields, **dates_from(page.first("modified"), now)}, now)


def _observations(page: MarkdownPage, path: str, now: str) -> ToolMemories:
    """Return the observations of a basic-memory note, such as `- [decision] text #tag (context)`."""
    title = page.first("title") or next((section.title for section in page.sections if section.title), "")
    prose = (text for section in page.sections for text in section.prose if not _OBSERVATION.match(text))
    intro = next((markdown.flat(text) for text in prose if len(text.split()) > 5 and "[[" not in text), "")
    records, passages = list[Memory](), list[Passage]()
    for section in page.sections:
        for block in section.blocks:
            match = _OBSERVATION.match(markdown.flat(block.text)) if block.kind == "bullet" else None
            if not match:
                continue
            record = _observation_record(
                match[1].lower(), match[2], title=title, intro=intro, source=f"{path}:{block.line}", now=now
            )
            if record:
                records.append(record)
            else:
                passages.append(Passage(block.line, block.line, cut(match[0], _MAX_HEADING_LENGTH), PROSE))
    return ToolMemories(tuple(records), tuple(passages))


def _observation_record(kind: str, text: str, *, title: str, intro: str, source: str, now: str) -> Memory | None:
    """Return the record of an observation with a known kind and a reason; None for any other."""
    tags = _HASHTAG.findall(text)
    text = _WIKI_LINK.sub(r"\1", _HASHTAG.sub("", text)).strip()
    reason = _IN_PARENTHESES.search(text)
    text = text[: reason.start()] if reason else text
    why = reason[1] if reason else cut(intro, _MAX_HEADING_LENGTH)
    contents: dict[str, dict[str, Any]] = {
        "decision": {"decision": text, "context": cut(intro, _MAX_TEXT_LENGTH) or title, "rationale": [why]},
        "preference": {"topic": title, "value": text, "reason": why},
        "constraint": {"rule": text, "impact": [why]},
    }
    if kind not in contents or not why or not title:
        return None
    fields = {"title": cut(text, _MAX_TITLE_LENGTH), "content": contents[kind], "source": source[-1_000:]}
    return compose_record(kind, {**fields, **({"tags": tags[:12]} if tags else {})}, now)


def _read_export(text: str) -> tuple[Passage, ...]:
    """Return each memory of a mem0 export as a passage: only a reader can tell its category."""
    entries = enumerate(_export_entries(text), 1)
    lines = [(entry.get("memory") or entry.get("text") or entry.get("content"), number) for number, entry in entries]
    reason = "a sentence without a reason: only a reader can tell its category"
    return tuple(
        Passage(number, number, cut(line, _MAX_HEADING_LENGTH), reason)
        for line, number in lines
        if isinstance(line, str) and line
    )


def _export_entries(text: str) -> list[dict[str, Any]]:
    """Return the objects of an export: a list, `{"results": […]}`, `{"memories": […]}`, or JSON lines."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        values = (_decode(line) for line in text.splitlines()[:_MAX_MEMORIES])
        value = [entry for entry in values if entry]
    if isinstance(value, dict):
        value = value.get("results") or value.get("memories") or value.get("data") or []
    entries = value if isinstance(value, list) else []
    return [entry for entry in entries[:_MAX_MEMORIES] if isinstance(entry, dict)]


def _decode(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def is_database(path: str) -> bool:
    """True if a file is an SQLite database. Raises OSError if it cannot be read."""
    from onrecord import files

    return files.read(path, len(_SQLITE_HEADER)) == _SQLITE_HEADER


def read_claude_mem(full: str, path: str, project: str, now: str) -> DatabaseMemories:
    """Return the decisions in a database of claude-mem for a project, by the name of its folder.

    `full` is the full path of the database, and `path` the one that the records name as their source.
    """
    name = os.path.basename(project.rstrip(os.sep))
    try:
        connection = coldstart.connect(f"file:{_quoted(full)}?mode=ro", uri=True, timeout=2)
        try:
            _limit(connection)
            rows, others = list(_decision_rows(connection, name)), _describe_others(connection, name)
        finally:
            connection.close()
    except (coldstart.SqliteError, ValueError) as error:
        return DatabaseMemories(left_out=f"cannot be read as a database of claude-mem: {error}")
    fingerprint = coldstart.content_hash(json.dumps(rows, default=str).encode("utf-8", "replace"))
    records = tuple(record for row in rows if (record := _decision(dict(zip(_COLUMNS, row)), path, project, now)))
    if not rows:
        return DatabaseMemories((), fingerprint, f"it has no decision for a project called {name!r}; {others}")
    return DatabaseMemories(records, fingerprint, others)


def _limit(connection: coldstart.Connection) -> None:
    """Let a database that a stranger may have made neither compute without end nor run anything but our two queries.

    Raises ValueError if the observations are no plain table: a view or a generated column is a program.
    """
    deadline = time.monotonic() + _DATABASE_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
    row = connection.execute("SELECT type FROM sqlite_master WHERE name = 'observations'").fetchone()
    columns = connection.execute("PRAGMA table_xinfo(observations)").fetchall() if row == ("table",) else []
    if not columns or any(column[-1] for column in columns):
        raise ValueError("it has no plain table called observations")
    connection.set_authorizer(_authorize)


def _authorize(operation: int, *details: str | None) -> int:
    """Return 0 if SQLite may do this for our two queries: read rows, and call their functions; else 1."""
    is_ours = operation in (_SELECT, _READ) or (operation == _FUNCTION and details[1] in ("substr", "count"))
    return 0 if is_ours else 1


def _quoted(full: str) -> str:
    return re.sub(r"[%?#]", lambda match: f"%{ord(match[0]):02X}", os.path.abspath(full))


def _decision_rows(connection: coldstart.Connection, project: str) -> Iterator[tuple[object, ...]]:
    where = "type = 'decision' AND project = ? ORDER BY id DESC LIMIT ?"
    columns = ", ".join(f"substr({column}, 1, {_MAX_VALUE_LENGTH})" for column in _COLUMNS)
    yield from connection.execute(f"SELECT {columns} FROM observations WHERE {where}", (project, _MAX_MEMORIES))


def _describe_others(connection: coldstart.Connection, project: str) -> str:
    query = "SELECT count(*) FROM observations WHERE type <> 'decision' AND project = ?"
    count = connection.execute(query, (project,)).fetchone()[0]
    if count == 1:
        return "1 observation that is not a decision"
    return f"{count:,} observations that are not decisions" if count else ""


def _decision(observation: dict[str, object], path: str, project: str, now: str) -> Memory | None:
    text = {key: value.strip() if isinstance(value, str) else "" for key, value in observation.items()}
    facts = [cut(fact, _MAX_LINE_LENGTH) for fact in _texts(text["facts"])]
    reasons = facts or ([cut(text["subtitle"], _MAX_LINE_LENGTH)] if text["subtitle"] else [])
    if not text["title"] or not (text["narrative"] or text["subtitle"]) or not reasons:
        return None
    related_files = [name for name in _texts(text["files_modified"]) if _is_project_file(project, name)]
    content = {
        "decision": cut(text["narrative"] or text["subtitle"], _MAX_NARRATIVE_LENGTH),
        "context": cut(text["subtitle"] or text["title"], _MAX_NARRATIVE_LENGTH),
        "rationale": reasons[:_MAX_LINES],
    }
    fields = {
        "title": cut(text["title"], 120),
        "content": content,
        "source": f"{path}:{observation['id']}"[-1_000:],
        "related_files": related_files[:_MAX_LINES],
    }
    return compose_record("decision", {**fields, **dates_from(text["created_at"], now)}, now)


def _texts(text: str) -> list[str]:
    """Return the strings of a JSON list; none if it is not valid."""
    try:
        items = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return []
    return [item.strip() for item in items if isinstance(item, str) and item.strip()] if isinstance(items, list) else []


def _is_project_file(project: str, name: str) -> bool:
    return not os.path.isabs(name) and ".." not in name.split("/") and os.path.isfile(os.path.join(project, name))


def claude_memory(folder: str) -> list[AuditItem]:
    """Return the notes in an auto memory folder: each file, and each section of an index that has notes itself."""
    items: list[AuditItem] = []
    for path, page, modified in _pages(folder):
        if os.path.basename(path) != INDEX or page.front:
            changed = page.first("modified") or modified
            items.append(_item(path, _title(page), page.sections, changed, page.first("type")))
        elif not is_index(page):
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
    for here, folders, names in files.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        full += [os.path.join(here, name) for name in sorted(names) if name.lower().endswith(".md")]
        if len(full) > MAX_FILES:
            raise BadInput(f"{folder!r} has more than {MAX_FILES:,} Markdown files", fix="name one of its subfolders")
    for path in full:
        if paths.is_within(folder, path):
            try:
                text = files.read(path, markdown.MAX_CHARACTERS).decode("utf-8", "replace").removeprefix("\ufeff")
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
    )

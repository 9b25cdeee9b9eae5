"""OpenCode, with a shim in JavaScript: its events have the exit status of a command.

All sessions are in one SQLite database, which is opened read-only. The path of a session is that of the database,
followed by `#` and the session's name.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files
from onrecord.hosts import events
from onrecord.hosts.events import MAX_SESSIONS, READ, SHELL, WRITE, HostEvent, Payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from onrecord.hosts.host_files import HostSetup
    from onrecord.session.transcript import Message, Transcript

_TOOLS = {
    "bash": SHELL,
    "read": READ,
    "write": WRITE,
    "edit": WRITE,
    "multiedit": WRITE,
    "patch": WRITE,
    "apply_patch": WRITE,
}
_MAX_PARTS = 400
_MAX_PART_CHARS = 200_000
_MAX_KILOSTEPS = 200
"""Thousands of SQLite steps for one query: a tenth of a second."""

_PARTS = """SELECT message.data, part.data, part.time_created FROM part JOIN message ON message.id = part.message_id
    WHERE part.session_id = ? AND length(part.data) < ? ORDER BY part.rowid {order} LIMIT ?"""
"""Parts in the order in which they were added, which the index on the session has without sorting."""

_SESSIONS = (
    "SELECT id FROM session WHERE parent_id IS NULL AND (directory = ? OR directory LIKE ? ESCAPE '!')"
    " ORDER BY time_updated DESC LIMIT ?"
)

write = events.shim_reply


def read(name: str, payload: Payload) -> HostEvent:
    event = events.shim_event(name, payload, _TOOLS)
    result = payload.inner("tool_response")
    status = result.inner("metadata").fields.get("exit")
    has_failed = event.tool == SHELL and isinstance(status, int) and status != 0
    return event._replace(
        prompt=_unquoted(event.prompt),
        transcript=event.transcript or _session(event.session),
        error=f"Exit code {status}\n{result.text('output')}" if has_failed else "",
    )


def _unquoted(prompt: str) -> str:
    """Return a prompt without the quotation marks that `opencode run` puts around several words."""
    inner = prompt[1:-1]
    return inner if len(prompt) > 1 and prompt[0] == prompt[-1] == '"' and '"' not in inner else prompt


def _database() -> str:
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(data, "opencode", "opencode.db")


def _session(name: str) -> str:
    return f"{_database()}#{name}" if name and "#" not in name else ""


def transcript(path: str) -> Transcript:
    from onrecord.session.transcript import Format, Transcript

    return Transcript(path, Format(_entries, messages, modified_at=_modified_at))


def sessions(project: str, limit: int = MAX_SESSIONS) -> list[str]:
    """Return the sessions of a project, the latest first."""
    below = project.replace("!", "!!").replace("%", "!%").replace("_", "!_") + "/%"
    rows = _rows(_database(), _SESSIONS, (project, below, limit))
    return [_session(name) for (name,) in rows if isinstance(name, str)]


def _entries(path: str, size: int, is_head: bool) -> tuple[list[Any], bool]:
    """Return the first or last parts of a session's messages, oldest first."""
    database, _, session = path.rpartition("#")
    sql = _PARTS.format(order="ASC" if is_head else "DESC")
    rows = _rows(database, sql, (session, _MAX_PART_CHARS, _MAX_PARTS))
    return (rows if is_head else rows[::-1]), len(rows) < _MAX_PARTS


def _modified_at(path: str) -> float:
    """Return when a session was last updated; the database file changes for all sessions."""
    database, _, session = path.rpartition("#")
    rows = _rows(database, "SELECT time_updated FROM session WHERE id = ?", (session,))
    milliseconds = rows[0][0] if rows else 0
    return milliseconds / 1000 if isinstance(milliseconds, int) else 0.0


def _rows(database: str, sql: str, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Run a query; no rows if the database is not the expected one or takes too long."""
    if not files.is_file(database):
        return []
    steps = iter(range(_MAX_KILOSTEPS))
    uri = database.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        connection = coldstart.connect(f"file:{uri}?mode=ro", uri=True, timeout=0.2)
    except coldstart.SqliteError:
        return []
    try:
        connection.set_progress_handler(lambda: next(steps, None) is None, 1000)
        rows: list[tuple[Any, ...]] = connection.execute(sql, parameters).fetchall()
    except coldstart.SqliteError:
        return []
    finally:
        connection.close()
    return rows


def messages(entry: Any) -> Iterator[Message]:
    """Yield the text, tool call or context of a hook in a part of a message."""
    from onrecord.hosts import session_files
    from onrecord.session import transcript

    message, part = (Payload(transcript.parse_line(_bytes(column))) for column in entry[:2])
    role, kind = message.text("role"), part.text("type")
    if kind == "text" and part.flag("synthetic"):
        yield transcript.context_message(part.text("text"))
    elif kind == "text" and role in ("user", "assistant"):
        words = _unquoted(part.text("text")) if role == "user" else part.text("text")
        yield from transcript.text_messages(role, words, session_files.timestamp(entry[2]), part.text("id"))
    elif kind == "tool":
        yield from _call(part)


def _call(part: Payload) -> Iterator[Message]:
    """Yield a tool call and its result."""
    from onrecord.hosts import session_files
    from onrecord.session import transcript

    state, name = part.inner("state"), part.text("tool")
    arguments = state.inner("input").fields
    yield from session_files.call(name, arguments, _TOOLS)
    has_failed = state.text("status") == "error" or bool(state.inner("metadata").fields.get("exit"))
    yield from transcript.tool_results(state.text("output") or state.text("error"), has_failed=has_failed)


def _bytes(column: Any) -> bytes:
    return column if isinstance(column, bytes) else str(column).encode("utf-8", "replace")


def setup() -> HostSetup:
    from onrecord.hosts.host_files import HostSetup, ServerEntry

    return HostSetup(
        "opencode",
        ("opencode",),
        ".config/opencode",
        ("XDG_CONFIG_HOME", "opencode"),
        shim="opencode.js",
        shim_file="plugins/onrecord.js",
        server=ServerEntry("opencode.json", "mcp", "list"),
        reads_skills=True,
    )

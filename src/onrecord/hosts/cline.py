"""Cline CLI, with a shim in JavaScript: one tool call runs several commands or reads several files."""

from __future__ import annotations

import os

from onrecord import coldstart, files
from onrecord.hosts import events
from onrecord.hosts.events import MAX_SESSIONS, READ, SHELL, WRITE, HostEvent, Payload, absolute_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from onrecord.hosts.host_files import HostSetup
    from onrecord.session.transcript import Message, Transcript

_TOOLS = {"run_commands": SHELL, "read_files": READ, "editor": WRITE, "apply_patch": WRITE}
_LISTS = ("commands", "files", "paths", "file_paths")
_SUFFIX = ".messages.json"
_MAX_ITEMS = 100
_MAX_BYTES = 4_000_000
"""Size of a session's file that is read: it is one JSON text, so it cannot be read in part."""

write = events.shim_reply


def read(name: str, payload: Payload) -> HostEvent:
    event = events.shim_event(name, payload, _TOOLS)
    items = list(_items(payload.inner("tool_input")))
    if event.tool == SHELL:
        event = event._replace(command="\n".join([*filter(None, [event.command]), *items]))
    names = items if event.tool in (READ, WRITE) else []
    return event._replace(
        prompt=_user_input(event.prompt),
        transcript=_file(payload.text("session_file")),
        files=event.files or absolute_paths(names, event.cwd),
        error="\n".join(_failures(payload)) if event.tool == SHELL else "",
        shows_files=name == "pre_tool_use",
    )


def _file(name: str) -> str:
    """Return the file of a session by the name that plugins get."""
    is_name = name and name == os.path.basename(name) and name.strip(".")
    return os.path.join(_folder(), name, name + _SUFFIX) if is_name else ""


def _folder() -> str:
    """Return the folder of all sessions."""
    home = os.environ.get("CLINE_DIR") or os.path.join(os.path.expanduser("~"), ".cline")
    data = os.environ.get("CLINE_DATA_DIR") or os.path.join(home, "data")
    return os.environ.get("CLINE_SESSION_DATA_DIR") or os.path.join(data, "sessions")


def _items(tool_input: Payload) -> Iterator[str]:
    """Yield the commands or files of a tool call, each of which is a text or an object."""
    for key in _LISTS:
        for item in tool_input.items(key)[:_MAX_ITEMS]:
            fields = Payload(item if isinstance(item, dict) else {"path": item})
            yield from filter(None, (fields.text("path"), fields.text("command")))


def _failures(payload: Payload) -> Iterator[str]:
    """Yield the errors and the output of the commands that failed."""
    for item in payload.items("tool_response")[:_MAX_ITEMS]:
        result = Payload(item if isinstance(item, dict) else {})
        if result.fields.get("success") is False:
            error = result.text("error").replace("Command exited with code", "Exit code")
            yield f"{error}\n{result.text('result')}"


def _user_input(prompt: str) -> str:
    """Return what a person typed: the host puts it into an element."""
    start, end = prompt.find("<user_input"), prompt.rfind("</user_input>")
    inner = prompt[start:end].partition(">")[2] if 0 <= start < end else prompt
    return inner.strip()


def transcript(path: str) -> Transcript:
    from onrecord.session.transcript import Format, Transcript

    return Transcript(path, Format(_entries, messages))


def sessions(project: str, limit: int = MAX_SESSIONS) -> list[str]:
    """Return the session files of a project, which is named in the first message to the model."""
    from onrecord.hosts import session_files

    return session_files.of_project(
        project, _folder(), _SUFFIX, depth=1, limit=limit, prefix="Working Directory: ", size=_MAX_BYTES
    )


def _entries(path: str, size: int, is_head: bool) -> tuple[list[Any], bool]:
    try:
        data = files.read(path, _MAX_BYTES + 1)
        session = coldstart.loads(data.decode("utf-8", "replace")) if len(data) <= _MAX_BYTES else {}
    except (OSError, ValueError):
        return [], True
    entries = Payload(session if isinstance(session, dict) else {}).items("messages")
    return entries, True


def messages(entry: Any) -> Iterator[Message]:
    """Yield the messages in an entry of a session, with the tool calls and what a hook added."""
    from onrecord.session import transcript

    message = Payload(entry if isinstance(entry, dict) else {})
    is_context = message.inner("metadata").text("displayRole") == "system"
    for block in message.items("content"):
        fields = Payload(block if isinstance(block, dict) else {})
        if is_context and fields.text("text"):
            yield transcript.context_message(fields.text("text"))
        elif message.text("role") in ("user", "assistant"):
            yield from _block(message, fields)


def _block(payload: Payload, block: Payload) -> Iterator[Message]:
    from onrecord.hosts import session_files
    from onrecord.session import transcript

    kind, role = block.text("type"), payload.text("role")
    if kind == "text":
        timestamp = session_files.timestamp(payload.fields.get("ts"))
        yield from transcript.text_messages(role, _user_input(block.text("text")), timestamp, payload.text("id"))
    elif kind == "tool_use":
        call = Payload({"tool_name": block.text("name"), "tool_input": block.inner("input").fields})
        yield from session_files.tool_use(read("", call), block.text("name"), block.inner("input").fields)
    elif kind == "tool_result":
        yield transcript.tool_result(
            transcript.content_text(block.fields.get("content")), has_failed=block.flag("is_error")
        )


def setup() -> HostSetup:
    from onrecord.hosts.host_files import HostSetup, ServerEntry

    return HostSetup(
        "cline",
        ("cline",),
        ".cline",
        shim="cline.js",
        shim_file="plugins/onrecord.js",
        server=ServerEntry("data/settings/cline_mcp_settings.json", "mcpServers"),
    )

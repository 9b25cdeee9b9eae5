"""Cline CLI, through a plugin in JavaScript: one call runs several commands or reads several files."""

from __future__ import annotations

import os

from onrecord import coldstart, files
from onrecord.hosts import events
from onrecord.hosts.events import READ, SHELL, WRITE, HostEvent, Payload, absolute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from onrecord.hosts.host_setup import HostSetup
    from onrecord.session.transcript import Message, Transcript

_TOOLS = {"run_commands": SHELL, "read_files": READ, "editor": WRITE, "apply_patch": WRITE}
_LISTS = ("commands", "files", "paths", "file_paths")
_ENDING = ".messages.json"
_MOST_ITEMS = 100
_LARGEST = 4_000_000
"""Bytes: the file of a session is one JSON text, to be read whole or not at all."""

write = events.write


def read(name: str, payload: Payload) -> HostEvent:
    event = events.read(name, payload, _TOOLS)
    listed = list(_listed(payload.inner("tool_input")))
    if event.tool == SHELL:
        event = event._replace(command="\n".join([*filter(None, [event.command]), *listed]))
    names = listed if event.tool in (READ, WRITE) else []
    return event._replace(
        prompt=_typed(event.prompt),
        transcript=_file(payload.text("session_file")),
        files=event.files or absolute(names, event.cwd),
        error="\n".join(_failures(payload)) if event.tool == SHELL else "",
        shows_files=name == "pre_tool_use",
    )


def _file(name: str) -> str:
    """The file of a session, by the name that its plugins know."""
    is_name = name and name == os.path.basename(name) and name.strip(".")
    return os.path.join(_folder(), name, name + _ENDING) if is_name else ""


def _folder() -> str:
    """Where all sessions are kept."""
    home = os.environ.get("CLINE_DIR") or os.path.join(os.path.expanduser("~"), ".cline")
    data = os.environ.get("CLINE_DATA_DIR") or os.path.join(home, "data")
    return os.environ.get("CLINE_SESSION_DATA_DIR") or os.path.join(data, "sessions")


def _listed(tool_input: Payload) -> Iterator[str]:
    """The commands or files of a call, each a text or an object that names it."""
    for key in _LISTS:
        for item in tool_input.items(key)[:_MOST_ITEMS]:
            named = Payload(item if isinstance(item, dict) else {"path": item})
            yield from filter(None, (named.text("path"), named.text("command")))


def _failures(payload: Payload) -> Iterator[str]:
    """What the commands printed that failed."""
    for item in payload.items("tool_response")[:_MOST_ITEMS]:
        result = Payload(item if isinstance(item, dict) else {})
        if result.fields.get("success") is False:
            error = result.text("error").replace("Command exited with code", "Exit code")
            yield f"{error}\n{result.text('result')}"


def _typed(prompt: str) -> str:
    """What a person typed: the host puts it into an element."""
    start, end = prompt.find("<user_input"), prompt.rfind("</user_input>")
    inner = prompt[start:end].partition(">")[2] if 0 <= start < end else prompt
    return inner.strip()


def transcript(path: str) -> Transcript:
    from onrecord.session.transcript import Format, Transcript

    return Transcript(path, Format(_entries, messages))


def sessions(project: str) -> list[str]:
    """The files that hold sessions of a project: what the model was told at the start says where."""
    from onrecord.hosts import session_files

    every = session_files.newest(_folder(), _ENDING, depth=1)
    return [file for file in every if session_files.names(file, project, "Working Directory: ", _LARGEST)]


def _entries(path: str, size: int, is_head: bool) -> tuple[list[Any], bool]:
    try:
        data = files.read(path, _LARGEST + 1)
        session = coldstart.loads(data.decode("utf-8", "replace")) if len(data) <= _LARGEST else {}
    except (OSError, ValueError):
        return [], True
    entries = Payload(session if isinstance(session, dict) else {}).items("messages")
    return entries, True


def messages(entry: Any) -> Iterator[Message]:
    """What was said and done in a message of a session, and what a hook added there."""
    from onrecord.session import transcript

    message = Payload(entry if isinstance(entry, dict) else {})
    is_added = message.inner("metadata").text("displayRole") == "system"
    for block in message.items("content"):
        fields = Payload(block if isinstance(block, dict) else {})
        if is_added and fields.text("text"):
            yield transcript.context_message(fields.text("text"))
        elif message.text("role") in ("user", "assistant"):
            yield from _block(message, fields)


def _block(message: Payload, block: Payload) -> Iterator[Message]:
    from onrecord.hosts import session_files
    from onrecord.session import transcript

    kind, role = block.text("type"), message.text("role")
    if kind == "text":
        at = session_files.moment(message.fields.get("ts"))
        yield from transcript.text_messages(role, _typed(block.text("text")), at, message.text("id"))
    elif kind == "tool_use":
        named = Payload({"tool_name": block.text("name"), "tool_input": block.inner("input").fields})
        yield from session_files.tool_use(read("", named), block.text("name"), block.inner("input").fields)
    elif kind == "tool_result":
        yield transcript.tool_result(
            transcript.content_text(block.fields.get("content")), has_failed=block.flag("is_error")
        )


def setup() -> HostSetup:
    from onrecord.hosts.host_setup import HostSetup, ServerEntry

    return HostSetup(
        "cline",
        ("cline",),
        ".cline",
        shim="cline.js",
        shim_file="plugins/onrecord.js",
        server=ServerEntry("data/settings/cline_mcp_settings.json", "mcpServers"),
    )

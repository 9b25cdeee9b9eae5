"""Claude Code: its events have all the fields of a HostEvent, and it delivers every reply."""

from __future__ import annotations

import os

from onrecord import paths
from onrecord.hosts.events import (
    MAX_SESSIONS,
    POWERSHELL,
    READ,
    SHELL,
    TASK,
    WRITE,
    HookReply,
    HostEvent,
    Payload,
    common_event,
    event_name,
    specific_output,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from onrecord.hosts.host_files import HostSetup
    from onrecord.session.transcript import Message, Transcript

_TOOLS = {
    "Read": READ,
    "Edit": WRITE,
    "MultiEdit": WRITE,
    "Write": WRITE,
    "NotebookEdit": WRITE,
    "Bash": SHELL,
    "PowerShell": POWERSHELL,
    "Task": TASK,
    "Agent": TASK,
}
_MAX_NAME_CHARS = 200
"""Length at which the host cuts the name of a folder and appends a hash."""

_EDITOR = "<ide_"
"""Start of the texts that an editor adds to a prompt."""


def read(name: str, payload: Payload) -> HostEvent:
    event = common_event(name, payload, _TOOLS)
    return event._replace(
        is_typed=payload.text("source") in ("", "user", "sdk"),
        error="" if payload.flag("is_interrupt") else event.error,
        is_attended=_is_attended(),
        shows_files=name == "pre_tool_use",
    )


def write(event: HostEvent, reply: HookReply) -> dict[str, Any]:
    return specific_output(event_name(event), reply)


def _is_attended() -> bool:
    entrypoint = os.environ.get("CLAUDE_CODE_ENTRYPOINT", "")
    return os.environ.get("CLAUDE_CODE_SESSION_ATTENDED") != "0" and not entrypoint.startswith("sdk")


def transcript(path: str) -> Transcript:
    from onrecord.session.transcript import Format, Transcript, read_lines

    return Transcript(path, Format(read_lines, messages, _may_be_typed))


def sessions(project: str, limit: int = MAX_SESSIONS) -> list[str]:
    """Return the session files of a project."""
    from onrecord.hosts import session_files

    own_name = mangled(project)
    return [
        file
        for folder in folders(project)
        for file in session_files.newest(folder, ".jsonl", depth=0, limit=limit)
        if os.path.basename(folder) == own_name or session_files.names_project(file, project, '"cwd":"')
    ]


def folders(project: str) -> list[str]:
    """Return the folders with sessions of a project: its own, then those of the folders below it."""
    base = os.path.join(os.path.dirname(paths.user_store()), "projects")
    own_name = mangled(project)
    try:
        names = sorted(os.listdir(base))
    except OSError:
        return []
    if len(own_name) > _MAX_NAME_CHARS:
        return [os.path.join(base, name) for name in names if name.startswith(own_name[:_MAX_NAME_CHARS] + "-")]
    below = [name for name in names if name.startswith(own_name.rstrip("-") + "-")]
    return [os.path.join(base, name) for name in ([own_name] if own_name in names else []) + below]


def mangled(path: str) -> str:
    """Return the name of the host's folder for a path: each UTF-16 unit that is not a letter or digit is a hyphen."""
    parts = (char if char.isascii() and char.isalnum() else "-" * (1 + (char > "\uffff")) for char in path)
    return "".join(parts)


def _may_be_typed(raw_line: bytes) -> bool:
    return (b'"user"' in raw_line or b'"human"' in raw_line) and b"tool_result" not in raw_line


def messages(raw_line: bytes) -> Iterator[Message]:
    """Yield the messages in a line of a session, with the tool calls and what a hook added."""
    from onrecord.session import transcript

    entry = transcript.parse_line(raw_line)
    if entry.get("isMeta") or entry.get("isSidechain"):
        return
    role, message = entry.get("type"), Payload(entry).inner("message")
    # Programs that write sessions in this form have called the user so.
    role = "user" if role == "human" else role
    if role == "attachment":
        yield from _hook_context(Payload(entry).inner("attachment"))
    elif role in ("user", "assistant"):
        content = message.fields.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else message.items("content")
        for block in blocks:
            if isinstance(block, dict):
                yield from _message(role, Payload(block), Payload(entry))


def _hook_context(attachment: Payload) -> Iterator[Message]:
    from onrecord.session.transcript import Message

    if attachment.text("type") == "hook_additional_context":
        content = attachment.fields.get("content")
        texts = content if isinstance(content, list) else [content]
        yield from (Message("system", "context", text) for text in texts if isinstance(text, str))


def _message(role: str, block: Payload, payload: Payload) -> Iterator[Message]:
    from onrecord.session import transcript

    kind = block.text("type")
    if kind == "text" and not block.text("text").startswith(_EDITOR):
        yield from transcript.text_messages(
            role, block.text("text"), payload.text("timestamp"), payload.text("uuid"), payload.text("sessionId")
        )
    elif kind == "tool_use" and block.text("name"):
        yield transcript.Message(role, "tool_use", "", block.text("name"), block.inner("input").fields)
    elif kind == "tool_result":
        content = transcript.content_text(block.fields.get("content"))
        yield transcript.tool_result(content, has_failed=bool(block.fields.get("is_error")))


def setup() -> HostSetup:
    from onrecord.hosts.host_files import Hooks, HostPlugin, HostSetup, claude_wires

    tools = "Read|Edit|MultiEdit|Write|NotebookEdit|Bash|PowerShell|Task|Agent"
    return HostSetup(
        "claude-code",
        ("claude",),
        ".claude",
        ("CLAUDE_CONFIG_DIR", ""),
        hooks=Hooks("settings.json", claude_wires(tools, "Bash|PowerShell")),
        plugin=HostPlugin("registry", "claude plugin uninstall memory@onrecord"),
        own_skills="skills",
    )

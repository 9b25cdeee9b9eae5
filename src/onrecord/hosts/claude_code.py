"""Claude Code: its events have all the fields of a `HostEvent`, and it delivers every reply."""

from __future__ import annotations

import os

from onrecord import paths
from onrecord.hosts.events import (
    POWERSHELL,
    READ,
    SHELL,
    WRITE,
    HookReply,
    HostEvent,
    Payload,
    common,
    event_name,
    specific,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from onrecord.hosts.host_setup import HostSetup
    from onrecord.session.transcript import Message, Transcript

_TOOLS = {
    "Read": READ,
    "Edit": WRITE,
    "MultiEdit": WRITE,
    "Write": WRITE,
    "NotebookEdit": WRITE,
    "Bash": SHELL,
    "PowerShell": POWERSHELL,
}
_LONGEST_NAME = 200
_EDITOR = "<ide_"
"""How the texts begin that an editor puts beside what was typed."""


def read(name: str, payload: Payload) -> HostEvent:
    event = common(name, payload, _TOOLS)
    return event._replace(
        is_typed=payload.text("source") in ("", "user", "sdk"),
        error="" if payload.flag("is_interrupt") else event.error,
        is_attended=_is_attended(),
        shows_files=name == "pre_tool_use",
    )


def write(event: HostEvent, reply: HookReply) -> dict[str, Any]:
    return specific(event_name(event), reply)


def _is_attended() -> bool:
    entrance = os.environ.get("CLAUDE_CODE_ENTRYPOINT", "")
    return os.environ.get("CLAUDE_CODE_SESSION_ATTENDED") != "0" and not entrance.startswith("sdk")


def transcript(path: str) -> Transcript:
    from onrecord.session.transcript import Format, Transcript, read_lines

    return Transcript(path, Format(read_lines, messages, _may_be_typed))


def sessions(project: str) -> list[str]:
    """The files that hold sessions of a project."""
    from onrecord.hosts import session_files

    own = mangled(project)
    return [
        file
        for folder in folders(project)
        for file in session_files.newest(folder, ".jsonl", depth=0)
        if os.path.basename(folder) == own or session_files.names(file, project, '"cwd":"')
    ]


def folders(project: str) -> list[str]:
    """The folders that may hold sessions of a project: its own, then those of the folders below it."""
    base = os.path.join(os.path.dirname(paths.user_store()), "projects")
    name = mangled(project)
    try:
        there = sorted(os.listdir(base))
    except OSError:
        return []
    if len(name) > _LONGEST_NAME:
        # The host cuts such a name and puts a hash behind it.
        return [os.path.join(base, each) for each in there if each.startswith(name[:_LONGEST_NAME] + "-")]
    below = [each for each in there if each.startswith(name.rstrip("-") + "-")]
    return [os.path.join(base, each) for each in ([name] if name in there else []) + below]


def mangled(path: str) -> str:
    """A path as the host names a folder after it: every UTF-16 unit that is not a letter or digit is a hyphen."""
    parts = (char if char.isascii() and char.isalnum() else "-" * (1 + (char > "\uffff")) for char in path)
    return "".join(parts)


def _may_be_typed(line: bytes) -> bool:
    return b'"user"' in line and b"tool_result" not in line


def messages(line: bytes) -> Iterator[Message]:
    """What was said and done in a line of a session, and what a hook added there."""
    from onrecord.session import transcript

    entry = transcript.parse_line(line)
    if entry.get("isMeta") or entry.get("isSidechain"):
        return
    role, message = entry.get("type"), Payload(entry).inner("message")
    if role == "attachment":
        yield from _added(Payload(entry).inner("attachment"))
    elif role in ("user", "assistant"):
        content = message.fields.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else message.items("content")
        for block in blocks:
            if isinstance(block, dict):
                yield from _message(role, block, Payload(entry))


def _added(attachment: Payload) -> Iterator[Message]:
    from onrecord.session.transcript import Message

    if attachment.text("type") == "hook_additional_context":
        content = attachment.fields.get("content")
        texts = content if isinstance(content, list) else [content]
        yield from (Message("system", "context", text) for text in texts if isinstance(text, str))


def _message(role: str, block: Mapping[str, Any], entry: Payload) -> Iterator[Message]:
    from onrecord.session import transcript

    kind, fields = block.get("type"), Payload(block)
    if kind == "text" and not fields.text("text").startswith(_EDITOR):
        yield from transcript.text_messages(role, fields.text("text"), entry.text("timestamp"), entry.text("uuid"))
    elif kind == "tool_use" and fields.text("name"):
        yield transcript.Message(role, "tool_use", "", fields.text("name"), fields.inner("input").fields)
    elif kind == "tool_result":
        yield transcript.tool_result(
            transcript.content_text(block.get("content")), has_failed=bool(block.get("is_error"))
        )


def setup() -> HostSetup:
    from onrecord.hosts.host_setup import Hooks, HostPlugin, HostSetup, claude_wires

    tools = "Read|Edit|MultiEdit|Write|NotebookEdit|Bash|PowerShell"
    return HostSetup(
        "claude-code",
        ("claude",),
        ".claude",
        ("CLAUDE_CONFIG_DIR", ""),
        hooks=Hooks("settings.json", claude_wires(tools, "Bash|PowerShell")),
        plugin=HostPlugin("registry", "claude plugin uninstall memory@onrecord"),
        own_skills="skills",
    )

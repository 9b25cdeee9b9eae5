"""Factory Droid: Claude Code's events; prompts are reported only on the screen, failed commands not at all."""

from __future__ import annotations

import os

from onrecord.hosts.events import (
    CONTINUE,
    MAX_SESSIONS,
    READ,
    SHELL,
    WRITE,
    HookReply,
    HostEvent,
    Payload,
    block_decision,
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
    "Execute": SHELL,
    "Read": READ,
    "Edit": WRITE,
    "MultiEdit": WRITE,
    "Create": WRITE,
    "ApplyPatch": WRITE,
}


def read(name: str, payload: Payload) -> HostEvent:
    return common_event(name, payload, _TOOLS)._replace(is_attended=_is_attended(), shows_files=name == "post_tool_use")


def write(event: HostEvent, reply: HookReply) -> dict[str, Any]:
    return block_decision(reply) if reply.kind == CONTINUE else specific_output(event_name(event), reply)


def _is_attended() -> bool:
    """True if the session runs on a screen; the host says so in the environment of its hooks."""
    is_screen = os.environ.get("FACTORY_UPSTREAM_CLIENT_TYPE") == "cli"
    return is_screen and not os.environ.get("FACTORY_EXEC_TARGET_AUTONOMY")


def transcript(path: str) -> Transcript:
    from onrecord.session.transcript import Format, Transcript, read_lines

    return Transcript(path, Format(read_lines, messages, lambda line: b'"user"' in line and b"tool_result" not in line))


def sessions(project: str, limit: int = MAX_SESSIONS) -> list[str]:
    """Return the session files of a project."""
    from onrecord.hosts import session_files

    return session_files.of_project(
        project, os.path.join(os.path.expanduser("~"), ".factory", "sessions"), ".jsonl", depth=1, limit=limit
    )


def messages(raw_line: bytes) -> Iterator[Message]:
    """Yield the messages in a line of a session, with the tool calls and what a hook added."""
    from onrecord.session import transcript

    entry = Payload(transcript.parse_line(raw_line))
    message = entry.inner("message")
    if message.text("visibility") == "user_only":
        yield from _hook_context(message)
    elif entry.text("type") == "message" and not entry.text("id").startswith("context-"):
        for block in message.items("content"):
            yield from _block(message.text("role"), Payload(block if isinstance(block, dict) else {}), entry)


def _block(role: str, block: Payload, payload: Payload) -> Iterator[Message]:
    from onrecord.hosts import session_files
    from onrecord.session import transcript

    kind = block.text("type")
    if kind == "text" and role in ("user", "assistant"):
        yield from transcript.text_messages(role, block.text("text"), payload.text("timestamp"), payload.text("id"))
    elif kind == "tool_use":
        name, arguments = block.text("name"), block.inner("input").fields
        yield from session_files.call(name, arguments, _TOOLS)
    elif kind == "tool_result":
        printed = transcript.content_text(block.fields.get("content"))
        yield transcript.tool_result(printed, has_failed=block.flag("is_error"))


def _hook_context(payload: Payload) -> Iterator[Message]:
    """Yield the texts that hooks printed for the model."""
    from onrecord.session import transcript

    for result in payload.items("hookResults"):
        printed = Payload(result if isinstance(result, dict) else {}).text("stdout")
        output = Payload(transcript.parse_line(printed.encode("utf-8", "replace"))).inner("hookSpecificOutput")
        if output.text("additionalContext"):
            yield transcript.context_message(output.text("additionalContext"))


def setup() -> HostSetup:
    from onrecord.hosts.host_files import Hooks, HostPlugin, HostSetup, ServerEntry, claude_wires

    tools = "Read|Edit|Create|ApplyPatch|Execute"
    return HostSetup(
        "droid",
        ("droid",),
        ".factory",
        hooks=Hooks("settings.json", claude_wires(tools, without="PostToolUseFailure")),
        server=ServerEntry("mcp.json", "mcpServers", "stdio"),
        plugin=HostPlugin("marketplace", "droid plugin uninstall memory"),
        reads_skills=True,
    )

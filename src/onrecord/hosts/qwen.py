"""Qwen Code: Claude Code's events with other tool names; a reply before a tool does not reach the model."""

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
from onrecord.text import plain_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from onrecord.hosts.host_files import HostSetup
    from onrecord.session.transcript import Message, Transcript

_TOOLS = {
    "run_shell_command": SHELL,
    "read_file": READ,
    "write_file": WRITE,
    "edit": WRITE,
    "notebook_edit": WRITE,
}


def read(name: str, payload: Payload) -> HostEvent:
    event = common_event(name, payload, _TOOLS)
    # Results of tools and replies of hooks cause the same event without this field: a reply would be added again.
    prompt = payload.text("submitted_prompt")
    return event._replace(
        prompt=prompt,
        is_typed=bool(prompt),
        error="" if payload.flag("is_interrupt") else _error(event.error),
        is_attended=name == "stop" and _is_attended(event.transcript, payload.text("prompt_id")),
        shows_files=name == "post_tool_use",
    )


def _is_attended(path: str, prompt_id: str) -> bool:
    """True if a prompt was typed on the screen: only for such prompts the host takes a snapshot of files."""
    from onrecord.session import transcript

    snapshots = (line for line in transcript.tail_lines(path)[0] if b'"file_history_snapshot"' in line)
    field = f'"promptId":"{prompt_id}"'.encode("utf-8", "replace")
    return bool(prompt_id) and any(field in line for line in snapshots)


def _error(report: str) -> str:
    """Return exit code and output of a failed command from the host's report."""
    head, match, tail = report.rpartition("\nExit Code: ")
    status = tail.partition("\n")[0]
    body, _, error = head.rpartition("\nError: ")
    printed = body.partition("Output: ")[2] + ("" if error == "(none)" else f"\n{error}")
    return f"Exit code {status}\n{printed}" if match else report


def write(event: HostEvent, reply: HookReply) -> dict[str, Any]:
    # The host escapes tags.
    reply = reply._replace(text=plain_lines(reply.text))
    return block_decision(reply) if reply.kind == CONTINUE else specific_output(event_name(event), reply)


def transcript(path: str) -> Transcript:
    from onrecord.session.transcript import Format, Transcript, read_lines

    return Transcript(path, Format(read_lines, messages, lambda line: b'"real_user"' in line))


def sessions(project: str, limit: int = MAX_SESSIONS) -> list[str]:
    """Return the session files of a project."""
    from onrecord.hosts import session_files

    return session_files.of_project(
        project, os.path.join(os.path.expanduser("~"), ".qwen", "projects"), ".jsonl", depth=2, limit=limit
    )


def messages(raw_line: bytes) -> Iterator[Message]:
    """Yield the messages in a line of a session, with the tool calls and what a hook added."""
    from onrecord.session import transcript

    entry = Payload(transcript.parse_line(raw_line))
    kind, system_payload = entry.text("type"), entry.inner("systemPayload")
    parts = [Payload(part) for part in entry.inner("message").items("parts") if isinstance(part, dict)]
    if kind == "user" and entry.text("provenance") == "real_user":
        words = system_payload.text("displayText") or "\n".join(part.text("text") for part in parts)
        yield from transcript.text_messages("user", words, entry.text("timestamp"), entry.text("uuid"))
        if system_payload.text("hookContext"):
            yield transcript.context_message(system_payload.text("hookContext"))
    for part in parts if kind in ("assistant", "tool_result") else ():
        yield from _part(part, entry.inner("toolCallResult"))


def _part(part: Payload, tool_result: Payload) -> Iterator[Message]:
    """Yield a text, a tool call, or the result of one."""
    from onrecord.hosts import session_files
    from onrecord.session import transcript

    call, response = part.inner("functionCall"), part.inner("functionResponse").inner("response")
    if part.text("text") and not part.flag("thought"):
        yield from transcript.text_messages("assistant", part.text("text"))
    if call.text("name"):
        name, arguments = call.text("name"), call.inner("args").fields
        yield from session_files.call(name, arguments, _TOOLS)
    if response.fields:
        exit_code = tool_result.inner("resultDisplay").fields.get("exitCode")
        has_failed = tool_result.text("status") == "error" or bool(exit_code)
        yield from transcript.tool_results(response.text("output") or response.text("error"), has_failed=has_failed)


def setup() -> HostSetup:
    from onrecord.hosts.host_files import Hooks, HostPlugin, HostSetup, ServerEntry, claude_wires

    tools = "read_file|write_file|edit|notebook_edit|run_shell_command"
    return HostSetup(
        "qwen",
        ("qwen",),
        ".qwen",
        ("QWEN_HOME", ""),
        hooks=Hooks("settings.json", claude_wires(tools, "run_shell_command")),
        server=ServerEntry("settings.json", "mcpServers"),
        plugin=HostPlugin("folder", "qwen extensions uninstall memory"),
        reads_skills=True,
        project_folder=".qwen",
    )

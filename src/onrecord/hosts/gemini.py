"""Gemini CLI: its events have other names, and `deny` is its only decision.

A reply at the start of a session would break the session when it is resumed, so it is delivered with the first prompt.
The host reports a compression before every request; only those that a person starts count.
"""

from __future__ import annotations

import os

from onrecord.hosts.events import (
    ADD,
    COMPACTION,
    MAX_SESSIONS,
    READ,
    SHELL,
    START,
    WRITE,
    HookReply,
    HostEvent,
    Payload,
    common_event,
    failure,
    specific_output,
)
from onrecord.text import plain_lines, remove_elements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from onrecord.hosts.host_files import HostSetup
    from onrecord.session.transcript import Message, Transcript

_TOOLS = {"run_shell_command": SHELL, "read_file": READ, "write_file": WRITE, "replace": WRITE}
_NAMES = {"user_prompt_submit": "BeforeAgent", "post_tool_use": "AfterTool"}
_HEAD_BYTES = 8_000
"""Start of a session's file, which has the session's id."""

_LATE = {"session_start": START, "user_prompt_submit": START, "pre_compact": COMPACTION}


def read(name: str, payload: Payload) -> HostEvent | None:
    if name == "pre_compact" and payload.text("trigger") != "manual":
        return None
    event = common_event(name, payload, _TOOLS)
    printed = payload.inner("tool_response").text("llmContent")
    return event._replace(
        prompt=remove_elements(event.prompt, ["hook_context"]),
        last_message=payload.text("prompt_response"),
        error=_error(printed) if event.tool == SHELL else "",
        shows_files=name == "post_tool_use",
        late=_LATE.get(name, ""),
    )


def _error(report: str) -> str:
    """Return exit code and output of a failed command from the host's report; empty if it succeeded."""
    status = failure(report, "Exit Code: ").partition("\n")[0]
    printed = report.rpartition("\nExit Code: ")[0].partition("Output: ")[2]
    return f"{status}\n{printed}" if status else ""


def write(event: HostEvent, reply: HookReply) -> dict[str, Any]:
    # The host escapes tags.
    reply = reply._replace(text=plain_lines(reply.text))
    if reply.kind != ADD:
        return {"decision": "deny", "reason": reply.text}
    return specific_output(_NAMES[event.name], reply) if event.name in _NAMES else {}


def transcript(path: str) -> Transcript:
    from onrecord.session.transcript import Format, Transcript

    return Transcript(path, Format(_entries, messages, session_id=_session_id))


def _session_id(path: str) -> str:
    """Return the session's id from the first line of its file, whose name has only the beginning of the id."""
    from onrecord.session import transcript

    lines, _ = transcript.read_lines(path, _HEAD_BYTES, True)
    return Payload(transcript.parse_line(lines[0]) if lines else {}).text("sessionId")


def sessions(project: str, limit: int = MAX_SESSIONS) -> list[str]:
    """Return the session files of a project, which is named at the start of each file."""
    from onrecord.hosts import session_files

    return session_files.of_project(
        project,
        os.path.join(os.path.expanduser("~"), ".gemini", "tmp"),
        ".jsonl",
        depth=2,
        limit=limit,
        prefix="Directories:**\\n  - ",
    )


def _entries(path: str, size: int, is_head: bool) -> tuple[list[Any], bool]:
    """Return the messages in a part of a file. A later line replaces one with the same id; `$set` replaces all."""
    from onrecord.session import transcript

    lines, is_all = transcript.read_lines(path, size, is_head)
    entries: dict[str, Any] = {}
    for line in lines:
        entry = Payload(transcript.parse_line(line))
        replacement = entry.inner("$set").items("messages")
        if replacement:
            entries = {}
        for message in replacement or [entry.fields]:
            if isinstance(message, dict) and isinstance(message.get("id"), str):
                entries[message["id"]] = message
    return list(entries.values()), is_all


def messages(entry: Any) -> Iterator[Message]:
    """Yield the messages in an entry of a session, with the tool calls and what a hook added."""
    from onrecord.session import transcript

    fields = Payload(entry)
    words = transcript.content_text(fields.fields.get("content"))
    if fields.text("type") == "user":
        context = words.partition("<hook_context>")[2].partition("</hook_context>")[0]
        if context:
            yield transcript.context_message(context)
        yield from transcript.text_messages("user", words, fields.text("timestamp"), fields.text("id"))
    elif fields.text("type") == "gemini":
        yield from transcript.text_messages("assistant", words)
        for call in fields.items("toolCalls"):
            if isinstance(call, dict):
                yield from _call(Payload(call))


def _call(call: Payload) -> Iterator[Message]:
    """Yield a tool call and its result."""
    from onrecord.hosts import session_files
    from onrecord.session import transcript

    name, arguments = call.text("name"), call.inner("args").fields
    yield from session_files.call(name, arguments, _TOOLS)
    results = [Payload(part) for part in call.items("result") if isinstance(part, dict)]
    printed = "\n".join(part.inner("functionResponse").inner("response").text("output") for part in results)
    has_failed = call.text("status") == "error" or bool(failure(printed, "Exit Code: "))
    yield from transcript.tool_results(printed, has_failed=has_failed)


def setup() -> HostSetup:
    from onrecord.hosts.host_files import Hooks, HookWire, HostSetup, ServerEntry

    tools = "read_file|write_file|replace|run_shell_command"
    wires = (
        HookWire("SessionStart", "session_start"),
        HookWire("BeforeAgent", "user_prompt_submit"),
        HookWire("BeforeTool", "pre_tool_use", tools),
        HookWire("AfterTool", "post_tool_use", tools),
        HookWire("AfterAgent", "stop"),
        HookWire("PreCompress", "pre_compact"),
        HookWire("SessionEnd", "session_end"),
    )
    return HostSetup(
        "gemini",
        ("gemini",),
        ".gemini",
        ("GEMINI_CLI_HOME", ".gemini"),
        hooks=Hooks("settings.json", wires, form="named"),
        server=ServerEntry("settings.json", "mcpServers"),
        reads_skills=True,
        project_folder=".gemini",
    )

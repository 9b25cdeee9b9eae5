"""GitHub Copilot CLI: fields of replies are at the top level; a hook that fails before a tool stops the tool.

Its events report a failed command as a success, with the exit status in the text. It shows nothing after a compaction.
"""

from __future__ import annotations

import os

from onrecord.hosts.events import (
    ADD,
    COMPACTION,
    CONTINUE,
    MAX_SESSIONS,
    POWERSHELL,
    READ,
    SHELL,
    WRITE,
    HookReply,
    HostEvent,
    Payload,
    block_decision,
    common_event,
    failure,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from onrecord.hosts.host_files import HostSetup
    from onrecord.session.transcript import Message, Transcript

_TOOLS = {
    "Bash": SHELL,
    "PowerShell": POWERSHELL,
    "Read": READ,
    "Edit": WRITE,
    "MultiEdit": WRITE,
    "Write": WRITE,
    "apply_patch": WRITE,
}
_OWN_TOOLS = {
    "bash": SHELL,
    "powershell": POWERSHELL,
    "view": READ,
    "edit": WRITE,
    "create": WRITE,
    "str_replace": WRITE,
    "apply_patch": WRITE,
}
_MAX_BYTES = 4_000_000
"""End of a session's file that is searched for the system message."""

_RECENT_BYTES = 50_000
_WAIT_SECONDS, _PAUSE_SECONDS = 0.5, 0.02
"""How long to wait for the end of a turn in the session's file, which takes the host 0.1 s, and between two looks."""

_SOURCES = {"new": "startup"}


def read(name: str, payload: Payload) -> HostEvent:
    event = common_event(name, payload, _TOOLS)
    printed = payload.inner("tool_result").text("text_result_for_llm")
    path = event.transcript or _transcript(event.session)
    if name == "stop":
        _wait_for_end(path, payload.text("timestamp"))
    return event._replace(
        source=_SOURCES.get(event.source, event.source),
        transcript=path,
        is_attended=name == "stop" and _is_attended(path),
        error=failure(printed, "completed with exit code ") if event.tool in (SHELL, POWERSHELL) else "",
        shows_files=name == "pre_tool_use",
        late=COMPACTION if name in ("user_prompt_submit", "pre_compact") else "",
    )


def write(event: HostEvent, reply: HookReply) -> dict[str, Any]:
    if reply.kind == CONTINUE:
        return block_decision(reply)
    if reply.kind == ADD:
        return {"additionalContext": reply.text}
    return {"permissionDecision": "deny", "permissionDecisionReason": reply.text}


def _wait_for_end(path: str, started: str) -> None:
    """Wait until the session's file has the turn that ended: the host still writes it while this hook runs.

    The last line that it writes is the start of the hook, with the timestamp that the hook got.
    """
    import time

    from onrecord.session import transcript

    deadline, mark = time.monotonic() + _WAIT_SECONDS, started.encode()
    while mark and time.monotonic() < deadline:
        if any(mark in line for line in transcript.tail_lines(path, _RECENT_BYTES)[0]):
            return
        time.sleep(_PAUSE_SECONDS)


def _is_attended(path: str) -> bool:
    """True if the session runs on a screen; the last system message says so."""
    from onrecord.session import transcript

    lines, _ = transcript.tail_lines(path, _MAX_BYTES)
    system_message = next((line for line in reversed(lines) if line.startswith(b'{"type":"system.message"')), b"")
    return b"You are an interactive tool" in system_message


def _transcript(session: str) -> str:
    """Return the file of a session: most events do not name it."""
    if not session or not session.replace("-", "").isalnum():
        return ""
    return os.path.join(_home(), "session-state", session, "events.jsonl")


def _home() -> str:
    return os.environ.get("COPILOT_HOME") or os.path.join(os.path.expanduser("~"), ".copilot")


def transcript(path: str) -> Transcript:
    from onrecord.session.transcript import Format, Transcript, read_lines

    return Transcript(path, Format(read_lines, messages, lambda line: b'"user.message"' in line))


def sessions(project: str, limit: int = MAX_SESSIONS) -> list[str]:
    """Return the session files of a project."""
    from onrecord.hosts import session_files

    return session_files.of_project(
        project, os.path.join(_home(), "session-state"), "events.jsonl", depth=1, limit=limit
    )


def messages(raw_line: bytes) -> Iterator[Message]:
    """Yield the messages in a line of a session, with the tool calls and what a hook added."""
    from onrecord.hosts import session_files
    from onrecord.session import transcript

    entry = Payload(transcript.parse_line(raw_line))
    kind, data = entry.text("type"), entry.inner("data")
    if kind == "user.message":
        yield from transcript.text_messages("user", data.text("content"), entry.text("timestamp"), entry.text("id"))
    elif kind == "assistant.message":
        yield from transcript.text_messages("assistant", data.text("content"))
    elif kind == "tool.execution_start":
        arguments = data.inner("arguments").fields
        yield from session_files.tool_use(_call(data.text("toolName"), arguments), data.text("toolName"), arguments)
    elif kind == "tool.execution_complete":
        status = data.inner("shellExecution").fields.get("exitCode")
        result = data.inner("result")
        printed = result.text("detailedContent") or result.text("content")
        yield transcript.tool_result(printed, has_failed=bool(status) or data.fields.get("success") is False)
    elif kind == "hook.end" and data.inner("output").text("additionalContext"):
        yield transcript.context_message(data.inner("output").text("additionalContext"))


def _call(name: str, arguments: Mapping[str, Any]) -> HostEvent:
    """Return a tool call of a session, where tools have other names than in events."""
    return common_event("", Payload({"tool_name": name, "tool_input": arguments}), _OWN_TOOLS)


def setup() -> HostSetup:
    from onrecord.hosts.host_files import Hooks, HostPlugin, HostSetup, ServerEntry, claude_wires

    wires = claude_wires(without="PostToolUseFailure")
    return HostSetup(
        "copilot",
        ("copilot",),
        ".copilot",
        ("COPILOT_HOME", ""),
        hooks=Hooks("hooks/onrecord.json", wires, fields=(("version", 1),)),
        server=ServerEntry("mcp-config.json", "mcpServers", "local"),
        plugin=HostPlugin("marketplace", "copilot plugin uninstall memory@onrecord"),
        reads_skills=True,
    )

"""GitHub Copilot CLI: answers stand at the top level; a hook that fails before a tool keeps the tool from running.

A command that fails is a success to its events: the exit status is in the text. Nothing is shown after a compaction.
"""

from __future__ import annotations

import os

from onrecord.hosts.events import (
    ADD,
    COMPACTION,
    CONTINUE,
    POWERSHELL,
    READ,
    SHELL,
    WRITE,
    HookReply,
    HostEvent,
    Payload,
    block,
    common,
    failed,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from onrecord.hosts.host_setup import HostSetup
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
_LARGEST = 4_000_000
"""Bytes at the end of a session that are searched for what the host told its model about itself."""

_RECENT = 50_000
_PATIENCE, _PAUSE = 0.5, 0.02
"""Seconds to wait for the end of a session in its file, which takes the host a tenth of one; and between two looks."""

_SOURCES = {"new": "startup"}


def read(name: str, payload: Payload) -> HostEvent:
    event = common(name, payload, _TOOLS)
    printed = payload.inner("tool_result").text("text_result_for_llm")
    path = event.transcript or _transcript(event.session)
    if name == "stop":
        _wait_for_end(path, payload.text("timestamp"))
    return event._replace(
        source=_SOURCES.get(event.source, event.source),
        transcript=path,
        is_attended=name == "stop" and _is_attended(path),
        error=failed(printed, "completed with exit code ") if event.tool in (SHELL, POWERSHELL) else "",
        shows_files=name == "pre_tool_use",
        late=COMPACTION if name in ("user_prompt_submit", "pre_compact") else "",
    )


def write(event: HostEvent, reply: HookReply) -> dict[str, Any]:
    if reply.kind == CONTINUE:
        return block(reply)
    if reply.kind == ADD:
        return {"additionalContext": reply.text}
    return {"permissionDecision": "deny", "permissionDecisionReason": reply.text}


def _wait_for_end(path: str, started: str) -> None:
    """Wait until the file of a session has the turn that ended: the host goes on writing it while this hook runs.

    The last that it writes is that the hook has started, with the time that the hook was given.
    """
    import time

    from onrecord.session import transcript

    latest, mark = time.monotonic() + _PATIENCE, started.encode()
    while (
        mark and time.monotonic() < latest and not any(mark in line for line in transcript.tail_lines(path, _RECENT)[0])
    ):
        time.sleep(_PAUSE)


def _is_attended(path: str) -> bool:
    """Whether the session runs on the screen: what the model was told last about itself says so."""
    from onrecord.session import transcript

    read_lines, _ = transcript.tail_lines(path, _LARGEST)
    about = next((line for line in reversed(read_lines) if line.startswith(b'{"type":"system.message"')), b"")
    return b"You are an interactive tool" in about


def _transcript(session: str) -> str:
    """Where a session is kept: most events do not say."""
    if not session or not session.replace("-", "").isalnum():
        return ""
    return os.path.join(_home(), "session-state", session, "events.jsonl")


def _home() -> str:
    return os.environ.get("COPILOT_HOME") or os.path.join(os.path.expanduser("~"), ".copilot")


def transcript(path: str) -> Transcript:
    from onrecord.session.transcript import Format, Transcript, read_lines

    return Transcript(path, Format(read_lines, messages, lambda line: b'"user.message"' in line))


def sessions(project: str) -> list[str]:
    """The files that hold sessions of a project."""
    from onrecord.hosts import session_files

    every = session_files.newest(os.path.join(_home(), "session-state"), "events.jsonl", depth=1)
    return [file for file in every if session_files.names(file, project, '"cwd":"')]


def messages(line: bytes) -> Iterator[Message]:
    """What was said and done in a line of a session, and what a hook added there."""
    from onrecord.hosts import session_files
    from onrecord.session import transcript

    entry = Payload(transcript.parse_line(line))
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
    """A tool call in a session, where tools have other names than in events."""
    return common("", Payload({"tool_name": name, "tool_input": arguments}), _OWN_TOOLS)


def setup() -> HostSetup:
    from onrecord.hosts.host_setup import Hooks, HostPlugin, HostSetup, ServerEntry, claude_wires

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

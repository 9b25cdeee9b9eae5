"""Codex CLI: Claude Code's events except the one for failures; a reply with an unknown key is refused.

The exit status of a command is only in the session's file, where it is written before the hook runs.
"""

from __future__ import annotations

import os

from onrecord import coldstart, files
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
    "Bash": SHELL,
    "exec_command": SHELL,
    "shell": SHELL,
    "apply_patch": WRITE,
    "Edit": WRITE,
    "Write": WRITE,
    "Read": READ,
}
_HEAD_BYTES = 8_000
"""Start of a session's file, which says how the session was started."""

_TAIL_BYTES = (200_000, 8_000_000)
"""End of a session's file that is searched for the result of a command, which includes its whole output."""

_MAX_CHANGED_FILES = 50
_ID_START = len("rollout-2026-11-16T02-03-48-")
_MAX_CONTEXT_BYTES = 9_900
"""Length of a reply; of a longer one the host shows only the beginning and the end."""


def read(name: str, payload: Payload) -> HostEvent:
    event = common_event(name, payload, _TOOLS)
    return event._replace(
        is_attended=name in ("stop", "session_start") and _is_attended(event.transcript),
        error=_error(event, payload) if name == "post_tool_use" and event.tool == SHELL else "",
        shows_files=name == "pre_tool_use",
    )


def write(event: HostEvent, reply: HookReply) -> dict[str, Any]:
    text = reply.text.encode("utf-8", "replace")[:_MAX_CONTEXT_BYTES].decode("utf-8", "ignore")
    reply = reply._replace(text=text)
    return block_decision(reply) if reply.kind == CONTINUE else specific_output(event_name(event), reply)


def _is_attended(transcript: str) -> bool:
    """True if the session runs on a screen; the first line of its file says so."""
    try:
        head = files.read(transcript, _HEAD_BYTES)
    except (OSError, ValueError):
        return False
    return b'"source":"cli"' in head or b'"source":"vscode"' in head


def _error(event: HostEvent, payload: Payload) -> str:
    """Return exit code and output of a failed command; the event itself does not say whether it failed."""
    call = payload.text("tool_use_id").encode("utf-8", "replace")
    if not call:
        return ""
    from onrecord.session import transcript

    for size in _TAIL_BYTES:
        lines, is_whole = transcript.tail_lines(event.transcript, size)
        results = [line for line in lines if call in line and b'"CommandExecution"' in line]
        if results:
            status = _exit_status(results[-1])
            return f"Exit code {status}\n{payload.text('tool_response')}" if status else ""
        if is_whole:
            break
    return ""


def _exit_status(raw_line: bytes) -> int:
    try:
        entry = Payload({"entry": coldstart.loads(raw_line.decode("utf-8", "replace"))})
    except ValueError:
        return 0
    status = entry.inner("entry").inner("payload").inner("item").fields.get("exit_code")
    return status if isinstance(status, int) else 0


def transcript(path: str) -> Transcript:
    from onrecord.session.transcript import Format, Transcript, read_lines

    return Transcript(path, Format(read_lines, messages, lambda line: b'"UserMessage"' in line, session_id=_session_id))


def _session_id(path: str) -> str:
    """Return the session's id, which follows the date in the name of its file: `rollout-2026-11-16T02-03-48-ID`."""
    from onrecord.session import transcript

    return transcript.name_in_path(path)[_ID_START:]


def sessions(project: str, limit: int = MAX_SESSIONS) -> list[str]:
    """Return the session files of a project. The host sorts the files of all projects by date."""
    from onrecord.hosts import session_files

    home = os.environ.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")
    return session_files.of_project(
        project, os.path.join(home, "sessions"), ".jsonl", depth=3, limit=limit, size=_HEAD_BYTES
    )


def messages(raw_line: bytes) -> Iterator[Message]:
    """Yield the messages in a line of a session, with the tool calls and what a hook added.

    Only the items are read: other lines repeat them, or are texts of the host for the model.
    """
    from onrecord.session import transcript

    if b'"item_completed"' not in raw_line and b'"developer"' not in raw_line:
        return
    entry = Payload(transcript.parse_line(raw_line))
    payload = entry.inner("payload")
    if payload.text("role") == "developer" and "<memory-context" in transcript.content_text(
        payload.fields.get("content")
    ):
        yield transcript.context_message(transcript.content_text(payload.fields.get("content")))
    item = payload.inner("item")
    content = transcript.content_text(item.fields.get("content"))
    if item.text("type") == "UserMessage":
        yield from transcript.text_messages("user", content, entry.text("timestamp"), item.text("id"))
    elif item.text("type") == "AgentMessage":
        yield from transcript.text_messages("assistant", content)
    elif item.text("type") in ("CommandExecution", "FileChange"):
        yield from _tool_use(item)


def _tool_use(payload: Payload) -> Iterator[Message]:
    """Yield a command or a change of files, and its result."""
    from onrecord.session import transcript

    if payload.text("type") == "CommandExecution":
        words = [word for word in payload.items("command") if isinstance(word, str)]
        # The last word is the command; those before it are the shell and its options.
        yield transcript.Message("assistant", "tool_use", "", "Bash", {"command": words[-1] if words else ""})
        output, has_failed = payload.text("aggregated_output"), bool(payload.fields.get("exit_code"))
        yield transcript.tool_result(output, has_failed=has_failed)
        return
    changes = payload.inner("changes")
    for file in list(changes.fields)[:_MAX_CHANGED_FILES]:
        fields = {"file_path": file, **_texts(changes.inner(file))}
        yield transcript.Message("assistant", "tool_use", "", "Edit", fields)
        yield transcript.tool_result("", has_failed=payload.text("status") == "failed")


def _texts(payload: Payload) -> dict[str, str]:
    """Return the texts of a changed file, under Claude Code's names: all of it, or the lines that a diff changes."""
    if payload.text("type") == "add":
        return {"content": payload.text("content")}
    lines = payload.text("unified_diff").split("\n")
    return {
        "old_string": "\n".join(line[1:] for line in lines if line.startswith("-") and not line.startswith("--- ")),
        "new_string": "\n".join(line[1:] for line in lines if line.startswith("+") and not line.startswith("+++ ")),
    }


def setup() -> HostSetup:
    from onrecord.hosts.host_files import Hooks, HostPlugin, HostSetup, ServerEntry, claude_wires

    return HostSetup(
        "codex",
        ("codex",),
        ".codex",
        ("CODEX_HOME", ""),
        hooks=Hooks("hooks.json", claude_wires("Edit|Write|Bash", without="PostToolUseFailure")),
        server=ServerEntry("config.toml", "mcp_servers", "toml"),
        plugin=HostPlugin("toml", "codex plugin remove memory@onrecord"),
        reads_skills=True,
        project_folder=".codex",
        next_steps=(
            'Start `codex` on its screen. It says that hooks need review: choose "Trust all and continue", or look at'
            " them with /hooks first. Until then Codex skips them without a word, in `codex exec` too.",
        ),
    )

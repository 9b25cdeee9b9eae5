"""pi, with a shim in TypeScript: a result says whether the tool failed, and its text has the exit status."""

from __future__ import annotations

import os

from onrecord.hosts import events
from onrecord.hosts.events import MAX_SESSIONS, READ, SHELL, WRITE, HostEvent, Payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from onrecord.hosts.host_files import HostSetup
    from onrecord.session.transcript import Message, Transcript

_TOOLS = {"bash": SHELL, "read": READ, "write": WRITE, "edit": WRITE}

write = events.shim_reply


def read(name: str, payload: Payload) -> HostEvent:
    event = events.shim_event(name, payload, _TOOLS)
    if name == "stop":
        # pi cannot continue a turn, and a suggestion is made only once.
        return event._replace(is_attended=False)
    if event.tool != SHELL or not payload.flag("is_error"):
        return event
    from onrecord.session.transcript import content_text

    return event._replace(error=f"Exit code 1\n{content_text(payload.fields.get('tool_response'))}")


def transcript(path: str) -> Transcript:
    from onrecord.session.transcript import Format, Transcript, read_lines

    return Transcript(path, Format(read_lines, messages, lambda line: b'"user"' in line, session_id=_session_id))


def _session_id(path: str) -> str:
    """Return the session's id, which follows the date in the name of its file: `2026-11-16T02-03-48-213Z_ID`."""
    from onrecord.session import transcript

    return transcript.name_in_path(path).rpartition("_")[2]


def sessions(project: str, limit: int = MAX_SESSIONS) -> list[str]:
    """Return the session files of a project."""
    from onrecord.hosts import session_files

    home = os.environ.get("PI_CODING_AGENT_DIR") or os.path.join(os.path.expanduser("~"), ".pi", "agent")
    return session_files.of_project(project, os.path.join(home, "sessions"), ".jsonl", depth=1, limit=limit)


def messages(raw_line: bytes) -> Iterator[Message]:
    """Yield the messages in a line of a session, with the tool calls and what a hook added."""
    from onrecord.session import transcript

    entry = Payload(transcript.parse_line(raw_line))
    message = entry.inner("message")
    role, content = message.text("role"), message.fields.get("content")
    if entry.text("type") == "custom_message":
        yield transcript.context_message(transcript.content_text(entry.fields.get("content")))
    elif entry.text("type") == "message" and role == "toolResult":
        yield from transcript.tool_results(transcript.content_text(content), has_failed=message.flag("isError"))
    elif entry.text("type") == "message" and role in ("user", "assistant"):
        yield from transcript.text_messages(
            role, transcript.content_text(content), entry.text("timestamp"), entry.text("id")
        )
        for block in message.items("content"):
            yield from _call(Payload(block if isinstance(block, dict) else {}))


def _call(block: Payload) -> Iterator[Message]:
    from onrecord.hosts import session_files

    if block.text("type") == "toolCall":
        name, arguments = block.text("name"), block.inner("arguments").fields
        yield from session_files.call(name, arguments, _TOOLS)


def setup() -> HostSetup:
    from onrecord.hosts.host_files import HostSetup

    return HostSetup(
        "pi",
        ("pi",),
        ".pi/agent",
        ("PI_CODING_AGENT_DIR", ""),
        shim="pi.ts",
        shim_file="extensions/onrecord.ts",
        reads_skills=True,
    )

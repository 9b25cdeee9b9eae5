"""HostEvent: what a host reports, in our words, checked once; and reading it from the fields that most hosts have.

Claude Code's names for the fields were taken over by most other hosts. What differs is in the module of each host.
"""

from __future__ import annotations

import os

from onrecord import coldstart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


READ, WRITE, SHELL, POWERSHELL = "read", "write", "shell", "powershell"
"""The kinds of tools that concern us."""

START, COMPACTION = "start", "compaction"
_PATHS = ("file_path", "notebook_path", "filePath", "path", "absolute_path")
_PATCHES = ("command", "input", "patch", "patchText")
"""The fields in which hosts send a patch."""

_MOST_FILES = 200
"""Files of one tool call that are looked at: a patch may name thousands."""

_PATCHED = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
_LONGEST_PATCH = 1_000_000


class HostEvent(coldstart.NamedTuple):
    """One event of a session. What the event does not have is empty."""

    name: str
    host: str = ""
    """The name of the host, set for whoever reads the session's file."""
    session: str = ""
    cwd: str = ""
    transcript: str = ""
    """The file in which the host keeps the session."""
    prompt: str = ""
    is_typed: bool = True
    """Whether a person wrote the prompt."""
    source: str = ""
    """How a session starts: startup, resume, fork, clear or compact."""
    tool: str = ""
    """The kind of the tool: read, write, shell or powershell."""
    files: tuple[str, ...] = ()
    command: str = ""
    error: str = ""
    """What a failed command printed."""
    last_message: str = ""
    """The agent's last message."""
    is_attended: bool = False
    """Whether a person reads along: in a program, our words would take the place of the answer."""
    is_subagent: bool = False
    is_continued: bool = False
    """Whether the turn goes on because a hook asked for it."""
    is_busy: bool = False
    """Whether something still runs in the background."""
    shows_files: bool = False
    """Whether what we know of a file reaches the model at this event."""
    late: str = ""
    """What the next prompt brings because the host delivers it nowhere else: compaction, or start (both)."""


class Payload(coldstart.NamedTuple):
    """The fields of an event as the host sent them, of whatever type."""

    fields: Mapping[str, Any]

    def text(self, key: str) -> str:
        """A field that is a text, or an empty one."""
        value = self.fields.get(key)
        return value if isinstance(value, str) else ""

    def flag(self, key: str) -> bool:
        return self.fields.get(key) is True

    def inner(self, key: str) -> Payload:
        """A field that is an object, or an empty one."""
        value = self.fields.get(key)
        return Payload(value if isinstance(value, dict) else {})

    def items(self, key: str) -> list[Any]:
        """A field that is a list, or an empty one."""
        value = self.fields.get(key)
        return value if isinstance(value, list) else []


def common(name: str, payload: Payload, tools: Mapping[str, str]) -> HostEvent:
    """Return the event of a host whose fields have the names that most hosts use."""
    tool, tool_input, cwd = tools.get(payload.text("tool_name"), ""), payload.inner("tool_input"), payload.text("cwd")
    command = tool_input.text("command")
    named = [tool_input.text(key) for key in _PATHS] if tool in (READ, WRITE) else []
    return HostEvent(
        name=name,
        session=payload.text("session_id"),
        cwd=cwd,
        transcript=payload.text("transcript_path"),
        prompt=payload.text("prompt"),
        source=payload.text("source") if name == "session_start" else "",
        tool=tool,
        files=absolute([*named, *_patched(tool_input)] if tool else (), cwd),
        command=command if tool in (SHELL, POWERSHELL) else "",
        error=payload.text("error"),
        last_message=payload.text("last_assistant_message"),
        is_subagent=bool(payload.text("agent_id")),
        is_continued=payload.flag("stop_hook_active"),
        is_busy=bool(payload.items("background_tasks")),
    )


def absolute(names: Iterable[str], cwd: str) -> tuple[str, ...]:
    """The files that a tool names, each once, as absolute paths where the event says where it happens."""
    files: dict[str, None] = {}
    for name in names:
        if name and "\0" not in name:
            files[os.path.join(cwd, name) if cwd else name] = None
        if len(files) == _MOST_FILES:
            break
    return tuple(files)


def _patched(tool_input: Payload) -> list[str]:
    return [file for key in _PATCHES for file in patched(tool_input.text(key))]


def patched(patch: str) -> list[str]:
    """The files that a patch in the `*** Begin Patch` form adds, changes, moves or deletes."""
    if "*** Begin Patch" not in patch[:_LONGEST_PATCH]:
        return []
    lines = (line.strip() for line in patch[:_LONGEST_PATCH].split("\n"))
    return [line.partition(": ")[2].strip() for line in lines if line.startswith(_PATCHED)]


def failed(printed: str, sign: str) -> str:
    """What a command printed, if the number after the last such sign in it says that it failed."""
    _, there, rest = printed.rpartition(sign)
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    status = digits.lstrip("0")
    return f"Exit code {status}\n{printed}" if there and status else ""


ADD, DENY, CONTINUE = "add", "deny", "continue"


class HookReply(coldstart.NamedTuple):
    """A text, and what is to be done with it: add it for the model, deny the tool with it, or go on because of it."""

    kind: str
    text: str


NOTHING = HookReply("", "")


def specific(name: str, reply: HookReply) -> dict[str, Any]:
    """Return a reply as Claude Code introduced it: what belongs to the event stands below its name."""
    if reply.kind == DENY:
        fields = {"permissionDecision": "deny", "permissionDecisionReason": reply.text}
    else:
        fields = {"additionalContext": reply.text}
    return {"hookSpecificOutput": {"hookEventName": name, **fields}}


def event_name(event: HostEvent) -> str:
    """The name of an event as most hosts write it: UserPromptSubmit."""
    return "".join(word.capitalize() for word in event.name.split("_"))


def block(reply: HookReply) -> dict[str, Any]:
    """The request to go on, as most hosts want it at the end of a turn."""
    return {"decision": "block", "reason": reply.text}


_LATE = {"session_start": START, "user_prompt_submit": START}


def read(name: str, payload: Payload, tools: Mapping[str, str]) -> HostEvent:
    """Return the event that a plugin sends; the module of each host adds what is particular to it."""
    event = common(name, payload, tools)
    return event._replace(
        is_attended=payload.flag("attended"), shows_files=name == "post_tool_use", late=_LATE.get(name, "")
    )


def write(event: HostEvent, reply: HookReply) -> dict[str, Any]:
    return {reply.kind: reply.text}

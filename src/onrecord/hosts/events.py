"""HostEvent and HookReply, our types for a host's event and our reply; conversion from and to the form of most hosts.

Most hosts have adopted the fields of Claude Code. The module of each host handles its differences.
"""

from __future__ import annotations

import os

from onrecord import coldstart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from onrecord.session.action import FileEdit
    from onrecord.settings import Settings


READ, WRITE, SHELL, POWERSHELL, TASK = "read", "write", "shell", "powershell", "task"
"""Kinds of tools; all others are ignored."""

MAX_SESSIONS = 200
"""The newest sessions of one host that are read, unless a command asks for more."""

START, COMPACTION = "start", "compaction"
_PATHS = ("file_path", "notebook_path", "filePath", "path", "absolute_path")
_PATCHES = ("command", "input", "patch", "patchText")
"""Fields in which hosts send a patch."""

_ADDED = ("content", "new_string", "new_str", "new_source", "newString", "file_text")
"""Fields in which hosts send the text that an edit puts into a file."""

_REMOVED = ("old_string", "old_str", "oldString")
_WHOLE = ("content", "file_text")
"""Fields with the text that an edit replaces, and with the whole text of a file."""

_EVERYWHERE = ("replace_all", "replaceAll", "allow_multiple")
"""Fields by which an edit replaces its old text at all places."""

_MAX_EDIT_CHARS = 200_000
_MAX_EDITS = 100
"""Edits of one tool call that are read, and characters of them."""

_MAX_FILES = 200
"""Files of one tool call that are read: a patch may name thousands."""

_MOVE = "*** Move to: "
_PATCH_LINES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", _MOVE)
_MAX_PATCH_CHARS = 1_000_000


class HostEvent(coldstart.NamedTuple):
    """One event of a session. Fields that the event does not have are empty."""

    name: str
    host: str = ""
    """The name of the host, by which the session's file is read."""
    session: str = ""
    cwd: str = ""
    transcript: str = ""
    """The file of the session."""
    prompt: str = ""
    is_typed: bool = True
    """True if a person wrote the prompt."""
    source: str = ""
    """Start of a session: startup, resume, fork, clear or compact."""
    tool: str = ""
    """The kind of the tool: read, write, shell, powershell or task."""
    files: tuple[str, ...] = ()
    command: str = ""
    edits: tuple[FileEdit, ...] = ()
    """The texts that a tool takes out of files and puts into them; of a patch, one for each of its files."""
    is_whole_file: bool = False
    """True if the new text is the whole text of the file."""
    task: str = ""
    """What a subagent is asked to do."""
    error: str = ""
    """The output of a failed command."""
    last_message: str = ""
    """The agent's last message."""
    is_attended: bool = False
    """True if a person reads the session. In a program, our text would replace the agent's answer."""
    subagent: str = ""
    """The id of the subagent whose event this is; empty in the session itself."""
    is_continued: bool = False
    """True if the turn continues because a hook asked for it."""
    is_busy: bool = False
    """True if something still runs in the background."""
    shows_files: bool = False
    """True if the host passes records about a file or an action to the model at this event."""
    late: str = ""
    """Text that this host can show only with the next prompt: `compaction`, or `start` for the digest as well."""

    @property
    def is_subagent(self) -> bool:
        return bool(self.subagent)

    def skill(self, name: str) -> str:
        """Return the name that a skill of ours has in this session: our plugin puts its own before it."""
        is_plugin = self.host == "claude-code" and os.environ.get("CLAUDE_PLUGIN_ROOT")
        return f"memory{':' if is_plugin else '-'}{name}"

    @property
    def recorded_session(self) -> str:
        """The session's id as its file gives it, by which `onrecord effect` knows it again."""
        if self.is_subagent or not self.transcript:
            return self.session
        from onrecord.hosts import table

        return table.transcript(self.host, self.transcript).session_id or self.session

    def is_held_out(self, settings: Settings) -> bool:
        """True if the session is in the holdout, which gets no records."""
        from onrecord.session import holdout

        share = settings.number(holdout.SETTING)
        return bool(share) and holdout.is_held_out(self.recorded_session, share)

    @property
    def reader(self) -> str:
        """The name of who reads the reply, for the ledger: a subagent has not seen what its session was shown."""
        return f"{self.session}/{self.subagent}" if self.session and self.subagent else self.session


class Payload(coldstart.NamedTuple):
    """Fields as a host sent them, of any type."""

    fields: Mapping[str, Any]

    def text(self, key: str) -> str:
        """Return a field that is a text; an empty one for anything else."""
        value = self.fields.get(key)
        return value if isinstance(value, str) else ""

    def flag(self, key: str) -> bool:
        return self.fields.get(key) is True

    def inner(self, key: str) -> Payload:
        """Return a field that is an object; an empty one for anything else."""
        value = self.fields.get(key)
        return Payload(value if isinstance(value, dict) else {})

    def items(self, key: str) -> list[Any]:
        """Return a field that is a list; an empty one for anything else."""
        value = self.fields.get(key)
        return value if isinstance(value, list) else []


def common_event(name: str, payload: Payload, tools: Mapping[str, str]) -> HostEvent:
    """Return the event of a host whose fields have the names that most hosts use; `tools` maps its tools to kinds."""
    tool, tool_input, cwd = tools.get(payload.text("tool_name"), ""), payload.inner("tool_input"), payload.text("cwd")
    command = tool_input.text("command")
    names = [tool_input.text(key) for key in _PATHS] if tool in (READ, WRITE) else []
    return HostEvent(
        name=name,
        session=payload.text("session_id"),
        cwd=cwd,
        transcript=payload.text("transcript_path"),
        prompt=payload.text("prompt"),
        source=payload.text("source") if name == "session_start" else "",
        tool=tool,
        files=absolute_paths([*names, *_patches(tool_input)] if tool else (), cwd),
        command=command if tool in (SHELL, POWERSHELL) else "",
        edits=_edits(tool_input, cwd) if tool == WRITE else (),
        is_whole_file=tool == WRITE and _is_whole_file(tool_input),
        task=tool_input.text("prompt") if tool == TASK else "",
        error=payload.text("error"),
        last_message=payload.text("last_assistant_message"),
        subagent=payload.text("agent_id"),
        is_continued=payload.flag("stop_hook_active"),
        is_busy=bool(payload.items("background_tasks")),
    )


def absolute_paths(names: Iterable[str], cwd: str) -> tuple[str, ...]:
    """Return the files that a tool names without duplicates, as absolute paths if `cwd` is known."""
    files: dict[str, None] = {}
    for name in names:
        if name and "\0" not in name:
            files[os.path.join(cwd, name) if cwd else name] = None
        if len(files) == _MAX_FILES:
            break
    return tuple(files)


def _patches(tool_input: Payload) -> list[str]:
    return [file for key in _PATCHES for file in patch_files(tool_input.text(key))]


def _is_whole_file(tool_input: Payload) -> bool:
    """True if a tool is given the whole text of a file, which may be empty."""
    if any(tool_input.text(key) for key in _WHOLE):
        return True
    is_empty = any(tool_input.fields.get(key) == "" for key in _WHOLE)
    # Some hosts send the fields that a tool does not use as empty texts.
    return is_empty and not any(tool_input.text(key) for key in (*_ADDED, *_REMOVED, *_PATCHES))


def _edits(tool_input: Payload, cwd: str) -> tuple[FileEdit, ...]:
    """Return the edits of a tool call, within a bound."""
    from onrecord.session.action import FileEdit

    inner = [Payload(edit) for edit in tool_input.items("edits")[:_MAX_EDITS] if isinstance(edit, dict)]
    edits = []
    for fields in (tool_input, *inner):
        old_text, new_text = ("\n".join(filter(None, map(fields.text, keys))) for keys in (_REMOVED, _ADDED))
        if old_text or new_text:
            edits.append(FileEdit(old_text, new_text, "", any(map(fields.flag, _EVERYWHERE))))
    edits += [edit for key in _PATCHES for edit in _patch_edits(tool_input.text(key), cwd)]
    return tuple(_bounded(edits))


def _bounded(edits: Iterable[FileEdit]) -> Iterator[FileEdit]:
    left = _MAX_EDIT_CHARS
    for edit in edits:
        if left <= 0:
            return
        yield edit._replace(old_text=edit.old_text[:left], new_text=edit.new_text[:left])
        left -= max(len(edit.old_text), len(edit.new_text))


def _patch_edits(patch_text: str, cwd: str) -> list[FileEdit]:
    """Return the removed and the added lines of a patch, for each of its files."""
    from onrecord.session.action import FileEdit

    edits = []
    for section in _patch_sections(patch_text)[:_MAX_FILES]:
        # Of a file that is moved, the lines are in the one that it is moved to, which is named last.
        files = absolute_paths(section.names[-1:], cwd)
        old_text, new_text = ("\n".join(lines) for lines in (section.removed, section.added))
        if files and (old_text or new_text):
            edits.append(FileEdit(old_text, new_text, files[0], is_patch=True))
    return edits


class _PatchSection(coldstart.NamedTuple):
    """The part of a patch about one file: its names, and its lines without their marks."""

    names: list[str]
    removed: list[str]
    added: list[str]


def _patch_sections(patch_text: str) -> list[_PatchSection]:
    if "*** Begin Patch" not in patch_text[:_MAX_PATCH_CHARS]:
        return []
    sections: list[_PatchSection] = []
    for line in patch_text[:_MAX_PATCH_CHARS].split("\n"):
        head = line.strip()
        if head.startswith(_PATCH_LINES):
            if not sections or not head.startswith(_MOVE):
                sections.append(_PatchSection([], [], []))
            sections[-1].names.append(head.partition(": ")[2].strip())
        elif sections and line.startswith(("-", "+")):
            (sections[-1].added if line.startswith("+") else sections[-1].removed).append(line[1:])
    return sections


def patch_files(patch_text: str) -> list[str]:
    """Return the files that a patch in the `*** Begin Patch` form adds, changes, moves or deletes."""
    return [name for section in _patch_sections(patch_text) for name in section.names]


def failure(output: str, sign: str) -> str:
    """Return the exit code and the output of a command if the number after the last `sign` in it is not 0."""
    _, match, rest = output.rpartition(sign)
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    status = digits.lstrip("0")
    return f"Exit code {status}\n{output}" if match and status else ""


ADD, DENY, CONTINUE, ASK = "add", "deny", "continue", "ask"


class HookReply(coldstart.NamedTuple):
    """A text and its use: context for the model, the reason to deny a tool or to ask, or to continue the turn."""

    kind: str
    text: str
    notice: str = ""
    """One line for the person; a host that has no place for it leaves it out."""


NOTHING = HookReply("", "")


def specific_output(event_name: str, reply: HookReply) -> dict[str, Any]:
    """Return a reply in the form of Claude Code, with the fields of the event in an object of their own."""
    if reply.kind in (DENY, ASK):
        fields = {"permissionDecision": reply.kind, "permissionDecisionReason": reply.text}
    else:
        fields = {"additionalContext": reply.text}
    notice = {"systemMessage": reply.notice} if reply.notice else {}
    return {"hookSpecificOutput": {"hookEventName": event_name, **fields}, **notice}


def event_name(event: HostEvent) -> str:
    """Return the name of an event as most hosts write it, such as UserPromptSubmit."""
    return "".join(word.capitalize() for word in event.name.split("_"))


def block_decision(reply: HookReply) -> dict[str, Any]:
    """Return the request to continue, in the form of most hosts at the end of a turn."""
    return {"decision": "block", "reason": reply.text}


_LATE = {"session_start": START, "user_prompt_submit": START}


def shim_event(name: str, payload: Payload, tools: Mapping[str, str]) -> HostEvent:
    """Return the event that one of our shims sends; the module of its host adds the fields that only it knows."""
    event = common_event(name, payload, tools)
    return event._replace(
        is_attended=payload.flag("attended"), shows_files=name == "post_tool_use", late=_LATE.get(name, "")
    )


def shim_reply(event: HostEvent, reply: HookReply) -> dict[str, Any]:
    return {reply.kind: reply.text, **({"notice": reply.notice} if reply.notice else {})}

"""Sessions of coding agents on the disk, in the formats that the real clients write, for tests."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from onrecord import timestamps
from onrecord.hosts.claude_code import mangled


class Run(NamedTuple):
    """A shell command that an agent ran."""

    command: str
    has_failed: bool = False


class Change(NamedTuple):
    """A change of a file that an agent made: the path in the project, and the lines before and after."""

    path: str
    new: str
    old: str = ""


class Say(NamedTuple):
    """A prompt of the user, and what the agent did then."""

    prompt: str
    steps: tuple[Run | Change, ...] = ()


def say(prompt: str, *steps: Run | Change | str) -> Say:
    return Say(prompt, tuple(Run(step) if isinstance(step, str) else step for step in steps))


def _write(path: Path, entries: Iterable[dict[str, Any]], at: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(entry, separators=(",", ":"), ensure_ascii=False) + "\n" for entry in entries)
    path.write_text(text, encoding="utf-8")
    seconds = timestamps.seconds(at)
    os.utime(path, (seconds, seconds))
    return path


def _moment(at: str, minute: int) -> str:
    return timestamps.from_seconds(timestamps.seconds(at) + 60 * minute).replace("Z", ".000Z")


def claude_code(home: Path, project: str, at: str, *turns: Say, session: str = "") -> Path:
    """Write a session of Claude Code that began at `at`; each turn takes a minute."""
    name = session or _name(home, at)
    entries = []
    for minute, turn in enumerate(turns):
        about = {"sessionId": name, "cwd": project, "timestamp": _moment(at, minute), "isSidechain": False}

        def line(role: str, content: Any, about: dict[str, Any] = about) -> dict[str, Any]:
            return {"type": role, "uuid": str(uuid.uuid4()), **about, "message": {"role": role, "content": content}}

        entries.append(line("user", turn.prompt))
        for step in turn.steps:
            call = _claude_call(step, project)
            entries.append(line("assistant", [{"type": "tool_use", "id": "t", **call}]))
            has_failed = isinstance(step, Run) and step.has_failed
            entries.append(line("user", [{"type": "tool_result", "content": "printed", "is_error": has_failed}]))
        entries.append(line("assistant", [{"type": "text", "text": "Done."}]))
    return _write(home / ".claude" / "projects" / mangled(project) / f"{name}.jsonl", entries, at)


def _claude_call(step: Run | Change, project: str) -> dict[str, Any]:
    if isinstance(step, Run):
        return {"name": "Bash", "input": {"command": step.command}}
    path = f"{project}/{step.path}"
    if step.old:
        return {"name": "Edit", "input": {"file_path": path, "old_string": step.old, "new_string": step.new}}
    return {"name": "Write", "input": {"file_path": path, "content": step.new}}


def _name(home: Path, at: str) -> str:
    """Return an id that is the same in every run: a holdout depends on it."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{at} {sum(1 for _ in home.rglob('*.json*'))}"))


def codex(home: Path, project: str, at: str, *turns: Say, session: str = "") -> Path:
    """Write a session of Codex."""
    name = session or _name(home, at)
    entries: list[dict[str, Any]] = [
        {"timestamp": at, "type": "session_meta", "payload": {"id": name, "cwd": project, "source": "cli"}}
    ]
    for minute, turn in enumerate(turns):
        moment = _moment(at, minute)

        def item(kind: str, moment: str = moment, **fields: Any) -> dict[str, Any]:
            payload = {"type": "item_completed", "item": {"type": kind, "id": str(uuid.uuid4()), **fields}}
            return {"timestamp": moment, "type": "event_msg", "payload": payload}

        entries.append(item("UserMessage", content=[{"type": "text", "text": turn.prompt}]))
        for step in turn.steps:
            if isinstance(step, Run):
                words = ["bash", "-lc", step.command]
                code = 1 if step.has_failed else 0
                entries.append(item("CommandExecution", command=words, aggregated_output="printed", exit_code=code))
            else:
                changes = {f"{project}/{step.path}": _codex_change(step)}
                entries.append(item("FileChange", changes=changes, status="completed"))
        entries.append(item("AgentMessage", content=[{"type": "Text", "text": "Done."}]))
    day = at[:10].split("-")
    file = f"rollout-{at[:19].replace(':', '-')}-{name}.jsonl"
    return _write(home.joinpath(".codex", "sessions", *day, file), entries, at)


def _codex_change(step: Change) -> dict[str, Any]:
    if not step.old:
        return {"type": "add", "content": step.new}
    minus = "".join(f"-{line}\n" for line in step.old.split("\n"))
    plus = "".join(f"+{line}\n" for line in step.new.split("\n"))
    return {"type": "update", "unified_diff": f"@@ -1 +1 @@\n{minus}{plus}"}


def gemini(home: Path, project: str, at: str, *turns: Say, session: str = "") -> Path:
    """Write a session of Gemini CLI."""
    name = session or _name(home, at)
    context = f"<session_context>\n- **Workspace Directories:**\n  - {project}\n- more\n</session_context>"
    first = {"id": str(uuid.uuid4()), "timestamp": at, "type": "user", "content": [{"text": context}]}
    entries: list[dict[str, Any]] = [{"sessionId": name, "kind": "main"}, {"$set": {"messages": [first]}}]
    for minute, turn in enumerate(turns):
        moment = _moment(at, minute)

        def line(kind: str, content: Any, moment: str = moment, **more: Any) -> dict[str, Any]:
            return {"id": str(uuid.uuid4()), "timestamp": moment, "type": kind, "content": content, **more}

        entries.append(line("user", [{"text": turn.prompt}]))
        entries += [line("gemini", "", toolCalls=[_gemini_call(step, project)]) for step in turn.steps]
        entries.append(line("gemini", "Done."))
    file = f"session-{at[:16].replace(':', '-')}-{name[:8]}.jsonl"
    return _write(home / ".gemini" / "tmp" / "p" / "chats" / file, entries, at)


def _gemini_call(step: Run | Change, project: str) -> dict[str, Any]:
    output = "Output: printed"
    if isinstance(step, Run):
        name, fields = "run_shell_command", {"command": step.command}
        output += "\nExit Code: 1" if step.has_failed else ""
    elif step.old:
        fields = {"file_path": f"{project}/{step.path}", "old_string": step.old, "new_string": step.new}
        name = "replace"
    else:
        name, fields = "write_file", {"file_path": f"{project}/{step.path}", "content": step.new}
    result = [{"functionResponse": {"response": {"output": output}}}]
    return {"name": name, "args": fields, "result": result, "status": "success"}


HOSTS = {"claude-code": claude_code, "codex": codex, "gemini": gemini}

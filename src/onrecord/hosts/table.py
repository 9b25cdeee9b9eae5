"""The hosts, a row for each: how it is recognised, and what reaches its model."""

from __future__ import annotations

import os

from onrecord import coldstart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from onrecord.session.transcript import Transcript

BEFORE, RESULT = "before the tool", "with the tool's result"
AT_START, WITH_FIRST, EVERY = "session start", "first prompt", "every prompt"
AT_END, AT_ONCE, NEXT, DENIES = "end of a turn, on the screen", "at once", "next prompt", "denies"


class Host(coldstart.NamedTuple):
    """A coding agent: its name on the command line, and when the model gets what. What it cannot do is empty."""

    name: str
    title: str
    version: str
    """The version it was run with."""
    sessions: str
    """A part of the path under which it keeps its sessions, which no other host's has."""
    variable: str
    """An environment variable that it sets for its hooks."""
    digest: str
    """When the digest is shown: at the session's start, or with the first prompt."""
    prompt: str
    """Where memories for a prompt are shown."""
    files: str
    failures: str
    guard: str
    suggestion: str
    compaction: str


HOSTS = (
    Host(
        "copilot", "GitHub Copilot CLI", "1.0.102",
        sessions="/session-state/", variable="COPILOT_CLI",
        digest=AT_START, prompt=EVERY, files=BEFORE, failures=RESULT,
        guard=DENIES, suggestion=AT_END, compaction=NEXT,
    ),
    Host(
        "qwen", "Qwen Code", "0.24.4",
        sessions="/.qwen/", variable="QWEN_PROJECT_DIR",
        digest=AT_START, prompt=EVERY, files=RESULT, failures=RESULT,
        guard=DENIES, suggestion=AT_END, compaction=AT_ONCE,
    ),
    Host(
        "gemini", "Gemini CLI", "0.61.0",
        sessions="/.gemini/", variable="GEMINI_SESSION_ID",
        digest=WITH_FIRST, prompt=EVERY, files=RESULT, failures=RESULT,
        guard=DENIES, suggestion="", compaction=NEXT,
    ),
    Host(
        "droid", "Factory Droid", "0.215.0",
        sessions="/.factory/", variable="FACTORY_PROJECT_DIR",
        digest=AT_START, prompt="every prompt on the screen", files=RESULT, failures="",
        guard=DENIES, suggestion=AT_END, compaction="",
    ),
    Host(
        "opencode", "OpenCode", "1.18.33",
        sessions="/opencode.db", variable="",
        digest=WITH_FIRST, prompt=EVERY, files=RESULT, failures=RESULT,
        guard=DENIES, suggestion=AT_END, compaction=NEXT,
    ),
    Host(
        "pi", "pi", "0.87.1",
        sessions="/.pi/", variable="",
        digest=WITH_FIRST, prompt=EVERY, files=RESULT, failures=RESULT,
        guard=DENIES, suggestion="", compaction=NEXT,
    ),
    Host(
        "cline", "Cline CLI", "3.0.65",
        sessions="/.cline/", variable="",
        digest=WITH_FIRST, prompt=EVERY, files=BEFORE, failures=RESULT,
        guard=DENIES, suggestion="", compaction="",
    ),
    Host(
        "codex", "Codex CLI", "0.166.0",
        sessions="/rollout-", variable="",
        digest=AT_START, prompt=EVERY, files=BEFORE, failures=RESULT,
        guard=DENIES, suggestion=AT_END, compaction=AT_ONCE,
    ),
    Host(
        "claude-code", "Claude Code", "2.1.325",
        sessions="/.claude/projects/", variable="CLAUDECODE",
        digest=AT_START, prompt=EVERY, files=BEFORE, failures=RESULT,
        guard=DENIES, suggestion=AT_END, compaction=AT_ONCE,
    ),
)  # fmt: skip
"""In the order in which their variables are looked for: a host started by Claude Code inherits Claude Code's."""

BY_NAME = {host.name: host for host in HOSTS}
_DEFAULT = "claude-code"


def module(host: Host) -> Any:
    """The module of a host: `read` returns a `HostEvent`, `write` puts a `HookReply` into the host's form."""
    return __import__(f"onrecord.hosts.{host.name.replace('-', '_')}", fromlist=["read", "write"])


def transcript(name: str, path: str) -> Transcript:
    """A session's file, and how to read it."""
    session: Transcript = module(BY_NAME[name]).transcript(path)
    return session


def transcript_at(path: str) -> Transcript:
    """The same for a file of which only the path is known."""
    return transcript(recognised({"transcript_path": os.path.abspath(path) if path else ""}, {}).name, path)


def transcripts(project: str) -> list[Transcript]:
    """The sessions of every host that were held in a project."""
    return [transcript(host.name, path) for host in HOSTS for path in module(host).sessions(project)]


def asked_by(name: str, fields: Mapping[str, Any]) -> Host:
    """The host with a name; without a name, the one that sent an event."""
    if name and name not in BY_NAME:
        raise ValueError(f"no host is named {name[:40]!r}; hosts: {', '.join(BY_NAME)}")
    return BY_NAME[name] if name else recognised(fields, os.environ)


def recognised(fields: Mapping[str, Any], environment: Mapping[str, str]) -> Host:
    """The host that sent an event: by where it keeps the session, by a field of its own, or by its variable."""
    path = fields.get("transcript_path")
    where = path.replace("\\", "/") if isinstance(path, str) else ""
    file = "/" + where.rpartition("/")[2]
    # A sign that is no folder begins the file's name: somebody's home may be called /home/rollout-team.
    by_path = [host for host in HOSTS if host.sessions in (where if host.sessions.endswith("/") else file)]
    if by_path:
        return by_path[0]
    if "turn_id" in fields:
        return BY_NAME["codex"]
    return next((host for host in HOSTS if host.variable and environment.get(host.variable)), BY_NAME[_DEFAULT])

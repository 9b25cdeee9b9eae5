"""The table of hosts: for each, the signs that identify it and the texts that reach its model."""

from __future__ import annotations

import os

from onrecord import coldstart
from onrecord.hosts.events import MAX_SESSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from onrecord.hosts.host_files import HostSetup
    from onrecord.session.transcript import Transcript

BEFORE, RESULT = "before the tool", "with the tool's result"
AT_START, WITH_FIRST, EVERY = "session start", "first prompt", "every prompt"
AT_END, AT_ONCE, NEXT, DENIES = "end of a turn, on the screen", "at once", "next prompt", "denies"


class Host(coldstart.NamedTuple):
    """A coding agent: its name on the command line, and the moments when its model gets each text; empty for never."""

    name: str
    title: str
    version: str
    """The version that was tested."""
    sessions: str
    """A part of the path of its sessions that no other host's path has."""
    variable: str
    """An environment variable that it sets for its hooks."""
    digest: str
    """When the digest is shown: at the start of a session, or with the first prompt."""
    prompt: str
    """At which prompts records are shown."""
    files: str
    failures: str
    guard: str
    suggestion: str
    compaction: str
    asks: bool = False
    """True if a hook can make it ask the person before a tool."""


HOSTS = (
    Host(
        "claude-code", "Claude Code", "2.1.327",
        sessions="/.claude/projects/", variable="CLAUDECODE",
        digest=AT_START, prompt=EVERY, files=BEFORE, failures=RESULT,
        guard=DENIES, suggestion=AT_END, compaction=AT_ONCE, asks=True,
    ),
    Host(
        "codex", "Codex CLI", "0.166.0",
        sessions="/rollout-", variable="",
        digest=AT_START, prompt=EVERY, files=BEFORE, failures=RESULT,
        guard=DENIES, suggestion=AT_END, compaction=AT_ONCE,
    ),
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
        "droid", "Factory Droid", "0.215.0",
        sessions="/.factory/", variable="FACTORY_PROJECT_DIR",
        digest=AT_START, prompt="every prompt on the screen", files=RESULT, failures="",
        guard=DENIES, suggestion=AT_END, compaction="",
    ),
)  # fmt: skip

BY_NAME = {host.name: host for host in HOSTS}
_DEFAULT = "claude-code"


def module(host: str) -> Any:
    """Import and return the module of a host.

    It has `read`, which returns a HostEvent; `write`, which puts a HookReply into the host's form; `transcript` and
    `sessions`; and `setup`. It is imported by its name, as `hooks.handle` imports the module of an event: a hook is a
    new process and must load one host, not nine. So a search for callers of these functions ends here.
    """
    return __import__(f"onrecord.hosts.{host.replace('-', '_')}", fromlist=["read"])


def setup(host: str) -> HostSetup:
    """Return the files and entries that connect `host`."""
    host_setup: HostSetup = module(host).setup()
    return host_setup


def setups() -> list[HostSetup]:
    return [setup(host.name) for host in HOSTS]


def transcript(host: str, path: str) -> Transcript:
    """Return the session of `host` in the file `path`."""
    session: Transcript = module(host).transcript(path)
    return session


def transcript_at(path: str) -> Transcript:
    """Return the session in the file `path`, whose host is recognised by the path."""
    return transcript(recognise({"transcript_path": os.path.abspath(path) if path else ""}, {}).name, path)


def transcripts(project: str) -> list[Transcript]:
    """Return the newest sessions of every host in a project."""
    return [transcript for host in HOSTS for transcript in transcripts_of(host.name, project)]


def transcripts_of(host: str, project: str, limit: int = MAX_SESSIONS) -> list[Transcript]:
    """Return the newest sessions of one host in a project, at most `limit`."""
    return [transcript(host, path) for path in module(host).sessions(project, limit)]


def find_host(name: str, fields: Mapping[str, Any]) -> Host:
    """Return the host called `name`; if that is empty, the host that sent an event. Raises ValueError."""
    if name and name not in BY_NAME:
        raise ValueError(f"no host is named {name[:40]!r}; hosts: {', '.join(BY_NAME)}")
    return BY_NAME[name] if name else recognise(fields, os.environ)


def recognise(fields: Mapping[str, Any], environment: Mapping[str, str]) -> Host:
    """Return the host that sent an event, by the path of its session, a field of its own, or its variable."""
    path = fields.get("transcript_path")
    posix_path = path.replace("\\", "/") if isinstance(path, str) else ""
    file = "/" + posix_path.rpartition("/")[2]
    # A host started by Claude Code inherits Claude Code's variable, so Claude Code is tried last.
    others = [host for host in HOSTS if host.name != _DEFAULT]
    for host in (*others, BY_NAME[_DEFAULT]):
        # A sign without a slash at its end is the beginning of a file name: a home may be called /home/rollout-team.
        if host.sessions in (posix_path if host.sessions.endswith("/") else file):
            return host
    if "turn_id" in fields:
        return BY_NAME["codex"]
    return next((host for host in others if host.variable and environment.get(host.variable)), BY_NAME[_DEFAULT])

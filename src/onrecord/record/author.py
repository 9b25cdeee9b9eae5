"""The author of a record: who has it written, as far as the program can tell from how it was called.

Nothing that is typed or sent decides it: `origin`, `agent` and `host` in the fields of a record are replaced.
"""

from __future__ import annotations

import os

from onrecord.coldstart import NamedTuple

USER, AGENT, IMPORT, TOOL = "user", "agent", "import", "tool"
HOST_VARIABLES = {
    "CURSOR_AGENT": "cursor",
    "GEMINI_CLI": "gemini",
    "CODEX_SANDBOX": "codex",
    "COPILOT_CLI": "copilot",
    "OPENCODE": "opencode",
    "QWEN_CODE": "qwen",
    "QWEN_PROJECT_DIR": "qwen",
    "FACTORY_PROJECT_DIR": "droid",
    # An agent that Claude Code started inherits this one, so it comes last.
    "CLAUDECODE": "claude-code",
}
"""Environment variables that agents set for the programs they start, and the host of each."""

FIELDS = ("origin", "agent", "host")
MAX_NAME_CHARACTERS = 60


class RecordAuthor(NamedTuple):
    """The author of a record: the kind of caller, the client as it names itself, and the host that it runs in."""

    origin: str = USER
    agent: str = ""
    host: str = ""

    def __str__(self) -> str:
        return described(self.origin, self.agent, self.host)


def detect() -> RecordAuthor:
    """Return the caller of this process: an agent if one started it, else a person."""
    host = next((host for name, host in HOST_VARIABLES.items() if os.environ.get(name)), "")
    return RecordAuthor(AGENT, host=host) if host else RecordAuthor()


def client(name: str) -> RecordAuthor:
    """Return the caller for a client of the MCP server: an agent, whatever it says of itself."""
    plain = "".join(char if char.isprintable() else " " for char in name).strip()
    return RecordAuthor(AGENT, agent=plain[:MAX_NAME_CHARACTERS], host=detect().host)


def described(origin: str, agent: str, host: str) -> str:
    """Return who wrote a record, in words: `agent (claude-code)`."""
    names = ", ".join(dict.fromkeys(filter(None, (agent, host))))
    return f"{origin} ({names})" if origin and names else origin

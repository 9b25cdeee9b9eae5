"""Activity: what a session did with its tools, as far as the transcript tells."""

from __future__ import annotations

import os

from recollect.session import transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.session.transcript import Message

EDITORS = {"Edit": "file_path", "MultiEdit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}
SHELLS = ("Bash", "PowerShell")
OURS = "recollect "
"""How our own commands begin: what an agent says after running one is about the memory, not the project."""

_FAILED = ("Exit code ", "error", "Error", "ERROR", "FAILED", "FAILURE", "fatal:", "Traceback", "panic", "PANIC")


class Activity:
    """Files changed, commands run and those of them that failed, in the order they first appeared."""

    __slots__ = ("calls", "commands", "failed", "files")

    def __init__(self, messages: list[Message]) -> None:
        self.calls = 0
        self.commands: dict[str, None] = {}
        self.failed: dict[str, None] = {}
        self.files: dict[str, None] = {}
        running = ""
        for message in messages:
            if message.kind == "tool_use":
                self.calls += 1
                running = self._called(message)
            elif message.kind == "tool_result":
                if running and is_failure(message):
                    self.failed[running] = None
                elif running:
                    self.failed.pop(running, None)
                running = ""

    def _called(self, message: Message) -> str:
        if message.name in EDITORS:
            path = message.input.get(EDITORS[message.name])
            if isinstance(path, str) and path:
                self.files[path] = None
        command = message.input.get("command")
        if message.name in SHELLS and isinstance(command, str) and command.strip():
            self.commands[command.strip()] = None
            return command.strip()
        return ""

    @property
    def is_substantial(self) -> bool:
        """Whether enough happened for somebody to want to know where the work stands."""
        return len(self.files) >= 3 or (bool(self.files) and self.calls >= 8)


def is_failure(message: Message) -> bool:
    """Whether a tool's result says that something went wrong."""
    return message.name == "error" or any(mark in message.text[:4_000] for mark in _FAILED)


def is_ours(message: Message) -> bool:
    """Whether a tool call runs one of our own commands."""
    command = message.input.get("command")
    return message.name in SHELLS and isinstance(command, str) and OURS in command


def relative(path: str, project: str) -> str:
    """A path as the project names it."""
    if project and path.startswith(project + os.sep):
        return path[len(project) + 1 :].replace(os.sep, "/")
    return path


def goal(path: str, longest: int = 300) -> str:
    """What the session was started for: the first thing the user asked."""
    from recollect.text import cut

    return cut(" ".join(transcript.first_prompt(path).split()), longest)

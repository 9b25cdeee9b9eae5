"""Claude Code: its events have all the fields of a question, and it delivers every answer."""

from __future__ import annotations

import os

from recollect.hosts.answer import Answer, event_name, specific
from recollect.hosts.question import POWERSHELL, READ, SHELL, WRITE, Payload, Question, common

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TOOLS = {
    "Read": READ,
    "Edit": WRITE,
    "MultiEdit": WRITE,
    "Write": WRITE,
    "NotebookEdit": WRITE,
    "Bash": SHELL,
    "PowerShell": POWERSHELL,
}


def read(event: str, payload: Payload) -> Question:
    question = common(event, payload, _TOOLS)
    return question._replace(
        is_typed=payload.text("source") in ("", "user", "sdk"),
        error="" if payload.flag("is_interrupt") else question.error,
        is_attended=_is_attended(),
        shows_files=event == "pre_tool_use",
    )


def write(question: Question, answer: Answer) -> dict[str, Any]:
    return specific(event_name(question), answer)


def _is_attended() -> bool:
    entrance = os.environ.get("CLAUDE_CODE_ENTRYPOINT", "")
    return os.environ.get("CLAUDE_CODE_SESSION_ATTENDED") != "0" and not entrance.startswith("sdk")

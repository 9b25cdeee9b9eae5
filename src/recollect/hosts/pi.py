"""pi, through an extension in TypeScript: a result says whether the tool failed, and its text the exit status."""

from __future__ import annotations

from recollect.hosts import shim
from recollect.hosts.question import READ, SHELL, WRITE, Payload, Question, texts

_TOOLS = {"bash": SHELL, "read": READ, "write": WRITE, "edit": WRITE}

write = shim.write


def read(event: str, payload: Payload) -> Question:
    question = shim.read(event, payload, _TOOLS)
    has_failed = question.tool == SHELL and payload.flag("is_error")
    printed = texts(payload.fields.get("tool_response")) if has_failed else ""
    return question._replace(error=f"Exit code 1\n{printed}" if has_failed else "")

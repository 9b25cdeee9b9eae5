"""OpenCode, through a plugin in JavaScript: the exit status of a command is beside its output."""

from __future__ import annotations

from recollect.hosts import shim
from recollect.hosts.question import READ, SHELL, WRITE, Payload, Question

_TOOLS = {
    "bash": SHELL,
    "read": READ,
    "write": WRITE,
    "edit": WRITE,
    "multiedit": WRITE,
    "patch": WRITE,
    "apply_patch": WRITE,
}

write = shim.write


def read(event: str, payload: Payload) -> Question:
    question = shim.read(event, payload, _TOOLS)
    result = payload.inner("tool_response")
    status = result.inner("metadata").fields.get("exit")
    has_failed = question.tool == SHELL and isinstance(status, int) and status != 0
    return question._replace(
        prompt=_unquoted(question.prompt), error=f"Exit code {status}\n{result.text('output')}" if has_failed else ""
    )


def _unquoted(prompt: str) -> str:
    """A prompt without the quotation marks that `opencode run` puts around one of several words."""
    inner = prompt[1:-1]
    return inner if len(prompt) > 1 and prompt[0] == prompt[-1] == '"' and '"' not in inner else prompt

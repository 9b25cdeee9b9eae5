"""Factory Droid: Claude Code's events; a prompt is told only on the screen, a failed command not at all."""

from __future__ import annotations

import os

from recollect.hosts.answer import CONTINUE, Answer, block, event_name, specific
from recollect.hosts.question import READ, SHELL, WRITE, Payload, Question, common

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TOOLS = {
    "Execute": SHELL,
    "Read": READ,
    "Edit": WRITE,
    "MultiEdit": WRITE,
    "Create": WRITE,
    "ApplyPatch": WRITE,
}


def read(event: str, payload: Payload) -> Question:
    return common(event, payload, _TOOLS)._replace(is_attended=_is_attended(), shows_files=event == "post_tool_use")


def write(question: Question, answer: Answer) -> dict[str, Any]:
    return block(answer) if answer.kind == CONTINUE else specific(event_name(question), answer)


def _is_attended() -> bool:
    """Whether the session runs on the screen: the host says so to what it starts there."""
    is_screen = os.environ.get("FACTORY_UPSTREAM_CLIENT_TYPE") == "cli"
    return is_screen and not os.environ.get("FACTORY_EXEC_TARGET_AUTONOMY")

"""Qwen Code: Claude Code's events, with tools of other names; what is added before a tool does not reach the model."""

from __future__ import annotations

from recollect.hosts.answer import CONTINUE, Answer, block, event_name, specific
from recollect.hosts.question import READ, SHELL, WRITE, Payload, Question, common

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TOOLS = {
    "run_shell_command": SHELL,
    "read_file": READ,
    "write_file": WRITE,
    "edit": WRITE,
    "notebook_edit": WRITE,
}


def read(event: str, payload: Payload) -> Question:
    question = common(event, payload, _TOOLS)
    # Results of tools and feedback of hooks pass the same event, without this field: an answer would be added again.
    typed = payload.text("submitted_prompt")
    return question._replace(
        prompt=typed,
        is_typed=bool(typed),
        error="" if payload.flag("is_interrupt") else question.error,
        shows_files=event == "post_tool_use",
    )


def write(question: Question, answer: Answer) -> dict[str, Any]:
    return block(answer) if answer.kind == CONTINUE else specific(event_name(question), answer)

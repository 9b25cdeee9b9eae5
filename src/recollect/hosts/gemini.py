"""Gemini CLI: events of its own names, and `deny` is the one decision it knows.

What is said at a session's start stands before the first prompt and breaks the session when it is resumed, so the
first prompt brings it. Before every request the host says that it may compress: only what a person asks for is meant.
"""

from __future__ import annotations

from recollect.hosts.answer import ADD, Answer, specific
from recollect.hosts.question import (
    COMPACTION,
    READ,
    SHELL,
    START,
    WRITE,
    Payload,
    Question,
    common,
    failed,
    without_elements,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TOOLS = {"run_shell_command": SHELL, "read_file": READ, "write_file": WRITE, "replace": WRITE}
_NAMES = {"user_prompt_submit": "BeforeAgent", "post_tool_use": "AfterTool"}
_LATE = {"session_start": START, "user_prompt_submit": START, "pre_compact": COMPACTION}


def read(event: str, payload: Payload) -> Question | None:
    if event == "pre_compact" and payload.text("trigger") != "manual":
        return None
    question = common(event, payload, _TOOLS)
    printed = payload.inner("tool_response").text("llmContent")
    return question._replace(
        prompt=without_elements(question.prompt, ["hook_context"]),
        reply=payload.text("prompt_response"),
        error=failed(printed, "Exit Code: ") if question.tool == SHELL else "",
        shows_files=event == "post_tool_use",
        late=_LATE.get(event, ""),
    )


def write(question: Question, answer: Answer) -> dict[str, Any]:
    if answer.kind != ADD:
        return {"decision": "deny", "reason": answer.text}
    return specific(_NAMES[question.event], answer) if question.event in _NAMES else {}

"""GitHub Copilot CLI: answers stand at the top level; a hook that fails before a tool keeps the tool from running.

A command that fails is a success to its events: the exit status is in the text. Nothing is told after a compaction.
"""

from __future__ import annotations

import os

from recollect.hosts.answer import ADD, CONTINUE, Answer, block
from recollect.hosts.question import COMPACTION, POWERSHELL, READ, SHELL, WRITE, Payload, Question, common, failed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TOOLS = {
    "Bash": SHELL,
    "PowerShell": POWERSHELL,
    "Read": READ,
    "Edit": WRITE,
    "MultiEdit": WRITE,
    "Write": WRITE,
}
_SOURCES = {"new": "startup"}


def read(event: str, payload: Payload) -> Question:
    question = common(event, payload, _TOOLS)
    printed = payload.inner("tool_result").text("text_result_for_llm")
    return question._replace(
        source=_SOURCES.get(question.source, question.source),
        transcript=question.transcript or _transcript(question.session),
        error=failed(printed, "completed with exit code ") if question.tool in (SHELL, POWERSHELL) else "",
        shows_files=event == "pre_tool_use",
        late=COMPACTION if event in ("user_prompt_submit", "pre_compact") else "",
    )


def write(question: Question, answer: Answer) -> dict[str, Any]:
    if answer.kind == CONTINUE:
        return block(answer)
    if answer.kind == ADD:
        return {"additionalContext": answer.text}
    return {"permissionDecision": "deny", "permissionDecisionReason": answer.text}


def _transcript(session: str) -> str:
    """Where a session is kept: most events do not say."""
    if not session or not session.replace("-", "").isalnum():
        return ""
    home = os.environ.get("COPILOT_HOME") or os.path.join(os.path.expanduser("~"), ".copilot")
    return os.path.join(home, "session-state", session, "events.jsonl")

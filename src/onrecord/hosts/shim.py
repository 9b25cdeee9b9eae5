"""The hosts that run a plugin in JavaScript: the plugin sends our own fields, and gets the answer as it is.

These hosts tell nothing at a session's start that would reach the model: the first prompt brings it.
"""

from __future__ import annotations

from onrecord.hosts.question import START, Payload, Question, common

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from onrecord.hosts.answer import Answer

_LATE = {"session_start": START, "user_prompt_submit": START}


def read(event: str, payload: Payload, tools: Mapping[str, str]) -> Question:
    """The question that a plugin sends; what is particular to a host, its module adds."""
    question = common(event, payload, tools)
    return question._replace(
        is_attended=payload.flag("attended"), shows_files=event == "post_tool_use", late=_LATE.get(event, "")
    )


def write(question: Question, answer: Answer) -> dict[str, Any]:
    return {answer.kind: answer.text}

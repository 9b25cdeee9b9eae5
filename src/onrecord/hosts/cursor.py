"""Cursor, from its documentation; it was never run: other names for the fields, and `permission` for a decision."""

from __future__ import annotations

from onrecord.hosts.events import ADD, CONTINUE, READ, SHELL, WRITE, Answer, Payload, Question, common

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onrecord.session.transcript import Transcript

_TOOLS = {"Shell": SHELL, "Bash": SHELL, "Read": READ, "Write": WRITE, "Edit": WRITE, "Delete": WRITE}


def read(event: str, payload: Payload) -> Question:
    question = common(event, payload, _TOOLS)
    error = payload.text("error_message") or question.error
    rounds = payload.fields.get("loop_count")
    return question._replace(
        session=payload.text("conversation_id") or question.session,
        source="startup" if event == "session_start" else "",
        transcript="",
        cwd=question.cwd or next((root for root in payload.items("workspace_roots") if isinstance(root, str)), ""),
        error=f"Exit code 1\n{error}" if error and not payload.flag("is_interrupt") else "",
        is_continued=question.is_continued or (isinstance(rounds, int) and rounds > 0),
        shows_files=event == "post_tool_use",
    )


def write(question: Question, answer: Answer) -> dict[str, Any]:
    if answer.kind == CONTINUE:
        return {"followup_message": answer.text}
    if answer.kind != ADD:
        return {"permission": "deny", "user_message": answer.text, "agent_message": answer.text}
    # The host refuses what a schema does not have, and the one for a prompt wants this key.
    going_on = {"continue": True} if question.event == "user_prompt_submit" else {}
    return {**going_on, "additional_context": answer.text}


def transcript(path: str) -> Transcript:
    """Nothing is read of its sessions: their form is not documented."""
    from onrecord.session.transcript import NO_SESSION

    return NO_SESSION


def sessions(project: str) -> list[str]:
    return []

"""Answer: what we say to a question, before a host's module puts it into the host's form."""

from __future__ import annotations

from onrecord import coldstart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from onrecord.hosts.question import Question

ADD, DENY, CONTINUE = "add", "deny", "continue"


class Answer(coldstart.NamedTuple):
    """A text, and what is to be done with it: add it for the model, deny the tool with it, or go on because of it."""

    kind: str
    text: str


NOTHING = Answer("", "")


def specific(name: str, answer: Answer) -> dict[str, Any]:
    """An answer as Claude Code introduced it: what belongs to the event stands below its name."""
    if answer.kind == DENY:
        fields = {"permissionDecision": "deny", "permissionDecisionReason": answer.text}
    else:
        fields = {"additionalContext": answer.text}
    return {"hookSpecificOutput": {"hookEventName": name, **fields}}


def event_name(question: Question) -> str:
    """The name of an event as most hosts write it: UserPromptSubmit."""
    return "".join(word.capitalize() for word in question.event.split("_"))


def block(answer: Answer) -> dict[str, Any]:
    """The request to go on, as most hosts want it at the end of a turn."""
    return {"decision": "block", "reason": answer.text}

"""Summary: a draft of where a session's work stands, made by us from what can be seen of it.

It is written before a conversation is compacted and when it ends, where no agent can be asked any more.
"""

from __future__ import annotations

from typing import Any

from recollect import failure_log, timestamps
from recollect.capture import inbox, tool_activity, triage
from recollect.capture.cues import Lexicons
from recollect.capture.inbox import Draft, Inbox
from recollect.capture.tool_activity import Activity
from recollect.errors import RecollectError
from recollect.record import compose
from recollect.session import transcript
from recollect.session.transcript import Ending
from recollect.settings import Settings
from recollect.text import cut

_FILES = 12
_COMMANDS = 5
_ACTIONS = 5


def draft(
    *, project: str, store: str, session: str, transcript_path: str, settings: Settings, now: str = ""
) -> Draft | None:
    """Put a summary of the session into the inbox, in the place of an earlier one; None if too little happened."""
    messages = transcript.messages(transcript_path)
    done = Activity(messages)
    box = Inbox(store)
    if not session or not done.is_substantial or _has_better(box, session):
        return None
    goal = tool_activity.goal(transcript_path) or "Unknown: the first prompt is no longer in the transcript"
    given = describe(done, goal, triage.leftovers(Ending(messages, is_whole=False), Lexicons()), project)
    given["source"] = f"session {session}, summed up by recollect from its transcript"
    try:
        record = compose.compose("session_summary", given, now=now or timestamps.now())
        made = Draft(inbox.machine_name(session), record, made_at=record.created_at, session=session)
        box.put(made, replacing=True)
    except RecollectError as error:
        failure_log.leave("session summary", str(error))
        return None
    _drop_older(box, settings.count("categories.session_summary.max_retained"))
    return made


def describe(done: Activity, goal: str, left: list[str], project: str) -> dict[str, Any]:
    """What is known of a session as the fields of a record."""
    files = [tool_activity.relative(path, project) for path in done.files]
    more = f" and {len(files) - _FILES} more" if len(files) > _FILES else ""
    return {
        "title": f"Session: {cut(goal, 90)}",
        "tags": ["machine-made", "session"],
        "related_files": [path for path in files if not path.startswith("/")][:_FILES],
        "origin": "tool",
        "confidence": 0.3,
        "content": {
            "goal": goal,
            "outcome": "partial",
            "completed": [f"Changed {len(files)} files: {', '.join(files[:_FILES])}{more}"],
            "next_actions": left[:_ACTIONS],
            "blockers": [f"Failed when last run: {cut(command, 200)}" for command in list(done.failed)[:_COMMANDS]],
        },
    }


def _has_better(box: Inbox, session: str) -> bool:
    """Whether the agent has drafted a summary of this session itself."""
    return any(
        one.session == session and one.record.category == "session_summary" and not one.is_machine_made
        for one in box.drafts()
    )


def _drop_older(box: Inbox, most: int) -> None:
    """Machine-made summaries that nobody looked at make room for newer ones."""
    ours = [one for one in box.drafts() if one.is_machine_made and one.name.startswith(inbox.MACHINE_PREFIX)]
    for one in ours[: max(len(ours) - most, 0)]:
        box.drop(one.name)

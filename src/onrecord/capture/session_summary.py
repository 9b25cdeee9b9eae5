"""The summary of a session, drafted from its transcript before a conversation is compacted and when it ends."""

from __future__ import annotations

import os
from typing import Any

from onrecord import state_file, timestamps
from onrecord.capture import triage
from onrecord.capture.conversation import Activity
from onrecord.errors import OnrecordError
from onrecord.record import compose, naming
from onrecord.record.drafts import Draft
from onrecord.session import transcript as transcripts
from onrecord.session.transcript import Ending, Transcript
from onrecord.settings import Settings
from onrecord.store.inbox import Inbox
from onrecord.text import cut

_PREFIX = "session-"
_MAX_READ = 100
"""Drafts that a hook reads: what a session has drafted is among the newest."""

_MAX_FILES = 12
"""Files that a summary names."""

_MAX_LINES = 5
"""Failed commands and next actions that it lists."""


def draft(*, project: str, store: str, session: str, transcript: Transcript, settings: Settings) -> Draft | None:
    """Put a summary of a session into the inbox, in the place of an earlier one; None if too little happened."""
    messages = transcripts.read_messages(transcript)
    activity = Activity(messages)
    box = Inbox(store)
    if not session or not activity.is_substantial or _has_better(box, session):
        return None
    goal = cut(" ".join(transcripts.first_prompt(transcript).split()), 300)
    fields = _summary(activity, goal, triage.open_tasks(Ending(messages, is_whole=False)), project)
    fields["source"] = f"session {session}, summed up by onrecord from its transcript"
    try:
        record = compose.compose("session_summary", fields, now=timestamps.now())
        name = f"{_PREFIX}{naming.slug(session)[:40] or 'unnamed'}"
        summary = box.put(Draft(name, record, made_at=record.created_at, session=session), replacing=True)
    except OnrecordError as error:
        state_file.log_failure("session summary", str(error))
        return None
    _drop_older(box, settings.count("categories.session_summary.max_retained"))
    return summary


def _summary(activity: Activity, goal: str, left: list[str], project: str) -> dict[str, Any]:
    """What is known of a session as the fields of a record."""
    inside = project + os.sep
    changed = [path[len(inside) :].replace(os.sep, "/") if path.startswith(inside) else path for path in activity.files]
    more = f" and {len(changed) - _MAX_FILES} more" if len(changed) > _MAX_FILES else ""
    goal = goal or "Unknown: the first prompt is no longer in the transcript"
    return {
        "title": f"Session: {cut(goal, 90)}",
        "tags": ["machine-made", "session"],
        "related_files": [path for path in changed if not path.startswith("/")][:_MAX_FILES],
        "origin": "tool",
        "confidence": 0.3,
        "content": {
            "goal": goal,
            "outcome": "partial",
            "completed": [f"Changed {len(changed)} files: {', '.join(changed[:_MAX_FILES])}{more}"],
            "next_actions": left[:_MAX_LINES],
            "blockers": [f"Failed when last run: {cut(line, 200)}" for line in list(activity.failed)[:_MAX_LINES]],
        },
    }


def _has_better(box: Inbox, session: str) -> bool:
    """Whether the agent has drafted a summary of this session itself."""
    drafts = (draft for draft in box.newest(_MAX_READ) if draft.session == session and not draft.is_machine_made)
    return any(draft.record.category == "session_summary" for draft in drafts)


def _drop_older(box: Inbox, most: int) -> None:
    """Machine-made summaries that nobody looked at make room for newer ones."""
    drafts = [draft for draft in box.newest(most + _MAX_READ, _PREFIX) if draft.is_machine_made]
    for draft in drafts[most:]:
        box.drop(draft.name)

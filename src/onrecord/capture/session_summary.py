"""Drafts a summary of a session from its transcript, before a compaction and at the end of the session."""

from __future__ import annotations

import os
from typing import Any

from onrecord import state_file, timestamps
from onrecord.capture import triage
from onrecord.capture.conversation import Activity
from onrecord.errors import OnrecordError
from onrecord.record import author, compose, naming
from onrecord.record.drafts import Draft
from onrecord.session import transcript as transcripts
from onrecord.session.transcript import Ending, Transcript
from onrecord.settings import Settings
from onrecord.store.inbox import Inbox
from onrecord.text import cut

_PREFIX = "session-"
_MAX_DRAFTS_READ = 100
"""Drafts that a hook reads, newest first. The drafts of the current session are among them."""

_MAX_FILES = 12

_MAX_LINES = 5
"""Limit for the failed commands in a summary, and for the next actions."""


def draft(*, project: str, store: str, session: str, transcript: Transcript, settings: Settings) -> Draft | None:
    """Put a summary of a session into the inbox, replacing an earlier one, and return the draft.

    Return None if too little happened, or if the agent has drafted a summary itself.
    """
    messages = transcripts.read_messages(transcript)
    activity = Activity(messages)
    box = Inbox(store)
    if not session or not activity.is_substantial or _has_own_summary(box, session):
        return None
    goal = cut(" ".join(transcripts.first_prompt(transcript).split()), 300)
    fields = _summary(activity, goal, triage.open_tasks(Ending(messages, is_whole=False)), project)
    fields["source"] = f"session {session}, summed up by onrecord from its transcript"
    try:
        written_by = author.detect()._replace(origin=author.TOOL)
        record = compose.compose("session_summary", fields, now=timestamps.now(), written_by=written_by)
        name = f"{_PREFIX}{naming.slug(session)}"
        summary = box.put(Draft(name, record, made_at=record.created_at, session=session), replacing=True)
    except OnrecordError as error:
        state_file.log_failure("session summary", str(error))
        return None
    _drop_old_summaries(box, settings.count("categories.session_summary.max_retained"))
    return summary


def _summary(activity: Activity, goal: str, tasks: list[str], project: str) -> dict[str, Any]:
    """Return the fields of a summary record."""
    prefix = project + os.sep
    files = [path[len(prefix) :].replace(os.sep, "/") if path.startswith(prefix) else path for path in activity.files]
    rest = f" and {len(files) - _MAX_FILES} more" if len(files) > _MAX_FILES else ""
    goal = goal or "Unknown: the first prompt is no longer in the transcript"
    return {
        "title": f"Session: {cut(goal, 90)}",
        "tags": ["machine-made", "session"],
        "related_files": [path for path in files if not path.startswith("/")][:_MAX_FILES],
        "confidence": 0.3,
        "content": {
            "goal": goal,
            "outcome": "partial",
            "completed": [f"Changed {len(files)} files: {', '.join(files[:_MAX_FILES])}{rest}"],
            "next_actions": tasks[:_MAX_LINES],
            "blockers": [f"Failed when last run: {cut(line, 200)}" for line in list(activity.failed)[:_MAX_LINES]],
        },
    }


def _has_own_summary(box: Inbox, session: str) -> bool:
    """True if the agent has drafted a summary of this session itself."""
    drafts = (draft for draft in box.newest(_MAX_DRAFTS_READ) if draft.session == session and not draft.is_machine_made)
    return any(draft.record.category == "session_summary" for draft in drafts)


def _drop_old_summaries(box: Inbox, limit: int) -> None:
    """Delete the oldest machine-made summaries beyond `limit`."""
    drafts = [draft for draft in box.newest(limit + _MAX_DRAFTS_READ, _PREFIX) if draft.is_machine_made]
    for draft in drafts[limit:]:
        box.drop(draft.name)

"""A conversation is about to be compacted, or ends: draft a summary of what can be seen of it without an agent.

The host gives all hooks of a session's end together a second and a half.
"""

from __future__ import annotations

from recollect.hooks.event import Event
from recollect.hooks.stop import captures
from recollect.settings import load_settings


def handle(event: Event) -> str:
    """Never answers: what this hook prints would become part of the instructions for compacting."""
    if event.in_subagent or not event.store or not event.text("transcript_path"):
        return ""
    settings = load_settings(event.store)
    if settings.text("capture.mode") == "off" or not captures("session_summary", settings):
        return ""
    from recollect.capture import inbox

    inbox.draft_summary(
        project=event.project,
        store=event.store,
        session=event.session,
        transcript_path=event.text("transcript_path"),
        settings=settings,
    )
    return ""

"""A turn has ended: look for evidence that what was shown was used, and suggest once to save what was settled."""

from __future__ import annotations

from recollect import budget, usage
from recollect.categories import BY_NAME
from recollect.hooks.event import Event
from recollect.session import ledger, transcript
from recollect.settings import load_settings

_EVIDENCE = 0.6
"""Seconds of computing to look for evidence of use, so that as much is left for a suggestion."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.session.transcript import Ending
    from recollect.settings import Settings


def stop(event: Event) -> str:
    if not event.in_subagent:
        turn = (event.session, event.text("transcript_path"), event.stores, event.text("last_assistant_message"))
        budget.attempt("look for evidence of use", None, usage.observe, *turn, seconds=_EVIDENCE)
    return _suggestion(event)


def _suggestion(event: Event) -> str:
    if event.flag("stop_hook_active") or event.in_subagent or event.has_items("background_tasks") or not event.store:
        return ""
    if not event.is_attended:
        return ""
    settings = load_settings(event.store)
    if settings.text("capture.mode") == "off" or not settings.count("capture.max_offers"):
        return ""
    categories = [name for name in BY_NAME if captures(name, settings)]
    end = _ending(event, settings.count("triage.max_messages")) if categories else None
    if end is None or not end.messages:
        return ""
    from recollect.capture import triage

    findings = triage.findings(end, lambda name: settings.number(f"triage.thresholds.{name}"))
    findings = [finding for finding in findings if finding.category in categories]
    if not findings:
        return ""
    from recollect.capture import suggestions

    return suggestions.suggest(
        findings, project=event.project, store=event.store, session=event.session, settings=settings
    )


def captures(category: str, settings: Settings) -> bool:
    """Whether sessions are searched for a category at all."""
    return settings.is_enabled(category) and settings.flag(f"categories.{category}.auto_capture")


def _ending(event: Event, most: int) -> Ending:
    """The session's last messages; the transcript may lag behind what was typed and said last."""
    end = transcript.ending(event.text("transcript_path"), most)
    with ledger.Ledger(event.session) as session:
        end = end.with_missing("user", session.corrections)
    return end.with_missing("assistant", [transcript.without_blocks(event.text("last_assistant_message"))])

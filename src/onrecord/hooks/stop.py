"""The event at the end of a turn: counts the records that the agent used, and may suggest to save a record."""

from __future__ import annotations

from onrecord import budget, usage
from onrecord.categories import CATEGORIES
from onrecord.hosts import table
from onrecord.hosts.events import CONTINUE, HookReply
from onrecord.session import ledger, transcript
from onrecord.settings import load_settings

_EVIDENCE_SECONDS = 0.6
"""CPU time to look for evidence of use. The rest of the limit is left for a suggestion."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.hooks.event_stores import EventStores
    from onrecord.hosts.events import HostEvent
    from onrecord.session.transcript import Ending
    from onrecord.settings import Settings


def stop(event: HostEvent, event_stores: EventStores) -> HookReply:
    """Count the records that the agent opened in this turn; suggest at most one to save."""
    if not event.is_subagent:
        turn = (
            event.session,
            table.transcript(event.host, event.transcript),
            event_stores.in_session(event.session).stores,
        )
        budget.attempt("look for evidence of use", None, usage.observe, *turn, seconds=_EVIDENCE_SECONDS)
    return HookReply(CONTINUE, _suggestion(event, event_stores))


def _suggestion(event: HostEvent, event_stores: EventStores) -> str:
    if event.is_continued or event.is_subagent or event.is_busy or not event_stores.store or not event.is_attended:
        return ""
    settings = load_settings(event_stores.store)
    if settings.text("capture.mode") == "off" or not settings.count("capture.max_suggestions"):
        return ""
    categories = [name for name in CATEGORIES if captures(name, settings)]
    end = _ending(event, settings.count("triage.max_messages")) if categories else None
    if end is None or not end.messages:
        return ""
    from onrecord.capture import triage

    findings = triage.best_candidates(end, lambda name: settings.number(f"triage.thresholds.{name}"))
    findings = [finding for finding in findings if finding.category in categories]
    if not findings:
        return ""
    from onrecord.capture import suggestions

    return suggestions.suggest(
        findings,
        project=event_stores.project,
        store=event_stores.store,
        session=event.session,
        settings=settings,
        skill=event.skill("save"),
    )


def captures(category: str, settings: Settings) -> bool:
    """True if sessions are searched for records of a category."""
    return settings.is_enabled(category) and settings.flag(f"categories.{category}.auto_capture")


def _ending(event: HostEvent, limit: int) -> Ending:
    """Return the last messages of the session, including those that may not be in the transcript yet."""
    end = transcript.read_ending(table.transcript(event.host, event.transcript), limit)
    with ledger.Ledger(event.session) as session:
        end = end.with_missing("user", session.corrections)
    return end.with_missing("assistant", [transcript.without_blocks(event.last_message)])

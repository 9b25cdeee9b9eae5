"""A turn has ended: count the records that the agent opened, and suggest once to save what was settled."""

from __future__ import annotations

from onrecord import budget, usage
from onrecord.categories import CATEGORIES
from onrecord.hosts import table
from onrecord.hosts.events import CONTINUE, Answer
from onrecord.session import ledger, transcript
from onrecord.settings import load_settings

_EVIDENCE = 0.6
"""Seconds of computing to look for evidence of use, so that as much is left for a suggestion."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.hooks.event_stores import Place
    from onrecord.hosts.events import Question
    from onrecord.session.transcript import Ending
    from onrecord.settings import Settings


def stop(asked: Question, place: Place) -> Answer:
    if not asked.is_subagent:
        turn = (asked.session, table.transcript(asked.host, asked.transcript), place.stores)
        budget.attempt("look for evidence of use", None, usage.observe, *turn, seconds=_EVIDENCE)
    return Answer(CONTINUE, _suggestion(asked, place))


def _suggestion(asked: Question, place: Place) -> str:
    if asked.is_continued or asked.is_subagent or asked.is_busy or not place.store or not asked.is_attended:
        return ""
    settings = load_settings(place.store)
    if settings.text("capture.mode") == "off" or not settings.count("capture.max_suggestions"):
        return ""
    categories = [name for name in CATEGORIES if captures(name, settings)]
    end = _ending(asked, settings.count("triage.max_messages")) if categories else None
    if end is None or not end.messages:
        return ""
    from onrecord.capture import triage

    findings = triage.findings(end, lambda name: settings.number(f"triage.thresholds.{name}"))
    findings = [finding for finding in findings if finding.category in categories]
    if not findings:
        return ""
    from onrecord.capture import suggestions

    return suggestions.suggest(
        findings, project=place.project, store=place.store, session=asked.session, settings=settings
    )


def captures(category: str, settings: Settings) -> bool:
    """Whether sessions are searched for a category at all."""
    return settings.is_enabled(category) and settings.flag(f"categories.{category}.auto_capture")


def _ending(asked: Question, most: int) -> Ending:
    """The session's last messages; the transcript may lag behind what was typed and said last."""
    end = transcript.ending(table.transcript(asked.host, asked.transcript), most)
    with ledger.Ledger(asked.session) as session:
        end = end.with_missing("user", session.corrections)
    return end.with_missing("assistant", [transcript.without_blocks(asked.reply)])

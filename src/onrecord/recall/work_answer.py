"""The answer to a question about the work: session summaries with their dates, newest first, of the period asked for.

For what was done, summaries that were retired because there were newer ones count, too: they are history.
"""

from __future__ import annotations

from onrecord import paths
from onrecord.coldstart import NamedTuple
from onrecord.recall import selection
from onrecord.recall.candidate import RULE, Candidate
from onrecord.recall.selection import Thresholds
from onrecord.recall.work_question import DONE, LEFT_OFF, NEXT, WorkQuestion, local_day
from onrecord.search import indexing, rank, terms
from onrecord.text import cut, join, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.recall.selection import Room
    from onrecord.recall.stores import SearchedStore, Stores
    from onrecord.record.memory import Memory
    from onrecord.search.rank import Match
    from onrecord.session.ledger import Ledger
    from onrecord.settings import Settings

CATEGORY = "session_summary"
_MAX_READ = 60
"""Summaries of a store that are read, newest first."""

_MAX_NEXT = 3
"""Unfinished summaries that say what is next: older ones are about other work."""

_MAX_LIST, _MAX_DONE = 160, 260
"""Characters of what comes next, and of what was done."""

_AUTOMATIC = ("more than ", "past its retention")
"""How the reason begins for which a summary was retired by the program, not by a person."""


class Summary(NamedTuple):
    """A session summary with its day."""

    candidate: Candidate
    day: str
    is_current: bool
    is_open: bool
    """True if it says what is left to do."""


class Summaries(NamedTuple):
    """The summaries on file, newest first."""

    all: Sequence[Summary]
    is_complete: bool
    """True if all records of all stores were read."""
    drafts: int = 0
    """Drafts of summaries that wait for review: they are not on file."""


class Answer(NamedTuple):
    """The text for the agent, and all summaries that come into question, with their outcome."""

    text: str
    candidates: Sequence[Candidate]


def find(stores: Stores, work_question: WorkQuestion, settings: Settings) -> Summaries:
    """Return the summaries of all stores."""
    if not settings.is_enabled(CATEGORY):
        return Summaries((), False)
    summaries: list[Summary] = []
    complete: list[bool] = []
    for store in stores.in_turn(is_last=False):
        complete += store.attempt(_is_complete)
        summaries += store.attempt(_read, work_question)
    summaries.sort(key=lambda summary: (summary.candidate.match.updated_at, summary.candidate.match.path), reverse=True)
    is_complete = len(complete) == len(stores.store_refs) and all(complete)
    return Summaries(summaries, is_complete, 0 if summaries else _count_drafts(stores))


def _count_drafts(stores: Stores) -> int:
    from onrecord.store.inbox import Inbox

    roots = [store_ref.root for store_ref in stores.store_refs if paths.is_project(store_ref.prefix)]
    drafts = [draft for root in roots for draft in Inbox(root).newest(_MAX_READ)]
    return sum(draft.record.category == CATEGORY for draft in drafts)


def _is_complete(searched_store: SearchedStore) -> list[bool]:
    return [indexing.is_complete(searched_store.open())]


def _read(searched_store: SearchedStore, work_question: WorkQuestion) -> list[Summary]:
    index = searched_store.index or searched_store.open()
    matches = [match for match in rank.newest(index, CATEGORY, _MAX_READ) if searched_store.applies()(match.scope)]
    by_id = {candidate.match.id: candidate for candidate in searched_store.visible(matches)}
    summaries = (_summary(candidate, work_question) for candidate in by_id.values())
    return [summary for summary in summaries if summary]


def _summary(candidate: Candidate, work_question: WorkQuestion) -> Summary | None:
    """Return a summary as it is shown; None if it cannot be read, or was retired by a person."""
    from onrecord.errors import OnrecordError
    from onrecord.record import validity
    from onrecord.store.store import Store

    match = candidate.match
    try:
        store = Store(match.root)
        record = store.read(match.path).memory
        is_current = validity.is_current(record, store.records_named)
        moment = record.updated_at if is_current else record.created_at
        day = local_day(moment)
    except (OnrecordError, ValueError):
        return None
    if not is_current and not record.retired_reason.startswith(_AUTOMATIC):
        return None
    text = _done(record) if work_question.kind == DONE else match.summary_line
    shown = match._replace(summary_line=text, updated_at=moment, query=None)
    is_open = bool(record.text("next_actions") or record.text("in_progress") or record.text("blockers"))
    return Summary(candidate._replace(match=shown), day, is_current, is_open)


def _done(record: Memory) -> str:
    """Return what a session was for, what it did, and what comes next."""
    parts = [f"{cut(record.text('goal'), 150)} ({record.text('outcome')})"]
    for label, field, limit in (
        ("Done", "completed", _MAX_DONE),
        ("Left off at", "in_progress", 100),
        ("Next", "next_actions", _MAX_LIST),
    ):
        if record.text(field):
            parts.append(f"{label}: {cut(record.text(field), limit)}")
    return ". ".join(part.rstrip(".") for part in parts) + "."


def chosen(work_question: WorkQuestion, summaries: Summaries) -> list[Summary]:
    """Return the summaries that answer, newest first."""
    current = [summary for summary in summaries.all if summary.is_current]
    if work_question.kind == LEFT_OFF:
        return current[:1]
    if work_question.kind == NEXT:
        return [summary for summary in current[:_MAX_NEXT] if summary.is_open] or current[:1]
    period = work_question.period
    if period is None:
        return list(summaries.all[:1])
    return [summary for summary in summaries.all if period.first <= summary.day <= period.last]


def about(work_question: WorkQuestion, summaries: Summaries) -> Summaries:
    """Return the summaries that have a word of the question's topic; all if it has none."""
    topic = set(terms.stream(work_question.topic))
    if not topic:
        return summaries
    return summaries._replace(
        all=[summary for summary in summaries.all if topic.intersection(_terms(summary.candidate.match))]
    )


def _terms(match: Match) -> set[str]:
    return set(terms.stream(f"{match.title} {match.summary_line} {' '.join(match.tags)}"))


def show(work_question: WorkQuestion, summaries: Summaries, room: Room, ledger: Ledger) -> Answer:
    """Return what an agent is shown; what is shown is noted in `ledger`."""
    answers = chosen(work_question, summaries)
    if not answers:
        return Answer(_nothing(work_question, summaries), ())
    candidates = [summary.candidate._replace(form=RULE) for summary in answers]
    block, decided = selection.show(candidates, Thresholds(0.0), room, ledger)
    if not block:
        return Answer("", decided)
    left_out = sum(candidate.outcome == selection.NO_ROOM for candidate in decided)
    more = f"; {plural(left_out, 'more summary')} on file" if left_out else ""
    return Answer(join(f"{heading(work_question)}{more}:", block), decided)


def heading(work_question: WorkQuestion) -> str:
    """Return the line above the summaries, which says what they are."""
    if work_question.kind == DONE and work_question.period:
        return f"Session summaries of {work_question.period.label}, newest first"
    if work_question.kind == NEXT:
        return "What comes next, by the last session summaries, newest first"
    return "The last session summary on file"


def note(work_question: WorkQuestion, summaries: Summaries) -> str:
    """Return one line on the answer: what the summaries are, or that there are none."""
    return heading(work_question) if chosen(work_question, summaries) else _nothing(work_question, summaries)


def _nothing(work_question: WorkQuestion, summaries: Summaries) -> str:
    """Return that no summary of the period is on file, with the date of the last one."""
    # "What's next?" may well be about the conversation, so nothing is said where there is nothing.
    if not summaries.is_complete or work_question.kind == NEXT:
        return ""
    if not summaries.all:
        drafts = (
            f" {plural(summaries.drafts, 'draft')} of summaries for review: onrecord review" if summaries.drafts else ""
        )
        return f"No session summary is on file.{drafts}"
    period = f" of {work_question.period.label}" if work_question.period else ""
    last = summaries.all[0]
    return f"No session summary{period} is on file. The last one is of {last.day}: {_command(last.candidate)}"


def _command(candidate: Candidate) -> str:
    from onrecord.store import record_names

    name = f"{paths.store_flag(candidate.prefix)}{record_names.short_name(candidate.match.path)}"
    return " ".join(("onrecord", "show", name))

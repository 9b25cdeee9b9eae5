"""The outcomes of what agents were shown: the share used in each week, what was corrected most, what was never shown.

The counts are those of the usage logs of all stores that a person looks after; the event logs add what the person said.
"""

from __future__ import annotations

from collections.abc import Sequence

from onrecord import paths, timestamps
from onrecord.audit.share import Share
from onrecord.coldstart import NamedTuple
from onrecord.paths import StoreRef
from onrecord.search import index, listing
from onrecord.search.listing import ListingFilter
from onrecord.usage import event_log, usage_log
from onrecord.usage.event_log import Feedback, Showing
from onrecord.usage.usage_log import Corrections, Counts

WEEKS = 12
_NEW_DAYS = 14
"""Days for which it says nothing that a record was not shown yet."""

_MAX_JUDGED = 2
"""How often a person says that a record was wrong, or not relevant, before it is proposed to be improved."""


class WeekOutcome(NamedTuple):
    """The counts of one week: what was shown, how much of it was used, and what the user said."""

    monday: str
    used: Share
    """The share of the showings that the agent opened. A rule can be followed without being opened."""
    corrected: int
    helped: int
    not_relevant: int
    wrong: int


class CorrectedRecord(NamedTuple):
    """A record that agents were corrected with."""

    path: str
    """With the prefix of its store."""
    title: str
    times: int
    summary: str
    """In words: how often, when last, and which agents."""


class NeverShown(NamedTuple):
    """A record that no agent has been shown, outside the map."""

    path: str
    title: str
    created_at: str


class Outcomes(NamedTuple):
    """The outcomes of what agents were shown: the weeks, and the records that stand out."""

    weeks: Sequence[WeekOutcome]
    corrected: Sequence[CorrectedRecord]
    """The records that agents were corrected with in these weeks, most often first."""
    never_shown: Sequence[NeverShown]
    """Some of the records that were never shown, the oldest first."""
    number_never_shown: int
    number_in_force: int


class StreamedShowing(NamedTuple):
    """A showing in the stream of all stores."""

    showing: Showing
    path: str
    """The record's path with the prefix of its store; empty for a map."""
    store: str


def read(store_refs: Sequence[StoreRef], limit: int, *, is_quick: bool) -> Outcomes:
    """Return what became of what was shown in these stores, with at most `limit` records in each list."""
    corrected = [record for ref in store_refs for record in _corrected(ref)]
    never: list[NeverShown] = []
    in_force = 0
    # What a team has on record is shown in the projects that it is about: not to be shown here says nothing.
    for ref in [ref for ref in store_refs if not paths.is_shared(ref.prefix)]:
        unseen, records = _never_shown(ref, is_quick=is_quick)
        never += unseen
        in_force += records
    return Outcomes(
        weeks(store_refs),
        sorted(corrected, key=lambda record: (-record.times, record.path))[:limit],
        sorted(never, key=lambda record: (timestamps.order(record.created_at), record.path))[:limit],
        len(never),
        in_force,
    )


def weeks(store_refs: Sequence[StoreRef]) -> list[WeekOutcome]:
    """Return what became of the showings of the last weeks, oldest first."""
    by_monday: dict[str, list[Counts]] = {}
    for ref in store_refs:
        for monday, counts in usage_log.per_week(ref.root, WEEKS):
            by_monday.setdefault(monday, []).append(counts)
    totals = {monday: usage_log.total(counts) for monday, counts in by_monday.items()}
    return [
        WeekOutcome(monday, _used(counts), counts.corrected, counts.helped, counts.not_relevant, counts.wrong)
        for monday, counts in totals.items()
    ]


def _used(counts: Counts) -> Share:
    # Evidence of use may be counted in the week after the one of the showing.
    return Share(min(counts.opened, counts.injected + counts.pointed), counts.injected + counts.pointed)


def lately_corrected(store_root: str) -> dict[str, Corrections]:
    """Return the corrections of records of which the last one is at most twelve weeks ago, by path."""
    first_day = timestamps.days_before(timestamps.now(), 7 * WEEKS)[:10]
    corrections = usage_log.current_corrections(store_root)
    return {path: broken for path, broken in corrections.items() if broken.last_day >= first_day}


def _corrected(ref: StoreRef) -> list[CorrectedRecord]:
    corrections = lately_corrected(ref.root)
    if not corrections:
        return []
    titles = dict(listing.titles(index.open(ref.root, hook=True)))
    return [
        CorrectedRecord(f"{ref.prefix}{path}", titles.get(path, path), broken.times, broken.summary)
        for path, broken in corrections.items()
    ]


def _never_shown(ref: StoreRef, *, is_quick: bool) -> tuple[list[NeverShown], int]:
    """Return the records in force that were never shown, without new ones, and how many records are in force."""
    rows, _ = listing.read(index.open(ref.root, hook=is_quick), ListingFilter(status="active"), None)
    shown = shown_paths(ref.root)
    limit = timestamps.order(timestamps.days_before(timestamps.now(), _NEW_DAYS))
    unseen = [
        NeverShown(f"{ref.prefix}{row.path}", row.title, row.created_at)
        for row in rows
        if row.path not in shown and timestamps.order(row.created_at) < limit
    ]
    return unseen, len(rows)


def shown_paths(store_root: str) -> set[str]:
    """Return the paths of the records of a store that agents were shown, outside the map."""
    counts = usage_log.per_record(store_root)
    return {path for path, count in counts.items() if count.injected or count.pointed or count.digest}


def stream(store_refs: Sequence[StoreRef], limit: int) -> list[StreamedShowing]:
    """Return the newest showings in all of these stores, newest first."""
    showings = [
        StreamedShowing(showing, f"{ref.prefix}{showing.path}" if showing.path else "", paths.store_name(ref.prefix))
        for ref in store_refs
        for showing in event_log.newest(ref.root, limit)
    ]
    return sorted(showings, key=lambda streamed: streamed.showing.at, reverse=True)[:limit]


def badly_judged(store_root: str) -> dict[str, Feedback]:
    """Return the records that a person has called wrong once, or not relevant more than once, by path."""
    return {
        path: judgement
        for path, judgement in event_log.feedback(store_root).items()
        if judgement.wrong or judgement.not_relevant >= _MAX_JUDGED
    }

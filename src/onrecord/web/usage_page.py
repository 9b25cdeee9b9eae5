"""`/usage` and `/effect`: what agents were shown and opened, and how often rules were broken before and since."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import timestamps
from onrecord.audit import effect
from onrecord.audit.effect import MIN_HOLDOUT_SESSIONS, MIN_SESSIONS, Effect, HoldoutEffect, RecordEffect
from onrecord.audit.session_facts import ReadLimits
from onrecord.audit.share import Share
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.hosts import table
from onrecord.project import require_store
from onrecord.recall.stores import Stores
from onrecord.store.store import Store
from onrecord.usage import usage_log
from onrecord.usage.usage_log import Counts
from onrecord.web import home_page, view

_MAX_SESSIONS = 300
_QUICK = ReadLimits(session_bytes=4_000_000, total_bytes=100_000_000, seconds=3.0)
"""Sessions of one agent, and how much of them is read, for a page that a click opens."""

_MAX_ALL_SESSIONS = 1_000
_ALL = ReadLimits(seconds=30.0)
_MAX_RECORDS = 50
_WIDTH, _ROW = 400, 22
"""Width of a plot, and height of one of its rows."""

_WEEKS = 12
_PLOT_HEIGHT, _BAR_WIDTH, _BAR_DISTANCE = 130, 22, 80
"""Sizes in the plot, in units of the SVG."""


class PlotRow(NamedTuple):
    """One share in a plot: where its interval begins and ends, where the share is, and its numbers."""

    label: str
    start: int
    end: int
    middle: int
    height: int
    numbers: str


class EffectView(NamedTuple):
    """A comparison of two shares on the page: a heading with an address, sentences, and a plot."""

    title: str
    address: str
    sentence: str
    rows: tuple[PlotRow, ...]
    conclusion: str
    counts: Counts | None = None
    corrected: str = ""

    @property
    def height(self) -> int:
        return _ROW * len(self.rows)


def show_effect(request: Request) -> Response:
    project = view.site_of(request).project_for_search()
    project.require_a_store()
    is_all = bool(request.query_params.get("all"))
    most, limits = (_MAX_ALL_SESSIONS, _ALL) if is_all else (_MAX_SESSIONS, _QUICK)
    transcripts = [
        transcript for host in table.HOSTS for transcript in table.transcripts_of(host.name, project.root, most)
    ]
    stores = Stores(project.known_refs, project.root, hook=project.is_quick)
    measurement = effect.measure(stores, project.settings, transcripts, limits)
    return view.page(
        request,
        "effect.html",
        title="Effect",
        sessions=effect.sessions_sentence(measurement) if measurement.reading.sessions else "",
        count=len(measurement.reading.sessions),
        records=[_record_view(record) for record in measurement.records[:_MAX_RECORDS]],
        total=len(measurement.records),
        together=_together(measurement) if len(measurement.compared) > 1 else None,
        holdout=measurement.holdout,
        holdout_share=effect.percent(measurement.holdout.share) if measurement.holdout else "",
        holdout_since=effect.day_in_words(measurement.holdout.since) if measurement.holdout else "",
        comparisons=_comparisons(measurement.holdout) if measurement.holdout else [],
        needed=MIN_HOLDOUT_SESSIONS,
        left_out=effect.left_out(measurement),
        is_all=is_all,
        width=_WIDTH,
    )


def _record_view(record_effect: RecordEffect) -> EffectView:
    is_compared = bool(record_effect.before.of and record_effect.since.of)
    return EffectView(
        record_effect.record.title,
        view.address_of(record_effect.record.path),
        effect.sentence(record_effect),
        _rows({"before": record_effect.before, "since": record_effect.since}),
        effect.conclusion(record_effect.before, record_effect.since, MIN_SESSIONS) if is_compared else "",
        record_effect.record.counts,
        f"{record_effect.corrected_before:,} before, {record_effect.corrected_since:,} since",
    )


def _together(measurement: Effect) -> EffectView:
    rows = _rows({"before": measurement.before, "since": measurement.since})
    return EffectView("Together", "", effect.total_sentence(measurement), rows, "")


def _comparisons(held: HoldoutEffect) -> list[EffectView]:
    views = []
    for comparison in held.comparisons:
        words = effect.conclusion(comparison.held_out, comparison.shown, MIN_HOLDOUT_SESSIONS)
        rows = _rows({"with records": comparison.shown, "without": comparison.held_out})
        views.append(EffectView(comparison.name, "", "", rows, f"With records {words}" if held.is_enough else ""))
    return views


def _rows(shares: dict[str, Share]) -> tuple[PlotRow, ...]:
    """Return a row for each share that has cases, all from 0 to 100 %."""
    rows: list[PlotRow] = []
    for label, part in shares.items():
        if part.of:
            start, end, middle = (round(value * _WIDTH) for value in (*part.interval, part.value))
            numbers = f"{part.hits:,} of {part.of:,}: {effect.percent(part.value)} ({effect.range_text(part)})"
            rows.append(PlotRow(label, start, end, middle, _ROW * len(rows) + _ROW // 2, numbers))
    return tuple(rows)


class WeekBar(NamedTuple):
    """The counts of one week, and the position and height of its bars in the plot."""

    week: str
    label: str
    """Its first day in a few letters."""
    shown: int
    opened: int
    x: int
    shown_height: int
    opened_height: int


class UsageRow(NamedTuple):
    """A record with its counts."""

    title: str
    address: str
    category: str
    counts: Counts


def show_usage(request: Request) -> Response:
    project = view.site_of(request).project()
    store = require_store(project.store)
    weeks = usage_log.per_week(store.root, _WEEKS)
    by_path = sorted(usage_log.per_record(store.root).items(), key=lambda item: (-item[1].injected, item[0]))
    return view.page(
        request,
        "usage.html",
        title="Usage",
        bars=_bars(weeks),
        height=_PLOT_HEIGHT,
        bar_width=_BAR_WIDTH,
        width=_BAR_DISTANCE * len(weeks),
        shown=home_page.showing_views(project, home_page.read_stream(project)),
        log_switch=home_page.log_switch(project),
        rows=[_row(store, path, count) for path, count in by_path[:_MAX_RECORDS]],
        more=len(by_path[_MAX_RECORDS:]),
    )


def _bars(weeks: list[tuple[str, Counts]]) -> list[WeekBar]:
    highest = max((max(count.injected, count.opened) for _, count in weeks), default=0) or 1
    bars = []
    for position, (week, count) in enumerate(weeks):
        heights = (_PLOT_HEIGHT * number // highest for number in (count.injected, count.opened))
        label = f"{int(week[8:10])} {timestamps.MONTHS[int(week[5:7]) - 1][:3]}"
        bars.append(WeekBar(week, label, count.injected, count.opened, position * _BAR_DISTANCE, *heights))
    return bars


def _row(store: Store, path: str, count: Counts) -> UsageRow:
    try:
        record = store.read(path).memory
    except OnrecordError:
        return UsageRow(f"{path} (deleted)", "", "", count)
    return UsageRow(record.title, view.address(view.PROJECT, path), record.category, count)


ROUTES = (Route("/usage", show_usage), Route("/effect", show_effect))

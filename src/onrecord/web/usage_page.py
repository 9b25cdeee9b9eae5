"""`/usage`: what agents were shown and opened, by week and by record, and the newest showings."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.project import require_store
from onrecord.store.store import Store
from onrecord.usage import usage_log
from onrecord.usage.usage_log import Counts
from onrecord.web import home_page, view

_WEEKS = 12
_MAX_RECORDS = 50
_MAX_SHOWN = 100
_PLOT_HEIGHT, _BAR_WIDTH, _BAR_DISTANCE = 120, 16, 60
"""Sizes in the plot, in units of the SVG."""


class WeekBar(NamedTuple):
    """The counts of one week, and the position and height of its bars in the plot."""

    week: str
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


def usage(request: Request) -> Response:
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
        shown=home_page.stream(project, _MAX_SHOWN),
        rows=[_row(store, path, count) for path, count in by_path[:_MAX_RECORDS]],
        more=len(by_path[_MAX_RECORDS:]),
    )


def _bars(weeks: list[tuple[str, Counts]]) -> list[WeekBar]:
    highest = max((max(count.injected, count.opened) for _, count in weeks), default=0) or 1
    bars = []
    for position, (week, count) in enumerate(weeks):
        heights = (_PLOT_HEIGHT * number // highest for number in (count.injected, count.opened))
        bars.append(WeekBar(week, count.injected, count.opened, position * _BAR_DISTANCE, *heights))
    return bars


def _row(store: Store, path: str, count: Counts) -> UsageRow:
    try:
        record = store.read(path).memory
    except OnrecordError:
        return UsageRow(f"{path} (deleted)", "", "", count)
    return UsageRow(record.title, view.address(view.PROJECT, path), record.category, count)


ROUTES = (Route("/usage", usage),)

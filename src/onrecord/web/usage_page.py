"""`/usage`: the records that agents were shown and opened, by week and by record."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.project import require_store
from onrecord.store.store import Store
from onrecord.usage import counts
from onrecord.usage.counts import Counts
from onrecord.web import view

_WEEKS = 12
_MOST = 50
_HEIGHT, _WIDTH, _STEP = 120, 24, 40
"""Of the plot: the tallest bar, a bar, and from one week to the next."""


class Bar(NamedTuple):
    """One week in the plot: how often records were shown and opened."""

    week: str
    shown: int
    opened: int
    x: int
    shown_height: int
    opened_height: int


class Row(NamedTuple):
    """A record with its counts."""

    title: str
    address: str
    counts: Counts


def show(request: Request) -> Response:
    store = require_store(view.site_of(request).project().store)
    weeks = counts.per_week(store.root, _WEEKS)
    by_path = sorted(counts.per_record(store.root).items(), key=lambda each: (-each[1].injected, each[0]))
    return view.page(
        request,
        "usage.html",
        title="Usage",
        bars=_bars(weeks),
        height=_HEIGHT,
        bar_width=_WIDTH,
        width=_STEP * len(weeks),
        rows=[_row(store, path, each) for path, each in by_path[:_MOST]],
    )


def _bars(weeks: list[tuple[str, Counts]]) -> list[Bar]:
    most = max((max(each.injected, each.opened) for _, each in weeks), default=0) or 1
    bars = []
    for place, (week, each) in enumerate(weeks):
        shown, opened = (_HEIGHT * number // most for number in (each.injected, each.opened))
        bars.append(Bar(week, each.injected, each.opened, place * _STEP, shown, opened))
    return bars


def _row(store: Store, path: str, each: Counts) -> Row:
    try:
        title = store.read(path).memory.title
    except OnrecordError:
        title = f"{path} (deleted)"
    return Row(title, view.address(view.PROJECT, path), each)


ROUTES = (Route("/usage", show),)

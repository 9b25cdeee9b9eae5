"""`/usage`: what agents were shown and how much of it they used, week by week and record by record."""

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
    """One week in the plot: what was shown, and the part of it that was used."""

    week: str
    shown: int
    used: int
    x: int
    shown_height: int
    used_height: int


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
        advice=counts.advice(store.root)[:_MOST],
        address=lambda path: view.address(view.PROJECT, path),
    )


def _bars(weeks: list[tuple[str, Counts]]) -> list[Bar]:
    most = max((each.injected for _, each in weeks), default=0) or 1
    bars = []
    for place, (week, each) in enumerate(weeks):
        shown, used = (_HEIGHT * number // most for number in (each.injected, min(each.used, each.injected)))
        bars.append(Bar(week, each.injected, each.used, place * _STEP, shown, used))
    return bars


def _row(store: Store, path: str, each: Counts) -> Row:
    try:
        title = store.read(path).memory.title
    except OnrecordError:
        title = f"{path} (deleted)"
    return Row(title, view.address(view.PROJECT, path), each)


ROUTES = (Route("/usage", show),)

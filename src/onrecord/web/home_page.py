"""`/`: the number of records by category, the newest records, and warnings; `/usage`: how often records were used."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import categories
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.project import require_store
from onrecord.search import listing
from onrecord.search.index import Index
from onrecord.settings import off_switches
from onrecord.store import waiting
from onrecord.store.store import Store
from onrecord.usage import usage_log
from onrecord.usage.usage_log import Counts
from onrecord.web import view

_MAX_NEWEST = 10
_WEEKS = 12
_MAX_RECORDS = 50
_MAX_BROKEN = 5
_PLOT_HEIGHT, _BAR_WIDTH, _BAR_DISTANCE = 120, 24, 40
"""Sizes in the plot, in units of the SVG."""


class BrokenRecord(NamedTuple):
    """A record that agents broke, with its address, how often and when last."""

    title: str
    address: str
    summary: str


class _Count(NamedTuple):
    """Number of active records in a category."""

    name: str
    label: str
    number: int


def home(request: Request) -> Response:
    project = view.site_of(request).project_for_search()
    index = view.open_index(project)
    is_static = view.site_of(request).is_static
    newest, _ = listing.read(index, listing.ListingFilter(status="active"), _MAX_NEWEST)
    return view.page(
        request,
        "home.html",
        title="Project memory",
        counts=_counts(index),
        broken_rules=[] if is_static else _broken_rules(Store(index.root)),
        newest=[view.list_item(record) for record in newest],
        drafts=waiting.count(index.root),
        broken=len(listing.broken(index)),
        off=[str(switch) for switch in off_switches(project.settings)],
    )


def _broken_rules(store: Store) -> list[BrokenRecord]:
    """Return the records that agents broke most often."""
    broken = list(usage_log.current_corrections(store.root).items())[:_MAX_BROKEN]
    return [BrokenRecord(*_row(store, path, Counts())[:2], corrections.summary) for path, corrections in broken]


def _counts(index: Index) -> list[_Count]:
    numbers = listing.counts(index)
    return [
        _Count(name, category.folder.replace("-", " ").capitalize(), numbers.get((name, "active"), 0))
        for name, category in categories.CATEGORIES.items()
    ]


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
    counts: Counts


def usage(request: Request) -> Response:
    store = require_store(view.site_of(request).project().store)
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
        rows=[_row(store, path, count) for path, count in by_path[:_MAX_RECORDS]],
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
        title = store.read(path).memory.title
    except OnrecordError:
        title = f"{path} (deleted)"
    return UsageRow(title, view.address(view.PROJECT, path), count)


ROUTES = (Route("/", home), Route("/usage", usage))

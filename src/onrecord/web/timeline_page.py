"""`/timeline`: the records by the day they were saved, with a line from each to the one that replaced it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import categories, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.search import listing
from onrecord.search.listing import Listed, ListingFilter
from onrecord.web import view

TIMELINE_PAGE_SIZE = 200
WIDTH, _LEFT, _RIGHT = 960, 128, 22
"""Width of the drawing and of its margins, in units of the SVG."""

_TOP, _ROW, _LANE_GAP = 26, 18, 16
_MAX_LINES = 8
"""Lines of marks in one category: records of the same days are below each other; more of them are a number."""

_MARK = 16
"""Width that a mark takes."""

_MAX_DRAWN = 400
_MIN_DAYS = 14
_DAY = 86_400


class Mark(NamedTuple):
    """A record as a mark on the timeline."""

    x: int
    y: int
    text: str
    address: str
    category: str
    is_current: bool


class Lane(NamedTuple):
    """The line of one category."""

    category: str
    y: int
    height: int


class Tick(NamedTuple):
    """A date on the axis."""

    x: int
    label: str


class Chain(NamedTuple):
    """The line from a record to the one that replaced it."""

    path: str
    text: str


class Rest(NamedTuple):
    """Records of the same days for which there is no room."""

    x: int
    y: int
    number: int
    address: str
    category: str


class Drawing(NamedTuple):
    """The timeline as a picture."""

    height: int
    lanes: tuple[Lane, ...]
    ticks: tuple[Tick, ...]
    marks: tuple[Mark, ...]
    chains: tuple[Chain, ...]
    rests: tuple[Rest, ...]


class TimelineRecord(NamedTuple):
    """A record in the list below the picture, and its successor if it was replaced."""

    title: str
    category: str
    status: str
    day: str
    address: str
    successor_id: str
    successor_title: str
    successor_address: str


class Month(NamedTuple):
    """Records saved in one month, newest first."""

    name: str
    records: tuple[TimelineRecord, ...]


def show(request: Request) -> Response:
    index = view.open_index(view.site_of(request).project_for_search())
    params = request.query_params
    category = view.valid_choice(params.get("category", ""), categories.CATEGORIES)
    tag, number = params.get("tag", "").strip().lower()[:100], view.page_number(params.get("page", ""))
    choice = ListingFilter(category, frozenset([tag] if tag else ()), order="created")
    read_rows, total = listing.read(index, choice, max(number * TIMELINE_PAGE_SIZE, _MAX_DRAWN))
    rows = read_rows[(number - 1) * TIMELINE_PAGE_SIZE : number * TIMELINE_PAGE_SIZE]
    successors = listing.successors(index, [row.path for row in read_rows])
    by_id = {row.id: row for row in read_rows}
    events = [_event(row, by_id, successors.get(row.path, "")) for row in rows]
    return view.page(
        request,
        "timeline.html",
        title="Timeline",
        drawing=_draw(read_rows[:_MAX_DRAWN], successors) if number == 1 else None,
        drawn=min(len(read_rows), _MAX_DRAWN),
        months=[Month(name, tuple(group)) for name, group in groupby(events, lambda event: event.day[:7])],
        category=category,
        tag=tag,
        number=number,
        total=total,
        has_more=total > number * TIMELINE_PAGE_SIZE,
        categories=list(categories.CATEGORIES),
        width=WIDTH,
    )


def _event(list_row: Listed, by_id: dict[str, Listed], successor_id: str) -> TimelineRecord:
    successor = by_id.get(successor_id)
    return TimelineRecord(
        list_row.title,
        list_row.category,
        list_row.status,
        list_row.created_at,
        view.address(view.PROJECT, list_row.path),
        successor_id,
        successor.title if successor else successor_id,
        view.address(view.PROJECT, successor.path) if successor else "",
    )


def _draw(list_rows: Sequence[Listed], successors: dict[str, str]) -> Drawing | None:
    """Return the picture: a lane for each category with records, and a mark for each record at its day."""
    if not list_rows:
        return None
    moments = {row.path: timestamps.seconds(row.created_at) for row in list_rows}
    first, last = min(moments.values()), max(moments.values())
    if last - first < _MIN_DAYS * _DAY:
        first = last - _MIN_DAYS * _DAY
    scale = (WIDTH - _LEFT - _RIGHT) / (last - first)
    lanes: list[Lane] = []
    marks: dict[str, Mark] = {}
    rests: list[Rest] = []
    y = _TOP
    for name in categories.CATEGORIES:
        columns: dict[int, list[Listed]] = {}
        for row in sorted((row for row in list_rows if row.category == name), key=lambda row: (row.status, row.path)):
            column = int((moments[row.path] - first) * scale) // _MARK
            columns.setdefault(column, []).append(row)
        if not columns:
            continue
        lines = min(max(map(len, columns.values())), _MAX_LINES)
        for column, here in columns.items():
            x = _LEFT + column * _MARK
            shown = here if len(here) <= _MAX_LINES else here[: _MAX_LINES - 1]
            marks.update({row.path: _mark(row, x, y + line * _ROW + _ROW // 2) for line, row in enumerate(shown)})
            if len(here) > len(shown):
                address = f"/timeline?category={name}"
                rests.append(Rest(x, y + lines * _ROW - 4, len(here) - len(shown), address, name))
        lanes.append(Lane(name, y, lines * _ROW))
        y += lines * _ROW + _LANE_GAP
    chains = tuple(_chains(list_rows, successors, marks))
    return Drawing(y, tuple(lanes), _ticks(first, last, scale), tuple(marks.values()), chains, tuple(rests))


def _mark(list_row: Listed, x: int, y: int) -> Mark:
    state = "" if list_row.status == "active" else f", {list_row.status}"
    text = f"{list_row.title}: {list_row.category.replace('_', ' ')}, {list_row.created_at[:10]}{state}"
    return Mark(x, y, text, view.address(view.PROJECT, list_row.path), list_row.category, list_row.status == "active")


def _chains(list_rows: Sequence[Listed], successors: dict[str, str], marks_by_path: dict[str, Mark]) -> list[Chain]:
    by_id = {row.id: row for row in list_rows}
    chains = []
    for row in list_rows:
        new = by_id.get(successors.get(row.path, ""))
        if new and new.path in marks_by_path and row.path in marks_by_path:
            start, end = marks_by_path[row.path], marks_by_path[new.path]
            bend = max(abs(end.x - start.x) // 3, 8)
            lift = 14 if start.y == end.y else 0
            path = (
                f"M{start.x} {start.y}C{start.x + bend} {start.y - lift} {end.x - bend} {end.y - lift} {end.x} {end.y}"
            )
            chains.append(Chain(path, f"{row.title} was replaced by {new.title}"))
    return chains


def _ticks(first_moment: float, last_moment: float, scale: float) -> tuple[Tick, ...]:
    """Return some seven dates, without two equal labels."""
    ticks: list[Tick] = []
    length = 7 if last_moment - first_moment > 300 * _DAY else 10
    for part in range(7):
        moment = first_moment + (last_moment - first_moment) * part / 6
        label = timestamps.from_seconds(moment)[:length]
        if not ticks or ticks[-1].label != label:
            ticks.append(Tick(round(_LEFT + (moment - first_moment) * scale), label))
    return tuple(ticks)


ROUTES = (Route("/timeline", show),)

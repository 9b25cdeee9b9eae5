"""`/timeline`: the records by the day they were saved, with a line from each to the one that replaced it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import categories, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.search import listing
from onrecord.search.listing import Listed, ListingFilter
from onrecord.timestamps import MONTHS
from onrecord.web import view
from onrecord.web.tree_map import text_width

TIMELINE_PAGE_SIZE = 200
WIDTH, _LEFT, _RIGHT = 960, 124, 16
"""Width of the drawing and of its margins, in units of the SVG."""

_TOP, _ROW, _LANE_GAP = 30, 22, 14
_MAX_LINES = 8
"""Lines of marks in one category: records of the same days are below each other; more of them are a number."""

_MARK = 18
"""Width that a mark takes."""

_MAX_TITLE_CHARS = 60
"""A longer title ends after a word, with an ellipsis."""

_GAP = 10
"""Least space between a title and the next mark in its line."""

_MAX_DRAWN = 400
_MIN_DAYS = 14
_DAY = 86_400
_MAX_TICKS = 9
_MONTHS_APART = (1, 2, 3, 6, 12, 24, 60, 120)
_DAYS_APART = 2, 7


class Mark(NamedTuple):
    """A record as a mark on the timeline."""

    x: int
    y: int
    text: str
    address: str
    category: str
    is_current: bool
    label: str = ""
    """Its title beside it, where all marks of the lane have room for theirs."""
    is_label_before: bool = False
    """True if the title is on its left."""


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


class Axis(NamedTuple):
    """The time that the drawing covers, in seconds."""

    first: float
    last: float

    def x(self, moment: float) -> int:
        """Return the position of a moment."""
        return round(_LEFT + (moment - self.first) * (WIDTH - _LEFT - _RIGHT) / (self.last - self.first))


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
        months=[Month(_month_name(name), tuple(group)) for name, group in groupby(events, lambda event: event.day[:7])],
        category=category,
        tag=tag,
        number=number,
        total=total,
        has_more=total > number * TIMELINE_PAGE_SIZE,
        categories=list(categories.CATEGORIES),
        width=WIDTH,
    )


def _month_name(month: str) -> str:
    """Return a month such as `2026-03` in words; anything else as it is."""
    return f"{MONTHS[int(month[5:7]) - 1]} {month[:4]}" if timestamps.is_day(f"{month}-01") else month


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
    moments = dict(_moments(list_rows))
    list_rows = [row for row in list_rows if row.path in moments]
    if not list_rows:
        return None
    first, last = min(moments.values()), max(moments.values())
    if last - first < _MIN_DAYS * _DAY:
        first = last - _MIN_DAYS * _DAY
    axis = Axis(first, last)
    lanes: list[Lane] = []
    marks: dict[str, Mark] = {}
    rests: list[Rest] = []
    y = _TOP
    ends = {*successors, *(row.path for row in list_rows if row.id in successors.values())}
    for name in categories.CATEGORIES:
        rows = sorted((row for row in list_rows if row.category == name), key=lambda row: (moments[row.path], row.path))
        if not rows:
            continue
        # Those at the ends of a line come first, so that few titles are below it.
        rows.sort(key=lambda row: row.path not in ends)
        titled_marks = _with_titles(rows, axis, moments, y)
        lane_marks, lane_rests = (titled_marks, []) if titled_marks else _in_columns(rows, axis, moments, y)
        lines = _MAX_LINES if lane_rests else 1 + max(mark.y - y for mark in lane_marks.values()) // _ROW
        marks.update(lane_marks)
        rests += lane_rests
        lanes.append(Lane(name, y, lines * _ROW))
        y += lines * _ROW + _LANE_GAP
    chains = tuple(_chains(list_rows, successors, marks))
    return Drawing(y, tuple(lanes), _ticks(axis), tuple(marks.values()), chains, tuple(rests))


def _moments(list_rows: Iterable[Listed]) -> Iterator[tuple[str, float]]:
    """Yield the path of each record and the moment it was saved; a record may have anything in place of that."""
    for row in list_rows:
        try:
            yield row.path, timestamps.seconds(row.created_at)
        except ValueError:
            continue


def _with_titles(list_rows: Sequence[Listed], axis: Axis, moments: dict[str, float], top: int) -> dict[str, Mark]:
    """Return the marks of a lane, each with its title in the first line that has room; none if there are too many."""
    lines: list[list[tuple[int, int]]] = []
    marks: dict[str, Mark] = {}
    for row in list_rows:
        x = axis.x(moments[row.path])
        label = _shortened(row.title)
        room = text_width(label) + _MARK
        is_before = x + room > WIDTH
        start, end = (x - room, x + _MARK // 2) if is_before else (x - _MARK // 2, x + room)
        line = next((number for number, spans in enumerate(lines) if not _overlap(spans, (start, end))), len(lines))
        if start < _LEFT - _MARK or line == _MAX_LINES:
            return {}
        if line == len(lines):
            lines.append([])
        lines[line].append((start, end))
        mark = _mark(row, x, top + line * _ROW + _ROW // 2)
        marks[row.path] = mark._replace(label=label, is_label_before=is_before)
    return marks


def _overlap(spans: Iterable[tuple[int, int]], span: tuple[int, int]) -> bool:
    return any(span[0] < end + _GAP and start < span[1] + _GAP for start, end in spans)


def _shortened(title: str) -> str:
    """Return a title, or the words at its beginning; one long word stays whole."""
    if len(title) <= _MAX_TITLE_CHARS:
        return title
    words, _, _ = title[:_MAX_TITLE_CHARS].rpartition(" ")
    return f"{words or title.partition(' ')[0]} …"


def _in_columns(
    list_rows: Sequence[Listed], axis: Axis, moments: dict[str, float], top: int
) -> tuple[dict[str, Mark], list[Rest]]:
    """Return the marks of a lane without titles, those of the same days below each other, and what has no room."""
    columns: dict[int, list[Listed]] = {}
    for row in sorted(list_rows, key=lambda row: (row.status, row.path)):
        columns.setdefault((axis.x(moments[row.path]) - _LEFT) // _MARK, []).append(row)
    marks: dict[str, Mark] = {}
    rests: list[Rest] = []
    lines = min(max(map(len, columns.values())), _MAX_LINES)
    for column, here in columns.items():
        x = _LEFT + column * _MARK
        visible_rows = here if len(here) <= _MAX_LINES else here[: _MAX_LINES - 1]
        marks.update({row.path: _mark(row, x, top + line * _ROW + _ROW // 2) for line, row in enumerate(visible_rows)})
        if len(here) > len(visible_rows):
            category = here[0].category
            number = len(here) - len(visible_rows)
            rests.append(Rest(x, top + lines * _ROW - 6, number, f"/timeline?category={category}", category))
    return marks, rests


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
            path = _arc(marks_by_path[row.path], marks_by_path[new.path])
            chains.append(Chain(path, f"{row.title} was replaced by {new.title}"))
    return chains


def _arc(first_mark: Mark, last_mark: Mark) -> str:
    """Return the path of a line that leaves one mark upwards, and comes down on the other one."""
    top = min(first_mark.y, last_mark.y) - _ROW
    bend = (last_mark.x - first_mark.x) // 8
    curve = f"C{first_mark.x + bend} {top} {last_mark.x - bend} {top} {last_mark.x} {last_mark.y - 9}"
    return f"M{first_mark.x} {first_mark.y - 7}{curve}"


def _ticks(axis: Axis) -> tuple[Tick, ...]:
    """Return the dates on the axis: first days of months, or days if there is less than two months."""
    return tuple(_month_ticks(axis)) if axis.last - axis.first > 60 * _DAY else tuple(_day_ticks(axis))


def _month_ticks(axis: Axis) -> Iterator[Tick]:
    begin, end = timestamps.from_seconds(axis.first), timestamps.from_seconds(axis.last)
    first, last = (int(moment[:4]) * 12 + int(moment[5:7]) - 1 for moment in (begin, end))
    step = next((step for step in _MONTHS_APART if (last - first) / step < _MAX_TICKS), _MONTHS_APART[-1])
    is_first = True
    for month in range(first + -first % step, last + 1, step):
        x = axis.x(timestamps.seconds(f"{month // 12:04d}-{month % 12 + 1:02d}-01"))
        has_year = is_first or not month % 12
        tick = Tick(x, f"{MONTHS[month % 12][:3]}{f' {month // 12}' if has_year else ''}")
        if _has_room(tick):
            yield tick
            is_first = False


def _day_ticks(axis: Axis) -> Iterator[Tick]:
    day = timestamps.seconds(timestamps.from_seconds(axis.first)[:10])
    step = next((step for step in _DAYS_APART if (axis.last - day) / _DAY / step < _MAX_TICKS), _DAYS_APART[-1])
    while day <= axis.last:
        x, moment = axis.x(day), timestamps.from_seconds(day)
        tick = Tick(x, f"{int(moment[8:10])} {MONTHS[int(moment[5:7]) - 1][:3]}")
        if _has_room(tick):
            yield tick
        day += step * _DAY


def _has_room(tick: Tick) -> bool:
    return tick.x >= _LEFT and tick.x + text_width(tick.label) <= WIDTH


ROUTES = (Route("/timeline", show),)

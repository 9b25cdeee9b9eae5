"""`/timeline`: records by the month they were saved in, with what replaced them."""

from __future__ import annotations

from itertools import groupby

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import categories
from onrecord.coldstart import NamedTuple
from onrecord.search import listing
from onrecord.search.listing import Choice, Listed
from onrecord.web import view

PER_PAGE = 200


class Event(NamedTuple):
    """A record at the day it was saved, and the id of what replaced it."""

    title: str
    category: str
    status: str
    day: str
    address: str
    successor: str


class Month(NamedTuple):
    """The records that were saved in a month, newest first."""

    name: str
    events: tuple[Event, ...]


def show(request: Request) -> Response:
    opened = view.opened(view.site_of(request).searched())
    asked = request.query_params
    category = view.one_of(asked.get("category", "decision"), categories.CATEGORIES)
    tag, number = asked.get("tag", "").strip().lower()[:100], view.number(asked.get("page", ""))
    choice = Choice(category, frozenset([tag] if tag else ()), order="created")
    rows, total = listing.read(opened, choice, number * PER_PAGE)
    rows = rows[(number - 1) * PER_PAGE :]
    successors = listing.successors(opened, [row.id for row in rows])
    events = [_event(row, successors.get(row.id, "")) for row in rows]
    return view.page(
        request,
        "timeline.html",
        title="Timeline",
        months=[Month(name, tuple(group)) for name, group in groupby(events, lambda event: event.day[:7])],
        category=category,
        tag=tag,
        number=number,
        has_more=total > number * PER_PAGE,
        categories=list(categories.CATEGORIES),
    )


def _event(row: Listed, successor: str) -> Event:
    place = view.address(view.PROJECT, row.path)
    return Event(row.title, row.category, row.status, row.created_at, place, successor)


ROUTES = (Route("/timeline", show),)

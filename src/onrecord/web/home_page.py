"""`/`: number of records by category, the newest ones, and what needs attention."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import categories
from onrecord.coldstart import NamedTuple
from onrecord.search import listing
from onrecord.search.index import Index
from onrecord.settings import off_switches
from onrecord.store import waiting
from onrecord.web import view

_MAX_NEWEST = 10


class _Count(NamedTuple):
    """Number of active records in a category."""

    name: str
    label: str
    number: int


def home(request: Request) -> Response:
    project = view.site_of(request).project_for_search()
    index = view.open_index(project)
    newest, _ = listing.read(index, listing.ListingFilter(status="active"), _MAX_NEWEST)
    return view.page(
        request,
        "home.html",
        title="Project memory",
        counts=_counts(index),
        newest=[view.list_item(record) for record in newest],
        drafts=waiting.count(index.root),
        broken=len(listing.broken(index)),
        off=[str(switch) for switch in off_switches(project.settings)],
    )


def _counts(index: Index) -> list[_Count]:
    numbers = listing.counts(index)
    return [
        _Count(name, category.folder.replace("-", " ").capitalize(), numbers.get((name, "active"), 0))
        for name, category in categories.CATEGORIES.items()
    ]


ROUTES = (Route("/", home),)

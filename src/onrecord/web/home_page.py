"""`/`: what is in the memory, and what waits to be done."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import categories, switches
from onrecord.coldstart import NamedTuple
from onrecord.search import listing
from onrecord.search.index import Index
from onrecord.store import waiting
from onrecord.web import view

_NEWEST = 10


class _Count(NamedTuple):
    """How many active records a category has."""

    name: str
    label: str
    number: int


def home(request: Request) -> Response:
    project = view.site_of(request).searched()
    opened = view.opened(project)
    newest, _ = listing.read(opened, listing.Choice(status="active"), _NEWEST)
    return view.page(
        request,
        "home.html",
        title="Project memory",
        counts=_counts(opened),
        newest=[view.listed(record) for record in newest],
        drafts=waiting.count(opened.root),
        broken=len(listing.broken(opened)),
        off=[str(switch) for switch in switches.off(project.settings)],
    )


def _counts(opened: Index) -> list[_Count]:
    numbers = listing.counts(opened)
    return [
        _Count(name, category.folder.replace("-", " ").capitalize(), numbers.get((name, "active"), 0))
        for name, category in categories.CATEGORIES.items()
    ]


ROUTES = (Route("/", home),)

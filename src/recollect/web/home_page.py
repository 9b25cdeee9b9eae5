"""`/`: what is in the memory, and what waits to be done."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recollect import categories, switches
from recollect.capture import waiting
from recollect.coldstart import NamedTuple
from recollect.project import require_store
from recollect.search import index, listing
from recollect.web import view

_NEWEST = 10


class _Count(NamedTuple):
    """How many active records a category has."""

    name: str
    label: str
    number: int


def home(request: Request) -> Response:
    project = view.site_of(request).project()
    store = require_store(project.store)
    opened = index.open(store.root)
    newest, _ = listing.read(opened, listing.Choice(status="active"), _NEWEST)
    return view.page(
        request,
        "home.html",
        title="Project memory",
        counts=_counts(opened),
        newest=[view.listed(record) for record in newest],
        drafts=waiting.count(store.root),
        broken=len(listing.broken(opened)),
        off=[str(switch) for switch in switches.off(project.settings)],
    )


def _counts(opened: index.Index) -> list[_Count]:
    counted = []
    for name, category in categories.BY_NAME.items():
        _, number = listing.read(opened, listing.Choice(category=name, status="active"), 0)
        counted.append(_Count(name, category.folder.replace("-", " ").capitalize(), number))
    return counted


ROUTES = (Route("/", home),)

"""`/search`: results as you type, with reasons; without a query, all records, latest change first."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import categories
from onrecord.coldstart import NamedTuple
from onrecord.project import Project
from onrecord.search import listing
from onrecord.web import view

_MAX_RESULTS = 20
_MAX_FILTERED_RESULTS = 500
"""Results to filter if the user chose a status."""

_MAX_EXPLAINED_RESULTS = 5
"""Results that are shown with reasons; the reasons of later results differ little."""

_PER_PAGE = 50
_MAX_QUERY_CHARS = 2_000
"""The same limit as in a hook."""

_STATUSES = ("active", "superseded", "outdated", "retired", "archived")


class _Matching(NamedTuple):
    """The records that a search lists."""

    records: list[view.ListItem]
    nearest: Sequence[view.ListItem] = ()
    """The nearest, where nothing fits."""
    nothing: str = ""
    """The sentence that says so."""


def search(request: Request) -> Response:
    project, params = view.site_of(request).project_for_search(), request.query_params
    text = params.get("q", "")[:_MAX_QUERY_CHARS]
    category = view.valid_choice(params.get("category", ""), categories.CATEGORIES)
    status = view.valid_choice(params.get("status", ""), _STATUSES)
    number = view.page_number(params.get("page", ""))
    if text.strip():
        matching, total = _matching(project, text, category, status), 0
    else:
        records, total = _all_records(project, category, status, number)
        matching = _Matching(records)
    if params.get("part"):
        return view.fragment(request, "results.html", **matching._asdict())
    return view.page(
        request,
        "search.html",
        title="Search",
        **matching._asdict(),
        total=total,
        number=number,
        per_page=_PER_PAGE,
        q=text,
        category=category,
        status=status,
        categories=list(categories.CATEGORIES),
        statuses=_STATUSES,
    )


def _matching(project: Project, text: str, category: str, status: str) -> _Matching:
    """Return the results, with reasons."""
    limit = _MAX_FILTERED_RESULTS if status else _MAX_RESULTS
    hits = project.search(
        text, limit=limit, categories=[category] if category else [], include_retired=status in ("retired", "archived")
    )
    results = [hit for hit in hits if not status or hit.status == status][:_MAX_RESULTS]
    nearest = [view.hit_item(hit) for hit in hits.nearest if not status or hit.status == status]
    records = [
        view.hit_item(hit, hit.reasons(results) if position < _MAX_EXPLAINED_RESULTS else ())
        for position, hit in enumerate(results)
    ]
    return _Matching(records, nearest, hits.note)


def _all_records(project: Project, category: str, status: str, number: int) -> tuple[list[view.ListItem], int]:
    index = view.open_index(project)
    rows, total = listing.read(index, listing.ListingFilter(category=category, status=status), number * _PER_PAGE)
    return [view.list_item(row) for row in rows[(number - 1) * _PER_PAGE :]], total


ROUTES = (Route("/search", search),)

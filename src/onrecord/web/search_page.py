"""`/search`: results as you type, with reasons; without a query, all records, latest change first."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import categories
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

_STATUSES = ("active", "superseded", "retired", "archived")


def search(request: Request) -> Response:
    project, params = view.site_of(request).project_for_search(), request.query_params
    text = params.get("q", "")[:_MAX_QUERY_CHARS]
    category = view.valid_choice(params.get("category", ""), categories.CATEGORIES)
    status = view.valid_choice(params.get("status", ""), _STATUSES)
    number = view.page_number(params.get("page", ""))
    if text.strip():
        records, total = _matching(project, text, category, status), 0
    else:
        records, total = _all_records(project, category, status, number)
    if params.get("part"):
        return view.fragment(request, "list.html", records=records)
    return view.page(
        request,
        "search.html",
        title="Search",
        records=records,
        total=total,
        number=number,
        per_page=_PER_PAGE,
        q=text,
        category=category,
        status=status,
        categories=list(categories.CATEGORIES),
        statuses=_STATUSES,
    )


def _matching(project: Project, text: str, category: str, status: str) -> list[view.ListItem]:
    limit = _MAX_FILTERED_RESULTS if status else _MAX_RESULTS
    hits = project.search(
        text, limit=limit, categories=[category] if category else [], include_retired=status in ("retired", "archived")
    )
    results = [hit for hit in hits if not status or hit.status == status][:_MAX_RESULTS]
    return [
        view.hit_item(hit, hit.reasons(results) if position < _MAX_EXPLAINED_RESULTS else ())
        for position, hit in enumerate(results)
    ]


def _all_records(project: Project, category: str, status: str, number: int) -> tuple[list[view.ListItem], int]:
    index = view.open_index(project)
    rows, total = listing.read(index, listing.ListingFilter(category=category, status=status), number * _PER_PAGE)
    return [view.list_item(row) for row in rows[(number - 1) * _PER_PAGE :]], total


ROUTES = (Route("/search", search),)

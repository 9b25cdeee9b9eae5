"""`/search`: records found as you type, with the reasons in words; without words, all of them, newest change first."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onrecord import categories
from onrecord.project import Project
from onrecord.search import listing
from onrecord.web import view

_MOST = 20
_MOST_SIFTED = 500
"""Results that are looked through for those of one status."""

_MOST_EXPLAINED = 5
"""Results with reasons: further down they are all alike."""

_PER_PAGE = 50
_LONGEST = 2_000
"""Characters of what is searched for; a hook reads as many."""

_STATUSES = ("active", "superseded", "retired", "archived")


def search(request: Request) -> Response:
    project, asked = view.site_of(request).searched(), request.query_params
    text = asked.get("q", "")[:_LONGEST]
    category = view.one_of(asked.get("category", ""), categories.CATEGORIES)
    status = view.one_of(asked.get("status", ""), _STATUSES)
    number = view.number(asked.get("page", ""))
    if text.strip():
        records, total = _matching(project, text, category, status), 0
    else:
        records, total = _listed(project, category, status, number)
    if asked.get("part"):
        return view.part(request, "list.html", found=records)
    return view.page(
        request,
        "search.html",
        title="Search",
        found=records,
        total=total,
        number=number,
        per_page=_PER_PAGE,
        q=text,
        category=category,
        status=status,
        categories=list(categories.CATEGORIES),
        statuses=_STATUSES,
    )


def _matching(project: Project, text: str, category: str, status: str) -> list[view.ListedRecord]:
    chosen = [category] if category else []
    limit = _MOST_SIFTED if status else _MOST
    hits = project.search(text, limit=limit, categories=chosen, include_retired=status in ("retired", "archived"))
    wanted = [hit for hit in hits if not status or hit.status == status][:_MOST]
    return [view.hit(hit, hit.reasons(wanted) if place < _MOST_EXPLAINED else ()) for place, hit in enumerate(wanted)]


def _listed(project: Project, category: str, status: str, page: int) -> tuple[list[view.ListedRecord], int]:
    opened = view.opened(project)
    rows, total = listing.read(opened, listing.Choice(category=category, status=status), page * _PER_PAGE)
    shown = rows[(page - 1) * _PER_PAGE :]
    return [view.listed(row) for row in shown], total


ROUTES = (Route("/search", search),)

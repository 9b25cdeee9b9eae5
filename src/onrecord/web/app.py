"""The application: every page and every change with its address, behind one guard."""

from __future__ import annotations

import os
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from onrecord.errors import OnrecordError
from onrecord.web import (
    access,
    agent_page,
    edit_page,
    health_page,
    home_page,
    inbox_page,
    map_page,
    record_page,
    search_page,
    settings_page,
    timeline_page,
    usage_page,
    view,
)

STATIC_FOLDER = os.path.join(os.path.dirname(__file__), "static")
STATIC = {"app.css": "text/css", "app.js": "text/javascript"}
"""The files that are served as they are, and nothing else."""

_STATUS = {"NOT_FOUND": 404, "NO_STORE": 404, "CHANGED_SINCE_READ": 409, "LOCKED": 503, "UNWRITABLE": 500}

_PAGES = (
    home_page,
    search_page,
    edit_page,
    record_page,
    inbox_page,
    agent_page,
    timeline_page,
    map_page,
    health_page,
    usage_page,
    settings_page,
)
ROUTES = tuple(route for page in _PAGES for route in page.ROUTES)


def create(site: view.Site, seen: Callable[[], None] = lambda: None) -> ASGIApp:
    """The application for one project; `seen` is called at every request that is let in."""
    return access.Guard(pages(site), site.access, seen)


def pages(site: view.Site) -> Starlette:
    """The pages without the guard: for the static site, where nobody asks."""
    routes = [*ROUTES, Route("/static/{name}", _static)]
    app = Starlette(routes=routes, exception_handlers={OnrecordError: _failed, 404: _not_found})
    app.state.site = site
    return app


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        return _not_found(request, None)
    return FileResponse(os.path.join(STATIC_FOLDER, name), media_type=STATIC[name])


def _failed(request: Request, error: Exception) -> Response:
    """An expected failure as a page: what was wrong, and what to do."""
    assert isinstance(error, OnrecordError)
    return view.page(
        request, "error.html", title="That did not work", http_status=_STATUS.get(error.code, 400), error=error
    )


def _not_found(request: Request, error: Exception | None) -> Response:
    return view.page(request, "not_found.html", title="Not found", http_status=404)

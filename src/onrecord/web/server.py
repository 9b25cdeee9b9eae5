"""The server: bound to this machine alone, gone when nobody has asked for an hour."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from onrecord.errors import BadInput, OnrecordError
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
from onrecord.web.access import Access

IDLE_SECONDS = 3600.0


def bind(port: int) -> socket.socket:
    """A socket on the loopback address; port 0 takes any that is free."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        bound.close()
        raise BadInput(f"port {port} cannot be used: {error}", fix="leave --port out") from error
    return bound


def serve(project_dir: str, bound: socket.socket, started: Callable[[Access], None], idle: float) -> None:
    """Answer until Ctrl-C, or until nobody has asked for a while; `started` is told the address."""
    access = Access(bound.getsockname()[1])
    last = [time.monotonic()]

    def seen() -> None:
        last[0] = time.monotonic()

    site = view.Site(project_dir, access)
    config = uvicorn.Config(
        create(site, seen), log_level="warning", access_log=False, lifespan="off", server_header=False
    )
    server = _Server(config, lambda: time.monotonic() - last[0] > idle, lambda: started(access))
    server.run(sockets=[bound])


class _Server(uvicorn.Server):
    """uvicorn's, which ends by itself."""

    def __init__(self, config: uvicorn.Config, is_idle: Callable[[], bool], started: Callable[[], None]) -> None:
        super().__init__(config)
        self._is_idle = is_idle
        self._tell = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell()

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._is_idle()


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

"""The web application, and a server on the loopback address that ends after an hour without a request.

Any local user can connect. A connection that waits for its client is cut after some seconds, whether it is idle, sends
slowly or does not read; and if there are too many, the one that has waited longest is cut.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from onrecord.errors import BadInput, NoStore, OnrecordError
from onrecord.web import (
    access,
    agent_page,
    edit_page,
    first_steps,
    health_page,
    home_page,
    inbox_page,
    live,
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
_TICKS_PER_CHECK = 5
"""A server ticks ten times in a second."""

STATIC_FOLDER = os.path.join(os.path.dirname(__file__), "static")
STATIC = {
    "app.css": "text/css",
    "edit.css": "text/css",
    "edit.js": "text/javascript",
    "icon.svg": "image/svg+xml",
    "live.js": "text/javascript",
    "map.js": "text/javascript",
    "palette.js": "text/javascript",
    "pick.js": "text/javascript",
    "results.js": "text/javascript",
    "review.js": "text/javascript",
}
"""Static files and their types; no other file is served."""

_STATUS = {"NOT_FOUND": 404, "NO_STORE": 404, "CHANGED_SINCE_READ": 409, "LOCKED": 503, "UNWRITABLE": 500}

_PAGES = (
    home_page,
    usage_page,
    search_page,
    edit_page,
    record_page,
    inbox_page,
    agent_page,
    timeline_page,
    map_page,
    health_page,
    settings_page,
)
ROUTES = tuple(route for page in _PAGES for route in page.ROUTES)

WAIT_SECONDS = 10.0
"""Time for a client to send a whole request, or to read a response. Forms and pages take milliseconds here."""

MAX_CONNECTIONS = 100
"""A browser opens at most six to one address."""

BACKLOG = 32
"""Connections that are accepted before the next one is looked at; they count on top of the others."""

_NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

_MAX_LINES, _LINES_SECONDS = 10, 60.0


def bind(port: int) -> socket.socket:
    """Return a socket on the loopback address; port 0 means any free port. Raises BadInput."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise BadInput(f"port {port} cannot be used: {error}", fix="leave --port out") from error
    return listener


def serve(project_dir: str, listener: socket.socket, on_start: Callable[[Access], None], idle_seconds: float) -> None:
    """Serve until Ctrl-C, or until `idle_seconds` pass without a request; call `on_start` when the server is ready."""
    access = Access(listener.getsockname()[1])
    last_request = [time.monotonic()]

    def on_request() -> None:
        last_request[0] = time.monotonic()

    site = view.Site(project_dir, access)
    config = uvicorn.Config(
        create_app(site, on_request),
        http=Connection,
        ws="none",
        backlog=BACKLOG,
        # Less than an error is what any local user can cause, as often as they like.
        log_level="error",
        access_log=False,
        lifespan="off",
        server_header=False,
    )
    few_lines = FewLines()
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(few_lines)
    server = _Server(
        config, lambda: time.monotonic() - last_request[0] > idle_seconds, lambda: on_start(access), site.live.close
    )
    server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """A uvicorn server that ends when it is idle."""

    def __init__(
        self,
        config: uvicorn.Config,
        is_idle: Callable[[], bool],
        on_startup: Callable[[], None],
        on_shutdown: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._on_shutdown = on_shutdown
        self._is_idle = is_idle
        self._on_startup = on_startup

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(_handle_loop_error)
        await super().startup(sockets)
        self._on_startup()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # uvicorn waits for the responses that are being sent: those that stream have no end of their own.
        self._on_shutdown()
        await super().shutdown(sockets)

    async def on_tick(self, counter: int) -> bool:
        if counter % _TICKS_PER_CHECK == 0:
            check_connections(list(self.server_state.connections))
        return await super().on_tick(counter) or self._is_idle()


def create_app(site: view.Site, on_request: Callable[[], None] = lambda: None) -> ASGIApp:
    """Return the application for one project; it calls `on_request` for every request that is let in."""
    return access.Guard(create_pages(site), site.access, on_request)


def create_pages(site: view.Site) -> Starlette:
    """Return the pages without access control, for the static site."""
    routes = [*ROUTES, Route("/static/{name}", _static), *(() if site.is_static else live.ROUTES)]
    app = Starlette(routes=routes, exception_handlers={OnrecordError: _error_page, 404: _not_found})
    app.state.site = site
    return app


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        return _not_found(request, None)
    return FileResponse(os.path.join(STATIC_FOLDER, name), media_type=STATIC[name])


def _error_page(request: Request, error: Exception) -> Response:
    """Return the page for an expected error: message and fix; without a store, what to do first."""
    assert isinstance(error, OnrecordError)
    site = view.site_of(request)
    can_begin = request.method == "GET" and request.url.path in first_steps.PROMISES and not site.is_static
    if isinstance(error, NoStore) and can_begin and not site.project().store.exists:
        return view.begin(request)
    return view.page(request, "error.html", title="Error", http_status=_STATUS.get(error.code, 400), error=error)


def _not_found(request: Request, error: Exception | None) -> Response:
    return view.page(request, "not_found.html", title="Not found", http_status=404)


class Connection(H11Protocol):
    """A connection that knows how long it has waited for its client."""

    _busy_at = 0.0
    """The last moment at which the client was not waited for."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a new connection; if there are too many, cut the one that has waited longest."""
        self._busy_at = time.monotonic()
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            waiting = [other for other in _ours(self.connections) if other.is_waiting]
            min(waiting, key=lambda other: other._busy_at).cut()

    def on_response_complete(self) -> None:
        """Note the time: from now on the next request is waited for."""
        self._busy_at = time.monotonic()
        super().on_response_complete()

    @property
    def is_waiting(self) -> bool:
        """True if the client has to send or to read something before this connection can go on."""
        is_between = self.cycle is None or self.cycle.response_complete
        return is_between or self.cycle.more_body or self.transport.get_write_buffer_size() > 0

    def check(self, now: float) -> None:
        """Close the connection if its client has taken too long."""
        if not self.is_waiting:
            self._busy_at = now
        elif now - self._busy_at > WAIT_SECONDS:
            self.cut()

    def cut(self) -> None:
        """Close the connection at once, without waiting for what is to be sent."""
        self.connections.discard(self)
        self.transport.abort()


def check_connections(connections: Iterable[Any]) -> None:
    """Close all connections whose clients have taken too long."""
    now = time.monotonic()
    for connection in _ours(connections):
        connection.check(now)


def _ours(connections: Iterable[Any]) -> list[Connection]:
    return [connection for connection in connections if isinstance(connection, Connection)]


def _handle_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error of the event loop; say nothing if a connection finds no room: it is accepted a second later."""
    error = context.get("exception")
    if not (isinstance(error, OSError) and error.errno in _NO_ROOM):
        loop.default_exception_handler(context)


class FewLines(logging.Filter):
    """Lets some log entries through in a minute, and drops the others."""

    def __init__(self) -> None:
        super().__init__()
        self._times: list[float] = []

    def filter(self, log_record: logging.LogRecord) -> bool:
        """True for an entry that is written."""
        now = time.monotonic()
        self._times = [moment for moment in self._times if now - moment < _LINES_SECONDS]
        is_one_of_few = len(self._times) < _MAX_LINES
        if is_one_of_few:
            self._times.append(now)
        return is_one_of_few

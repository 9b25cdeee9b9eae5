"""The server: bound to this machine alone, gone when nobody has asked for an hour."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

import uvicorn

from onrecord.errors import BadInput
from onrecord.web import app, view
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
        app.create(site, seen), log_level="warning", access_log=False, lifespan="off", server_header=False
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

"""What changes in a store appears on the open page, and the streams that tell it neither keep nor hold up a server."""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from onrecord import attention
from onrecord.attention import ChangedFiles
from onrecord.project import Project
from onrecord.record import compose
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from onrecord.store.store import Entry
from onrecord.web import access, live, server
from tests.git_project import GitProject
from tests.web.served import PATIENCE

CONTENT = {"context": "pip is slow", "decision": "uv installs everything", "rationale": ["seconds"]}


class Clock:
    """The clock of a server, which a test puts forward."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


class Served:
    """A server in a thread of this process, and a client that has access."""

    def __init__(self, root: str) -> None:
        self.listener = server.bind(0)
        self.access: access.Access | None = None
        self.connections: list[http.client.HTTPConnection] = []
        self._is_ready = threading.Event()
        self.thread = threading.Thread(
            target=server.serve, args=(root, self.listener, self._started, server.IDLE_SECONDS), daemon=True
        )
        self.thread.start()
        assert self._is_ready.wait(PATIENCE)

    def _started(self, opened: access.Access) -> None:
        self.access = opened
        self._is_ready.set()

    def get(self, path: str, *, headers: dict[str, str] | None = None) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(*self.listener.getsockname(), timeout=PATIENCE)
        cookie = {"cookie": f"{self.access.cookie}={self.access.session}"} if headers is None else headers
        self.connections.append(connection)
        connection.request("GET", f"{self.access.prefix}{path}", headers={"host": self.access.host, **cookie})
        return connection.getresponse()

    def close(self) -> None:
        for connection in self.connections:
            connection.close()
        self.thread.join(PATIENCE)
        self.listener.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(server, "time", clock)
    return clock


@pytest.fixture
def served(project: Project, save: Callable[..., Entry], clock: Clock) -> Iterator[Served]:
    """A server for a project with a record, which ends when the clock is put forward by an hour."""
    save()
    running = Served(project.root)
    yield running
    clock.ahead += 2 * server.IDLE_SECONDS
    running.close()
    assert not running.thread.is_alive()


def _next(response: http.client.HTTPResponse) -> dict[str, Any]:
    """Return the data of the next event of a stream."""
    for line in iter(response.readline, b""):
        if line.startswith(b"data: "):
            return json.loads(line[6:])
    raise AssertionError("the stream has ended")


def _draft(project: Project, title: str) -> None:
    record = compose.compose("decision", {"title": title, "content": CONTENT})
    Inbox(project.store.root).put(inbox.new_draft(record))


def test_a_stream_tells_at_once_what_waits_and_again_when_it_changes(project, served):
    response = served.get(live.PATH)

    first = _next(response)
    _draft(project, "Use uv")
    second = _next(response)

    assert response.getheader("content-type").startswith("text/event-stream")
    assert (first["due"]["/inbox"], second["due"]["/inbox"]) == (0, 1)
    assert first["version"] != second["version"]


def test_a_stream_does_not_keep_an_idle_server_and_ends_with_it(served, clock):
    response = served.get(live.PATH)
    _next(response)

    clock.ahead += 2 * server.IDLE_SECONDS
    rest = response.read()

    assert b"event: change" not in rest
    served.thread.join(PATIENCE)
    assert not served.thread.is_alive()


def test_a_stranger_gets_no_stream(served):
    assert served.get(live.PATH, headers={}).status == 403


def test_streams_are_few_and_the_one_too_many_is_told_not_to_ask_again(served, monkeypatch):
    monkeypatch.setattr(live, "MAX_STREAMS", 2)
    streams = [served.get(live.PATH) for _ in range(2)]
    for stream in streams:
        _next(stream)

    assert served.get(live.PATH).status == 204
    assert served.get("/search").status == 200


def test_a_stream_without_news_outlives_the_limit_for_slow_clients(project, served, clock, monkeypatch):
    monkeypatch.setattr(live, "_HEARTBEAT_SECONDS", 0.05)
    response = served.get(live.PATH)
    _next(response)
    idle = http.client.HTTPConnection(*served.listener.getsockname(), timeout=PATIENCE)
    idle.connect()
    served.connections.append(idle)

    clock.ahead += 2 * server.WAIT_SECONDS
    assert idle.sock.recv(1) == b""
    for _ in range(3):
        while not response.readline().startswith(b":"):
            pass
    _draft(project, "Use uv")

    assert _next(response)["due"]["/inbox"] == 1


def test_no_page_changes_the_version_that_it_shows(browser, project, save, draft):
    save()
    draft()
    pages = ("/", "/search", "/search?q=sessions", "/inbox", "/health", "/usage", "/settings", "/timeline", "/map")
    for page in pages:
        browser.get(page)
    before = browser.site.live.version()

    for page in pages:
        assert browser.get(page).status_code == 200

    assert browser.site.live.version() == before


@pytest.mark.parametrize("change", ["record", "draft", "config", "usage"])
def test_a_change_of_any_kind_changes_the_version(project, save, change, draft):
    save()
    before = live.Live(project.root).version()
    if change == "record":
        save("Another decision")
    elif change == "draft":
        draft()
    elif change == "config":
        Path(project.store.root, "memory-config.json").write_text("{}")
    else:
        from onrecord.usage import usage_log

        usage_log.append(project.store.root, [("injected", "decisions/a.json")])

    assert live.Live(project.root).version() != before


def test_every_page_knows_the_version_and_what_is_due(browser, save, draft):
    save()
    draft()

    text = browser.get("/search").text

    assert f'data-version="{browser.site.live.version()}"' in text
    assert re.search(r'href="/inbox"[^>]*>.*?<span class="count due">1</span>', text, re.DOTALL)


def test_start_and_the_map_compare_the_files_of_a_store_once(browser, save, project, monkeypatch):
    """Start compared them twice, for what needs a person and for its small map, and the page of the map again."""
    repository = GitProject(Path(project.root))
    repository.write("src/session.py", "EXPIRY = 14\n")
    repository.commit()
    save(related_files=["src/session.py"])
    repository.write("src/session.py", "EXPIRY = 30\n")
    compared = []

    def count(store_root: str, *arguments: Any, **options: Any) -> ChangedFiles:
        compared.append(store_root)
        return changed_files(store_root, *arguments, **options)

    changed_files = attention.changed_files
    monkeypatch.setattr(attention, "changed_files", count)
    start, the_map = browser.get("/").text, browser.get("/map").text
    before = compared.count(project.store.root)
    save("Another decision")
    browser.get("/")

    assert "1 record is about files that changed since" in start
    assert "src/session.py, changed since, 1 record" in the_map
    assert (before, compared.count(project.store.root)) == (1, 2)

"""What changes in a store appears on the open page, and the streams that tell it neither keep nor hold up a server."""

from __future__ import annotations

import http.client
import json
import re
import threading
from collections.abc import Iterator
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
from onrecord.web import access, live, server
from tests.git_project import GitProject

SECONDS = 20
CONTENT = {"context": "pip is slow", "decision": "uv installs everything", "rationale": ["seconds"]}


class Served:
    """A server in a thread of this process, and a client that has access."""

    def __init__(self, root: str, idle_seconds: float) -> None:
        self.listener = server.bind(0)
        self.access: access.Access | None = None
        self.connections: list[http.client.HTTPConnection] = []
        self._is_ready = threading.Event()
        self.thread = threading.Thread(
            target=server.serve, args=(root, self.listener, self._started, idle_seconds), daemon=True
        )
        self.thread.start()
        assert self._is_ready.wait(SECONDS)

    def _started(self, opened: access.Access) -> None:
        self.access = opened
        self._is_ready.set()

    def get(self, path: str, *, headers: dict[str, str] | None = None) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(*self.listener.getsockname(), timeout=SECONDS)
        cookie = {"cookie": f"{self.access.cookie}={self.access.session}"} if headers is None else headers
        self.connections.append(connection)
        connection.request("GET", f"{self.access.prefix}{path}", headers={"host": self.access.host, **cookie})
        return connection.getresponse()

    def close(self) -> None:
        for connection in self.connections:
            connection.close()
        self.thread.join(SECONDS)
        self.listener.close()


@pytest.fixture
def serve(project: Project) -> Iterator[Any]:
    """Start a server that ends when nothing has been asked for some seconds."""
    served = []

    def start(idle_seconds: float = 4.0) -> Served:
        served.append(Served(project.root, idle_seconds))
        return served[-1]

    yield start
    for each in served:
        each.close()
        assert not each.thread.is_alive()


def _next(response: http.client.HTTPResponse) -> dict[str, Any]:
    """Return the data of the next event of a stream."""
    for line in iter(response.readline, b""):
        if line.startswith(b"data: "):
            return json.loads(line[6:])
    raise AssertionError("the stream has ended")


def _draft(project: Project, title: str) -> None:
    record = compose.compose("decision", {"title": title, "content": CONTENT})
    Inbox(project.store.root).put(inbox.new_draft(record))


def test_a_stream_tells_at_once_what_waits_and_again_when_it_changes(project, save, serve):
    save()
    response = serve().get(live.PATH)

    first = _next(response)
    _draft(project, "Use uv")
    second = _next(response)

    assert response.getheader("content-type").startswith("text/event-stream")
    assert (first["due"]["/inbox"], second["due"]["/inbox"]) == (0, 1)
    assert first["version"] != second["version"]


def test_a_stream_does_not_keep_an_idle_server_and_ends_with_it(project, save, serve):
    save()
    served = serve(idle_seconds=1.0)
    response = served.get(live.PATH)
    _next(response)

    rest = response.read()

    assert b"event: change" not in rest
    served.thread.join(SECONDS)
    assert not served.thread.is_alive()


def test_a_stranger_gets_no_stream(project, save, serve):
    save()

    assert serve(1.0).get(live.PATH, headers={}).status == 403


def test_streams_are_few_and_the_one_too_many_is_told_not_to_ask_again(project, save, serve, monkeypatch):
    monkeypatch.setattr(live, "MAX_STREAMS", 2)
    save()
    served = serve()
    streams = [served.get(live.PATH) for _ in range(2)]
    for stream in streams:
        _next(stream)

    assert served.get(live.PATH).status == 204
    assert served.get("/search").status == 200


def test_a_stream_without_news_outlives_the_limit_for_slow_clients(project, save, serve, monkeypatch):
    monkeypatch.setattr("onrecord.web.server.WAIT_SECONDS", 0.3)
    monkeypatch.setattr(live, "_HEARTBEAT_SECONDS", 0.2)
    save()
    response = serve().get(live.PATH)
    _next(response)

    heartbeats: list[bytes] = []
    while len(heartbeats) < 8:
        heartbeats += [line for line in [response.readline()] if line.startswith(b":")]
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

"""The pages in a real browser: with and without scripts, at any width, light and dark."""

from __future__ import annotations

import http.server
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Browser, Page, expect

from onrecord.project import Project
from onrecord.store.inbox import Inbox
from onrecord.web import static_site
from tests.web import served
from tests.web.browser import in_thread, open_context, start_browser

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.xdist_group("chromium")]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with start_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Temporary user folders for this process and the server."""
    folder = tmp_path_factory.mktemp("home")
    folders = {"CLAUDE_CONFIG_DIR": "claude", "ONRECORD_STATE_DIR": "state", "ONRECORD_CACHE_DIR": "cache"}
    with pytest.MonkeyPatch.context() as patch:
        for name, subfolder in folders.items():
            patch.setenv(name, str(folder / subfolder))
        yield folder


class Ferry:
    """The project, the address of its pages, and a browser window on them."""

    def __init__(self, project: Project, address: str, chromium: Browser) -> None:
        self.project = project
        self.address = address
        self.host = address.split("?")[0].rstrip("/")
        self.root = ""
        """The address above all pages, which the first window is led to."""
        self._chromium = chromium
        self._cookies: list[Any] = []

    def window(self, **options: object) -> Page:
        """Open a window that has access. Any request to another host and any console error fails the test."""
        context = open_context(self._chromium, **options)
        context.add_cookies(self._cookies)
        page = context.new_page()
        page.on("request", lambda request: _check_host(request.url, self.host))
        page.on("console", lambda message: _check_console(message.type, message.text))
        page.goto(f"{self.root}/" if self._cookies else self.address)
        expect(page).to_have_url(re.compile(rf"{self.host}/[\w-]{{22}}/"))
        self.root = page.url.rstrip("/")
        self._cookies = context.cookies()
        return page


def _check_host(url: str, root: str) -> None:
    assert url.startswith(root), url


def _check_console(kind: str, text: str) -> None:
    assert kind != "error" or "404" in text or "409" in text or "422" in text, text


@pytest.fixture(scope="module")
def ferry(home: Path, chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ferry]:
    project = served.fill(tmp_path_factory.mktemp("project") / "ferry")
    with served.serving(Path(project.root)) as address:
        yield Ferry(project, address, chromium)


@pytest.fixture
def site(ferry: Ferry, tmp_path: Path) -> Path:
    static_site.write(ferry.project.root, str(tmp_path / "site"))
    return tmp_path / "site"


@in_thread
def test_results_come_while_somebody_types(ferry):
    page = ferry.window()
    page.goto(f"{ferry.root}/search")

    page.get_by_label("Words, a question or an error message").press_sequentially("logged out after deploy")

    expect(page.locator("#results .row-title", has_text="Sessions live in Postgres")).to_be_visible()
    expect(page.locator("#results mark").first).to_be_visible()


@in_thread
def test_the_inbox_by_keyboard_and_undo(ferry):
    page = ferry.window()
    page.goto(f"{ferry.root}/inbox")
    before = Inbox(ferry.project.store.root).names()

    page.keyboard.press("j")
    page.keyboard.press("a")
    expect(page.get_by_role("status").first).to_contain_text("Saved:")
    assert len(Inbox(ferry.project.store.root).names()) == len(before) - 1
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").first).to_contain_text("Undone")

    assert Inbox(ferry.project.store.root).names() == before


@in_thread
def test_a_record_is_retired_and_brought_back_without_any_script(ferry):
    page = ferry.window(java_script_enabled=False)
    path = "/record/project/constraints/never-log-a-session-id.json"
    page.goto(ferry.root + path)

    menu = page.locator("details", has_text="Reason for retiring it")
    menu.locator("summary").click()
    page.get_by_label("Reason for retiring it").fill("we hash them now")
    menu.get_by_role("button", name="Retire").click()
    expect(page.get_by_text("we hash them now", exact=True)).to_be_visible()
    page.get_by_role("button", name="Restore").click()

    expect(page.get_by_role("status").first).to_contain_text("Back in use.")
    assert ferry.project.get("never-log-a-session-id").memory.record_status == "active"


@in_thread
def test_a_window_that_was_not_let_in_sees_nothing(ferry):
    ferry.window()
    stranger = open_context(ferry._chromium).new_page()

    response = stranger.goto(f"{ferry.root}/inbox")

    assert response.status == 403
    assert "Sign release tags" not in stranger.content()


@in_thread
def test_a_browser_sends_the_cookie_to_no_other_port(ferry):
    page, received = ferry.window(), []

    class Thief(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            received.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            """Print nothing."""

    with http.server.HTTPServer(("127.0.0.1", 0), Thief) as thief:
        threading.Thread(target=thief.serve_forever, daemon=True).start()
        other = page.context.new_page()
        other.goto(f"http://127.0.0.1:{thief.server_port}/inbox")
        thief.shutdown()

    assert page.context.cookies()
    assert set(received) == {""}


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="there is no list of sockets to read")
@in_thread
def test_the_server_listens_on_this_machine_only(ferry):
    port = ferry.host.rpartition(":")[2]
    sockets = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]

    addresses = [
        words[1].split(":")[0] for words in sockets if words[3] == "0A" and int(words[1][-4:], 16) == int(port)
    ]

    assert addresses == ["0100007F"]


@in_thread
def test_the_static_site_is_searched_without_a_server(ferry, site):
    page = open_context(ferry._chromium).new_page()
    page.on("console", lambda message: _check_console(message.type, message.text))
    page.goto((site / "index.html").as_uri())

    page.get_by_role("link", name="Search").click()
    page.get_by_role("searchbox").press_sequentially("sess post")
    expect(page.locator("#results li")).to_have_count(1)
    page.get_by_role("link", name="Sessions live in Postgres").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions live in Postgres")

"""Only a browser with access gets a page, and only our own pages change anything."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
import webbrowser
from pathlib import Path

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from onrecord.cli import web
from onrecord.errors import BadInput
from onrecord.web import access, live, server, settings_page, view
from tests.git_project import GitProject
from tests.terminal_session import CTRL_C, TerminalSession
from tests.web.conftest import address_of
from tests.web.served import PATIENCE

ROUTES = server.create_pages(view.Site(".", access.Access(0))).routes
"""Everything that the application answers, with the stream and the static files."""

CHANGES = [route.path for route in ROUTES if "POST" in route.methods]
PAGES = [route.path for route in ROUTES if "GET" in route.methods and route.path != live.PATH]
TEMPLATES = sorted((Path(view.__file__).parent / "templates").glob("*.html"))


def _with_values(path: str) -> str:
    return re.sub(r"\{\w+\}", "x", path)


def _stranger(browser) -> TestClient:
    return TestClient(server.create_app(browser.site), base_url=address_of(browser.access))


def test_the_address_is_exchanged_for_a_strict_cookie(browser):
    address = browser.access.new_address()

    response = _stranger(browser).get(address)

    cookie = response.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/"))
    assert address.partition("token=")[2].lower() not in cookie


def test_an_address_lets_one_browser_in_and_only_the_last_one_does(browser, save):
    save()
    before, address = browser.access.new_address(), browser.access.new_address()
    first, second = _stranger(browser), _stranger(browser)

    first.get(address)
    statuses = [second.get(old).status_code for old in (before, address)]

    assert statuses == [403, 403]
    assert second.get("/").status_code == 403
    assert [first.get(path).status_code for path in ("/", address)] == [200, 403]
    second.get(browser.access.new_address())
    assert [client.get("/").status_code for client in (first, second)] == [200, 200]


def test_enter_prints_another_address(tmp_path):
    """The first address stops working once the browser has used it."""
    root = tmp_path / "ferry"
    (root / ".claude" / "memory").mkdir(parents=True)

    with TerminalSession("web", "--no-open", cwd=root) as session:
        session.expect("Ctrl-C to stop.")
        session.line("")
        session.expect("token=")
        session.line("")
        session.expect("token=")
        session.send(CTRL_C)

        assert session.end() == 0

    assert len(set(re.findall(r"token=([\w-]{43})", session.text))) == 3
    assert session.text.endswith("Stopped.\n")


@pytest.mark.parametrize("path", [*PAGES, live.PATH, "/nowhere"])
def test_a_stranger_gets_no_page(browser, save, path):
    save()

    response = _stranger(browser).get(_with_values(path) + "?token=wrong")

    assert response.status_code == 403
    assert "Postgres" not in response.text


@pytest.mark.parametrize("path", CHANGES)
@pytest.mark.parametrize(
    "how",
    [
        {"headers": {}},
        {"headers": {"origin": "http://evil.example"}},
        {"headers": {"origin": "null"}},
        {"headers": {"origin": "http://127.0.0.1:9999"}},
        {"headers": {"sec-fetch-site": "cross-site"}},
        {"data": {"form_token": ""}},
        {"data": {"form_token": "0" * 64}},
        {"data": {}},
    ],
    ids=str,
)
def test_no_other_site_changes_anything(browser, path, how):
    mine = {"origin": f"http://{browser.access.host}"}
    data = how.get("data", {"form_token": browser.access.form_token})

    response = browser.client.post(
        _with_values(path), data=data, headers=how.get("headers", mine) | how.get("more", {})
    )

    assert response.status_code in (400, 403)


@pytest.mark.parametrize("path", CHANGES)
def test_a_link_changes_nothing(browser, path):
    assert browser.get(_with_values(path)).status_code in (400, 404, 405)


def test_every_route_is_known_here_and_nothing_is_mounted_beside_them():
    assert {type(route) for route in ROUTES} == {Route}
    assert all(route.methods <= {"GET", "HEAD", "POST"} for route in ROUTES)
    both = {route.path for route in ROUTES if {"GET", "POST"} <= route.methods}
    assert both == {"/new/{category}", "/record/{store}/{folder}/{name}/edit", "/inbox/{name}/edit"}


@pytest.mark.parametrize("path", [path for path in PAGES if path != "/static/{name}"])
def test_looking_at_a_page_changes_no_file_of_a_store(browser, save, draft, project, path):
    save()
    draft()
    _files(project.store.root)
    browser.get("/")
    before = _files(project.store.root)

    browser.get(_with_values(path))

    assert _files(project.store.root) == before


def _files(root: str) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path(root).rglob("*")) if path.is_file()}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_every_form_that_changes_something_has_the_token_and_no_page_has_a_script_or_style_in_it(template):
    text = template.read_text(encoding="utf-8")
    forms = re.findall(r'<form method="post".*?</form>', text, re.S)

    assert [form for form in forms if "form_token" not in form and "hidden(" not in form] == []
    assert re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=\"|href=\"javascript:", text) == []
    assert "|safe" not in text


@pytest.mark.parametrize("name", ["", "rm", "init", "config", "begin%00", "Begin"])
def test_a_button_runs_no_other_command(browser, monkeypatch, name):
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **options: pytest.fail("a command was run"))

    assert browser.post(f"/do/{name}", subject="platform").status_code in (400, 404)


def test_the_commands_of_the_buttons():
    assert {name: command.arguments for name, command in settings_page.COMMANDS.items()} == {
        "begin": ("init",),
        "import": ("import",),
        "trust": ("trust",),
        "sync": ("sync",),
        "set": ("config", "set"),
        "unset": ("config", "unset"),
        "connect": ("connect", "--yes"),
        "disconnect": ("connect", "--remove", "--yes"),
    }


@pytest.mark.parametrize(
    "path", ["/pick/files?q=..", "/pick/files?q=secret", "/map?folder=../../etc", "/map?folder=/etc"]
)
def test_files_outside_the_project_are_not_offered(browser, save, project, path):
    save()
    repository = GitProject(Path(project.root))
    repository.write("src/page.py", "")
    repository.commit()
    Path(project.root).parent.joinpath("secret.txt").write_text("private words")

    response = browser.get(path)

    assert response.status_code == 200
    assert not re.search(r"secret\.txt|passwd", response.text)


def test_what_a_picker_and_a_search_return_is_bounded(browser, save):
    for number in range(30):
        save(f"Bounded record number {number}")

    for path in ("/pick/ids?q=", "/pick/tags?q=", "/pick/files?q=", "/search.json?q=bounded"):
        assert len(browser.get(path + "b" * (path[-1] == "=")).json()) <= 20
    assert browser.get(f"/pick/ids?q={'x' * 60_000}").json() == []


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8700", "localhost:8700", "127.0.0.1", "127.0.0.1:80", ""]
)
def test_an_address_that_leads_here_from_elsewhere_is_not_served(browser, host):
    response = browser.get("/", headers={"host": host})

    assert response.status_code == 421


@pytest.mark.parametrize("path", [*PAGES, "/static/app.css", "/nowhere", "/?token=wrong"])
def test_every_answer_carries_the_headers(browser, path):
    response = browser.get(_with_values(path))

    assert {name: response.headers.get(name) for name in access.HEADERS} == access.HEADERS


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fview.py", "/static/base.html", "/static//etc/passwd"],
)
def test_no_other_file_is_served(browser, path):
    assert browser.get(path).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/record/project/decisions/..%2f..%2fsecret.json",
        "/record/project/../secret.json",
        "/record/project/inbox/x.json",
        "/record/project/decisions/.lock",
        "/record/project/decisions/link.json",
        "/record/other/decisions/x.json",
        "/record/user/decisions/x.json",
        "/record/project/decisions/%00.json",
    ],
)
def test_no_file_outside_the_store_is_shown(browser, save, project, path, tmp_path):
    save()
    (tmp_path / "ferry" / ".claude" / "secret.json").write_text('{"title": "private words"}')
    (tmp_path / "ferry" / ".claude" / "memory" / "decisions" / "link.json").symlink_to("../../secret.json")

    response = browser.get(path)

    assert response.status_code in (400, 404)
    assert "private words" not in response.text


def test_a_form_that_is_too_large_is_refused(browser):
    assert browser.post("/undo", text="x" * access.MAX_BODY_BYTES).status_code == 413


def test_a_form_that_breaks_off_halfway_changes_nothing(browser, save, project):
    """A browser that is closed while it sends leaves half a text."""
    entry = save()
    address = f"/record/project/{entry.path}/retire"
    body = f"form_token={browser.access.form_token}&hash={entry.hash}&text=because+it+is"
    messages = iter([
        {"type": "http.request", "body": body.encode(), "more_body": True},
        {"type": "http.disconnect"},
    ])  # fmt: skip
    headers = {
        "host": browser.access.host,
        "origin": f"http://{browser.access.host}",
        "cookie": f"{browser.access.cookie}={browser.access.session}",
    }
    scope = {
        "type": "http",
        "method": "POST",
        "path": address,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    responses = []

    async def receive():
        return next(messages)

    async def send(message):
        responses.append(message)

    asyncio.run(server.create_app(browser.site)(scope, receive, send))

    assert responses[0]["status"] == 400
    assert project.get(entry.path) == entry


def test_the_server_does_not_wait_for_the_browser(monkeypatch, tmp_path):
    """A text browser runs until the user quits it, and needs a page before that."""
    goes_on, ended, addresses = threading.Event(), threading.Event(), []

    def run_browser(address: str) -> None:
        addresses.append((address, goes_on.wait(PATIENCE)))
        ended.set()

    monkeypatch.setattr(webbrowser, "open", run_browser)

    web._started(access.Access(1), str(tmp_path / "entrance.html"))
    goes_on.set()

    assert ended.wait(PATIENCE)
    ((address, is_served),) = addresses
    assert address == (tmp_path / "entrance.html").as_uri() and is_served


def test_a_server_that_nobody_uses_ends_by_itself(project):
    program = (
        "import sys; from onrecord.web import server;"
        "server.serve(sys.argv[1], server.bind(0), lambda access: print(access.new_address(), flush=True), 0.2)"
    )

    ended = subprocess.run(
        [sys.executable, "-c", program, project.root], capture_output=True, text=True, timeout=PATIENCE
    )

    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{40,}\n", ended.stdout)


def test_a_port_in_use_is_said(browser):
    with server.bind(0) as bound:
        bound.listen()
        with pytest.raises(BadInput, match="cannot be used"):
            server.bind(bound.getsockname()[1])


def test_a_method_that_no_page_has_is_refused(browser):
    response = browser.client.request("PUT", "/")

    assert (response.status_code, response.text) == (405, "Only GET, HEAD and POST are supported.\n")


def test_a_browser_that_asks_for_an_icon_uses_up_no_address(browser):
    address = browser.access.new_address()
    stranger = TestClient(browser.client.app, base_url=f"http://{browser.access.host}")

    icon = stranger.get("/favicon.ico")

    assert (icon.status_code, icon.text) == (404, "There is no icon.\n")
    assert stranger.get(address).status_code == 200

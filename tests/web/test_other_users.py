"""What another user of the machine can do: read command lines, run servers, and open connections without end."""

from __future__ import annotations

import contextlib
import http.client
import http.cookiejar
import http.server
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.web import server
from tests.web.served import PATIENCE, ROOT


class Page:
    """A running `onrecord web`, and the cookie of the browser that it let in."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.port = int(re.search(r":(\d+)/", address)[1])
        status, headers, body = self.get(address.partition(str(self.port))[2])
        assert status == 200
        self.cookie = headers["set-cookie"].partition(";")[0]
        self.path = re.search(r"path=([^;]+)", headers["set-cookie"], re.IGNORECASE)[1]
        self.entry_page = body

    def get(self, path: str, **headers: str):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, body

    def page(self, path: str = "/") -> int:
        return self.get(self.path + path, Cookie=self.cookie)[0]

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)


def _command(root: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "onrecord", "web", "--project", str(root), *words]


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), **more}


_WITHOUT_LIMIT = (
    "from onrecord.cli import main; from onrecord.web import server;server.WAIT_SECONDS = 1e9; raise SystemExit(main())"
)
"""A server that waits for its clients as long as they like."""


@contextlib.contextmanager
def _running(root: Path, files: int = 0, program: str = "") -> Iterator[Page]:
    def limit() -> None:
        if files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    command = _command(root, "--no-open")
    command = [sys.executable, "-c", program, *command[3:]] if program else command
    process = subprocess.Popen(command, env=_environment(), preexec_fn=limit, **pipes)
    try:
        yield Page(process, process.stdout.readline().strip())
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


@pytest.fixture
def page(project, save) -> Iterator[Page]:
    save()
    with _running(Path(project.root)) as running:
        yield running


def _processes(token: str) -> list[str]:
    """Return the command lines of this machine that contain a token."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes().decode("utf-8", "replace")
                found += [words] if token in words else []
    return found


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_the_token_is_in_no_command_line_and_the_browser_gets_in(project, save, tmp_path):
    """The browser is a script: it writes down its arguments, and runs until the page is open."""
    save()
    words, is_open = tmp_path / "words", tmp_path / "open"
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\nexec >/dev/null 2>&1\nprintf "%s\\n" "$@" > {words}.new; mv {words}.new {words}\n'
        f"while [ ! -e {is_open} ] && kill -0 $PPID; do sleep 0.05; done\n"
    )
    browser.chmod(0o755)
    environment = _environment(BROWSER=f"{browser} %s")
    process = subprocess.Popen(_command(Path(project.root)), env=environment, stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        deadline = time.monotonic() + PATIENCE
        while not words.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        opened = words.read_text().strip()
        token = address.partition("token=")[2]

        assert len(token) > 40
        assert _processes(token) == []
        assert opened.startswith("file://")
        file = Path(urllib.request.url2pathname(opened[len("file://") :]))
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent.stat().st_mode & 0o077 == 0
        assert address in file.read_text()
        page = Page(process, address)
        assert page.page() == 200
    finally:
        is_open.touch()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert not file.exists()
    assert not list(Path(paths.state_dir()).glob("web-*"))


def test_no_other_server_of_the_machine_gets_the_cookie(page):
    received = []

    class Thief(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            received.append((self.path, self.headers.get("Cookie", "")))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    secret = page.cookie.partition("=")[2]
    jar.set_cookie(_cookie(page))
    with http.server.HTTPServer(("127.0.0.1", 0), Thief) as thief:
        threading.Thread(target=thief.serve_forever, daemon=True).start()
        public = [route.path for route in server.ROUTES if "{" not in route.path]
        for path in (*public, "/static/palette.js", "/x/y"):
            opener.open(f"http://127.0.0.1:{thief.server_port}{path}", timeout=PATIENCE).read()
        thief.shutdown()

    assert len(received) > 5
    assert [path for path, cookie in received if secret in cookie] == []
    # The same browser gets every page of ours.
    assert opener.open(f"http://127.0.0.1:{page.port}{page.path}/", timeout=PATIENCE).status == 200


def _cookie(page: Page) -> http.cookiejar.Cookie:
    name, _, value = page.cookie.partition("=")
    return http.cookiejar.Cookie(
        0, name, value, None, False, "127.0.0.1", False, False, page.path, True, False, None, True, None, None, {}
    )


def test_every_link_of_every_page_is_below_the_secret_path(browser, save, draft):
    entry = save(tags=["auth"], related_files=[])
    draft()
    # These have no page: lists for the palette and for fields, and a stream that does not end.
    others = ("/search.json", "/events", "/pick/")
    paths = [route.path for route in server.ROUTES if "GET" in route.methods and "{" not in route.path]
    pages = [path for path in paths if not path.startswith(others)]
    for path in (*pages, f"/record/project/{entry.path}", f"/record/project/{entry.path}/edit", "/nowhere"):
        text = browser.client.get(path).text
        links = re.findall(r'\b(?:href|src|action|formaction)="(/[^"]*)"', text)
        assert links, path
        assert [link for link in links if not link.startswith(f"{browser.access.prefix}/")] == []


def test_a_redirect_stays_below_the_secret_path(browser, draft):
    name = draft()
    response = browser.client.post(
        f"/inbox/{name}/reject",
        data={"form_token": browser.access.form_token, "hash": _draft_hash(browser, name)},
        headers={"origin": f"http://{browser.access.host}"},
        follow_redirects=False,
    )

    assert response.status_code == 303
    assert response.headers["location"].startswith(f"{browser.access.prefix}/inbox?notice=")


def _draft_hash(browser, name: str) -> str:
    from onrecord.store.inbox import Inbox

    return Inbox(browser.project.store.root).get(name).hash


def test_a_cookie_that_another_server_sets_keeps_nobody_out(browser, save):
    save()
    name, session = browser.access.cookie, browser.access.session

    response = browser.client.get("/", headers={"cookie": f"{name}={session}; {name}=planted"})

    assert response.status_code == 200


HALVES = {
    "nothing": b"",
    "half a line": b"GET / HT",
    "half the headers": b"GET / HTTP/1.1\r\nHost: 127",
    "half a form": b"POST /undo HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\n"
    b"Content-Length: 900000\r\n\r\nform_token=",
    "a body without an end": b"POST / HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
}


def test_whoever_keeps_a_connection_waiting_is_cut(page):
    waiting = {}
    for how, text in HALVES.items():
        host = f"127.0.0.1:{page.port}".encode()
        waiting[how] = page.connect()
        waiting[how].sendall(text.replace(b"{host}", host).replace(b"{cookie}", page.cookie.encode()))
    dribbling = page.connect()
    deadline = time.monotonic() + PATIENCE

    with pytest.raises(OSError, match=r"Broken pipe|reset by peer"):
        while time.monotonic() < deadline:
            dribbling.sendall(b"G")
            time.sleep(0.2)
    dribbling.close()
    for client in waiting.values():
        with contextlib.suppress(ConnectionResetError):
            while client.recv(65_536):
                pass
        client.close()
    assert page.page() == 200


def test_a_form_that_is_too_large_is_read_to_its_end_so_that_the_browser_shows_why_it_is_refused(page):
    host = f"127.0.0.1:{page.port}"
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=PATIENCE)
    headers = {"Cookie": page.cookie, "Origin": f"http://{host}"}

    connection.request("POST", f"{page.path}/new/decision", b"x" * 20_000_000, headers)
    response = connection.getresponse()

    assert (response.status, response.read()[:18]) == (413, b"Nothing was saved:")
    connection.close()


def test_thousands_of_idle_connections_keep_nobody_out_and_print_nothing(project, save):
    """Those that waited longest are cut, or the page would wait for them here for ever."""
    save()
    with _allowed_files(3_000), _running(Path(project.root), 256, _WITHOUT_LIMIT) as page:
        idle = []
        try:
            for _ in range(1_500):
                with contextlib.suppress(OSError):
                    idle.append(page.connect())
            assert page.page() == 200
            # Junk is answered or cut, and nothing of it is printed.
            for junk in (b"\0" * 100, b"GET\r\n\r\n", b"\x16\x03\x01", b"GET / HTTP/9.9\r\n\r\n") * 25:
                with page.connect() as client, contextlib.suppress(OSError):
                    client.sendall(junk)
                    client.recv(100)
            assert page.page() == 200
        finally:
            for client in idle:
                client.close()
        assert page.page() == 200
        page.process.send_signal(signal.SIGINT)
        output = page.process.communicate(timeout=PATIENCE)[0]

    assert len(idle) > 1_000
    assert "Traceback" not in output
    assert len(output) < 2_000


@contextlib.contextmanager
def _allowed_files(number: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < number:
        pytest.skip("too few open files are allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, number), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_an_error_that_repeats_is_printed_some_times():
    few = server.FewLines()

    assert sum(few.filter(None) for _ in range(1_000)) == server._MAX_LINES

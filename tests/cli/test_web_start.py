"""What `onrecord web` prints and opens when its server starts, and how its files end."""

from __future__ import annotations

import io
import json
import os
import signal
import stat
import sys
import threading
import webbrowser
from pathlib import Path

import pytest

from onrecord.cli import terminal, web

from .conftest import DECISION

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes of files and signals are of Unix")


class FalseAccess:
    """Gives out numbered addresses; nobody enters."""

    def __init__(self) -> None:
        self.number = 0
        self.has_entered = threading.Event()

    def new_address(self) -> str:
        self.number += 1
        return f"http://127.0.0.1:1/{self.number}"


@pytest.fixture
def started(monkeypatch, capsys):
    """Return a function that starts with an entrance, and returns what was printed and done in the background."""

    def start(entrance, *, at_terminal):
        calls = []
        monkeypatch.setattr(terminal, "at_terminal", lambda: at_terminal)
        monkeypatch.setattr(web, "_in_background", lambda function, *arguments: calls.append((function, arguments[1:])))
        web._started(FalseAccess(), entrance)
        return capsys.readouterr().out, calls

    return start


@pytest.fixture
def background_job():
    """Restore what happens to a background job that reads from the terminal."""
    before = signal.signal(signal.SIGTTIN, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTTIN, before)


ADDRESS = "http://127.0.0.1:1/1"
HINT = "This address works in one browser. Press Enter for another one, Ctrl-C to stop.\n"


@pytest.mark.parametrize("at_terminal", [True, False])
@pytest.mark.parametrize("entrance", ["/state/web-1.html", ""])
def test_the_address_is_printed_and_a_browser_opened_unless_that_is_unwanted(started, entrance, at_terminal):
    out, calls = started(entrance, at_terminal=at_terminal)

    assert out == f"{ADDRESS}\n{HINT if at_terminal else ''}"
    opened = [(web._open_browser, (ADDRESS, entrance))] if entrance else []
    assert [call for call in calls if call[0] is web._open_browser] == opened
    assert [call[0] for call in calls if call[0] is not web._open_browser] == [web._print_addresses] * at_terminal


def test_a_browser_is_led_in_by_a_private_file_that_is_deleted_when_it_came(tmp_path, monkeypatch):
    entrance, access, seen = tmp_path / "state" / "web-1.html", FalseAccess(), []

    def opened(uri):
        seen.append((uri, entrance.read_text(encoding="utf-8"), stat.S_IMODE(entrance.stat().st_mode)))
        access.has_entered.set()

    monkeypatch.setattr(webbrowser, "open", opened)

    web._open_browser(access, ADDRESS, str(entrance))

    ((uri, page, mode),) = seen
    assert (uri, mode) == (entrance.as_uri(), 0o600)
    assert page == (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Onrecord</title>'
        '<meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={ADDRESS}">'
        f'<p><a href="{ADDRESS}">Continue to the memory</a></p></html>\n'
    )
    assert not entrance.exists()
    assert stat.S_IMODE(entrance.parent.stat().st_mode) == 0o700


def test_a_file_for_the_browser_that_could_not_be_made_ended_in_a_traceback(tmp_path, monkeypatch):
    (tmp_path / "state").write_text("a file")
    (tmp_path / "folder" / "web-1.html").mkdir(parents=True)
    monkeypatch.setattr(webbrowser, "open", lambda uri: pytest.fail(uri))

    for folder in ("state", "folder"):
        web._open_browser(FalseAccess(), ADDRESS, str(tmp_path / folder / "web-1.html"))


def test_each_enter_prints_one_more_address_until_the_end_of_the_input(monkeypatch, capsys):
    reader, writer = os.pipe()
    os.write(writer, b"\n")
    os.close(writer)
    with open(reader, encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        web._print_addresses(FalseAccess(), web.Screen())

    assert capsys.readouterr().out == f"{ADDRESS}\n"


def test_an_input_that_cannot_be_read_is_at_its_end(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))

    assert web._read_input() == b""


@pytest.mark.parametrize(("flags", "opens"), [((), True), (("--no-open",), False)])
def test_the_server_gets_its_port_and_the_file_is_gone_in_the_end(
    project, onrecord, monkeypatch, background_job, flags, opens
):
    from onrecord import paths
    from onrecord.web import server

    served, entrance = [], Path(paths.state_dir(), f"web-{os.getpid()}.html")

    def serve(root, bound, on_start, idle_seconds):
        served.append((root, bound, idle_seconds, signal.getsignal(signal.SIGTTIN)))
        entrance.parent.mkdir(parents=True, exist_ok=True)
        entrance.write_text("left over")
        on_start(FalseAccess())
        raise KeyboardInterrupt

    calls = []
    monkeypatch.setattr(server, "bind", lambda port: f"port {port}")
    monkeypatch.setattr(server, "serve", serve)
    monkeypatch.setattr(web, "_in_background", lambda function, *arguments: calls.append(arguments[2]))

    outcome = onrecord("web", "--port=8123", *flags)

    assert outcome == (0, f"{ADDRESS}\nStopped.\n", "")
    assert served == [(".", "port 8123", server.IDLE_SECONDS, signal.SIG_IGN)]
    assert (calls, entrance.exists()) == ([str(entrance)] if opens else [], False)


def test_a_site_says_how_many_records_it_has_and_where(project, onrecord):
    onrecord("save", "decision", "Jobs are rows", *DECISION)

    assert onrecord("web", "--static", "site").out == "wrote 1 record to site/index.html\n"
    assert json.loads(onrecord("web", "--static", "site", "--json").out) == {"folder": "site", "records": 1}

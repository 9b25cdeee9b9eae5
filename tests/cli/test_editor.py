"""The editor and the pager that a person chose, and what is said when one cannot be used."""

from __future__ import annotations

import shlex
import signal
import sys

import pytest

from onrecord.cli import terminal
from onrecord.errors import BadInput

PYTHON = shlex.quote(sys.executable)


@pytest.fixture(autouse=True)
def no_programs(monkeypatch, tmp_path):
    for name in ("VISUAL", "EDITOR", "ONRECORD_PAGER", "PAGER", "LESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.parametrize(
    ("env", "editor"),
    [
        ({}, "vi"),
        ({"EDITOR": "nothing-1"}, "nothing-1"),
        ({"VISUAL": "nothing-2 -x", "EDITOR": "nothing-1"}, "nothing-2 -x"),
        ({"VISUAL": "", "EDITOR": "'unclosed"}, "'unclosed"),
    ],
)
def test_an_editor_that_cannot_be_started_is_named(monkeypatch, env, editor):
    for name, value in env.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(BadInput) as caught:
        terminal.open_editor("file")

    assert caught.value.message.startswith(f"cannot start the editor {editor!r}: ")
    assert caught.value.fix == "set VISUAL or EDITOR"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("sys.exit(1)", "the editor ended with code 1, so nothing was saved"),
        ("os.kill(os.getpid(), 9)", "the editor was ended by signal 9, so nothing was saved"),
    ],
)
def test_an_editor_that_fails_saves_nothing_and_gives_ctrl_c_back(monkeypatch, code, message):
    monkeypatch.setenv("EDITOR", f"{PYTHON} -S -c 'import os, sys; {code}'")
    before = signal.getsignal(signal.SIGINT)

    with pytest.raises(BadInput) as caught:
        terminal.open_editor("file")

    assert (caught.value.message, caught.value.fix) == (message, "edit it again")
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_is_the_editors_while_it_is_open(monkeypatch):
    handlers = []

    class Editor:
        def __init__(self, command):
            self.command = command

        def wait(self):
            handlers.append((self.command, signal.getsignal(signal.SIGINT)))
            return 0

    monkeypatch.setattr(terminal.subprocess, "Popen", Editor)
    monkeypatch.setenv("EDITOR", "ed -s")

    terminal.open_editor("file")

    assert handlers == [(["ed", "-s", "file"], signal.SIG_IGN)]


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({}, ["less"]),
        ({"PAGER": "more -s"}, ["more", "-s"]),
        ({"PAGER": "more", "ONRECORD_PAGER": "most"}, ["most"]),
        ({"PAGER": "more", "ONRECORD_PAGER": ""}, []),
        ({"PAGER": "cat"}, []),
        ({"PAGER": "cat -v"}, ["cat", "-v"]),
        ({"PAGER": "'unclosed"}, []),
    ],
)
def test_the_pager(monkeypatch, env, words):
    for name, value in env.items():
        monkeypatch.setenv(name, value)

    assert terminal._pager_command() == words


@pytest.mark.parametrize(
    ("lines", "term", "at_terminal", "is_paged"),
    [
        (24, "xterm", True, True),
        (23, "xterm", True, False),
        (24, "dumb", True, False),
        (24, None, True, False),
        (24, "xterm", False, False),
    ],
)
def test_only_what_does_not_fit_on_a_terminal_goes_through_the_pager(
    monkeypatch, tmp_path, lines, term, at_terminal, is_paged
):
    code = "import os, sys; open(sys.argv[1], 'w').write(os.environ['LESS'] + ':' + sys.stdin.read())"
    monkeypatch.setenv("PAGER", f"{PYTHON} -S -c {shlex.quote(code)} {tmp_path}/paged")
    monkeypatch.setenv("LINES", "24")
    if term:
        monkeypatch.setenv("TERM", term)
    else:
        monkeypatch.delenv("TERM", raising=False)
    monkeypatch.setattr(terminal, "at_terminal", lambda: at_terminal)

    assert terminal.show_in_pager("caf\udce9", lines) == is_paged
    assert (tmp_path / "paged").exists() == is_paged
    if is_paged:
        assert (tmp_path / "paged").read_text() == "FRX:caf\\udce9\n"


def test_the_options_of_less_are_those_of_the_user(monkeypatch, tmp_path):
    code = "import os, sys; open(sys.argv[1], 'w').write(os.environ['LESS'])"
    monkeypatch.setenv("LESS", "S")

    assert terminal._run_pager([sys.executable, "-S", "-c", code, str(tmp_path / "less")], "text")
    assert (tmp_path / "less").read_text() == "S"

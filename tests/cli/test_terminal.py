"""Single keys, in a real terminal and without one."""

from __future__ import annotations

import io
import re
import sys

import pytest

from onrecord.cli import terminal
from tests.terminal_session import CTRL_C, CTRL_D, TerminalSession

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")

READER = """
import sys; sys.path.insert(0, sys.argv[1])
from onrecord.cli import terminal
print("ready", flush=True)
while True:
    try:
        pressed = terminal.read_key()
    except (EOFError, KeyboardInterrupt) as error:
        print(type(error).__name__, flush=True)
        break
    print(f"<{pressed}>", flush=True)
    if pressed == "!":
        raise ValueError("the program fails here")
"""


@pytest.fixture
def reader(tmp_path, request):
    source = str(request.config.rootpath / "src")
    with TerminalSession(source, cwd=tmp_path, program=(sys.executable, "-S", "-c", READER)) as session:
        session.expect("ready")
        yield session


def test_keys_are_read_without_enter_and_by_name(reader):
    pressed = {
        "a": "a", "é": "é", "시": "시", "🦊": "🦊", " ": " ", "\r": "enter", "\t": "tab", "\x7f": "backspace",
        "\x1b[A": "up", "\x1bOB": "down", "\x1b[C": "right", "\x1b[D": "left", "\x1b[H": "home", "\x1b[4~": "end",
        "\x1b[5~": "page up", "\x1b[6~": "page down", "\x1b": "escape",
    }  # fmt: skip

    for sent, name in pressed.items():
        reader.press(sent)
        reader.expect(f"<{name}>")


def test_keys_typed_ahead_are_kept_and_unknown_ones_are_no_answer(reader):
    reader.send("ab\x1b[1;5Pc\x01d")

    assert re.findall("<(.)>", reader.expect("<d>")) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(("sent", "ending"), [(CTRL_C, "KeyboardInterrupt"), (CTRL_D, "EOFError"), ("!", "ValueError")])
def test_the_terminal_is_given_back_however_it_ends(reader, sent, ending):
    reader.press(sent)
    reader.expect(ending)
    reader.end()

    assert reader.echoes()


def test_an_end_of_input_typed_ahead_is_one(reader):
    reader.send(CTRL_D)

    reader.expect("EOFError")


def test_a_pressed_key_is_not_echoed(reader):
    reader.press("x")

    assert reader.expect("<x>").strip() == "<x>"


@pytest.mark.parametrize(("typed", "key"), [("a\n", "a"), ("  yes\n", "y"), ("\n", "enter"), ("q", "q")])
def test_without_a_terminal_a_line_is_an_answer(monkeypatch, typed, key):
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))

    assert terminal.read_key() == key


def test_without_a_terminal_the_end_of_the_input_is_no_answer(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))

    with pytest.raises(EOFError):
        terminal.read_key()

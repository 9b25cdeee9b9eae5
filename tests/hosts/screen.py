"""A client on a screen of its own: a pseudo-terminal that answers what a client asks of its terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Callable

from tests.hosts.host_client import HostClient
from tests.hosts.isolation import Running
from tests.hosts.mock_api import Replies
from tests.hosts.model_request import ModelRequest

PATIENCE = 120.0
"""Seconds after which a client that shows nothing new is taken for stuck; none needs them."""

_IN_TERMINAL = """
import fcntl, os, pty, struct, sys, termios
process, terminal = pty.fork()
if not process:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])
pty._copy(terminal)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
"""
_KEPT = 50_000
"""Bytes of what was printed: some clients paint the whole screen many times a second."""

_ANSWERS = {
    b"\x1b[6n": "\x1b[1;1R",
    b"\x1b[c": "\x1b[?62;22c",
    b"\x1b[?u": "\x1b[?0u",
    b"\x1b]10;?": "\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": "\x1b]11;rgb:0000/0000/0000\x1b\\",
}
"""What a terminal answers when it is asked for the cursor, its kind, its keyboard and its colours."""

_CONTROL = re.compile(r"\x1b(?:\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Za-z0-9]|[=>78M])|\s")


class Screen:
    """A running client, typed to and read from."""

    def __init__(self, running: Running) -> None:
        self._process, self.api = running.process, running.api
        self._printed = b""
        self._changed = threading.Condition()
        self._is_open = True
        self.api.heard = self._notify
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def text(self) -> str:
        """What was printed last, without white space, colours and movements of the cursor."""
        return _CONTROL.sub("", self._printed.decode("utf-8", "replace"))

    def prompt(self, text: str, replies: Replies = ()) -> ModelRequest:
        """Type a prompt; the last request of the turn, when its answer is on the screen."""
        self.api.script(replies)
        self._type(text)
        # With the text still on its way, the client would take the key for a line end in pasted text.
        self.wait_for(lambda: _shown(text)[-40:] in self.text)
        before = len(self.api.main_requests)
        self._type("\r")
        self.wait_for(lambda: len(self.api.main_requests) > before)
        return self.api.main_requests[-1]

    def wait_for(self, is_reached: Callable[[], bool]) -> None:
        """Wait for something that the client shows or asks."""
        with self._changed:
            while not is_reached():
                if not self._is_open or not self._changed.wait(PATIENCE):
                    raise AssertionError(f"the client does not go on. The screen:\n{self.text[-3_000:]}")

    def _type(self, keys: str) -> None:
        assert self._process.stdin is not None
        os.write(self._process.stdin.fileno(), keys.encode())

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _read(self) -> None:
        assert self._process.stdout is not None
        while data := os.read(self._process.stdout.fileno(), 65_536):
            for asked, answer in _ANSWERS.items():
                self._type(answer * data.count(asked))
            self._printed = (self._printed + data)[-_KEPT:]
            self._notify()
        self._is_open = False
        self._notify()


@contextmanager
def on_screen(client: HostClient, prompt: str) -> Iterator[Screen]:
    """Start the client with a first prompt, as somebody who sits before it would."""
    program = [sys.executable, "-c", _IN_TERMINAL, str(client.program), *client.screen, prompt]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with client.started(program, **pipes) as running:
        yield Screen(running)


def _shown(text: str) -> str:
    return _CONTROL.sub("", text)

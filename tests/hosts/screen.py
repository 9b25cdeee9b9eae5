"""A client on a screen of its own: a pseudo-terminal that answers what a client asks its terminal."""

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
from tests.hosts.mock_api import MockApi, Replies

PATIENCE = 120.0
"""Seconds after which a client that does nothing is taken for stuck; none needs them."""

_IN_TERMINAL = """
import fcntl, os, pty, struct, sys, termios
def child(arguments):
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    os.execvp(arguments[0], arguments)
process, terminal = pty.fork()
if not process:
    child(sys.argv[1:])
pty._copy(terminal)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
"""
_ANSWERS = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[?u": b"\x1b[?0u",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
}
"""What a terminal answers when it is asked for the cursor, its kind, its keyboard and its colours."""

_CONTROL = re.compile(r"\x1b(?:\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Za-z0-9]|[=>78M])")


class Screen:
    """A running client, typed to and read from."""

    def __init__(self, running: Running) -> None:
        self._process, self.api = running.process, running.api
        self._printed = b""
        self._changed = threading.Condition()
        self._is_open = True
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def text(self) -> str:
        """All that was printed, without colours and movements of the cursor."""
        return _CONTROL.sub("", self._printed.decode("utf-8", "replace"))

    def type(self, keys: str) -> None:
        assert self._process.stdin is not None
        os.write(self._process.stdin.fileno(), keys.encode())

    def wait_until(self, is_reached: Callable[[], bool]) -> bool:
        """Wait for something that happens with what is printed; False if the client ends or does nothing for long."""
        with self._changed:
            while self._is_open and not is_reached():
                if not self._changed.wait(PATIENCE):
                    return False
        return is_reached()

    def _read(self) -> None:
        assert self._process.stdout is not None
        while data := os.read(self._process.stdout.fileno(), 65_536):
            for asked, answer in _ANSWERS.items():
                for _ in range(data.count(asked)):
                    self.type(answer.decode())
            with self._changed:
                self._printed += data
                self._changed.notify_all()
        with self._changed:
            self._is_open = False
            self._changed.notify_all()

"""A client on a pseudo-terminal, which replies to the queries that a client sends to its terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.hosts.host_client import HostClient
from tests.hosts.isolation import Running, run_hooks_with
from tests.hosts.mock_api import Replies

PATIENCE = 240.0
"""Seconds after which a client is taken for stuck; none needs them."""

_LOOK_AGAIN = 0.05
"""Seconds between two looks at what the hooks have done."""

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

_NOTED = """answer=$("{python}" "$@")
[ -z "$answer" ] || printf '%s\\n' "$answer"
echo "$4 ${{#answer}}" >>"{log}"
"""
"""Runs a hook, and writes its event and the length of its answer to a log when it is done."""

_ANSWERS = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[?u": b"\x1b[?0u",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
}
"""Replies of a terminal to queries for the cursor, its kind, its keyboard and its colours."""

_ASKED = re.compile(b"|".join(map(re.escape, _ANSWERS)))

_CONTROL = re.compile(r"\x1b(?:\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Za-z0-9]|[=>78M])|\s")


class Call(NamedTuple):
    """A hook of ours that has run: its event, and the length of its reply."""

    event: str
    length: int


class Screen:
    """A running client and its screen."""

    def __init__(self, running: Running, hooks: Path) -> None:
        self._process, self.api, self._hooks = running.process, running.api, hooks
        self._printed = b""
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def text(self) -> str:
        """The last output, without white space, colours and movements of the cursor."""
        return _CONTROL.sub("", self._printed.decode("utf-8", "replace"))

    def calls(self, event: str) -> list[Call]:
        """Return the hooks that have run for an event."""
        lines = self._hooks.read_text().splitlines() if self._hooks.exists() else []
        calls = [Call(name, int(length)) for name, length in map(str.split, lines)]
        return [call for call in calls if call.event == event]

    def wait_for_calls(self, event: str, number: int) -> list[Call]:
        """Wait until hooks have run for an event that often."""
        deadline = time.monotonic() + PATIENCE
        while len(self.calls(event)) < number:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the client does not go on. The screen:\n{self.text[-3_000:]}")
            time.sleep(_LOOK_AGAIN)
        return self.calls(event)

    def wait_for_request(self) -> None:
        """Wait until the model was asked."""
        deadline = time.monotonic() + PATIENCE
        while not self.api.main_requests:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the model was not asked. The screen:\n{self.text[-3_000:]}")
            time.sleep(_LOOK_AGAIN)

    def wait_for_text(self, text: str) -> None:
        """Wait until the screen has `text`, given without white space."""
        deadline = time.monotonic() + PATIENCE / 4
        while text not in self.text:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"{text} is not on the screen:\n{self.text[-3_000:]}")
            time.sleep(_LOOK_AGAIN)

    def _read(self) -> None:
        try:
            self._answer()
        except (OSError, ValueError):
            # The client was ended, and its pipes are closed.
            return

    def _answer(self) -> None:
        """Keep what is printed, and answer what a program asks of its terminal."""
        assert self._process.stdin is not None and self._process.stdout is not None
        rest = b""
        while data := os.read(self._process.stdout.fileno(), 65_536):
            self._printed = (self._printed + data)[-_KEPT:]
            rest += data
            while query := _ASKED.search(rest):
                os.write(self._process.stdin.fileno(), _ANSWERS[query.group()])
                rest = rest[query.end() :]
            rest = rest[-max(map(len, _ANSWERS)) + 1 :]


@contextmanager
def on_screen(client: HostClient, prompt: str, replies: Replies) -> Iterator[Screen]:
    """Start the client with a prompt, as somebody who sits before it would."""
    hooks = client.home / "hooks.log"
    run_hooks_with(client.home, _NOTED.format(python=os.path.realpath(sys.executable), log=hooks))
    program = [sys.executable, "-c", _IN_TERMINAL, str(client.program), *client.screen, prompt]
    with client.started(program, replies, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        yield Screen(running, hooks)

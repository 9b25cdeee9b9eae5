"""A person at a terminal: `bin/onrecord`, or another program, in a real pseudo-terminal, typed to and read from.

    with TerminalSession("review", cwd=project) as session:
        session.expect("1 of 3")
        session.press("a")
        assert session.end() == 0

A wait that takes too long fails with all that was on the screen. `text` is what was printed so far, without colours.
"""

from __future__ import annotations

import codecs
import os
import re
import select
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from tests.time_limit import PATIENCE

BIN = Path(__file__).parents[1] / "bin" / "onrecord"
_LOOK_AGAIN = 0.002
"""Seconds between two looks at the terminal: its settings change without a sign."""

UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
ENTER, ESCAPE, CTRL_C, CTRL_D, BACKSPACE = "\r", "\x1b", "\x03", "\x04", "\x7f"
_IN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Makes the pseudo-terminal that of the program, so that Ctrl-C reaches it."""

_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[()][A-Za-z0-9]|[=>78])")


class TerminalSession:
    """A program at work in a pseudo-terminal of 80 columns and 24 lines."""

    def __init__(
        self,
        *words: str,
        cwd: Path,
        env: Mapping[str, str] = {},
        program: Sequence[str] = (sys.executable, str(BIN)),
        size: tuple[int, int] = (80, 24),
    ) -> None:
        outer = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self.raw = ""
        self._seen = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._terminal, theirs = os.openpty()
        _resize(theirs, size)
        self._child = subprocess.Popen(
            (sys.executable, "-S", "-E", "-c", _IN_TERMINAL, *program, *words),
            cwd=cwd,
            env={**outer, "TERM": "xterm", "NO_COLOR": "1", **env},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def __enter__(self) -> TerminalSession:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._child.kill()
        self._child.wait(timeout=60)
        os.close(self._terminal)

    @property
    def text(self) -> str:
        """All that was printed, without colours and movements of the cursor, with plain line ends."""
        return _CONTROL.sub("", self.raw).replace("\r\n", "\n")

    def press(self, key: str) -> None:
        """Press a key as soon as the program waits for one; the terminal would print an earlier one."""
        deadline = time.monotonic() + PATIENCE
        while self.echoes():
            if not self._more(time.monotonic() + _LOOK_AGAIN) and time.monotonic() > deadline:
                raise AssertionError(f"the program does not wait for a key. The screen:\n{self.text}")
        self.send(key)

    def send(self, keys: str) -> None:
        """Type `keys` at once, without waiting for the program."""
        os.write(self._terminal, keys.encode("utf-8"))

    def line(self, text: str) -> None:
        """Type a line."""
        self.send(text + "\n")

    def expect(self, text: str) -> str:
        """Wait until `text` is printed after the last expected one. Return all that was printed up to it."""
        deadline = time.monotonic() + PATIENCE
        while (at := self.text.find(text, self._seen)) < 0:
            if not self._more(deadline):
                raise AssertionError(f"{text!r} was not printed. The screen from there on:\n{self.text[self._seen :]}")
        start, self._seen = self._seen, at + len(text)
        return self.text[start : self._seen]

    def end(self) -> int:
        """Wait until the program ends. Return its exit code, negative for a signal."""
        deadline = time.monotonic() + PATIENCE
        while self._more(deadline):
            pass
        if time.monotonic() > deadline:
            raise AssertionError(f"the program did not end. The screen:\n{self.text}")
        return self._child.wait(timeout=60)

    def echoes(self) -> bool:
        """True if the terminal prints what is typed and waits for whole lines, as before the program ran."""
        import termios

        flags = termios.tcgetattr(self._terminal)[3]
        return flags & (termios.ECHO | termios.ICANON) == termios.ECHO | termios.ICANON

    def _more(self, deadline: float) -> bool:
        """Read what is printed next; False at the end or the deadline."""
        if not select.select([self._terminal], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return False
        try:
            data = os.read(self._terminal, 65_536)
        except OSError:  # Linux says it this way when the last writer has gone
            return False
        self.raw += self._decoder.decode(data)
        return bool(data)


def _resize(handle: int, size: tuple[int, int]) -> None:
    import fcntl
    import termios

    columns, lines = size
    fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

"""The terminal: single keys, lines, a list to pick from, progress, and the user's editor and pager.

The terminal's mode is changed only while waiting for a key, and is always restored. Without a terminal a line of
input takes the place of a key.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from types import TracebackType
from typing import TypeVar

from onrecord.errors import BadInput

UP, DOWN, LEFT, RIGHT = "up", "down", "left", "right"
HOME, END, PAGE_UP, PAGE_DOWN = "home", "end", "page up", "page down"
ENTER, ESCAPE, BACKSPACE, TAB = "enter", "escape", "backspace", "tab"
_UNKNOWN = ""
_END_OF_INPUT = "\x04"
_KEY_NAMES = {
    # A Ctrl-D typed while the terminal still waited for a line.
    "\0": _END_OF_INPUT,
    "\r": ENTER,
    "\n": ENTER,
    "\x1b": ESCAPE,
    "\x7f": BACKSPACE,
    "\b": BACKSPACE,
    "\t": TAB,
    _END_OF_INPUT: _END_OF_INPUT,
}
_SEQUENCES = {
    "A": UP, "B": DOWN, "C": RIGHT, "D": LEFT, "H": HOME, "F": END,
    "1~": HOME, "4~": END, "5~": PAGE_UP, "6~": PAGE_DOWN, "7~": HOME, "8~": END,
}  # fmt: skip
"""The rest of the sequence after `ESC [` or `ESC O`, for keys without a character."""

_WINDOWS_KEYS = {"H": UP, "P": DOWN, "K": LEFT, "M": RIGHT, "G": HOME, "O": END, "I": PAGE_UP, "Q": PAGE_DOWN}
_SEQUENCE_SECONDS = 0.05
"""Seconds in which the rest of a key's sequence follows its ESC; a person's next key comes later."""

_MAX_SEQUENCE_LENGTH = 16
_WINDOW_LINES = 10
"""Lines of the window that moves over a long list: one for each digit."""

_PICK_HELP = "up/down and Enter, or a number; Esc leaves"
_DIGITS = tuple("1234567890")
_UP, _DOWN, _LEAVE = (UP, "k"), (DOWN, "j"), (ESCAPE, "q")
_DEFAULT_PAGER = "less"
_LESS = "FRX"
"""Options of `less`, unless the user has set LESS: quit if all fits, show colours, leave the text on the screen."""

AFTER_SECONDS = 1.0
"""Seconds of work before the line appears: quicker work needs none."""

_INTERVAL_SECONDS = 0.2
"""Seconds between two updates of the line."""

_CLEAR = "\r\033[K"


def at_terminal() -> bool:
    """True if a person can be asked: both input and output are a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def read_line(question: str = "") -> str:
    """Return the next line of input, without its end. Raises EOFError."""
    if at_terminal():
        return _edited_line(question)
    print(question, end="", flush=True)
    text = sys.stdin.readline()
    if not text:
        raise EOFError
    return text.rstrip("\r\n")


def _edited_line(question: str) -> str:
    """Return a line typed on a terminal; the readline library edits it, where Python has it."""
    try:
        import readline  # noqa: F401
    except ImportError:
        pass
    return input(question)


def read_key() -> str:
    """Return the next key: a character, or the name of a key that has none.

    Raises EOFError at the end of input or for Ctrl-D, KeyboardInterrupt for Ctrl-C. Without a terminal the key is the
    first character of a line, or ENTER for an empty line.
    """
    if not at_terminal():
        return _key_from_line()
    key = _UNKNOWN
    while key == _UNKNOWN:
        key = _key_from_console() if sys.platform == "win32" else _key_from_terminal()
    if key == _END_OF_INPUT:
        raise EOFError
    return key


def _key_from_line() -> str:
    text = read_line().strip()
    return text[0] if text else ENTER


def _key_from_terminal() -> str:
    import signal
    import termios

    handle = sys.stdin.fileno()
    special = termios.tcgetattr(handle)[6]
    with _single_keys(handle):
        first = _character(handle)
        if first == "\x1b" and _is_waiting(handle):
            return _sequence(handle)
    if first.encode() == special[termios.VINTR]:
        raise KeyboardInterrupt
    if first.encode() == special[termios.VSUSP]:
        os.kill(0, signal.SIGTSTP)
        return _UNKNOWN
    return _KEY_NAMES.get(first, first if first.isprintable() else _UNKNOWN)


@contextmanager
def _single_keys(handle: int) -> Iterator[None]:
    """Switch the terminal to pass on each key at once and unseen, including Ctrl-C and Ctrl-Z.

    As a signal, a Ctrl-C just before the wait would be noticed only after the next key.
    """
    import termios
    import tty

    before = termios.tcgetattr(handle)
    try:
        # No flush: keys typed ahead count.
        tty.setcbreak(handle, termios.TCSADRAIN)
        now = termios.tcgetattr(handle)
        now[3] &= ~termios.ISIG
        termios.tcsetattr(handle, termios.TCSADRAIN, now)
        yield
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)


def _character(handle: int) -> str:
    data = os.read(handle, 1)
    if not data:
        return _END_OF_INPUT
    # The first byte of a UTF-8 character gives the number of bytes that follow.
    following = sum(data[0] >= start for start in (0xC0, 0xE0, 0xF0))
    while following and (more := os.read(handle, following)):
        data += more
        following -= len(more)
    return data.decode("utf-8", "replace")


def _is_waiting(handle: int) -> bool:
    import select

    return bool(select.select([handle], [], [], _SEQUENCE_SECONDS)[0])


def _sequence(handle: int) -> str:
    """Return the key of the sequence after an ESC; unknown for Alt with a character and for keys that are not used."""
    if _character(handle) not in ("[", "O"):
        return _UNKNOWN
    text = ""
    while len(text) < _MAX_SEQUENCE_LENGTH and _is_waiting(handle):
        text += _character(handle)
        if "@" <= text[-1] <= "~":
            break
    return _SEQUENCES.get(text, _UNKNOWN)


def _key_from_console() -> str:
    """Return the next key on Windows, where a key without a character is sent as two."""
    if sys.platform != "win32":
        raise OSError("there is a console only on Windows")
    import msvcrt

    first = msvcrt.getwch()
    if first in ("\x00", "\xe0"):
        return _WINDOWS_KEYS.get(msvcrt.getwch(), _UNKNOWN)
    if first == "\x03":
        raise KeyboardInterrupt
    if first == "\x1a":
        return _END_OF_INPUT
    return _KEY_NAMES.get(first, first if first.isprintable() else _UNKNOWN)


def pick_line(question: str, lines: Sequence[str]) -> int | None:
    """Return the position of the line that a person picks, or None. The lines must fit on the terminal."""
    if os.environ.get("TERM") == "dumb":
        return _pick_by_number(question, lines)
    position, drawn = 0, 0
    try:
        while True:
            drawn = _draw(question, lines, position, drawn)
            key = read_key()
            if key in _LEAVE:
                return None
            target = _digit_position(position, key)
            if key == ENTER or 0 <= target < len(lines):
                return position if key == ENTER else target
            position = _move(position, key, len(lines))
    except EOFError:
        return None
    finally:
        _erase(drawn)


def _digit_position(position: int, key: str) -> int:
    """Return the position of the digit `key` in the window around `position`; -1 if it is no digit."""
    return _window_start(position) + (int(key) - 1) % _WINDOW_LINES if key in _DIGITS else -1


def _move(position: int, key: str, count: int) -> int:
    steps = {
        **dict.fromkeys(_UP, -1),
        **dict.fromkeys(_DOWN, 1),
        PAGE_UP: -_WINDOW_LINES,
        PAGE_DOWN: _WINDOW_LINES,
        HOME: -count,
        END: count,
    }
    return min(max(position + steps.get(key, 0), 0), count - 1)


def _window_start(position: int) -> int:
    return position // _WINDOW_LINES * _WINDOW_LINES


def _draw(question: str, lines: Sequence[str], position: int, drawn: int) -> int:
    """Replace the `drawn` lines of the last window with the one around `position`; return its number of lines."""
    start = _window_start(position)
    window = lines[start : start + _WINDOW_LINES]
    rows = [f"{'>' if start + n == position else ' '} {(n + 1) % 10}  {line}" for n, line in enumerate(window)]
    more = f"  ({position + 1} of {len(lines)})" if len(lines) > len(window) else ""
    _erase(drawn)
    print("\n".join((question, *rows, f"{_PICK_HELP}{more}")), flush=True)
    return len(rows) + 2


def _erase(drawn: int) -> None:
    if drawn:
        sys.stdout.write(f"\033[{drawn}A\033[J")
        sys.stdout.flush()


def _pick_by_number(question: str, lines: Sequence[str]) -> int | None:
    """Pick on a terminal that only prints: numbered lines, and a number typed with Enter."""
    print("\n".join((question, *(f"{number:>3}  {line}" for number, line in enumerate(lines, 1)))), flush=True)
    try:
        number = read_line("number: ").strip()
    except EOFError:
        return None
    return int(number) - 1 if number.isascii() and number.isdigit() and 1 <= int(number) <= len(lines) else None


def open_editor(path: str) -> None:
    """Open a file in the user's editor, and wait until it is closed. Raises BadInput."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if sys.platform == "win32" else "vi")
    try:
        child = subprocess.Popen([*shlex.split(editor, posix=sys.platform != "win32"), path])
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot start the editor {editor!r}: {error}", fix="set VISUAL or EDITOR") from error
    # Ctrl-C is for the editor, which has the terminal; many editors do not end on it.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = child.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    if code:
        ending = f"ended with code {code}" if code > 0 else f"was ended by signal {-code}"
        raise BadInput(f"the editor {ending}, so nothing was saved", fix="edit it again")


def show_in_pager(text: str, line_count: int) -> bool:
    """Show a text that is too long for the terminal in the pager; False if it is to be printed instead."""
    if line_count < shutil.get_terminal_size().lines or os.environ.get("TERM", "dumb") == "dumb":
        return False
    # A program that reads our terminal but types nothing could not leave the pager.
    if not at_terminal():
        return False
    command = _pager_command()
    return bool(command) and _run_pager(command, text)


def _pager_command() -> list[str]:
    """Return the pager and its arguments; empty for none."""
    pager = next((os.environ[name] for name in ("ONRECORD_PAGER", "PAGER") if name in os.environ), None)
    if pager is None:
        # Windows looks for a program in the current folder first, which may belong to anyone.
        pager = "" if sys.platform == "win32" else _DEFAULT_PAGER
    try:
        words = shlex.split(pager, posix=sys.platform != "win32")
    except ValueError:
        return []
    return [] if words in ([], ["cat"]) else words


def _run_pager(command: list[str], text: str) -> bool:
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env={"LESS": _LESS, **os.environ})
    except (OSError, ValueError):
        return False
    data: bytes | None = f"{text}\n".encode("utf-8", "backslashreplace")
    while process.poll() is None:
        # Ctrl-C is for the pager, which goes on.
        try:
            process.communicate(data)
        except KeyboardInterrupt:
            data = None
    return True


Item = TypeVar("Item")


class Progress:
    """A progress line for the time of a `with`; the innermost of several is shown.

    A thread draws the line, so that it also shows while one step takes long.
    """

    _open: list[Progress] = []
    _drawing = threading.Lock()

    def __init__(self, what: str, total: int = 0) -> None:
        self._what = what
        self._total = total
        self._done = threading.Event()
        self._is_drawn = False
        self._thread: threading.Thread | None = None
        self.count = 0

    def __enter__(self) -> Progress:
        if _is_visible():
            self._open.append(self)
            self._thread = threading.Thread(target=self._draw, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._thread is None:
            return
        self._done.set()
        self._thread.join()
        self._open.remove(self)
        if self._is_drawn:
            _write(_CLEAR)

    def _draw(self) -> None:
        start = time.monotonic()
        wait = AFTER_SECONDS
        while not self._done.wait(wait):
            wait = _INTERVAL_SECONDS
            with self._drawing:
                if self._open[-1] is self:
                    self._is_drawn = True
                    _write(_CLEAR + self._line(time.monotonic() - start))

    def _line(self, seconds: float) -> str:
        total = f" of {self._total:,}" if self._total else ""
        count = f": {self.count:,}{total}" if self.count else ""
        # A line that fills the terminal would wrap, and only its last part could be cleared.
        return f"{self._what}{count}, {seconds:.0f} s …"[: shutil.get_terminal_size().columns - 1]


def watched(items: Iterable[Item], what: str) -> Iterator[Item]:
    """Yield the items, counting them on a progress line."""
    with Progress(what, len(items) if isinstance(items, Sized) else 0) as progress:
        for item in items:
            progress.count += 1
            yield item


def _is_visible() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()

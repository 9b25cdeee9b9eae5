"""One key at a time from the terminal, without Enter; a line of input where there is no terminal.

The terminal is changed only while a key is awaited, and is given back as it was, whatever ends the wait.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

UP, DOWN, LEFT, RIGHT = "up", "down", "left", "right"
HOME, END, PAGE_UP, PAGE_DOWN = "home", "end", "page up", "page down"
ENTER, ESCAPE, BACKSPACE, TAB = "enter", "escape", "backspace", "tab"
_UNKNOWN = ""

_END_OF_INPUT = "\x04"
_NAMED = {
    # A Ctrl-D that was typed while the terminal still waited for a line.
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
"""What follows `ESC [` or `ESC O` when a key is pressed that has no character."""

_WINDOWS = {"H": UP, "P": DOWN, "K": LEFT, "M": RIGHT, "G": HOME, "O": END, "I": PAGE_UP, "Q": PAGE_DOWN}
_REST = 0.05
"""Seconds in which the rest of a key's sequence follows its ESC; a person's next key comes later."""

_LONGEST_SEQUENCE = 16


def at_terminal() -> bool:
    """Whether somebody can answer: both what is asked and what is typed go through a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def key() -> str:
    """The next key: a character, or the name of a key that has none.

    EOFError when the input ends or Ctrl-D is pressed, KeyboardInterrupt for Ctrl-C. Without a terminal it is the
    first character of a line, and ENTER for an empty line.
    """
    if not at_terminal():
        return _from_line()
    pressed = _UNKNOWN
    while pressed == _UNKNOWN:
        pressed = _from_console() if sys.platform == "win32" else _from_terminal()
    if pressed == _END_OF_INPUT:
        raise EOFError
    return pressed


def line(question: str = "") -> str:
    """A line that somebody types, without its end; EOFError when there is none."""
    if at_terminal():
        return _edited_line(question)
    print(question, end="", flush=True)
    text = sys.stdin.readline()
    if not text:
        raise EOFError
    return text.rstrip("\r\n")


def _edited_line(question: str) -> str:
    """A line typed on a terminal; with the keys of the readline library, where Python has it."""
    try:
        import readline  # noqa: F401
    except ImportError:
        pass
    return input(question)


def _from_line() -> str:
    text = line().strip()
    return text[0] if text else ENTER


def _from_terminal() -> str:
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
    return _NAMED.get(first, first if first.isprintable() else _UNKNOWN)


@contextmanager
def _single_keys(handle: int) -> Iterator[None]:
    """The terminal with each key handed on at once and not shown, Ctrl-C and Ctrl-Z included.

    As a signal, one that comes just before the wait would be noticed only after the next key.
    """
    import termios
    import tty

    before = termios.tcgetattr(handle)
    try:
        # Without a flush: what was typed ahead is meant.
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
    # The first byte of a UTF-8 character says how many follow.
    following = sum(data[0] >= start for start in (0xC0, 0xE0, 0xF0))
    while following and (more := os.read(handle, following)):
        data += more
        following -= len(more)
    return data.decode("utf-8", "replace")


def _is_waiting(handle: int) -> bool:
    import select

    return bool(select.select([handle], [], [], _REST)[0])


def _sequence(handle: int) -> str:
    """The key that sends the sequence behind an ESC; unknown for Alt with a character, and for keys nobody needs."""
    if _character(handle) not in ("[", "O"):
        return _UNKNOWN
    text = ""
    while len(text) < _LONGEST_SEQUENCE and _is_waiting(handle):
        text += _character(handle)
        if "@" <= text[-1] <= "~":
            break
    return _SEQUENCES.get(text, _UNKNOWN)


def _from_console() -> str:
    """The next key on Windows, where keys without a character come as two."""
    if sys.platform != "win32":
        raise OSError("there is a console only on Windows")
    import msvcrt

    first = msvcrt.getwch()
    if first in ("\x00", "\xe0"):
        return _WINDOWS.get(msvcrt.getwch(), _UNKNOWN)
    if first == "\x03":
        raise KeyboardInterrupt
    if first == "\x1a":
        return _END_OF_INPUT
    return _NAMED.get(first, first if first.isprintable() else _UNKNOWN)

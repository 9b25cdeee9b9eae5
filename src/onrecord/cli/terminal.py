"""One key at a time from the terminal, without Enter; a line of input where there is no terminal.

The terminal is changed only while a key is awaited, and is given back as it was, whatever ends the wait.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from onrecord.errors import BadInput

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


def read_key() -> str:
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


def read_line(question: str = "") -> str:
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
    text = read_line().strip()
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


_MOST_SHOWN = 10
"""Lines of the window that moves over a long list; each can have a digit."""

_HELP = "up/down and Enter, or a number; Esc leaves"
_DIGITS = tuple("1234567890")
_UP, _DOWN, _LEAVE = (UP, "k"), (DOWN, "j"), (ESCAPE, "q")


def pick_line(question: str, lines: Sequence[str]) -> int | None:
    """The place of the line that was chosen; None if none was. The lines must fit on the terminal."""
    if os.environ.get("TERM") == "dumb":
        return _by_line(question, lines)
    at, drawn = 0, 0
    try:
        while True:
            drawn = _draw(question, lines, at, drawn)
            pressed = read_key()
            if pressed in _LEAVE:
                return None
            numbered = _numbered(at, pressed)
            if pressed == ENTER or 0 <= numbered < len(lines):
                return at if pressed == ENTER else numbered
            at = _moved(at, pressed, len(lines))
    except EOFError:
        return None
    finally:
        _erase(drawn)


def _numbered(at: int, pressed: str) -> int:
    """The line of the window around a line that a digit stands for; 0 is the tenth, and -1 no digit at all."""
    return _start(at) + (int(pressed) - 1) % _MOST_SHOWN if pressed in _DIGITS else -1


def _moved(at: int, pressed: str, count: int) -> int:
    steps = {
        **dict.fromkeys(_UP, -1),
        **dict.fromkeys(_DOWN, 1),
        PAGE_UP: -_MOST_SHOWN,
        PAGE_DOWN: _MOST_SHOWN,
        HOME: -count,
        END: count,
    }
    return min(max(at + steps.get(pressed, 0), 0), count - 1)


def _start(at: int) -> int:
    """The first line of the window that shows a line."""
    return at // _MOST_SHOWN * _MOST_SHOWN


def _draw(question: str, lines: Sequence[str], at: int, drawn: int) -> int:
    """Show the window in the place of the one before; how many lines of the terminal it takes."""
    start = _start(at)
    window = lines[start : start + _MOST_SHOWN]
    shown = [f"{'>' if start + n == at else ' '} {(n + 1) % 10}  {line}" for n, line in enumerate(window)]
    more = f"  ({at + 1} of {len(lines)})" if len(lines) > len(window) else ""
    _erase(drawn)
    print("\n".join((question, *shown, f"{_HELP}{more}")), flush=True)
    return len(shown) + 2


def _erase(drawn: int) -> None:
    if drawn:
        sys.stdout.write(f"\033[{drawn}A\033[J")
        sys.stdout.flush()


def _by_line(question: str, lines: Sequence[str]) -> int | None:
    """The same on a terminal that only prints: numbered lines, and a number typed with Enter."""
    print("\n".join((question, *(f"{number:>3}  {line}" for number, line in enumerate(lines, 1)))), flush=True)
    try:
        typed = read_line("number: ").strip()
    except EOFError:
        return None
    return int(typed) - 1 if typed.isascii() and typed.isdigit() and 1 <= int(typed) <= len(lines) else None


def open_editor(path: str) -> None:
    """Have a file edited, and wait until the editor is closed; BadInput if it fails."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if sys.platform == "win32" else "vi")
    try:
        child = subprocess.Popen([*shlex.split(editor, posix=sys.platform != "win32"), path])
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot start the editor {editor!r}: {error}", fix="set VISUAL or EDITOR") from error
    # Ctrl-C is meant for the editor, which has the terminal: many do not end for it.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = child.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    if code:
        ending = f"ended with code {code}" if code > 0 else f"was ended by signal {-code}"
        raise BadInput(f"the editor {ending}, so nothing was saved", fix="edit it again")


_DEFAULT = "less"
_LESS = "FRX"
"""For `less`, unless the user has set LESS: quit if all fits, show colours, leave the text on the screen."""


def show_in_pager(text: str, lines: int) -> bool:
    """Show a text that takes so many lines of the terminal; whether that was done, or it is to be printed."""
    if lines < shutil.get_terminal_size().lines or os.environ.get("TERM", "dumb") == "dumb":
        return False
    # Whoever only reads our terminal, and types nothing, could not leave the pager.
    if not at_terminal():
        return False
    command = _command()
    return bool(command) and _run(command, text)


def _command() -> list[str]:
    """The program and its arguments; empty for none."""
    chosen = next((os.environ[name] for name in ("ONRECORD_PAGER", "PAGER") if name in os.environ), None)
    if chosen is None:
        # On Windows a program is looked for in the current folder first, which may be anybody's.
        chosen = "" if sys.platform == "win32" else _DEFAULT
    try:
        words = shlex.split(chosen, posix=sys.platform != "win32")
    except ValueError:
        return []
    return [] if words in ([], ["cat"]) else words


def _run(command: list[str], text: str) -> bool:
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env={"LESS": _LESS, **os.environ})
    except (OSError, ValueError):
        return False
    data: bytes | None = f"{text}\n".encode("utf-8", "backslashreplace")
    while process.poll() is None:
        # Ctrl-C is for the pager, which stays.
        try:
            process.communicate(data)
        except KeyboardInterrupt:
            data = None
    return True

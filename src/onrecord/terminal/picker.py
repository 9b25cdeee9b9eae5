"""One of several lines, chosen on a terminal with the arrow keys or by its number."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from onrecord.terminal import keys

_MOST_SHOWN = 10
"""Lines of the window that moves over a long list; each can have a digit."""

_HELP = "up/down and Enter, or a number; Esc leaves"
_DIGITS = tuple("1234567890")
_UP, _DOWN, _LEAVE = (keys.UP, "k"), (keys.DOWN, "j"), (keys.ESCAPE, "q")


def pick(question: str, lines: Sequence[str]) -> int | None:
    """The place of the line that was chosen; None if none was. The lines must fit on the terminal."""
    if os.environ.get("TERM") == "dumb":
        return _by_line(question, lines)
    at, drawn = 0, 0
    try:
        while True:
            drawn = _draw(question, lines, at, drawn)
            pressed = keys.key()
            if pressed in _LEAVE:
                return None
            numbered = _numbered(at, pressed)
            if pressed == keys.ENTER or 0 <= numbered < len(lines):
                return at if pressed == keys.ENTER else numbered
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
        keys.PAGE_UP: -_MOST_SHOWN,
        keys.PAGE_DOWN: _MOST_SHOWN,
        keys.HOME: -count,
        keys.END: count,
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
        typed = keys.line("number: ").strip()
    except EOFError:
        return None
    return int(typed) - 1 if typed.isascii() and typed.isdigit() and 1 <= int(typed) <= len(lines) else None

"""A long text shown in the user's pager: `$ONRECORD_PAGER`, `$PAGER`, or `less`. No project can choose it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

from onrecord.terminal import keys

_DEFAULT = "less"
_LESS = "FRX"
"""For `less`, unless the user has set LESS: quit if all fits, show colours, leave the text on the screen."""


def show(text: str, lines: int) -> bool:
    """Show a text that takes so many lines of the terminal; whether that was done, or it is to be printed."""
    if lines < shutil.get_terminal_size().lines or os.environ.get("TERM", "dumb") == "dumb":
        return False
    # Whoever only reads our terminal, and types nothing, could not leave the pager.
    if not keys.at_terminal():
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

"""What a command answers: data for programs, and the same as text for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from recollect.cli.terminal import Screen, clean, safe
from recollect.coldstart import NamedTuple
from recollect.errors import RecollectError


class Answer(NamedTuple):
    """The outcome of a command; `text` is asked only when a person is to read it, `warning` and `note` go to stderr."""

    data: Any
    text: Callable[[Screen], str]
    status: int = 0
    warning: str = ""
    note: str = ""


def emit(answer: Answer, *, as_json: bool) -> None:
    """Print an answer; flushed here, so that a closed pipe is noticed here."""
    screen = Screen.of(sys.stdout)
    text = to_json(answer.data) if as_json else answer.text(screen)
    if text:
        say(text.removesuffix("\n"), screen)
    sys.stdout.flush()
    if as_json:
        return
    errors = Screen.of(sys.stderr)
    if answer.warning:
        print(f"{errors.paint('warning', 'yellow')}: {clean(answer.warning)}", file=sys.stderr)
    if answer.note:
        print(errors.paint(clean(answer.note), "dim"), file=sys.stderr)


def say(text: str, screen: Screen, end: str = "\n") -> None:
    """Print lines of text: the one way to standard output, past which nothing invisible gets but our own colours."""
    print(safe(text, screen), end=end, flush=True)


def emit_error(error: RecollectError, *, as_json: bool) -> None:
    """An expected failure: its code, what was wrong, and what to do."""
    if as_json:
        print(to_json({"error": {"code": error.code, "message": error.message, "fix": error.fix}}), flush=True)
        return
    screen = Screen.of(sys.stderr)
    print(f"{screen.paint(error.code, 'red')}: {clean(error.message)}", file=sys.stderr)
    if error.fix:
        print(f"{screen.paint('fix', 'bold')}: {clean(error.fix)}", file=sys.stderr)


def to_json(data: Any) -> str:
    """JSON in which nothing invisible stands raw: a terminal shows it as it is."""
    text = json.dumps(data, ensure_ascii=False, indent=2)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)

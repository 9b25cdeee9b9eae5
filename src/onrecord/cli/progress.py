"""A line on standard error that shows how far long work has come: on a terminal only, and cleared at the end."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sized
from types import TracebackType
from typing import TypeVar

AFTER = 1.0
"""Seconds of work before the line appears: what is quicker needs none."""

_BETWEEN = 0.2
"""Seconds between two looks at how far it has come."""

_CLEAR = "\r\033[K"
Item = TypeVar("Item")


class Progress:
    """Work in progress, for the time of a `with`; of several within one another the innermost is shown.

    The line is drawn by a thread, so that it also shows while one step takes long.
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
        if _is_seen():
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
        wait = AFTER
        while not self._done.wait(wait):
            wait = _BETWEEN
            with self._drawing:
                if self._open[-1] is self:
                    self._is_drawn = True
                    _write(_CLEAR + self._line(time.monotonic() - start))

    def _line(self, seconds: float) -> str:
        total = f" of {self._total:,}" if self._total else ""
        counted = f": {self.count:,}{total}" if self.count else ""
        # A line that fills the terminal would wrap, and only its last part could be cleared.
        return f"{self._what}{counted}, {seconds:.0f} s …"[: shutil.get_terminal_size().columns - 1]


def watched(items: Iterable[Item], what: str) -> Iterator[Item]:
    """The items as they are, counted on the line."""
    with Progress(what, len(items) if isinstance(items, Sized) else 0) as progress:
        for item in items:
            progress.count += 1
            yield item


def _is_seen() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()

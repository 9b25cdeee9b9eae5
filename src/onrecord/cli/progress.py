"""A progress line on standard error for long work: on a terminal only, and cleared at the end."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sized
from types import TracebackType
from typing import TypeVar

AFTER_SECONDS = 1.0
"""Seconds of work before the line appears: quicker work needs none."""

_INTERVAL_SECONDS = 0.2
"""Seconds between two updates of the line."""

_CLEAR = "\r\033[K"
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

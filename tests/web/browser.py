"""Debian's Chromium, driven by Playwright from one thread."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests import debian
from tests.web import served

# Playwright switches stacks; after that CPython 3.11 can fail to compile code in the same thread.
_THREAD = ThreadPoolExecutor(1)


def in_thread(task: Callable[..., None]) -> Callable[..., None]:
    """Run `task` in the one thread that talks to the browser."""

    @functools.wraps(task)
    def run(*arguments: object, **options: object) -> None:
        _THREAD.submit(task, *arguments, **options).result()

    return run


@contextmanager
def start_browser() -> Iterator[Browser]:
    """Start the browser, and close it at the end."""
    playwright = _THREAD.submit(sync_playwright().start).result()
    browser = _THREAD.submit(served.chromium, playwright, debian.program("chromium") or "").result()
    yield browser
    _THREAD.submit(browser.close).result()
    _THREAD.submit(playwright.stop).result()

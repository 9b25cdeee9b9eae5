"""Debian's Chromium, driven by Playwright from one thread."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests import debian
from tests.web import served

# The five seconds of Playwright are too few for a machine that does much else.
expect.set_options(timeout=served.PATIENCE * 1000)

# Playwright switches stacks; after that CPython 3.11 can fail to compile code in the same thread.
_THREAD = ThreadPoolExecutor(1)


def in_thread(task: Callable[..., None]) -> Callable[..., None]:
    """Run `task` in the one thread that talks to the browser."""

    @functools.wraps(task)
    def run(*arguments: object, **options: object) -> None:
        _THREAD.submit(task, *arguments, **options).result()

    return run


def open_context(browser: Browser, **options: object) -> BrowserContext:
    """Return what is one person's browser: its windows share cookies, and wait as long as a slow machine needs."""
    context = browser.new_context(**options)
    context.set_default_timeout(served.PATIENCE * 1000)
    return context


@contextmanager
def start_browser() -> Iterator[Browser]:
    """Start the browser, and close it at the end."""
    playwright = _THREAD.submit(sync_playwright().start).result()
    browser = _THREAD.submit(served.chromium, playwright, debian.program("chromium") or "").result()
    yield browser
    _THREAD.submit(browser.close).result()
    _THREAD.submit(playwright.stop).result()

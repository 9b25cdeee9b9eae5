"""A limit on the time of every test: one that waits in vain fails with its traceback, and the others run.

A pytest plugin that tests/conftest.py registers. `at_most` gives a single wait a shorter limit.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

SECONDS = float(os.environ.get("ONRECORD_TEST_SECONDS", "300"))
"""For the call of a test, and for its teardown: ten times what a slow one needs on two busy cores."""

SETUP_SECONDS = 3 * SECONDS
"""A fixture may have to fetch a program first."""

PATIENCE = 120
"""Seconds for a single wait that ends at once on an idle machine: its own message comes before the end of the test."""

_AGAIN = 10
"""Seconds after which the alarm rings again, for a test that waits in a `finally` clause, too."""


class TimeLimitExceeded(BaseException):
    """Not an Exception: neither the code under test nor Hypothesis catches it."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeLimitExceeded in this thread, the main one, if the body of the `with` takes longer than `seconds`.

    Windows has no alarm: there, the process ends, and prints where each of its threads is.
    """
    if not hasattr(signal, "setitimer"):
        faulthandler.dump_traceback_later(seconds, exit=True)
        yield
        faulthandler.cancel_dump_traceback_later()
        return

    def ring(*_: object) -> None:
        raise TimeLimitExceeded(f"still running after {seconds:g} seconds")

    handler = signal.signal(signal.SIGALRM, ring)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *timer)


def join(*threads: threading.Thread, seconds: float = 60) -> None:
    """Wait until `threads` have ended. Fails if one of them has not after `seconds`."""
    for thread in threads:
        thread.join(timeout=seconds)
        assert not thread.is_alive(), f"{thread.name} did not end within {seconds:g} seconds"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    with at_most(SETUP_SECONDS):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    with at_most(SECONDS):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    with at_most(SECONDS):
        return (yield)

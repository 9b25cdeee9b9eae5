"""The pytest plugin that runs tests in a planned order and reports which test did what."""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PLAN = "BENCH_PLAN"
"""Names the file with the tests to run, in order, and with the place for the report."""

PROBE = "_block_probe"
"""The module that notes which blocks are reached; it exists only in a tree with markers."""

MEMORY = 8 << 30
"""More than any test needs: a mutant that allocates without end fails before the machine does."""

_plan: dict[str, Any] = {}
_failed: list[str] = []
_seconds: dict[str, float] = {}
_current = [""]


def pytest_configure(config: pytest.Config) -> None:
    _plan.update(json.loads(Path(os.environ[PLAN]).read_text(encoding="utf-8")))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    config.addinivalue_line("markers", "xdist_group(name): of a plugin that is not loaded here")
    try:
        importlib.import_module(PROBE)
    except ImportError:
        pass


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if _plan["order"]:
        ranks = {name: rank for rank, name in enumerate(_plan["order"])}
        items[:] = sorted((item for item in items if item.nodeid in ranks), key=lambda item: ranks[item.nodeid])


def pytest_runtest_logstart(nodeid: str) -> None:
    _current[0] = nodeid
    _enter(nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    """Count what a shared fixture reaches for all tests of the file."""
    if fixturedef.scope == "function":
        return (yield)
    _enter(_current[0].split("::")[0])
    try:
        return (yield)
    finally:
        _enter(_current[0])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Count the time of the processor, also of processes that a test starts: a busy machine does not change it.

    A quarter of the time that passes counts where that is more, for a test that waits.
    """
    processor, clock = _processor_seconds(), time.monotonic()
    try:
        return (yield)
    finally:
        _seconds[item.nodeid] = max(_processor_seconds() - processor, (time.monotonic() - clock) / 4)


def _processor_seconds() -> float:
    return sum(os.times()[:4])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _failed.append(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _failed.append(report.nodeid)


def pytest_sessionfinish() -> None:
    result = {"failed": _failed, "seconds": _seconds}
    Path(_plan["report"]).write_text(json.dumps(result), encoding="utf-8")


def _enter(context: str) -> None:
    """Note that what is reached from now on is reached by this test or, given a file, by any of its tests."""
    if PROBE in sys.modules:
        sys.modules[PROBE].enter(context)

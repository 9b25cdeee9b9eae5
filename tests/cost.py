"""Compares what two pieces of work cost in CPU time: a busy neighbour fails no test, work that grows too fast does.

Noise only adds to a measurement, so the least of several counts; and both are measured again in turn, so that they
share what noise there is.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

ATTEMPTS = 10
LEAST = 0.002
"""Seconds below which a measurement is noise."""

_LAUNCHER = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
out, err = (each.decode("utf-8", "replace") for each in (done.stdout, done.stderr))
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss, done.returncode, out, err]))
"""


class ProgramRun(NamedTuple):
    """The output of a program that has ended, and the resources it used."""

    seconds: float
    kilobytes: int
    code: int
    out: str
    err: str


def cpu(action: Callable[[], object]) -> float:
    """Return the CPU seconds of a call. Garbage of other tests is not collected meanwhile."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        start = time.process_time()
        action()
        return time.process_time() - start
    finally:
        if was_enabled:
            gc.enable()


def run(command: Iterable[str], data: bytes = b"") -> ProgramRun:
    """Run a program. A small process starts it: a fork of this large one would count as the program's own memory."""
    words = [sys.executable, "-S", "-E", "-c", _LAUNCHER, *command]
    done = subprocess.run(words, input=data, capture_output=True, timeout=300, check=True, env=os.environ)
    return ProgramRun(*json.loads(done.stdout))


class Yardstick:
    """A piece of work that other work is compared with."""

    def __init__(
        self, small: Callable[[], object], *, least: float = LEAST, seconds: Callable[[Any], float] = cpu
    ) -> None:
        self._small, self._least, self._seconds = small, least, seconds
        seconds(small)  # the first one pays for imports and caches
        self._cheapest = self._measured()

    def excess(self, times: float, large: Callable[[], object]) -> str:
        """Return an empty text if `large` costs at most `times` as much as the small work, else both costs in words."""
        cheap, dear = self._cheapest, self._seconds(large)
        for attempt in range(1, ATTEMPTS):
            if dear <= times * cheap:
                return ""
            fresh = self._measured()
            cheap = fresh if attempt == 1 else min(cheap, fresh)
            dear = min(dear, self._seconds(large))
        return "" if dear <= times * cheap else f"{dear * 1000:.2f} ms is over {times:g} times {cheap * 1000:.2f} ms"

    def _measured(self) -> float:
        return max(self._least, min(self._seconds(self._small) for _ in range(3)))


def assert_at_most(
    times: float, small: Callable[[], object], large: Callable[[], object], *, least: float = LEAST
) -> None:
    """Fail unless `large` costs at most `times` as much CPU as `small`."""
    excess = Yardstick(small, least=least).excess(times, large)
    assert not excess, excess

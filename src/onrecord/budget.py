"""The time budget of a hook: steps check the time left, and a timer interrupts a step that does not check.

Commands have no budget, but show on their terminal how far a long reading has come. On a system without interval timers
(Windows), a thread ends the process instead.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    Item = TypeVar("Item")
    Result = TypeVar("Result")

_RESERVE = 0.2
"""Seconds reserved for writing the reply."""

_REPEAT = 0.02
"""Seconds until a timer fires again: its clock differs a little from ours, so the first time may be too early."""


class OutOfTime(BaseException):
    """The error raised when the time is up. Not an Exception, so that no handler catches it by accident."""

    def __str__(self) -> str:
        return "took too long"


class _Limits:
    """The deadlines in wall-clock and CPU time, and whether the timers may still raise."""

    __slots__ = ("cpu", "is_armed", "wall")

    def __init__(self) -> None:
        self.wall = self.cpu = _ENDLESS
        self.is_armed = False


_ENDLESS = float("inf")
_limits = _Limits()


def start(wall: float, cpu: float) -> None:
    """Start a budget: `wall` seconds from now, and `cpu` seconds of computing since the process started."""
    import _signal  # type: ignore[import-not-found]

    # The package `signal` wraps this one in enumerations, at ten times the cost.
    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, _ring)
        _signal.signal(_signal.SIGPROF, _ring)
    else:
        import _thread

        _thread.start_new_thread(_end_process, (wall,))
    _arm(time.monotonic() + wall, cpu)


def stop() -> None:
    """End the budget; nothing is interrupted after this."""
    _limits.wall = _limits.cpu = _ENDLESS
    _limits.is_armed = False
    _set_timers(0, 0)


def remaining() -> float:
    """Return the seconds left; infinite without a budget."""
    return min(_limits.wall - time.monotonic(), _limits.cpu - time.process_time())


def wall_left() -> float:
    """Return the seconds left on the clock, which also waiting takes; infinite without a budget."""
    return _limits.wall - time.monotonic()


def attempt(name: str, default: Result, step: Callable[..., Result], *args: object, seconds: float = 60.0) -> Result:
    """Run `step` and return its result, or `default` if it fails or takes too long, so that later steps still run.

    A failure is written to the failure log. Without a budget it is raised: the user of a command sees it.
    """
    wall, cpu = _limits.wall, _limits.cpu
    if wall == _ENDLESS:
        return step(*args)
    try:
        _arm(wall - _RESERVE, min(cpu - _RESERVE, time.process_time() + seconds))
        return step(*args)
    except OutOfTime:
        reason = "took too long and was left out"
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    finally:
        _arm(wall, cpu)
    from onrecord import state_file

    state_file.log_failure(name, reason)
    return default


def _arm(wall: float, cpu: float) -> None:
    _limits.wall, _limits.cpu = wall, cpu
    # A timer of 0 would never fire.
    _set_timers(max(wall - time.monotonic(), 0.000_1), max(cpu - time.process_time(), 0.000_1))
    _limits.is_armed = True


def _set_timers(wall: float, cpu: float) -> None:
    import _signal

    if hasattr(_signal, "setitimer"):
        _signal.setitimer(_signal.ITIMER_REAL, wall, _REPEAT)
        _signal.setitimer(_signal.ITIMER_PROF, cpu, _REPEAT)


def _ring(number: int, frame: object) -> None:
    """Raise OutOfTime if the time is up, but only once until `_arm` is called again."""
    if _limits.is_armed and remaining() <= 0:
        _limits.is_armed = False
        raise OutOfTime


def _end_process(wall: float) -> None:
    time.sleep(wall)
    if _limits.wall != _ENDLESS:
        from onrecord import state_file

        state_file.log_failure("hook", "took too long and was ended")
        os._exit(0)


_counters: list[Callable[[Iterable[Any], str], Iterable[Any]]] = []


def show_counts_with(counter: Callable[[Iterable[Any], str], Iterable[Any]]) -> None:
    """Show every count from now on with `counter`, which yields what it is given and is told what is counted."""
    _counters[:] = [counter]


def counted(elements: Iterable[Item], what: str) -> Iterable[Item]:
    """Return the elements of a long reading, counted where the program shows counts."""
    return _counters[0](elements, what) if _counters else elements

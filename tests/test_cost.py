"""The comparison of costs tells proportion from its square, whatever else the machine does."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable

import pytest

from tests import cost
from tests.cost import Yardstick


def linear(size: int) -> Callable[[], object]:
    return lambda: sum(range(size))


def quadratic(size: int) -> Callable[[], object]:
    return lambda: [sum(range(size)) for _ in range(size // 100)]


def test_four_times_the_size_costs_four_times_as_much_or_sixteen_times():
    cost.assert_at_most(8, linear(100_000), linear(400_000))
    with pytest.raises(AssertionError, match="ms is over 8 times"):
        cost.assert_at_most(8, quadratic(12_000), quadratic(48_000))


class Noisy:
    """A machine whose neighbours make work dearer: for moments, or for longer."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._slow = itertools.cycle([1.0] * 20 + [2.5] * 20)

    def seconds(self, work: float) -> float:
        burst = self._random.choice((1.0, 1.1, 1.3, 4.0))
        return work * next(self._slow) * burst


@pytest.mark.parametrize("seed", range(40))
def test_a_busy_machine_changes_no_verdict(seed: int):
    seconds = Noisy(seed).seconds
    small: Callable[[], object] = 0.01  # type: ignore[assignment]

    assert Yardstick(small, seconds=seconds).excess(8, 0.04) == ""  # type: ignore[arg-type]
    assert Yardstick(small, seconds=seconds).excess(8, 0.16 * 4) != ""  # type: ignore[arg-type]


def test_what_is_too_short_to_measure_is_not_measured():
    times = iter([9.0, 0.0, 0.0, 0.0, 0.02])

    assert Yardstick(print, least=0.003, seconds=lambda work: next(times)).excess(8, print) == ""


def test_the_memory_of_a_program_is_its_own():
    ballast = bytearray(300_000_000)

    ended = cost.run([sys.executable, "-S", "-E", "-c", "print(len(input()))"], b"abc\n")

    assert (ended.code, ended.out, ended.err) == (0, "3\n", "")
    assert 0 < ended.seconds < 60
    assert 1_000 < ended.kilobytes < 100_000 < len(ballast)

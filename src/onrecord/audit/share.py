"""Shares of a count with their uncertainty: the Wilson interval, and what two shares say about each other."""

from __future__ import annotations

from math import sqrt

from onrecord.coldstart import NamedTuple

_Z = 1.96
"""Standard deviations of a 95 % interval."""

TOO_FEW, LESS, MORE, UNCLEAR = "too few", "less", "more", "unclear"
"""What a comparison says: too few to tell; clearly less or more; or no difference beyond chance."""


class Share(NamedTuple):
    """How many of a count."""

    hits: int = 0
    of: int = 0

    def add(self, is_hit: bool) -> Share:
        """Return the share with one more case."""
        return Share(self.hits + is_hit, self.of + 1)

    def plus(self, other: Share) -> Share:
        """Return both counts as one."""
        return Share(self.hits + other.hits, self.of + other.of)

    @property
    def value(self) -> float:
        return self.hits / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson interval, 95 %."""
        if not self.of:
            return 0.0, 1.0
        shrink = 1 + _Z * _Z / self.of
        middle = (self.value + _Z * _Z / (2 * self.of)) / shrink
        half = _Z * sqrt(self.value * (1 - self.value) / self.of + _Z * _Z / (4 * self.of * self.of)) / shrink
        low, high = max(0.0, middle - half), min(1.0, middle + half)
        # The bound that is exact is not rounded off.
        return 0.0 if not self.hits else low, 1.0 if self.hits == self.of else high


def difference(first: Share, second: Share) -> tuple[float, float]:
    """Return the 95 % interval of `second` minus `first`, by Newcombe's method from the two Wilson intervals."""
    (low_1, high_1), (low_2, high_2) = first.interval, second.interval
    middle = second.value - first.value
    return (
        middle - sqrt((second.value - low_2) ** 2 + (high_1 - first.value) ** 2),
        middle + sqrt((high_2 - second.value) ** 2 + (first.value - low_1) ** 2),
    )


def compare(first: Share, second: Share, minimum: int) -> str:
    """Return what `second` is against `first`; with fewer than `minimum` cases on a side, too few to tell."""
    if min(first.of, second.of) < minimum:
        return TOO_FEW
    low, high = difference(first, second)
    return LESS if high < 0 else MORE if low > 0 else UNCLEAR

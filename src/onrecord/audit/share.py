"""Shares of a count with their uncertainty: the Wilson interval, and what two shares say about each other."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

from onrecord.coldstart import NamedTuple

_Z = 1.96
"""Standard deviations of a 95 % interval."""

TOO_FEW, LESS, MORE, UNCLEAR = "too few", "less", "more", "unclear"
"""What a comparison says: too few to tell; clearly less or more; or no difference beyond chance."""


class Share(NamedTuple):
    """A part of a count."""

    hits: int = 0
    of: int = 0

    def add(self, is_hit: bool) -> Share:
        """Return the share with one more case."""
        return Share(self.hits + is_hit, self.of + 1)

    def plus(self, other_share: Share) -> Share:
        """Return both counts as one."""
        return Share(self.hits + other_share.hits, self.of + other_share.of)

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


def total(shares: Iterable[Share]) -> Share:
    """Return all of them as one."""
    together = Share()
    for one in shares:
        together = together.plus(one)
    return together


def difference(base_share: Share, new_share: Share) -> tuple[float, float]:
    """Return the 95 % interval of `new_share` minus `base_share`, by Newcombe's method."""
    (low_1, high_1), (low_2, high_2) = base_share.interval, new_share.interval
    middle = new_share.value - base_share.value
    return (
        middle - sqrt((new_share.value - low_2) ** 2 + (high_1 - base_share.value) ** 2),
        middle + sqrt((high_2 - new_share.value) ** 2 + (base_share.value - low_1) ** 2),
    )


def compare(base_share: Share, new_share: Share, minimum: int) -> str:
    """Return what `new_share` is against `base_share`; with fewer than `minimum` cases on a side, too few to tell."""
    if min(base_share.of, new_share.of) < minimum:
        return TOO_FEW
    low, high = difference(base_share, new_share)
    return LESS if high < 0 else MORE if low > 0 else UNCLEAR

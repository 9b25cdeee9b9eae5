"""Shares of a count, and how sure they are."""

from __future__ import annotations

from math import sqrt

_Z = 1.96
"""Standard deviations of a 95 % interval."""


def wilson(part: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share."""
    if not of:
        return 0.0, 1.0
    share, shrink = part / of, 1 + _Z * _Z / of
    middle = (share + _Z * _Z / (2 * of)) / shrink
    half = _Z * sqrt(share * (1 - share) / of + _Z * _Z / (4 * of * of)) / shrink
    return max(0.0, middle - half), min(1.0, middle + half)

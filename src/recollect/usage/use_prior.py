"""Priors: what past use says about a memory before its text is looked at. A small file, read in every prompt hook.

It moves the odds a little, never far: a memory that is used more often than others of its store gains up to 0.3
logits, one that is ignored or contradicted loses as much, and with little evidence nothing moves.
"""

from __future__ import annotations

import os

from recollect import files
from recollect.usage import usage_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.usage.counts import Counts

MOST = 0.3
_LEAST_EVIDENCE = 3
_WEIGHT_OF_AVERAGE = 6.0
_STRENGTH = 0.3
_CONTRADICTION = 2
"""A contradiction counts as so many times ignored."""

_LARGEST = 2_000_000


def read(store_root: str) -> dict[str, float]:
    """The prior of each memory that has one, by its path in the store."""
    try:
        text = files.read(usage_log.file_of(store_root, "prior"), _LARGEST).decode("utf-8", "surrogateescape")
    except OSError:
        return {}
    found: dict[str, float] = {}
    for line in text.split("\n"):
        path, _, value = line.partition("\t")
        if path and value and value.lstrip("-").replace(".", "", 1).isdecimal() and value.isascii():
            found[path] = min(max(float(value), -MOST), MOST)
    return found


def refresh(store_root: str) -> None:
    """Work the priors out again from the log."""
    from recollect.usage.counts import per_record

    values = of(per_record(store_root))
    data = "".join(f"{path}\t{value:.3f}\n" for path, value in sorted(values.items()))
    path = usage_log.file_of(store_root, "prior")
    if data or os.path.exists(path):
        usage_log.replace(path, data.encode("utf-8", "surrogateescape"))


def of(counts: Mapping[str, Counts]) -> dict[str, float]:
    """The priors that counts lead to: each memory against the average of its store."""
    used = sum(one.used for one in counts.values())
    average = (used + 4) / (sum(map(_evidence, counts.values())) + 8)
    found: dict[str, float] = {}
    for path, one in counts.items():
        evidence = _evidence(one)
        if evidence < _LEAST_EVIDENCE:
            continue
        share = (one.used + _WEIGHT_OF_AVERAGE * average) / (evidence + _WEIGHT_OF_AVERAGE)
        value = min(max(_STRENGTH * (_logit(share) - _logit(average)), -MOST), MOST)
        if abs(value) >= 0.001:
            found[path] = round(value, 3)
    return found


def _evidence(one: Counts) -> int:
    return one.used + one.ignored + _CONTRADICTION * one.contradicted


def _logit(share: float) -> float:
    from math import log as ln

    return ln(share / (1 - share))

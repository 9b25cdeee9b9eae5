"""Weights of triage's linear model, read from `cues/weights.tsv`; `python -m bench triage` writes them.

The first line names the outcomes. Every other line is a sign and, in hundredths, what it adds to each outcome.
"""

from __future__ import annotations

import os
from math import exp

from recollect import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cues", "weights.tsv")
ALWAYS = "always"
"""The sign that every sentence has."""

_LARGEST = 4_000_000


class Weights:
    """For each sign what it adds to every outcome."""

    __slots__ = ("_lines", "_parsed", "outcomes")

    def __init__(self, text: str) -> None:
        parts = text.replace("\n", "\t").split("\t")
        self.outcomes = parts[1].split()
        # Thousands of lines, of which a session needs a few hundred: each is parsed when it is first met.
        self._lines = dict(zip(parts[2::2], parts[3::2]))
        self._parsed: dict[str, tuple[int, ...]] = {}

    @classmethod
    def load(cls) -> Weights:
        return cls(files.read(FILE, _LARGEST).decode("utf-8"))

    def probabilities(self, signs: Iterable[str]) -> list[float]:
        """How probable each outcome is, given what is seen."""
        lines = self._lines
        rows = [self._row(sign) for sign in signs if sign in lines]
        points = [sum(column) / 100 for column in zip(self._row(ALWAYS), *rows)]
        most = max(points)
        shares = [exp(each - most) for each in points]
        whole = sum(shares)
        return [share / whole for share in shares]

    def _row(self, sign: str) -> tuple[int, ...]:
        row = self._parsed.get(sign)
        if row is None:
            row = self._parsed[sign] = tuple(map(int, self._lines[sign].split()))
        return row

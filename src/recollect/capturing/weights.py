"""Weights of triage's linear model, read from `cues/weights.json`; `bench/fit_capture.py` writes them."""

from __future__ import annotations

import os

from recollect import lean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cues", "weights.json")
_loaded: dict[str, Weights] = {}


class Weights:
    """For each outcome what every feature adds to it."""

    __slots__ = ("_by_outcome",)

    def __init__(self, by_outcome: dict[str, dict[str, float]]) -> None:
        self._by_outcome = by_outcome

    @classmethod
    def load(cls, path: str = FILE) -> Weights:
        """The weights in a file, read once per process."""
        if path not in _loaded:
            with open(path, encoding="utf-8") as file:
                data: Any = lean.loads(file.read())
            _loaded[path] = cls(data["weights"])
        return _loaded[path]

    def points(self, features: list[str], outcomes: tuple[str, ...]) -> list[float]:
        """What the features add up to for each outcome."""
        return [_sum(self._by_outcome[outcome], features) for outcome in outcomes]


def _sum(weights: dict[str, float], features: list[str]) -> float:
    return weights.get("", 0.0) + sum([weights[name] for name in features if name in weights])

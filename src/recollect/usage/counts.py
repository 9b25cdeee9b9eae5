"""Tallies: the log of usage added up, per memory and per week."""

from __future__ import annotations

from recollect import timestamps
from recollect.usage import usage_log

_DAY = 86_400
_WEEK = 7 * _DAY
_MONDAY = 4 * _DAY
"""1970 began on a Thursday: its first Monday was the fifth day."""


class Counts:
    """How often something was told, and what became of it."""

    __slots__ = ("contradicted", "ignored", "injected", "last_contradicted", "last_injected", "used")

    def __init__(self, injected: int = 0, used: int = 0, ignored: int = 0, contradicted: int = 0) -> None:
        self.injected = injected
        self.used = used
        self.ignored = ignored
        self.contradicted = contradicted
        self.last_injected = ""
        self.last_contradicted = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counts) and all(getattr(self, n) == getattr(other, n) for n in usage_log.EVENTS)

    def __repr__(self) -> str:
        return f"Counts({', '.join(f'{name}={getattr(self, name)}' for name in usage_log.EVENTS)})"

    __hash__ = None  # type: ignore[assignment]

    @property
    def judged(self) -> int:
        """How often it is known what became of it."""
        return self.used + self.ignored + self.contradicted

    def add(self, day: str, event: str, count: int) -> None:
        name = event.lstrip("-")
        setattr(self, name, max(getattr(self, name) + (-count if event[0] == "-" else count), 0))
        if event == "injected":
            self.last_injected = max(self.last_injected, day)
        elif event == "contradicted":
            self.last_contradicted = max(self.last_contradicted, day)


def per_record(store_root: str, since: str = "") -> dict[str, Counts]:
    """Counts by path in the store."""
    found: dict[str, Counts] = {}
    for day, event, path, count in usage_log.read(store_root):
        if day >= since[:10]:
            found.setdefault(path, Counts()).add(day, event, count)
    return found


def total(counts: dict[str, Counts]) -> Counts:
    """All of them together."""
    return Counts(*(sum(getattr(one, name) for one in counts.values()) for name in usage_log.EVENTS))


def per_week(store_root: str, most: int = 12, path: str = "", since: str = "") -> list[tuple[str, Counts]]:
    """Counts of the last weeks, the current one last; each is named by its Monday."""
    this = _week(timestamps.seconds(timestamps.now()))
    first = max(this - most + 1, _week(timestamps.seconds(since)) if since else 0)
    found = {week: Counts() for week in range(first, this + 1)}
    for day, event, record, count in usage_log.read(store_root):
        week = _week(timestamps.seconds(day))
        if week in found and record == (path or record) and day >= since[:10]:
            found[week].add(day, event, count)
    return [(timestamps.at(week * _WEEK + _MONDAY)[:10], counts) for week, counts in found.items()]


def interval(used: int, judged: int) -> tuple[float, float]:
    """Wilson's 95 % interval of the share of used among judged."""
    if not judged:
        return 0.0, 1.0
    share, square = used / judged, 1.96 * 1.96
    middle = share + square / (2 * judged)
    spread = 1.96 * ((share * (1 - share) + square / (4 * judged)) / judged) ** 0.5
    width = 1 + square / judged
    return max((middle - spread) / width, 0.0), min((middle + spread) / width, 1.0)


def _week(seconds: float) -> int:
    return int(seconds - _MONDAY) // _WEEK

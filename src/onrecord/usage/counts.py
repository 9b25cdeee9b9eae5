"""Counts from the usage log, for each record and each week."""

from __future__ import annotations

from onrecord import timestamps
from onrecord.coldstart import NamedTuple
from onrecord.usage import usage_log

_WEEK = 7 * 86_400
_MONDAY = 4 * 86_400  # 1970 began on a Thursday: its first Monday was the fifth day


class Counts(NamedTuple):
    """Counts of how often records were shown, pointed to and opened."""

    injected: int = 0
    pointed: int = 0
    opened: int = 0
    digest: int = 0
    last_injected: str = ""

    def plus(self, day: str, event: str, count: int) -> Counts:
        """Return the counts with `count` more of an event on `day`."""
        values = self._asdict()
        values[event] += count
        if event == "injected":
            values["last_injected"] = max(self.last_injected, day)
        return Counts(**values)


def per_record(store_root: str, since: str = "") -> dict[str, Counts]:
    """Return the counts of each record, by its path in the store."""
    by_path: dict[str, Counts] = {}
    for day, event, path, count in usage_log.read(store_root):
        if day >= since[:10]:
            by_path[path] = by_path.get(path, Counts()).plus(day, event, count)
    return by_path


def per_week(store_root: str, limit: int = 12, path: str = "", since: str = "") -> list[tuple[str, Counts]]:
    """Return the counts of the last `limit` weeks, each with its Monday, for the store or one record."""
    this = _week(timestamps.seconds(timestamps.now()))
    first = max(this - limit + 1, _week(timestamps.seconds(since)) if since else 0)
    weeks = {week: Counts() for week in range(first, this + 1)}
    for day, event, record, count in usage_log.read(store_root):
        week = _week(timestamps.seconds(day))
        if week in weeks and record == (path or record) and day >= since[:10]:
            weeks[week] = weeks[week].plus(day, event, count)
    return [(timestamps.from_seconds(week * _WEEK + _MONDAY)[:10], counts) for week, counts in weeks.items()]


def _week(seconds: float) -> int:
    return int(seconds - _MONDAY) // _WEEK

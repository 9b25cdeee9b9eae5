"""The log of usage added up, for each record and each week, and the records that want a look for what it shows."""

from __future__ import annotations

from onrecord import timestamps
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.store.store import Store
from onrecord.text import many
from onrecord.usage import usage_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.record.memory import Memory

_OFTEN = 5
"""How often a record may be ignored before it wants a look."""

_WEEK = 7 * 86_400
_MONDAY = 4 * 86_400  # 1970 began on a Thursday: its first Monday was the fifth day


class Counts(NamedTuple):
    """How often something was shown, and what became of it."""

    injected: int = 0
    used: int = 0
    ignored: int = 0
    contradicted: int = 0
    pointed: int = 0
    opened: int = 0
    digest: int = 0
    last_injected: str = ""
    last_contradicted: str = ""

    @property
    def judged(self) -> int:
        """How often it could be seen what became of it."""
        return self.used + self.ignored + self.contradicted

    def plus(self, day: str, event: str, count: int) -> Counts:
        """With an event counted so many times; one with a minus takes back as many."""
        values, name = self._asdict(), event.lstrip("-")
        values[name] = max(values[name] + (-count if event[0] == "-" else count), 0)
        if event in ("injected", "contradicted"):
            values[f"last_{event}"] = max(values[f"last_{event}"], day)
        return Counts(**values)


class Advice(NamedTuple):
    """A record that wants a look: why, and the commands for it."""

    path: str
    id: str
    title: str
    kind: str  # `contradicted` or `never-used`
    reason: str
    fix: str


def per_record(store_root: str, since: str = "") -> dict[str, Counts]:
    """Counts by path in the store."""
    by_path: dict[str, Counts] = {}
    for day, event, path, count in usage_log.read(store_root):
        if day >= since[:10]:
            by_path[path] = by_path.get(path, Counts()).plus(day, event, count)
    return by_path


def per_week(store_root: str, most: int = 12, path: str = "", since: str = "") -> list[tuple[str, Counts]]:
    """Counts of the last weeks, the current one last, for the whole store or one record; each week by its Monday."""
    this = _week(timestamps.seconds(timestamps.now()))
    first = max(this - most + 1, _week(timestamps.seconds(since)) if since else 0)
    weeks = {week: Counts() for week in range(first, this + 1)}
    for day, event, record, count in usage_log.read(store_root):
        week = _week(timestamps.seconds(day))
        if week in weeks and record == (path or record) and day >= since[:10]:
            weeks[week] = weeks[week].plus(day, event, count)
    return [(timestamps.at(week * _WEEK + _MONDAY)[:10], counts) for week, counts in weeks.items()]


def interval(used: int, judged: int) -> tuple[float, float]:
    """Wilson's 95 % interval of the share of used among judged."""
    if not judged:
        return 0.0, 1.0
    share, square = used / judged, 1.96 * 1.96
    middle = share + square / (2 * judged)
    spread = 1.96 * ((share * (1 - share) + square / (4 * judged)) / judged) ** 0.5
    width = 1 + square / judged
    return max((middle - spread) / width, 0.0), min((middle + spread) / width, 1.0)


def advice(store_root: str) -> list[Advice]:
    """Current records contradicted since they were last changed, then those ignored often and never used."""
    store = Store(store_root)
    ranked: list[tuple[tuple[str, int, str], Advice]] = []
    for path, counts in per_record(store_root).items():
        try:
            record = store.read(path).memory
        except OnrecordError:
            continue
        each = _advice(record, path, counts) if record.is_current else None
        if each:
            ranked.append(((each.kind, -counts.contradicted * 1_000 - counts.ignored, path), each))
    return [each for _, each in sorted(ranked)]


def _advice(record: Memory, path: str, counts: Counts) -> Advice | None:
    if counts.contradicted and counts.last_contradicted >= record.updated_at[:10]:
        times = many(counts.contradicted, "time")
        reason = f"contradicted {times}, last on {counts.last_contradicted}, and not changed since"
        fix = f"onrecord edit {record.id}; or: onrecord retire {record.id} --reason 'agents contradicted it'"
        return Advice(path, record.id, record.title, "contradicted", reason, fix)
    if counts.ignored >= _OFTEN and not counts.used:
        reason = f"shown {many(counts.injected, 'time')}, ignored {many(counts.ignored, 'time')}, never used"
        fix = f"make it more precise: onrecord edit {record.id}; or: onrecord archive {record.id} --reason unused"
        return Advice(path, record.id, record.title, "never-used", reason, fix)
    return None


def _week(seconds: float) -> int:
    return int(seconds - _MONDAY) // _WEEK

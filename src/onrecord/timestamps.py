"""Moments and days as text: ISO-8601 in UTC. Of what `now` writes and `order` returns, text order is time order."""

from __future__ import annotations

import time

_FIRST_SECOND, _LAST_SECOND = -30_610_224_000, 253_402_300_799
"""The beginning of the year 1000, and the end of the year 9999."""

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

_SHAPE = "0000-00-00T00:00:00"
_ZEROS = dict.fromkeys(map(ord, "123456789"), "0")


def now() -> str:
    """Return this moment, to the second."""
    return from_seconds(time.time())


def from_seconds(seconds: float) -> str:
    """Return the moment that is `seconds` after 1970 began."""
    # Before 1000 and after 9999 text order is no longer time order, and some systems know no time before 1970.
    try:
        moment = time.gmtime(min(max(seconds, _FIRST_SECOND), _LAST_SECOND))
    except (OSError, OverflowError):
        moment = time.gmtime(0)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", moment)


def days_before(moment: str, days: float) -> str:
    """Return the moment `days` days before `moment`."""
    return from_seconds(seconds(moment) - days * 86_400)


_UNITS = (
    (31_536_000, "year"),
    (2_592_000, "month"),
    (604_800, "week"),
    (86_400, "day"),
    (3_600, "hour"),
    (60, "minute"),
)


def age(moment: str) -> str:
    """Return the time since a moment or a day in its largest unit, such as `3 weeks`; a future one as a date."""
    try:
        elapsed = seconds(now()) - seconds(moment)
    except ValueError:
        return moment
    if elapsed < -60:
        return moment[:10]
    is_day = len(moment) == 10
    for size, unit in _UNITS[: -2 if is_day else None]:
        count = int(max(elapsed, 0) // size)
        if count:
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "today" if is_day else "now"


def ago(moment: str) -> str:
    """Return the age for a sentence: `3 weeks ago`, `just now`, `on 2099-01-01`."""
    text = age(moment)
    if text == moment[:10]:
        return f"on {text}"
    return {"now": "just now", "today": "today"}.get(text, f"{text} ago")


def seconds(moment: str) -> float:
    """Return the seconds from 1970 to a moment or a day. Raises ValueError."""
    year, month, day = int(moment[:4]), int(moment[5:7]), int(moment[8:10])
    hour, minute, second = (int(moment[start : start + 2] or 0) for start in (11, 14, 17))
    if not (1 <= month <= 12 and 1 <= day <= _length(year, month) and hour < 24 and minute < 60 and second < 61):
        raise ValueError(f"no such moment: {moment[:40]!r}")
    return float(((_days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)


def _length(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def _days(year: int, month: int, day: int) -> int:
    before = year - 1
    past_years = before * 365 + before // 4 - before // 100 + before // 400
    return past_years + sum(_length(year, m) for m in range(1, month)) + day - 719_163


def is_instant(text: str) -> bool:
    """True for a moment in UTC such as 2026-03-02T09:30:00Z."""
    head, tail = text[: len(_SHAPE)], text[len(_SHAPE) :]
    return _is_like(head, _SHAPE) and _ends_in_utc(tail) and _is_real(head)


def order(moment: str) -> str:
    """Return a text for a moment whose order is time order, however its fraction and zone are written.

    People and other tools write the same moment as `…:00Z`, `…:00.000Z` and `…:00+00:00`. Other text stays as it is.
    """
    if not is_instant(moment):
        return moment
    second, fraction = moment[: len(_SHAPE)], moment[len(_SHAPE) :].rstrip("Z").partition("+")[0]
    return second + fraction.rstrip("0").rstrip(".")


def is_day(text: str) -> bool:
    """True if `text` is a real calendar day, alone or followed by a time."""
    return _is_like(text[:10], _SHAPE[:10]) and (len(text) == 10 or text[10] in "T ") and _is_real(text[:10])


def _is_like(text: str, shape: str) -> bool:
    return text.translate(_ZEROS) == shape


def _ends_in_utc(tail: str) -> bool:
    for zone in ("Z", "+00:00"):
        if tail.endswith(zone):
            fraction = tail[: -len(zone)]
            return not fraction or (fraction[0] == "." and fraction[1:].isascii() and fraction[1:].isdigit())
    return False


def _is_real(text: str) -> bool:
    """True if a moment of the right shape exists; every month has 28 days, so most need no calendar."""
    is_common_day = "01" <= text[5:7] <= "12" and "01" <= text[8:10] <= "28"
    if is_common_day and text[11:13] < "24" and text[14:16] < "60" and text[17:19] < "60":
        return True
    try:
        seconds(text)
    except ValueError:
        return False
    return True

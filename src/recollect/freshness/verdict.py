"""Verdicts on anchors: whether a file still is what it was, and how that is said beside a memory.

A hook loads it for memories whose files have changed, which is often enough: it imports next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

FRESH, DRIFTED, MISSING, UNKNOWN = "fresh", "drifted", "missing", "unknown"
_MOST_NAMED = 2
_LONGEST_PATH = 80


class Pin:
    """An anchor as a search index carries it: what a file was when a memory about it was saved."""

    __slots__ = ("block", "commit", "day", "id", "parts", "path", "symbol")

    def __init__(self, parts: Sequence[str]) -> None:
        self.parts = parts
        self.path, self.id, self.commit, self.day, self.symbol, self.block = parts


class Verdict:
    """Whether the file of an anchor still is what it was."""

    __slots__ = ("commits", "day", "last", "now", "pin", "reason", "state")

    def __init__(
        self,
        pin: Pin,
        state: str,
        now: str = "",
        *,
        commits: int = -1,
        last: str = "",
        day: str = "",
        reason: str = "",
    ) -> None:
        self.pin = pin
        self.state = state
        self.now = now or pin.path
        """Where the file is today: elsewhere than the anchor says when git knows that it was renamed."""
        self.commits = commits
        """How many commits changed it since; -1 when that cannot be told."""
        self.last = last
        self.day = day
        self.reason = reason

    @property
    def is_moved(self) -> bool:
        return self.now != self.pin.path

    @property
    def is_stale(self) -> bool:
        return self.state in (DRIFTED, MISSING)


def clause(verdicts: Sequence[Verdict]) -> str:
    """What stands beside a memory: nothing when all is fresh and in its place."""
    told = [sentence(verdict) for verdict in verdicts if verdict.is_stale or verdict.is_moved]
    more = len(told) - _MOST_NAMED
    tail = f"; so did {more} more file{'s' if more > 1 else ''}" if more > 0 else ""
    needs_look = any(verdict.is_stale for verdict in verdicts)
    return ("verify: " if needs_look else "") + "; ".join(told[:_MOST_NAMED]) + tail


def sentence(verdict: Verdict) -> str:
    """One verdict in words."""
    was, now = _quoted(verdict.pin.path), _quoted(verdict.now)
    if verdict.state == MISSING:
        return f"{was} no longer exists"
    if not verdict.is_stale:
        return f"{was} is now {now}" if verdict.is_moved else f"{was} is {verdict.reason or verdict.state}"
    times = {-1: "", 0: "", 1: " once"}.get(verdict.commits, f" {verdict.commits} times")
    since = f" since {verdict.pin.day}" if verdict.pin.day else ""
    return f"{now}{f' (was {was})' if verdict.is_moved else ''} changed{times}{since}"


def _quoted(path: str) -> str:
    short = path if len(path) <= _LONGEST_PATH else "…" + path[1 - _LONGEST_PATH :]
    return "`" + short.replace("`", "'") + "`"

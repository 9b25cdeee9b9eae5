"""Freshness: whether the files a memory is about still are what they were when it was saved.

Cheap where nothing changed, which is nearly always: one look at each file and one at the notebook. A file that looks
different is hashed; git is asked only for one that is different, and the verdict is remembered.
A hook uses it for memories about to be shown, so it imports next to nothing at the top (see `lean`).
"""

from __future__ import annotations

import time

from recollect import content, lean
from recollect.verdict import DRIFTED, FRESH, MISSING, UNKNOWN, Notebook, Pin, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.repository import Repository

PATIENCE = 0.5
"""Seconds that git may take in all while a hook waits."""

MOST_PINS = 12
_MOST_NAMED = 2
_LONGEST_PATH = 80


class Freshness:
    """Judges the anchors of one project, within one budget of time."""

    def __init__(self, root: str, patience: float = PATIENCE) -> None:
        self.root = root
        self._patience = patience
        self._deadline = 0.0
        self._notebook = Notebook(root)
        self._repository: Repository | None = None
        self._head: str | None = None

    def note(self, anchors: str) -> tuple[str, bool]:
        """What to say beside a memory, given its anchors as the index holds them, and whether a file is missing."""
        verdicts = [self.judge(pin) for pin in pins(anchors)[:MOST_PINS]] if anchors else []
        return clause(verdicts), any(verdict.state == MISSING for verdict in verdicts)

    def judge(self, pin: Pin) -> Verdict:
        """The verdict on one anchor."""
        if not content.is_lexically_inside(pin.path):
            return Verdict(pin, UNKNOWN, reason="leads out of the project")
        known, head = self._notebook.recall(pin)
        if known and (not head or head == self.head):
            return known
        verdict, is_settled = self._look(pin)
        if verdict.state != UNKNOWN:
            self._notebook.remember(pin, verdict, "" if is_settled else self.head or "-")
        return verdict

    @property
    def head(self) -> str:
        """The commit that is checked out; empty without git."""
        if self._head is None:
            from recollect import repository

            self._repository = repository.around(self.root)
            self._head = self._repository.head if self._repository else ""
        return self._head

    def _look(self, pin: Pin) -> tuple[Verdict, bool]:
        """A verdict from the file itself, and whether it holds until the file changes again."""
        from recollect.errors import UnsafePath

        try:
            data = content.read(self.root, pin.path)
            if data is not None and is_same(data, pin):
                return Verdict(pin, FRESH), True
            return self._ask_git(pin, data)
        except UnsafePath as error:
            return Verdict(pin, UNKNOWN, reason=error.message), False

    def _ask_git(self, pin: Pin, data: bytes | None) -> tuple[Verdict, bool]:
        head = self.head
        if not self._repository:
            return Verdict(pin, MISSING if data is None else DRIFTED), True
        if not head or (data is not None and head == pin.commit):
            return Verdict(pin, MISSING if data is None else DRIFTED, commits=0), False
        from recollect import whereabouts

        self._deadline = self._deadline or time.monotonic() + self._patience
        return whereabouts.inquire(self.root, self._repository, pin, data, self._deadline)


def pins(anchors: str) -> list[Pin]:
    """The anchors in the text that a search index holds: a JSON list of lists of texts."""
    return [Pin(parts) for parts in lean.loads(anchors)]


def clause(verdicts: list[Verdict]) -> str:
    """What stands beside a memory: nothing when all is fresh."""
    told = [_told(verdict) for verdict in verdicts if verdict.state in (DRIFTED, MISSING) or verdict.is_moved]
    if not told:
        return ""
    more = len(told) - _MOST_NAMED
    tail = f"; {more} more file{'s' if more > 1 else ''} changed" if more > 0 else ""
    needs_look = any(verdict.state in (DRIFTED, MISSING) for verdict in verdicts)
    return ("verify: " if needs_look else "") + "; ".join(told[:_MOST_NAMED]) + tail


def _told(verdict: Verdict) -> str:
    name = _quoted(verdict.now)
    since = f" since {verdict.since}" if verdict.since else ""
    if verdict.state == MISSING:
        return f"{_quoted(verdict.path)} no longer exists"
    was = f" (was {_quoted(verdict.path)})" if verdict.is_moved else ""
    if verdict.state == FRESH:
        return f"{_quoted(verdict.path)} is now {name}"
    times = {-1: "", 0: "", 1: " once"}.get(verdict.commits, f" {verdict.commits} times")
    return f"{name}{was} changed{times}{since}"


def _quoted(path: str) -> str:
    short = path if len(path) <= _LONGEST_PATH else "…" + path[1 - _LONGEST_PATH :]
    return "`" + short.replace("`", "'") + "`"


def is_same(data: bytes, pin: Pin) -> bool:
    """Whether content is what was anchored: all of it, or the symbol that was meant."""
    if content.has_id(data, pin.id):
        return True
    if not pin.block or len(data) > content.LARGEST:
        return False
    from recollect import symbols

    return symbols.is_unchanged(data, pin.symbol, pin.block)

"""Freshness: whether the files a memory is about still are what they were when it was saved.

Cheap where nothing changed, which is nearly always: one look at each file and one at the notebook. A file that looks
different is hashed; git is asked only about one that is different, and the verdict is remembered.
A hook uses it for memories about to be shown, so it imports next to nothing at the top (see `lean`).
"""

from __future__ import annotations

import time

from recollect import coldstart
from recollect.freshness.remembered_verdicts import Notebook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.freshness.verdict import Pin, Verdict
    from recollect.git.repository import Repository

PATIENCE = 0.5
"""Seconds that git may take in all while a hook waits."""

MOST_PINS = 12


class Freshness:
    """Judges the anchors of one project, within one budget of time."""

    __slots__ = ("_deadline", "_head", "_notebook", "_patience", "_repository", "root")

    def __init__(self, root: str, patience: float = PATIENCE) -> None:
        self.root = root
        self._patience = patience
        self._deadline = 0.0
        self._notebook = Notebook(root)
        self._repository: Repository | None = None
        self._head: str | None = None

    def note(self, anchors: str) -> tuple[str, bool]:
        """What to say beside a memory, given its anchors as the index holds them, and whether a file is missing."""
        if not anchors:
            return "", False
        doubtful = [parts for parts in coldstart.loads(anchors)[:MOST_PINS] if not self._is_known_fresh(parts)]
        if not doubtful:
            return "", False
        from recollect.freshness import verdict

        verdicts = [self.judge(verdict.Pin(parts)) for parts in doubtful]
        return verdict.clause(verdicts), any(found.state == verdict.MISSING for found in verdicts)

    def _is_known_fresh(self, parts: list[str]) -> bool:
        told = self._notebook.recall(parts)
        return told[:2] == ["", "fresh"] and told[5] == parts[0]

    def judge(self, pin: Pin) -> Verdict:
        """The verdict on one anchor."""
        from recollect.freshness.verdict import UNKNOWN, Verdict

        told = self._notebook.recall(pin.parts)
        if told and (not told[0] or told[0] == self.head):
            _, state, commits, last, day, now = told
            return Verdict(pin, state, now, commits=int(commits), last=last, day=day)
        found, is_settled = self._look(pin)
        if found.state != UNKNOWN:
            head = "" if is_settled else self.head or "-"
            self._notebook.remember(
                pin.parts, (head, found.state, str(found.commits), found.last, found.day, found.now)
            )
        return found

    @property
    def head(self) -> str:
        """The commit that is checked out; empty without git."""
        if self._head is None:
            from recollect.git import repository

            self._repository = repository.around(self.root)
            self._head = self._repository.head if self._repository else ""
        return self._head

    def _look(self, pin: Pin) -> tuple[Verdict, bool]:
        """A verdict from the file itself, and whether it holds until the file changes again."""
        from recollect.errors import UnsafePath
        from recollect.freshness import project_files, verdict
        from recollect.freshness.verdict import Verdict

        try:
            data = project_files.read(self.root, pin.path)
            if data is not None and is_same(data, pin):
                return Verdict(pin, verdict.FRESH), True
            return self._ask_git(pin, data)
        except UnsafePath as error:
            return Verdict(pin, verdict.UNKNOWN, reason=error.message), False

    def _ask_git(self, pin: Pin, data: bytes | None) -> tuple[Verdict, bool]:
        from recollect.freshness import renames, verdict

        head, state = self.head, verdict.MISSING if data is None else verdict.DRIFTED
        if not self._repository:
            return verdict.Verdict(pin, state), True
        if not head or (data is not None and head == pin.commit):
            return verdict.Verdict(pin, state, commits=0), False
        self._deadline = self._deadline or time.monotonic() + self._patience
        return renames.inquire(self.root, self._repository, pin, data, self._deadline)


def is_same(data: bytes, pin: Pin) -> bool:
    """Whether content is what was anchored: all of it, or the symbol that was meant."""
    from recollect.freshness import project_files

    if project_files.has_id(data, pin.id):
        return True
    if not pin.block or len(data) > project_files.LARGEST:
        return False
    from recollect.freshness import code_blocks

    return code_blocks.is_unchanged(data, pin.symbol, pin.block)

"""A record that may be shown, the caution for one whose files have changed, and the count of those that were shown."""

from __future__ import annotations

import os

from onrecord import budget, paths
from onrecord.coldstart import NamedTuple
from onrecord.recall.context_block import Item
from onrecord.recall.thresholds import POINTER
from onrecord.session import ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.freshness.check import Freshness
    from onrecord.search.rank import Match

SHOWN = "shown"
_UNCHECKED = "whether its files have changed since could not be checked in time"


class Candidate(NamedTuple):
    """A record that a store proposes, and what became of it."""

    match: Match
    prefix: str
    """Where its store is, as the agent sees it."""
    outcome: str = ""
    """Why it is shown or not; empty until that is decided."""
    caution: str = ""
    """What to check before relying on it: the files it is about have changed since."""
    form: str = ""
    """In which form it is to be shown, `RULE` or `POINTER`; empty while nobody wants to show it."""

    @property
    def record(self) -> str:
        """The record's name in a ledger."""
        return os.path.join(self.match.root, self.match.path)

    @property
    def text_hash(self) -> str:
        """What tells this wording of it from another."""
        return ledger.text_hash(self.match.summary_line)

    @property
    def shown(self) -> str:
        """How it is shown: `rule` or `pointer`, or empty for not at all."""
        return self.form if self.outcome == SHOWN else ""

    @property
    def item(self) -> Item:
        match = self.match
        note = "; ".join(part for part in (_history(match), self.caution) if part)
        path = self.prefix + match.path
        # Of a record that belongs to a file, or was shown before, nobody asked how probably it is relevant.
        confidence = match.confidence if match.query else ""
        shared = paths.store_name(self.prefix) if paths.is_shared(self.prefix) else ""
        return Item(match.category, match.summary_line, path, confidence, match.updated_at, note, shared)


def _history(match: Match) -> str:
    """One clause for a record that was found through what it replaces."""
    if not match.via:
        return ""
    _, title, since = match.via
    return f"replaces “{title}”" + (f" since {since[:10]}" if since else "")


class Cautions:
    """Checks the files of records, within one budget of time for each project."""

    __slots__ = ("_by_project",)

    def __init__(self) -> None:
        self._by_project: dict[str, Freshness] = {}

    def check(self, root: str, prefix: str, anchors: str) -> tuple[str, bool]:
        """The caution for a record with these anchors, and whether a file of it is missing."""
        if not anchors or prefix != paths.PROJECT_PREFIX:
            return "", False
        from onrecord.freshness.check import Freshness

        project = os.path.dirname(os.path.dirname(root))
        freshness = self._by_project.setdefault(project, Freshness(project))
        return budget.attempt("check files", (_UNCHECKED, False), freshness.note, anchors)

    def beside(self, candidate: Candidate) -> Candidate:
        """A candidate with its caution."""
        caution, _ = self.check(candidate.match.root, candidate.prefix, candidate.match.anchors)
        return candidate._replace(caution=caution)


def count_shown(candidates: Sequence[Candidate]) -> None:
    """Count records as shown, each in its form, so that the end of the turn can look for evidence of use."""
    from onrecord import usage

    for root in dict.fromkeys(candidate.match.root for candidate in candidates):
        here = [each for each in candidates if each.match.root == root]
        usage.injected(root, [each.match.path for each in here if each.form != POINTER])
        usage.pointed(root, [each.match.path for each in here if each.form == POINTER])

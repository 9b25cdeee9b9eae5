"""What to say beside a record whose files have changed since it was saved, wherever the record is shown."""

from __future__ import annotations

import os

from onrecord import budget
from onrecord.paths import PROJECT_SOURCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.freshness.check import Freshness
    from onrecord.recall.context_block import Candidate

_UNCHECKED = "whether its files have changed since could not be checked in time"


class Cautions:
    """Checks the files of records, within one budget of time for each project."""

    __slots__ = ("_by_project",)

    def __init__(self) -> None:
        self._by_project: dict[str, Freshness] = {}

    def check(self, root: str, source: str, anchors: str) -> tuple[str, bool]:
        """The caution for a record with these anchors, and whether a file of it is missing."""
        if not anchors or source != PROJECT_SOURCE:
            return "", False
        from onrecord.freshness.check import Freshness

        project = os.path.dirname(os.path.dirname(root))
        freshness = self._by_project.setdefault(project, Freshness(project))
        return budget.attempt("check files", (_UNCHECKED, False), freshness.note, anchors)

    def beside(self, candidate: Candidate) -> Candidate:
        """A candidate with its caution."""
        caution, _ = self.check(candidate.match.root, candidate.source, candidate.match.anchors)
        return candidate._replace(caution=caution)

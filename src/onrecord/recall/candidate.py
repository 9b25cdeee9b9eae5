"""Candidates: records that may be shown, cautions for those whose files have changed, and the block they are shown in.

Everything in the block is data, escaped, so that text cannot pose as structure.
"""

from __future__ import annotations

import os

from onrecord import budget, paths
from onrecord.coldstart import NamedTuple
from onrecord.session import ledger
from onrecord.text import AgentMarkup, count_tokens, cut, cut_at_sentence, element, fence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.freshness.check import Freshness
    from onrecord.search.rank import Match

NOTHING_ON_FILE = "Nothing on file: no record in the project memory matches this question."
NOTHING_CERTAIN = "No record in the project memory is certain to answer this question."
"""The texts for a question about the past for which no record is shown; a hook adds how to search."""

_FRAME_TOKENS = 41
_MAX_TITLE_CHARACTERS = 60
_MIN_SUMMARY_TOKENS = 45
"""Tokens below which a summary says too little to be worth showing."""

RULE, POINTER = "rule", "pointer"
"""The forms in which a record is shown: the rule itself, or one line that says where to read it."""

CHECK = "check"
"""The form of a rule that is shown because an action breaks it."""

AT_PROMPT, AT_FILE, AT_COMMAND, AT_TASK = "prompt", "file", "command", "task"
AT_FAILURE, AT_CORRECTION, ASKED = "failure", "correction", "asked"
"""The moments at which a record is shown; at the last the agent asks for it. A session's start is another one."""

SHOWN = "shown"
_UNCHECKED = "whether its files have changed since could not be checked in time"


class Item(NamedTuple):
    """One record as it will be shown."""

    category: str
    text: str
    path: str
    confidence: str = ""
    updated: str = ""
    note: str = ""
    source: str = ""
    """The shared store that it is in; empty for the project's and the user's own, which the path tells."""
    title: str = ""

    def render(self) -> AgentMarkup:
        attributes = {"category": self.category, "confidence": self.confidence, "updated": self.updated[:10]}
        text = f"{self.text} ({self.note})" if self.note else self.text
        return element("result", {**attributes, "source": self.source, "path": self.path}, text)

    @property
    def overhead(self) -> int:
        """Tokens beside those of its text."""
        return count_tokens(self.render()) - count_tokens(self.text)


class Candidate(NamedTuple):
    """A record that a store proposes, and what became of it."""

    match: Match
    prefix: str
    """Where its store is, as the agent sees it."""
    outcome: str = ""
    """Why it is shown or not; empty until that is decided."""
    caution: str = ""
    """Warning that the files it is about have changed since."""
    form: str = ""
    """The form to show it in, `RULE` or `POINTER`; empty if it is not to be shown."""
    is_accepted: bool = True
    """False for a record of a repository that the user has yet to accept: it is pointed to, never shown."""

    @property
    def record(self) -> str:
        """The record's name in a ledger."""
        return os.path.join(self.match.root, self.match.path)

    @property
    def text_hash(self) -> str:
        """Hash of its summary line, which tells one wording from another."""
        return ledger.text_hash(self.match.summary_line)

    @property
    def shown_form(self) -> str:
        """The form in which it is shown, `rule` or `pointer`; empty if it is not shown."""
        return self.form if self.outcome == SHOWN else ""

    @property
    def item(self) -> Item:
        match = self.match
        note = "; ".join(part for part in (_history(match), self.caution) if part)
        path = self.prefix + match.path
        # A record that belongs to a file, or was shown before, has no probability of relevance.
        confidence = match.confidence if match.query else ""
        shared = paths.store_name(self.prefix) if paths.is_shared(self.prefix) else ""
        if not self.is_accepted:
            from onrecord.recall import trust
            from onrecord.store import record_names

            text = f"{cut(match.title, _MAX_TITLE_CHARACTERS)}: onrecord show {record_names.short_name(match.path)}"
            return Item(match.category, text, path, confidence, note=trust.NOTE, title=match.title)
        return Item(match.category, match.summary_line, path, confidence, match.updated_at, note, shared, match.title)


def _history(match: Match) -> str:
    """Return one clause for a record that was found through the one it replaces."""
    if not match.via:
        return ""
    _, title, since = match.via
    return f"replaces “{title}”" + (f" since {since[:10]}" if since else "")


class Cautions:
    """The cautions for records whose files have changed, found within one budget of time for each project."""

    __slots__ = ("_by_project", "_edited")

    def __init__(self, edited: Sequence[str] = ()) -> None:
        """Check files as they are now; `edited` ones, which this tool call has just changed, as they were before."""
        self._by_project: dict[str, Freshness] = {}
        self._edited = edited

    def check(self, root: str, prefix: str, anchors: str) -> tuple[str, bool]:
        """Return the caution for a record with these anchors, and True if a file of it is missing."""
        if not anchors or not paths.is_project(prefix):
            return "", False
        from onrecord.freshness.check import Freshness

        project = paths.project_of(root)
        if project not in self._by_project:
            self._by_project[project] = Freshness(project, edited=self._edited)
        freshness = self._by_project[project]
        return budget.attempt("check files", (_UNCHECKED, False), freshness.note, anchors)

    def beside(self, candidate: Candidate) -> Candidate:
        """Return a candidate with its caution."""
        caution, _ = self.check(candidate.match.root, candidate.prefix, candidate.match.anchors)
        return candidate._replace(caution=caution)


def count_shown(candidates: Sequence[Candidate], moment: str, form: str = RULE) -> None:
    """Count records as shown at a moment, so that the end of the turn can look for evidence of use.

    Those that are not pointers have the `form`.
    """
    from onrecord import usage

    for root in dict.fromkeys(candidate.match.root for candidate in candidates):
        here = [candidate for candidate in candidates if candidate.match.root == root]
        whole = [candidate.match.path for candidate in here if candidate.form != POINTER]
        usage.count_injected(root, whole, moment, form)
        usage.count_pointed(root, [candidate.match.path for candidate in here if candidate.form == POINTER], moment)


def render_block(items: list[Item], source: str, pointers: Sequence[str] = ()) -> str:
    """Return the whole block, with the lines of pointers last; empty if there is nothing to show."""
    lines = [*(item.render() for item in items), *pointers]
    return fence({"source": source}, lines, shows=[item.title for item in items]) if lines else ""


def fitting_items(items: list[Item], budget: int) -> list[Item]:
    """Return the first items that fit a budget of tokens, each cut to its fair share of it."""
    fitting = list(items)
    while len(fitting) > 1 and _room(fitting, budget) < _MIN_SUMMARY_TOKENS * len(fitting):
        fitting.pop()
    room, waiting = _room(fitting, budget), len(fitting)
    # The shortest first: what they leave of their share is for the longer ones.
    for place, item in sorted(enumerate(fitting), key=lambda pair: count_tokens(pair[1].text)):
        share = max(room // waiting, _MIN_SUMMARY_TOKENS)
        cost = count_tokens(item.text)
        if cost > share:
            fitting[place] = item._replace(text=cut_at_sentence(item.text, len(item.text) * share // cost))
        room -= min(cost, share)
        waiting -= 1
    return fitting


def _room(items: list[Item], budget: int) -> int:
    return budget - _FRAME_TOKENS - sum(item.overhead for item in items)

"""The records that stores propose for showing, and the block in which an agent is shown them.

Everything in the block is data, escaped, so that text cannot pose as structure.
"""

from __future__ import annotations

import os

from recollect import budget
from recollect.coldstart import NamedTuple
from recollect.paths import PROJECT_SOURCE, USER_SOURCE
from recollect.search import index, rank
from recollect.session import ledger
from recollect.text import Block, cut, element, fence, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.search.index import Index
    from recollect.search.rank import Match
    from recollect.settings import Settings

HINT = "No project memory matched this question. /memory:search looks further, with other words."
SHOWN = "shown"
_MOST_CANDIDATES = 12
_FRAME = 25
_LEAST = 45
"""Tokens below which a summary says too little to be worth showing."""


class Item(NamedTuple):
    """One record as it will be shown."""

    category: str
    text: str
    path: str
    confidence: str = ""
    updated: str = ""
    note: str = ""

    def render(self) -> Block:
        named = {"category": self.category, "confidence": self.confidence, "updated": self.updated[:10]}
        text = f"{self.text} ({self.note})" if self.note else self.text
        return element("result", {**named, "path": self.path}, text)

    @property
    def overhead(self) -> int:
        """What it costs beside its text."""
        return tokens(self.render()) - tokens(self.text)


class Candidate(NamedTuple):
    """A record that a store proposes, and what became of it."""

    match: Match
    source: str
    """Where its store is, as the agent sees it."""
    outcome: str = ""
    """Why it is shown or not; empty until that is decided."""
    caution: str = ""
    """What to check before relying on it: the files it is about have changed since."""

    @property
    def record(self) -> str:
        """The record's name in a ledger."""
        return os.path.join(self.match.root, self.match.path)

    @property
    def stamp(self) -> str:
        """What tells this wording of it from another."""
        return ledger.stamp(self.match.essence)

    @property
    def shown(self) -> str:
        """How it is shown: as the rule itself, or not at all."""
        return "rule" if self.outcome == SHOWN else ""

    @property
    def item(self) -> Item:
        match = self.match
        note = "; ".join(part for part in (_history(match), self.caution) if part)
        path = self.source + match.path
        # Of a record that belongs to a file, or was shown before, nobody asked how probably it is relevant.
        confidence = match.confidence if match.query else ""
        return Item(match.category, match.essence, path, confidence, match.updated_at, note)


class Stores:
    """The stores that take part, the project's first."""

    def __init__(self, project_store: str, user_store: str, *, hook: bool = True) -> None:
        places = ((project_store, PROJECT_SOURCE), (user_store, USER_SOURCE))
        self.places = [(root, source) for root, source in places if root]
        self._hook = hook

    def find(self, prompt: str, settings: Settings, borrowed: str = "") -> list[Candidate]:
        """The candidates for a prompt, best first within each store."""
        candidates: list[Candidate] = []
        none: list[Match] = []
        for number, (root, source) in enumerate(self.places):
            # As much for each store as will be left for those after it, and for what follows.
            share = budget.remaining() / (len(self.places) - number + 1)
            question = (root, prompt, settings, borrowed)
            matches = budget.attempt(f"search {root}", none, self._matches, *question, seconds=share)
            candidates += [Candidate(match, source) for match in matches]
        return candidates

    def _matches(self, root: str, prompt: str, settings: Settings, borrowed: str) -> list[Match]:
        opened = self.open(root)
        matches = rank.find(opened, prompt, limit=_MOST_CANDIDATES, mode="auto", borrowed=borrowed, settings=settings)
        self.close(opened)
        return matches

    def open(self, root: str) -> Index:
        """The index of one of them."""
        return index.open(root, hook=self._hook)

    def close(self, opened: Index) -> None:
        opened.close()


def render(items: list[Item], source: str) -> str:
    """The whole block; an empty text for no items."""
    return fence({"source": source}, [item.render() for item in items]) if items else ""


def fitting(items: list[Item], budget: int) -> list[Item]:
    """The first items that have something to say within a budget of tokens, each cut to its fair share of it."""
    fitted = list(items)
    while len(fitted) > 1 and _room(fitted, budget) < _LEAST * len(fitted):
        fitted.pop()
    room, waiting = _room(fitted, budget), len(fitted)
    # The shortest first: what they leave of their share is for the longer ones.
    for place, item in sorted(enumerate(fitted), key=lambda pair: tokens(pair[1].text)):
        share = max(room // waiting, _LEAST)
        cost = tokens(item.text)
        if cost > share:
            fitted[place] = item._replace(text=cut(item.text, len(item.text) * share // cost))
        room -= min(cost, share)
        waiting -= 1
    return fitted


def _room(items: list[Item], budget: int) -> int:
    return budget - _FRAME - sum(item.overhead for item in items)


def count_shown(candidates: Sequence[Candidate]) -> None:
    """Count records as shown, so that the end of the turn can look for evidence of use."""
    from recollect import usage

    for root in dict.fromkeys(candidate.match.root for candidate in candidates):
        usage.injected(root, [each.match.path for each in candidates if each.match.root == root])


def _history(match: Match) -> str:
    """One clause for a record that was found through what it replaces."""
    if not match.via:
        return ""
    _, title, since = match.via
    return f"replaces “{title}”" + (f" since {since[:10]}" if since else "")

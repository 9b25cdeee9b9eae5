"""The records that stores propose for showing, and the block in which an agent is shown them.

Everything in the block is data, escaped, so that text cannot pose as structure.
"""

from __future__ import annotations

import os

from onrecord import budget, paths
from onrecord.coldstart import NamedTuple
from onrecord.recall import precedence
from onrecord.recall.precedence import Higher
from onrecord.recall.rules_and_pointers import POINTER
from onrecord.search import index, query, rank, refresh
from onrecord.session import ledger
from onrecord.text import Block, cut, element, fence, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from onrecord.paths import StorePlace
    from onrecord.recall.scope import Here
    from onrecord.search.index import Index
    from onrecord.search.rank import Match
    from onrecord.settings import Settings

NOTHING_ON_FILE = "Nothing on file: no record in the project memory matches this question."
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
    source: str = ""
    """The shared store that it is in; empty for the project's and the user's own, which the path tells."""

    def render(self) -> Block:
        named = {"category": self.category, "confidence": self.confidence, "updated": self.updated[:10]}
        text = f"{self.text} ({self.note})" if self.note else self.text
        return element("result", {**named, "source": self.source, "path": self.path}, text)

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
    form: str = ""
    """In which form it is to be shown, `RULE` or `POINTER`; empty while nobody wants to show it."""

    @property
    def record(self) -> str:
        """The record's name in a ledger."""
        return os.path.join(self.match.root, self.match.path)

    @property
    def stamp(self) -> str:
        """What tells this wording of it from another."""
        return ledger.stamp(self.match.summary_line)

    @property
    def shown(self) -> str:
        """How it is shown: `rule` or `pointer`, or empty for not at all."""
        return self.form if self.outcome == SHOWN else ""

    @property
    def item(self) -> Item:
        match = self.match
        note = "; ".join(part for part in (_history(match), self.caution) if part)
        path = self.source + match.path
        # Of a record that belongs to a file, or was shown before, nobody asked how probably it is relevant.
        confidence = match.confidence if match.query else ""
        shared = paths.store_name(self.source) if paths.is_shared(self.source) else ""
        return Item(match.category, match.summary_line, path, confidence, match.updated_at, note, shared)


class Stores:
    """The stores that take part, in the order of their precedence."""

    def __init__(self, places: Sequence[StorePlace], project: str = "", *, hook: bool = True, only: str = "") -> None:
        """With `only`, the source of one of them, the others are asked for nothing but what they hide of it."""
        self.places = list(places)
        self._only = only
        self._project = project
        self._here: Here | None = None
        self._hook = hook
        self.has_words = True
        """Whether all indexes that were searched have full-text tables; without them the keyword scorer answers."""

    @property
    def here(self) -> Here:
        """The project, to compare scopes with; made when the first record has one."""
        if self._here is None:
            from onrecord.recall.scope import Here

            self._here = Here(self._project)
        return self._here

    def fits(self, place: StorePlace) -> Callable[[str], bool] | None:
        """What tells whether a record of a store with a scope applies here; None for the project's own, which do."""
        return None if place.source == paths.PROJECT_SOURCE else self._applies

    def _applies(self, scope: str) -> bool:
        return self.here.fits(scope)

    def gather(
        self, question: Callable[[Index, StorePlace], list[Candidate]], *, is_last: bool = True
    ) -> list[Candidate]:
        """What a question brings from each store, without what a store before it hides.

        The last store may take all the time there is, unless something follows; what the others brought stays.
        """
        opened: list[Index] = []
        higher: list[Higher] = []
        candidates: list[Candidate] = []
        none: list[Candidate] = []
        for number, place in enumerate(self.places):
            # As much for each store as will be left for those after it, and for what follows.
            parts = len(self.places) - number + (0 if is_last else 1)
            asked = (place, question, opened, higher)
            if len(self.places) == parts == 1:
                candidates += self._ask(*asked)
                continue
            share = budget.remaining() / parts
            candidates += budget.attempt(f"search {place.root}", none, self._ask, *asked, seconds=share)
            if not paths.is_shared(place.source) and len(higher) == number:
                # It cannot tell which records of the others it replaces: none of them may be shown as current.
                break
        for each in opened:
            self.close(each)
        return _distinct(candidates)

    def _ask(
        self,
        place: StorePlace,
        question: Callable[[Index, StorePlace], list[Candidate]],
        opened: list[Index],
        higher: list[Higher],
    ) -> list[Candidate]:
        before = list(higher)
        opened.append(self.open(place.root))
        is_higher = not paths.is_shared(place.source) and place != self.places[-1]
        if is_higher and (not self._hook or refresh.is_complete(opened[-1])):
            higher.append(Higher(opened[-1], place.source, self.fits(place)))
        if self._only and place.source != self._only:
            return []
        candidates = question(opened[-1], place)
        hidden = precedence.hidden([each.match.id for each in candidates], place.source, before)
        return [each for each in candidates if each.match.id not in hidden]

    def hidden(self, source: str, ids: Sequence[str]) -> dict[str, str]:
        """For those of some ids of a store that are hidden here, the path of the record that hides them."""
        own = [place for place in self.places if not paths.is_shared(place.source)]
        before = own[: next((at for at, place in enumerate(own) if place.source == source), len(own))]
        higher = [Higher(self.open(place.root), place.source, self.fits(place)) for place in before]
        hidden = precedence.hidden(ids, source, higher)
        for each in higher:
            self.close(each.opened)
        return hidden

    def find(self, prompt: str, settings: Settings, borrowed: str = "", *, is_past: bool = False) -> list[Candidate]:
        """The candidates for a prompt, or for a question about the past, best first within each store."""
        judged = settings.count("retrieval.judge.max_candidates") if settings.flag("retrieval.judge.enabled") else 0
        most, mode = max(_MOST_CANDIDATES, judged), "past" if is_past else "auto"
        named: dict[str, Any] = {"limit": most, "mode": mode, "borrowed": borrowed, "settings": settings}

        def ask(opened: Index, place: StorePlace) -> list[Candidate]:
            matches = rank.find(opened, prompt, fits=self.fits(place), **named)
            self.has_words = self.has_words and opened.has_words
            return [Candidate(match, place.source) for match in matches]

        return self.gather(ask, is_last=False)

    def have_nothing(self, topic: str, settings: Settings, borrowed: str) -> bool:
        """Whether it is true that nothing is on file: there are records, and not even a retired one matches."""
        if not query.parse(topic, borrowed).terms:
            return False
        records = 0
        for place in self.places:
            count = budget.attempt(f"search {place.root}", None, self._count, place, topic, settings, borrowed)
            if count is None:
                return False
            records += count
        return records > 0

    def _count(self, place: StorePlace, topic: str, settings: Settings, borrowed: str) -> int | None:
        """How many records one of them has of which none matches; None if one does, or not all could be searched."""
        opened = self.open(place.root)
        named: dict[str, Any] = {"limit": 1, "include_retired": True, "borrowed": borrowed, "settings": settings}
        matches = rank.find(opened, topic, fits=self.fits(place), **named)
        count = opened.totals()[0] if not matches and refresh.is_complete(opened) else None
        self.close(opened)
        return count

    def open(self, root: str) -> Index:
        """The index of one of them."""
        return index.open(root, hook=self._hook)

    def close(self, opened: Index) -> None:
        opened.close()


def _distinct(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates without copies: what a second shared store says under the same id in the same words."""
    first: dict[tuple[str, ...], Candidate] = {}
    for each in candidates:
        store = "" if paths.is_shared(each.source) else each.source
        first.setdefault((store, each.match.id, each.match.summary_line), each)
    return list(first.values())


def render(items: list[Item], source: str, pointers: Sequence[str] = ()) -> str:
    """The whole block, with the lines of pointers last; an empty text for nothing at all."""
    lines = [*(item.render() for item in items), *pointers]
    return fence({"source": source}, lines) if lines else ""


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
    """Count records as shown, each in its form, so that the end of the turn can look for evidence of use."""
    from onrecord import usage

    for root in dict.fromkeys(candidate.match.root for candidate in candidates):
        here = [each for each in candidates if each.match.root == root]
        usage.injected(root, [each.match.path for each in here if each.form != POINTER])
        usage.pointed(root, [each.match.path for each in here if each.form == POINTER])


def _history(match: Match) -> str:
    """One clause for a record that was found through what it replaces."""
    if not match.via:
        return ""
    _, title, since = match.via
    return f"replaces “{title}”" + (f" since {since[:10]}" if since else "")

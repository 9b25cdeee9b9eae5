"""The block in which an agent is shown records.

Everything in the block is data, escaped, so that text cannot pose as structure.
"""

from __future__ import annotations

from onrecord.coldstart import NamedTuple
from onrecord.text import Block, cut, element, fence, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING_ON_FILE = "Nothing on file: no record in the project memory matches this question."
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

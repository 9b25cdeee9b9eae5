"""Injection: the block an agent is shown. Everything in it is data, escaped, so that text cannot pose as structure."""

from __future__ import annotations

from recollect.text import cut, escape, tokens

HINT = "No project memory matched this question. /memory:search looks further, with other words."
_FRAME = 25
_LEAST = 45
"""Tokens below which an essence says too little to be worth its place."""


class Item:
    """One memory as it will be shown."""

    __slots__ = ("category", "confidence", "note", "path", "text", "updated")

    def __init__(
        self, category: str, text: str, path: str, *, confidence: str = "", updated: str = "", note: str = ""
    ) -> None:
        self.category = category
        self.text = text
        self.path = path
        self.confidence = confidence
        self.updated = updated
        self.note = note

    def render(self) -> str:
        attributes = [f'category="{escape(self.category)}"']
        if self.confidence:
            attributes.append(f'confidence="{escape(self.confidence)}"')
        if self.updated:
            attributes.append(f'updated="{escape(self.updated[:10])}"')
        attributes.append(f'path="{escape(self.path)}"')
        text = f"{self.text} ({self.note})" if self.note else self.text
        return f"<result {' '.join(attributes)}>{escape(text)}</result>"

    @property
    def overhead(self) -> int:
        """What it costs before it says anything."""
        return tokens(self.render()) - tokens(self.text)


def render(items: list[Item], source: str) -> str:
    """The whole block; an empty text for no items."""
    if not items:
        return ""
    lines = "\n".join(item.render() for item in items)
    return f'<memory-context source="{escape(source)}">\n{lines}\n</memory-context>'


def fitting(items: list[Item], budget: int) -> list[Item]:
    """The first items that have something to say within a budget of tokens, each cut to its fair share of it."""
    kept = list(items)
    while len(kept) > 1 and _room(kept, budget) < _LEAST * len(kept):
        kept.pop()
    room = _room(kept, budget)
    waiting = len(kept)
    for item in sorted(kept, key=lambda item: tokens(item.text)):
        share = max(room // waiting, _LEAST)
        cost = tokens(item.text)
        if cost > share:
            item.text = cut(item.text, len(item.text) * share // cost)
        room -= min(cost, share)
        waiting -= 1
    return kept


def _room(items: list[Item], budget: int) -> int:
    return budget - _FRAME - sum(item.overhead for item in items)

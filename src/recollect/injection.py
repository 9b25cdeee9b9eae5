"""Injection: the block an agent is shown. Everything in it is data, escaped, so that text cannot pose as structure."""

from __future__ import annotations

HINT = "No project memory matched this question. /memory:search looks further, with other words."


class Item:
    """One memory as it will be shown."""

    __slots__ = ("category", "confidence", "note", "path", "text", "updated")

    def __init__(self, category: str, text: str, path: str, *, confidence: str = "", updated: str = "", note: str = "") -> None:
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


def render(items: list[Item], source: str) -> str:
    """The whole block; an empty text for no items."""
    if not items:
        return ""
    lines = "\n".join(item.render() for item in items)
    return f'<memory-context source="{escape(source)}">\n{lines}\n</memory-context>'


def fitting(items: list[Item], budget: int) -> list[Item]:
    """The first items that fit into a budget of tokens; the very first is cut rather than left out."""
    kept: list[Item] = []
    spent = 25
    for item in items:
        cost = tokens(item.render())
        if spent + cost <= budget:
            kept.append(item)
            spent += cost
        elif not kept:
            excess = (spent + cost - budget) * 4
            item.text = item.text[: max(len(item.text) - excess, 80)].rstrip() + "…"
            return [item]
    return kept


def tokens(text: str) -> int:
    """About how many tokens a text costs: four ASCII characters each, fewer in other scripts."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return (ascii_count + 3) // 4 + (len(text) - ascii_count) * 2 // 3


def escape(text: str) -> str:
    """Text that cannot end an element or an attribute, on one line, with nothing invisible in it."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")

"""Text shortened, measured and made harmless. Imported by hooks: no regular expressions here."""

from __future__ import annotations


def cut(text: str, longest: int) -> str:
    """Text of at most so many characters, cut at a word, with an ellipsis where something is missing."""
    text = text.strip()
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    space = head.rfind(" ")
    return (head[:space] if space > longest * 0.6 else head).rstrip(" ,;:") + "…"


def tokens(text: str) -> int:
    """About how many tokens a text costs: four ASCII characters each, fewer in other scripts."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return (ascii_count + 3) // 4 + (len(text) - ascii_count) * 2 // 3


def escape(text: str) -> str:
    """Text that cannot end an element or an attribute, on one line, with nothing invisible in it."""
    if not text.isprintable():
        # The zero-width joiners are part of how Persian and Indic words are spelt.
        text = "".join(char if char.isprintable() or char in "\u200c\u200d" else " " for char in text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")

"""Text shortened, measured and made harmless. Imported by hooks: no regular expressions here."""

from __future__ import annotations

_ABBREVIATIONS = ("e.g.", "i.e.", "z.B.", "d.h.", "bzw.", "ca.", "vs.", "etc.", "approx.", "p.ej.", "Nr.")


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


def sentences(line: str) -> list[str]:
    """The sentences of one line, each with its mark; a full stop in code or after an abbreviation ends none."""
    result = []
    start = counted = backticks = 0
    marks = line.replace("? ", ". ").replace("! ", ". ")
    at = marks.find(". ")
    while at >= 0:
        backticks += line.count("`", counted, at)
        counted = at
        if backticks % 2 == 0 and not line.endswith(_ABBREVIATIONS, start, at + 1):
            result.append(line[start : at + 1].strip())
            start = at + 2
        at = marks.find(". ", at + 1)
    result.append(line[start:].strip())
    return [sentence for sentence in result if sentence]

"""Text shortened, measured and made harmless. Imported by hooks: no regular expressions here."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_ABBREVIATIONS = ("e.g.", "i.e.", "z.B.", "d.h.", "bzw.", "ca.", "vs.", "etc.", "approx.", "p.ej.", "Nr.")


def cut(text: str, longest: int) -> str:
    """Text of at most so many characters, cut at a word, with an ellipsis where something is missing."""
    text = text.strip()
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    space = head.rfind(" ")
    return (head[:space] if space > longest * 0.6 else head).rstrip(" ,;:") + "…"


def plural(count: int, noun: str) -> str:
    """A number with its noun: 1 record, 2,000 records, 3 summaries."""
    if count == 1:
        return f"1 {noun}"
    is_in_ies = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{count:,} {noun[:-1]}ies" if is_in_ies else f"{count:,} {noun}s"


def first_few(names: Sequence[str], most: int = 5) -> str:
    """Names in a row; of very many the first, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def count_tokens(text: str) -> int:
    """About how many tokens a text costs: four ASCII characters each, fewer in other scripts."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return (ascii_count + 3) // 4 + (len(text) - ascii_count) * 2 // 3


def flat(text: str) -> str:
    """Text on one line with nothing invisible in it: no control characters, no marks that turn the direction."""
    if text.isprintable():
        return text
    # The zero-width joiners are part of how Persian and Indic words are spelt.
    return "".join(char if char.isprintable() or char in "\u200c\u200d" else " " for char in text)


def escape(text: str) -> str:
    """Text that cannot end an element or an attribute, on one line, with nothing invisible in it."""
    return _line(text).replace('"', "&quot;")


def _line(text: str) -> str:
    return flat(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class AgentMarkup(str):
    """Markup of our own for an agent. Only `element` and `fence` make it, and they escape all that is not a Block."""

    __slots__ = ()


def element(name: str, attributes: Mapping[str, str], text: str) -> AgentMarkup:
    """An element on one line; attributes without a value are left out."""
    return AgentMarkup(f"<{name}{_attributes(attributes)}>{_line(text)}</{name}>")


def fence(attributes: Mapping[str, str], lines: Iterable[str]) -> AgentMarkup:
    """The block in which an agent is shown records: Markdown lines, or elements."""
    body = "\n".join(line if isinstance(line, AgentMarkup) else _line(line) for line in lines)
    return AgentMarkup(f"<memory-context{_attributes(attributes)}>\n{body}\n</memory-context>")


def _attributes(attributes: Mapping[str, str]) -> str:
    return "".join(f' {name}="{escape(value)}"' for name, value in attributes.items() if value)


def escape_for_agent(text: str) -> str:
    """What every text goes through on its way to an agent: a Block as it is; in any other, no tag is left a tag."""
    if isinstance(text, AgentMarkup):
        return text
    return "\n".join(flat(line).replace("<", "&lt;").replace(">", "&gt;") for line in text.split("\n"))


def join(text: str, other: str) -> str:
    """Two texts for an agent, one after the other; either may be empty."""
    if not text or not other:
        return text or other
    return AgentMarkup(f"{escape_for_agent(text)}\n\n{escape_for_agent(other)}")


def remove_elements(text: str, names: Iterable[str]) -> str:
    """A text without the elements of these names; one that is not closed takes all the rest."""
    for name in names:
        parts, at, start = [], 0, text.find(f"<{name}")
        while start >= 0:
            parts.append(text[at:start])
            end = text.find(f"</{name}>", start)
            at = end + len(name) + 3 if end >= 0 else len(text)
            start = text.find(f"<{name}", at)
        text = "".join(parts) + text[at:]
    return text.strip()


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

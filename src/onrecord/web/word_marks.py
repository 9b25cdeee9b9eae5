"""The difference between two texts, word by word, for a page that shows them side by side."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from onrecord.coldstart import NamedTuple

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_MAX_WORDS = 2_000
"""Words of a text that are compared one by one; a longer text is marked as a whole."""


class Part(NamedTuple):
    """A piece of a text, marked if the other text does not have it."""

    text: str
    is_marked: bool = False


class Marked(NamedTuple):
    """Two texts in pieces."""

    old: tuple[Part, ...]
    new: tuple[Part, ...]


def compare(old: str, new: str) -> Marked:
    """Return both texts with the words marked that the other one does not have."""
    if not old or not new or old == new:
        return Marked(_whole(old, is_marked=old != new), _whole(new, is_marked=old != new))
    before, after = _WORD.findall(old), _WORD.findall(new)
    if len(before) > _MAX_WORDS or len(after) > _MAX_WORDS:
        return Marked(_whole(old, is_marked=True), _whole(new, is_marked=True))
    old_parts: list[Part] = []
    new_parts: list[Part] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        old_parts.append(Part("".join(before[start:end]), kind != "equal"))
        new_parts.append(Part("".join(after[new_start:new_end]), kind != "equal"))
    return Marked(_joined(old_parts), _joined(new_parts))


def _whole(text: str, *, is_marked: bool) -> tuple[Part, ...]:
    return (Part(text, is_marked),) if text else ()


def _joined(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return the parts without empty ones; a space between two marked ones is marked, too."""
    joined: list[Part] = []
    pieces = [part for part in parts if part.text]
    for part, following in zip(pieces, [*pieces[1:], Part("")]):
        is_between = part.text.isspace() and following.is_marked and bool(joined) and joined[-1].is_marked
        is_marked = part.is_marked or is_between
        if joined and joined[-1].is_marked == is_marked:
            joined[-1] = Part(joined[-1].text + part.text, is_marked)
        else:
            joined.append(Part(part.text, is_marked))
    return tuple(joined)

"""Patterns of paths and branches: `src/auth.py`, `src/auth/`, `src/**/*.py`, `*.sql`. No regular expressions.

`*` and `?` stay within one part of a path, `**` spans any number of parts. A pattern without wildcards also
covers everything below it; one without a slash is compared with the last part of a path.
"""

from __future__ import annotations

from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class PathSet:
    """Some paths that patterns are compared with. One that ends in a slash stands for all that is below it."""

    __slots__ = ("_folders", "_paths")

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        parts = [path.split("/") for path in self._paths]
        self._folders = {"/".join(each[:end]) for each in parts for end in range(1, len(each))}

    def first_under(self, patterns: Iterable[str]) -> str:
        """The first pattern that one of the paths falls under, or nothing."""
        return next((pattern for pattern in patterns if self._has(pattern)), "")

    def _has(self, pattern: str) -> bool:
        if "*" in pattern or "?" in pattern:
            return any(matches(pattern, path) for path in self._paths)
        plain = pattern.strip("/").removeprefix("./")
        if plain in self._paths or plain in self._folders:
            return True
        above = plain.split("/")
        return any("/".join(above[:end]) + "/" in self._paths for end in range(1, len(above)))


def matches(pattern: str, path: str) -> bool:
    """Whether a path, or a branch, falls under a pattern."""
    pattern = pattern.strip("/").removeprefix("./")
    if "*" not in pattern and "?" not in pattern:
        return path == pattern or path.startswith(pattern + "/")
    if "/" not in pattern and pattern != "**":
        steps = _steps((pattern,), barrier="")
        return _fits(path.rpartition("/")[2], steps) or _fits(path, steps)
    return _fits(f"/{path}", _steps(pattern.split("/"), barrier="/"))


class _Steps(NamedTuple):
    """A pattern as numbers in which a bit stands for a place in it: what leads on from there, and what stays there."""

    last: int
    by_letter: dict[str, int]
    by_any: int
    """Places from which any letter leads on, but the barrier."""
    stars: int
    """Places at which any letter stays, but the barrier."""
    spans: int
    """Places at which every letter stays."""
    skips: int
    """Places that lead on without a letter, where a `**` stands for nothing: by two."""
    barrier: str


def _steps(parts: Sequence[str], barrier: str) -> _Steps:
    place = by_any = stars = spans = skips = 0
    by_letter: dict[str, int] = {}
    for number, part in enumerate(parts):
        if barrier and part == "**":
            if number and parts[number - 1] == part:
                continue
            by_letter[barrier] = by_letter.get(barrier, 0) | 1 << place
            skips |= 1 << place
            spans |= 2 << place
            place += 2
            continue
        for letter in barrier + part:
            if letter == "*":
                stars |= 1 << place
                continue
            if letter == "?":
                by_any |= 1 << place
            else:
                by_letter[letter] = by_letter.get(letter, 0) | 1 << place
            place += 1
    return _Steps(place, by_letter, by_any, stars, spans, skips, barrier)


def _fits(text: str, steps: _Steps) -> bool:
    """Whether a text leads to the end of a pattern. All places it may have led to are one number, so that no pattern
    takes longer than a few operations for each letter."""
    last, by_letter, by_any, stars, spans, skips, barrier = steps
    places = 1 | (skips & 1) << 2
    for letter in text:
        leading, staying = by_letter.get(letter, 0), spans
        if letter != barrier:
            leading |= by_any
            staying |= stars
        places = (places & leading) << 1 | places & staying
        if not places:
            return False
        places |= (places & skips) << 2 | (places & spans) << 1
    return bool(places >> last & 1)

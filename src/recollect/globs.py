"""Patterns of paths and branches: `src/auth.py`, `src/auth/`, `src/**/*.py`, `*.sql`. No regular expressions.

`*` and `?` stay within one part of a path, `**` spans any number of parts. A pattern without wildcards also
covers everything below it; one without a slash is compared with the last part of a path.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Paths:
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
            return any(covers(pattern, path) for path in self._paths)
        plain = pattern.strip("/").removeprefix("./")
        if plain in self._paths or plain in self._folders:
            return True
        above = plain.split("/")
        return any("/".join(above[:end]) + "/" in self._paths for end in range(1, len(above)))


def covers(pattern: str, path: str) -> bool:
    """Whether a path, or a branch, falls under a pattern."""
    pattern = pattern.strip("/").removeprefix("./")
    if "*" not in pattern and "?" not in pattern:
        return path == pattern or path.startswith(pattern + "/")
    if "/" not in pattern and pattern != "**":
        return _part_fits(path.rpartition("/")[2], pattern) or _part_fits(path, pattern)
    return _fits(path.split("/"), pattern.split("/"), "**", _part_fits)


def _part_fits(part: str, pattern: str) -> bool:
    return _fits(part, pattern, "*", lambda char, wanted: wanted in ("?", char))


def _fits(items: Sequence[str], pattern: Sequence[str], star: str, same: Callable[[str, str], bool]) -> bool:
    """Whether items fit a pattern in which a star stands for any number of them; never worse than quadratic."""
    here = there = 0
    star_at = retry = -1
    while here < len(items):
        if there < len(pattern) and pattern[there] == star:
            star_at, retry, there = there, here, there + 1
        elif there < len(pattern) and same(items[here], pattern[there]):
            here, there = here + 1, there + 1
        elif star_at >= 0:
            retry += 1
            here, there = retry, star_at + 1
        else:
            return False
    return all(rest == star for rest in pattern[there:])

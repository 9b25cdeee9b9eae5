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
    """A set of paths to compare patterns with. A path that ends in a slash means everything below it."""

    __slots__ = ("_folders", "_paths")

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        parts = [path.split("/") for path in self._paths]
        self._folders = {"/".join(names[:end]) for names in parts for end in range(1, len(names))}

    def first_under(self, patterns: Iterable[str]) -> str:
        """Return the first of `patterns` that matches one of the paths, or nothing."""
        return next((pattern for pattern in patterns if self._has(pattern)), "")

    def _has(self, pattern: str) -> bool:
        if is_pattern(pattern):
            return any(matches(pattern, path) for path in self._paths)
        plain = pattern.strip("/").removeprefix("./")
        if plain in self._paths or plain in self._folders:
            return True
        above = plain.split("/")
        return any("/".join(above[:end]) + "/" in self._paths for end in range(1, len(above)))


def is_pattern(text: str) -> bool:
    """True if `text` has a wildcard, so that it is no path."""
    return "*" in text or "?" in text


def matches(pattern: str, path: str) -> bool:
    """True if `pattern` matches `path`, which may also be a branch."""
    pattern = pattern.strip("/").removeprefix("./")
    if not is_pattern(pattern):
        return path == pattern or path.startswith(pattern + "/")
    if "/" not in pattern and pattern != "**":
        machine = _compile((pattern,), barrier="")
        return _fits(path.rpartition("/")[2], machine) or _fits(path, machine)
    return _fits(f"/{path}", _compile(pattern.split("/"), barrier="/"))


class Walk(NamedTuple):
    """A pattern that is compared with many paths of a tree: each folder is read once for all that is in it."""

    machine: _Machine
    is_of_name: bool
    """True if a last part alone may match, too."""

    def start(self) -> int:
        """Return the positions of the pattern before the first letter of a path, as bits."""
        return _read("" if self.is_of_name else "/", _begin(self.machine), self.machine)

    def enter(self, bits: int, folder: str) -> int:
        """Return the positions behind the name of a folder; 0 if nothing in it can match by its path."""
        return _read(f"{folder}/", bits, self.machine)

    def has(self, bits: int, name: str) -> bool:
        """True if a path that ends in `name`, in the folder of `bits`, matches."""
        machine = self.machine
        is_match = bool(_read(name, bits, machine) >> machine.end & 1)
        return is_match or (self.is_of_name and _fits(name, machine))


def walk(pattern: str) -> Walk:
    """Return a pattern with wildcards as one to walk with."""
    pattern = pattern.strip("/").removeprefix("./")
    is_of_name = "/" not in pattern and pattern != "**"
    parts = (pattern,) if is_of_name else pattern.split("/")
    return Walk(_compile(parts, barrier="" if is_of_name else "/"), is_of_name)


class _Machine(NamedTuple):
    """A pattern as a state machine: bit N of each number says what position N of the pattern does with a letter."""

    end: int
    by_letter: dict[str, int]
    by_any: int
    """Positions that advance on any letter but the barrier: `?`."""
    stars: int
    """Positions that stay on any letter but the barrier: `*`."""
    spans: int
    """Positions that stay on every letter: `**`."""
    skips: int
    """Positions that advance by two without a letter: a `**` that matches nothing."""
    barrier: str


def _compile(parts: Sequence[str], barrier: str) -> _Machine:
    position = by_any = stars = spans = skips = 0
    by_letter: dict[str, int] = {}
    for number, part in enumerate(parts):
        if barrier and part == "**":
            if number and parts[number - 1] == part:
                continue
            by_letter[barrier] = by_letter.get(barrier, 0) | 1 << position
            skips |= 1 << position
            spans |= 2 << position
            position += 2
            continue
        for letter in barrier + part:
            if letter == "*":
                stars |= 1 << position
                continue
            if letter == "?":
                by_any |= 1 << position
            else:
                by_letter[letter] = by_letter.get(letter, 0) | 1 << position
            position += 1
    return _Machine(position, by_letter, by_any, stars, spans, skips, barrier)


def _fits(text: str, machine: _Machine) -> bool:
    """True if `text` reaches the end of a pattern. The possible positions are the bits of one number, so that no
    pattern takes longer than a few operations for each letter."""
    return bool(_read(text, _begin(machine), machine) >> machine.end & 1)


def _begin(machine: _Machine) -> int:
    return 1 | (machine.skips & 1) << 2


def _read(text: str, bits: int, machine: _Machine) -> int:
    """Return the positions of a pattern behind `text`, from those of `bits`; 0 for none."""
    positions = bits
    _, by_letter, by_any, stars, spans, skips, barrier = machine
    for letter in text:
        moving, staying = by_letter.get(letter, 0), spans
        if letter != barrier:
            moving |= by_any
            staying |= stars
        positions = (positions & moving) << 1 | positions & staying
        if not positions:
            return 0
        positions |= (positions & skips) << 2 | (positions & spans) << 1
    return positions

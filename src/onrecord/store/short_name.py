"""Short names of records, for a line in which a whole id has no room: `onrecord show sessions-live.3fa2c1`."""

from __future__ import annotations

from onrecord import coldstart

_LONGEST_WHOLE = 24
"""Characters up to which an id is its own short name."""

_BEGINNING, _MARK = 16, 6
"""Characters of a longer one that stay readable, and of the digest that tells it from others."""

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
"""What a shell takes as it is: an agent may run a command with this name in it, and a stranger may have chosen it."""


def of(path: str) -> str:
    """The short name of the record at a path in a store."""
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    plain = "".join(char for char in stem if char in _SAFE).lstrip("-_")
    if plain == stem and len(stem) <= _LONGEST_WHOLE:
        return stem
    beginning = plain[:_BEGINNING]
    if len(plain) > _BEGINNING and "-" in beginning[4:]:
        beginning = beginning[: beginning.rfind("-")]
    return f"{beginning}.{_mark(path)}"


def is_safe(name: str) -> bool:
    """Whether a shell takes a name as it is."""
    return _SAFE.issuperset(name) and not name.startswith("-")


def paths(root: str, name: str) -> list[str]:
    """The records of a store that a short name with a mark means: one, or none."""
    beginning, _, mark = name.rpartition(".")
    if len(mark) != _MARK or not _SAFE.issuperset(beginning + mark):
        return []
    from onrecord.store import record_files

    return [path for path in record_files.every(root) if _mark(path) == mark and of(path) == name]


def _mark(path: str) -> str:
    return coldstart.digest(path.encode("utf-8", "surrogateescape"))[:_MARK]

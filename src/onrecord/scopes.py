"""Where a record applies, as the index holds it: repositories, languages, paths and branches, in one text."""

from __future__ import annotations

from onrecord import coldstart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 40
"""Patterns of one kind that count; a record may list a few more."""


class Limits(coldstart.NamedTuple):
    """Patterns of each kind; one of each that is there must fit."""

    repositories: Sequence[str] = ()
    languages: Sequence[str] = ()
    paths: Sequence[str] = ()
    branches: Sequence[str] = ()


def pack(limits: Limits) -> str:
    """The limits as one text; empty for a record that applies everywhere."""
    return coldstart.dumps([list(each[:_MOST]) for each in limits]) if any(limits) else ""


def unpack(text: str) -> Limits:
    """What `pack` packed."""
    return Limits(*coldstart.loads(text)) if text else Limits()

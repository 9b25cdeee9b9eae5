"""Kinds of values a record can hold, and how a value is checked against them.

A *flaw* is something wrong with a value. A flaw of shape (a list where a text belongs) makes a file unreadable
as a record; any other flaw (a title too long, a missing reason) is refused when writing and reported by
`onrecord doctor` when found in a file, but does not take the memory out of use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Union

from onrecord import timestamps
from onrecord.coldstart import NamedTuple
from onrecord.text import many


class Flaw(NamedTuple):
    """Something wrong with a record: where, what, and whether its very shape is wrong."""

    where: str
    message: str
    shape: bool = False

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class Pattern(NamedTuple):
    """A shape that a text must have, and how to say so."""

    regex: str
    name: str


class Text(NamedTuple):
    longest: int = 20_000
    pattern: Pattern | None = None
    vital: bool = False


class Choice(NamedTuple):
    values: tuple[str, ...]
    vital: bool = False


class Flag(NamedTuple):
    pass


class Number(NamedTuple):
    least: float
    most: float


class Count(NamedTuple):
    most: int = 1_000_000_000


class Instant(NamedTuple):
    """A moment, ISO-8601 in UTC with a Z."""


class Day(NamedTuple):
    """A date, or a moment; free text such as "with v3" is allowed and never expires."""


class Scalar(NamedTuple):
    """Any JSON value: what a change log remembers of an old or new value."""


class ListOf(NamedTuple):
    item: Any
    least: int = 0
    most: int = 200
    ordered: bool = False
    """Sorted, and each item once."""
    in_order: bool = False
    """Whether the order of the items is their meaning."""


class Object(NamedTuple):
    fields: tuple[Field, ...]
    vital: bool = False


Kind = Union[Text, Choice, Flag, Number, Count, Instant, Day, Scalar, ListOf, Object]


class Field(NamedTuple):
    """One key of a record: its kind, what it is for, and whether it must be there."""

    name: str
    kind: Any
    doc: str
    required: bool = False

    @property
    def vital(self) -> bool:
        """Whether a file without it cannot be read as a record at all."""
        return self.required and bool(getattr(self.kind, "vital", False))


def check_fields(fields: tuple[Field, ...], value: Mapping[str, Any], prefix: str) -> Iterator[Flaw]:
    for field in fields:
        present = value.get(field.name)
        if present is not None:
            yield from _check(field.kind, present, prefix + field.name)
        elif field.required:
            yield Flaw(prefix + field.name, "is missing", field.vital)


def _check(kind: Kind, value: Any, where: str) -> Iterator[Flaw]:
    expected = _EXPECTED[type(kind)]
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool and expected is not object):
        yield Flaw(where, f"must be {_NAMES[type(kind)]}, not {name_of(value)}", shape=True)
    elif isinstance(kind, Text):
        yield from _check_text(kind, value, where)
    elif isinstance(kind, Choice) and value not in kind.values:
        yield Flaw(where, f"must be one of {', '.join(kind.values)}, not {shorten(value)!r}", kind.vital)
    elif isinstance(kind, Number) and not kind.least <= value <= kind.most:
        yield Flaw(where, f"must be from {kind.least} to {kind.most}")
    elif isinstance(kind, Count) and not 0 <= value <= kind.most:
        yield Flaw(where, f"must be from 0 to {kind.most:,}")
    elif isinstance(kind, Instant) and not timestamps.is_instant(value):
        yield Flaw(where, f"must be a moment such as 2026-03-02T09:30:00Z, not {shorten(value)!r}")
    elif isinstance(kind, ListOf):
        yield from _check_list(kind, value, where)
    elif isinstance(kind, Object):
        yield from check_fields(kind.fields, value, where + ".")


def _check_text(kind: Text, value: str, where: str) -> Iterator[Flaw]:
    if not value.strip():
        yield Flaw(where, "must not be empty", kind.vital)
    elif len(value) > kind.longest:
        yield Flaw(where, f"must be at most {kind.longest:,} characters, and has {len(value):,}")
    elif kind.pattern and not re.fullmatch(kind.pattern.regex, value):
        yield Flaw(where, f"must be {kind.pattern.name}, not {shorten(value)!r}", kind.vital)


def _check_list(kind: ListOf, value: list[Any], where: str) -> Iterator[Flaw]:
    if len(value) < kind.least:
        yield Flaw(where, f"must have at least {many(kind.least, 'item')}")
    if len(value) > kind.most:
        yield Flaw(where, f"must have at most {kind.most} items, and has {len(value)}")
    if kind.ordered and all(isinstance(item, str) for item in value) and value != sorted(set(value)):
        yield Flaw(where, "must be sorted, each item once")
    for number, item in enumerate(value):
        yield from _check(kind.item, item, f"{where}[{number}]")


_EXPECTED: Mapping[type, Any] = {
    Text: str,
    Choice: str,
    Instant: str,
    Day: str,
    Flag: bool,
    Number: (int, float),
    Count: int,
    ListOf: list,
    Object: dict,
    Scalar: object,
}
_NAMES: Mapping[type, str] = {
    Text: "a text",
    Choice: "a text",
    Instant: "a text",
    Day: "a text",
    Flag: "true or false",
    Number: "a number",
    Count: "a whole number",
    ListOf: "a list",
    Object: "an object",
}


def name_of(value: object) -> str:
    """What a JSON value is, in words."""
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return "null" if value is None else names.get(type(value), type(value).__name__)


def shorten(value: str, most: int = 60) -> str:
    """A value short enough to stand in a message."""
    return value if len(value) <= most else value[: most - 1] + "…"

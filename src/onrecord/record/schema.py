"""What a record may say: the one definition that validation, the JSON Schemas and the reference pages come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Union

from onrecord import categories, scopes, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.text import plural

SCHEMA_VERSION = "1.0"


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


def _must(name: str, kind: Kind, doc: str) -> Field:
    return Field(name, kind, doc, required=True)


def _fields(rows: Iterable[tuple[str, str, Any, str]]) -> tuple[Field, ...]:
    return tuple(Field(name, _kind(kind), doc, required=need == "required") for name, need, kind, doc in rows)


def _kind(name: Any) -> Kind:
    """The kind that the category table names, alone or with what it needs to be told."""
    if isinstance(name, str):
        return _KINDS[name]
    word, *details = name
    if word == "text":
        return Text(details[0])
    if word == "choice":
        return Choice(tuple(details))
    return Object(_fields(details)) if word == "object" else ListOf(Object(_fields(details)))


_VERSION = Pattern(r"1\.[0-9]{1,4}", "a version this Onrecord knows, such as 1.0")
_SLUG = Pattern(r"[a-z0-9]+(-[a-z0-9]+)*", "a slug such as use-postgres-16")
_LINK = Pattern(r"([a-z0-9-]{1,40}:)?[a-z0-9]+(-[a-z0-9]+)*", "a slug, or platform:slug for a shared store's record")
_TAG = Pattern(r"[^A-Z\s,#]+", "in lower case, without spaces, commas or #")
_HEX = Pattern(r"[0-9a-f]{7,64}", "a hexadecimal id")
_LINES = ListOf(Text(4_000))
_SOME_LINES = ListOf(Text(4_000), least=1)
_KINDS: Mapping[str, Kind] = {
    "text": Text(),
    "flag": Flag(),
    "day": Day(),
    "lines": _LINES,
    "some lines": _SOME_LINES,
    "steps": _SOME_LINES._replace(in_order=True),
}
_CONTENT = {category.name: _fields(category.content) for category in categories.CATEGORIES.values()}
FOLDERS: Mapping[str, str] = MappingProxyType(
    {category.name: category.folder for category in categories.CATEGORIES.values()}
)
RECORD: tuple[Field, ...] = (
    _must("schema_version", Text(10, _VERSION, vital=True), "The format of the file."),
    _must("category", Choice(tuple(FOLDERS), vital=True), "What sort of memory it is."),
    _must("id", Text(80, _SLUG, vital=True), "A kebab-case slug, equal to the file's name."),
    _must("title", Text(120, vital=True), "One line that says what it is about."),
    _must("record_status", Choice(("active", "retired", "archived")), "Whether it is in use."),
    _must("created_at", Instant(), "When it was first saved."),
    _must("updated_at", Instant(), "When it last changed."),
    _must(
        "tags",
        ListOf(Text(60, _TAG), least=1, most=12, ordered=True),
        "Lower-case words to find it by, sorted and unique.",
    ),
    Field(
        "triggers",
        ListOf(Text(120), most=16),
        "How someone will ask for it, in other words than the title: questions, symptoms, error texts, synonyms.",
    ),
    Field("related_files", ListOf(Text(500), most=100), "Files it is about, relative to the project."),
    Field(
        "scope",
        Object(
            (
                Field("paths", ListOf(Text(500), most=50), "Globs of files it applies to."),
                Field("branches", ListOf(Text(200), most=50), "Branches it applies to."),
                Field(
                    "repositories",
                    ListOf(Text(200), most=50),
                    "In a shared store: globs of repositories it applies to, such as `github.com/acme/*` or `api-*`.",
                ),
                Field(
                    "languages",
                    ListOf(Choice(tuple(scopes.LANGUAGES)), most=20),
                    "In a shared store: languages it applies to, where one of them is used.",
                ),
            )
        ),
        "Where it applies, when not everywhere.",
    ),
    Field("confidence", Number(0, 1), "How sure the author was, from 0 to 1."),
    _must("content", Object((), vital=True), "The fields of its category."),
    Field("supersedes", ListOf(Text(121, _LINK), most=50), "Records it replaces; of a shared store: `platform:ID`."),
    Field("superseded_by", Text(80, _SLUG), "The record that replaces it."),
    Field(
        "anchors",
        ListOf(
            Object(
                (
                    _must("path", Text(500), "A file, relative to the project."),
                    Field("blob", Text(64, _HEX), "The git blob id it had."),
                    Field("hash", Text(64, _HEX), "A content hash, where there is no git."),
                    Field("commit", Text(64, _HEX), "The commit it was seen at."),
                    Field("symbol", Text(200), "The function, class or lines meant, such as login or L10-L20."),
                    Field("block", Text(64, _HEX), "A hash of that symbol's own text."),
                    Field("date", Instant(), "When it was seen."),
                )
            ),
            most=100,
        ),
        "The state of its files when it was saved, to notice changes.",
    ),
    Field("origin", Choice(("user", "agent", "import", "tool")), "Who wrote it."),
    Field("source", Text(1_000), "Where it came from: a session, a file, a quotation."),
    Field(
        "changes",
        ListOf(
            Object(
                (
                    _must("date", Instant(), "When."),
                    _must("summary", Text(300), "What changed."),
                    Field("field", Text(100), "Which field."),
                    Field("old", Scalar(), "Its value before."),
                    Field("new", Scalar(), "Its value after."),
                )
            ),
            most=50,
        ),
        "The newest fifty changes, oldest first.",
    ),
    Field("times_updated", Count(), "How often it was changed."),
    Field("retired_at", Instant(), "When it was retired."),
    Field("retired_reason", Text(500), "Why it was retired."),
    Field("archived_at", Instant(), "When it was archived."),
    Field("archived_reason", Text(500), "Why it was archived."),
)
KEYS: tuple[str, ...] = tuple(field.name for field in RECORD)


def content_fields(category: str) -> tuple[Field, ...]:
    """The fields of a category's content."""
    return _CONTENT[category]


def max_items(key: str) -> int:
    """How many items a list of the record may have."""
    return next(int(field.kind.most) for field in RECORD if field.name == key)


def flaws(record: object) -> Iterator[Flaw]:
    """Everything wrong with a record as read from JSON."""
    if not isinstance(record, dict):
        yield Flaw("record", f"must be a JSON object, not {describe_type(record)}", shape=True)
        return
    yield from check_fields(RECORD, record, "")
    category = record.get("category")
    if isinstance(category, str) and category in FOLDERS and isinstance(record.get("content"), dict):
        yield from check_fields(content_fields(category), record["content"], "content.")


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
        yield Flaw(where, f"must be {_NAMES[type(kind)]}, not {describe_type(value)}", shape=True)
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
        yield Flaw(where, f"must have at least {plural(kind.least, 'item')}")
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


def describe_type(value: object) -> str:
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

"""The fields of a record, and the checks that a JSON object is one.

Validation, the JSON Schemas and the reference pages are derived from this one definition: kinds of values, the table of
fields (those of the content are in `categories`), and the checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Union

from onrecord import categories, scopes, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.record import breadth, check
from onrecord.text import plural

SCHEMA_VERSION = "1.0"
_MAX_PATTERNS = 100
"""Patterns of one record that are compared with samples of files."""

_PATTERNS = (("related_files",), ("scope", "paths"))
"""Where a record has patterns of files."""


class Flaw(NamedTuple):
    """A fault of a record. With a structural one, such as a wrong type, a file cannot be read as a record at all."""

    where: str
    message: str
    is_structural: bool = False

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class Pattern(NamedTuple):
    """A regular expression that a text must match, and its name in messages."""

    regex: str
    name: str


class Text(NamedTuple):
    max_length: int = 20_000
    pattern: Pattern | None = None
    vital: bool = False


class Choice(NamedTuple):
    values: tuple[str, ...]
    vital: bool = False


class Choices(NamedTuple):
    """One of these values, or a list of them."""

    values: tuple[str, ...]


class Flag(NamedTuple):
    pass


class Number(NamedTuple):
    minimum: float
    maximum: float


class Count(NamedTuple):
    maximum: int = 1_000_000_000


class Instant(NamedTuple):
    """A moment, ISO-8601 in UTC with a Z."""


class Day(NamedTuple):
    """A date, or a moment; other text such as "with v3" is allowed and never expires."""


class Scalar(NamedTuple):
    """Any JSON value, such as the old and new values in the history."""


class ListOf(NamedTuple):
    item: Any
    min_items: int = 0
    max_items: int = 200
    is_sorted: bool = False
    """True if the items must be sorted and unique."""
    is_ordered: bool = False
    """True if the order of the items has a meaning."""


class Object(NamedTuple):
    fields: tuple[Field, ...]
    vital: bool = False


Kind = Union[Text, Choice, Choices, Flag, Number, Count, Instant, Day, Scalar, ListOf, Object]


class Field(NamedTuple):
    """One key of a record: its kind, its purpose, and whether it is required."""

    name: str
    kind: Any
    doc: str
    required: bool = False

    @property
    def vital(self) -> bool:
        """True if a file without it cannot be read as a record at all."""
        return self.required and bool(getattr(self.kind, "vital", False))


def _required(name: str, kind: Kind, doc: str) -> Field:
    return Field(name, kind, doc, required=True)


def _fields(specs: Iterable[tuple[str, str, Any, str]]) -> tuple[Field, ...]:
    return tuple(Field(name, _kind(spec), doc, required=need == "required") for name, need, spec, doc in specs)


def _kind(spec: Any) -> Kind:
    """Return the kind that `categories` specifies by a name, alone or with its details."""
    if isinstance(spec, str):
        return _KINDS[spec]
    word, *details = spec
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
_SOME_LINES = ListOf(Text(4_000), min_items=1)
_KINDS: Mapping[str, Kind] = {
    "text": Text(),
    "flag": Flag(),
    "day": Day(),
    "lines": _LINES,
    "some lines": _SOME_LINES,
    "steps": _SOME_LINES._replace(is_ordered=True),
}
_CONTENT = {category.name: _fields(category.content) for category in categories.CATEGORIES.values()}
FOLDERS: Mapping[str, str] = MappingProxyType(
    {category.name: category.folder for category in categories.CATEGORIES.values()}
)
_PATTERN = Text(500)
_TEXTS = ListOf(Text(check.MAX_TEXT_CHARACTERS), max_items=check.MAX_TEXTS)
_EXAMPLES = ListOf(Text(check.MAX_EXAMPLE_CHARACTERS), max_items=check.MAX_EXAMPLES)
_CHECK = (
    _required(
        "on",
        Choices(check.KINDS),
        "`command`: a shell command; `edit`: any change of a file; `write`: a file that is created or replaced.",
    ),
    Field("paths", _TEXTS, "Globs of the files that are checked; without them all are. Not for commands."),
    Field("starts", _TEXTS, "First words of a command, or the beginning of an added line; one of them is enough."),
    Field("has", _TEXTS, "Texts in a command, or in an added line; one of them is enough."),
    Field("adds", _TEXTS, "Texts that the file has more often after the change than before; one of them is enough."),
    Field("unless", _TEXTS, "Texts with which the command or the line is fine."),
    Field("say", Text(check.MAX_TEXT_CHARACTERS), "What to do instead, in one line."),
    Field(
        "examples",
        Object(
            (
                Field("breaks", _EXAMPLES, "Commands, lines or file names that break it."),
                Field("fits", _EXAMPLES, "Those that do not."),
            )
        ),
        "Examples that the check must agree with, or it is refused.",
    ),
)
RECORD: tuple[Field, ...] = (
    _required("schema_version", Text(10, _VERSION, vital=True), "The format of the file."),
    _required("category", Choice(tuple(FOLDERS), vital=True), "What sort of memory it is."),
    _required("id", Text(80, _SLUG, vital=True), "A kebab-case slug, equal to the file's name."),
    _required("title", Text(120, vital=True), "One line that states the rule: what to do, or what holds."),
    _required("record_status", Choice(("active", "retired", "archived")), "Whether it is in use."),
    _required("created_at", Instant(), "When it was first saved."),
    _required("updated_at", Instant(), "When it last changed."),
    _required(
        "tags",
        ListOf(Text(60, _TAG), min_items=1, max_items=12, is_sorted=True),
        "Lower-case words to find it by, sorted and unique.",
    ),
    Field(
        "triggers",
        ListOf(Text(120), max_items=16),
        "How someone will ask for it, in other words than the title: questions, symptoms, error texts, synonyms.",
    ),
    Field("related_files", ListOf(_PATTERN, max_items=100), "Files it is about, relative to the project."),
    Field(
        "scope",
        Object(
            (
                Field("paths", ListOf(_PATTERN, max_items=50), "Globs of files it applies to."),
                Field("branches", ListOf(Text(200), max_items=50), "Branches it applies to."),
                Field(
                    "repositories",
                    ListOf(Text(200), max_items=50),
                    "Globs of repositories it applies to, such as `github.com/acme/*` or `api-*`.",
                ),
                Field(
                    "languages",
                    ListOf(Choice(tuple(scopes.LANGUAGES)), max_items=20),
                    "Languages it applies to, where one of them is used.",
                ),
            )
        ),
        "Where it applies, when not everywhere.",
    ),
    Field(
        "checks",
        ListOf(Object(_CHECK), max_items=check.MAX_CHECKS),
        "Tests of the rule that a program can carry out, at a command or at a change of a file.",
    ),
    Field("confidence", Number(0, 1), "How sure the author was, from 0 to 1."),
    _required("content", Object((), vital=True), "The fields of its category."),
    Field(
        "supersedes", ListOf(Text(121, _LINK), max_items=50), "Records it replaces; of a shared store: `platform:ID`."
    ),
    Field("superseded_by", Text(80, _SLUG), "The record that replaces it."),
    Field(
        "anchors",
        ListOf(
            Object(
                (
                    _required("path", Text(500), "A file, relative to the project."),
                    Field("blob", Text(64, _HEX), "The git blob id it had."),
                    Field("hash", Text(64, _HEX), "A content hash, where there is no git."),
                    Field("commit", Text(64, _HEX), "The commit it was seen at."),
                    Field("symbol", Text(200), "The function, class or lines meant, such as login or L10-L20."),
                    Field("block", Text(64, _HEX), "A hash of that symbol's own text."),
                    Field("date", Instant(), "When it was seen."),
                )
            ),
            max_items=100,
        ),
        "The state of its files when it was saved, to notice changes.",
    ),
    Field("origin", Choice(("user", "agent", "import", "tool")), "Who wrote it; the program sets it from its caller."),
    Field("agent", Text(60), "The client that wrote it, as it named itself; the program sets it."),
    Field("host", Text(60), "The coding agent that it was written in; the program sets it."),
    Field("source", Text(1_000), "Where it came from: a session, a file, a quotation."),
    Field(
        "changes",
        ListOf(
            Object(
                (
                    _required("date", Instant(), "When."),
                    _required("summary", Text(300), "What changed."),
                    Field("field", Text(100), "Which field."),
                    Field("old", Scalar(), "Its value before."),
                    Field("new", Scalar(), "Its value after."),
                )
            ),
            max_items=50,
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
    """Return the fields of the content of `category`."""
    return _CONTENT[category]


def max_items(key: str) -> int:
    """Return the limit of items in the list `key` of a record."""
    return next(int(field.kind.max_items) for field in RECORD if field.name == key)


def flaws(value: object) -> Iterator[Flaw]:
    """Yield all that is wrong with a JSON value as a record."""
    if not isinstance(value, dict):
        yield Flaw("record", f"must be a JSON object, not {describe_type(value)}", is_structural=True)
        return
    field_flaws = list(check_fields(RECORD, value, ""))
    yield from field_flaws
    if value.get("checks") and not any(flaw.where.startswith("checks") for flaw in field_flaws):
        yield from _check_flaws(value["checks"])
    yield from _broad_patterns(value)
    category = value.get("category")
    if isinstance(category, str) and category in FOLDERS and isinstance(value.get("content"), dict):
        yield from check_fields(content_fields(category), value["content"], "content.")


def _broad_patterns(value: Mapping[str, Any]) -> Iterator[Flaw]:
    """Yield the patterns of files that fit every file, alone or with the record's others."""
    by_field: dict[str, list[str]] = {}
    for where in _PATTERNS:
        holder: Any = value if len(where) == 1 else value.get(where[0])
        patterns = holder.get(where[-1]) if isinstance(holder, dict) else None
        texts = [pattern for pattern in patterns if isinstance(pattern, str)] if isinstance(patterns, list) else []
        # A longer one is a flaw already, and is not used.
        by_field[".".join(where)] = [text for text in texts if len(text) <= _PATTERN.max_length][:_MAX_PATTERNS]
    broad = set(breadth.broad_patterns([pattern for patterns in by_field.values() for pattern in patterns]))
    for field, patterns in by_field.items():
        for pattern in patterns:
            if pattern in broad:
                message = (
                    "fits nearly every file, alone or with the others, and so counts for none: name files or folders"
                )
                yield Flaw(field, f"{shorten(pattern)!r} {message}")


def check_flaws(checks: object) -> Iterator[Flaw]:
    """Yield all that is wrong with a JSON value as the checks of a record."""
    field_flaws = list(_check(next(field.kind for field in RECORD if field.name == "checks"), checks, "checks"))
    yield from field_flaws or _check_flaws(checks)  # type: ignore[arg-type]


def _check_flaws(raw_checks: Sequence[Mapping[str, Any]]) -> Iterator[Flaw]:
    """Yield the checks that can never be broken, always are, or disagree with their own examples."""
    checks = [check.parse(raw) for raw in raw_checks]
    by_check = [list(check.problems(one)) for one in checks]
    for number, problems in enumerate(by_check):
        for problem in problems:
            yield Flaw(f"checks[{number}]" + (f".{problem.where}" if problem.where else ""), problem.message)
    together = "" if any(by_check) else check.problem_together(checks)
    if together:
        yield Flaw("checks", together)


def check_fields(fields: tuple[Field, ...], raw: Mapping[str, Any], prefix: str) -> Iterator[Flaw]:
    for field in fields:
        value = raw.get(field.name)
        if value is not None:
            if not _is_plain_text(field.kind, value):
                yield from _check(field.kind, value, prefix + field.name)
        elif field.required:
            yield Flaw(prefix + field.name, "is missing", field.vital)


def _is_plain_text(kind: Kind, value: Any) -> bool:
    """True if a value is a text, as most are, and nothing is wrong with it: `_check` says what is."""
    is_text = type(value) is str and type(kind) is Text and not kind.pattern
    return is_text and len(value) <= kind.max_length and bool(value) and not value.isspace()  # type: ignore[union-attr]


def _check(kind: Kind, value: Any, where: str) -> Iterator[Flaw]:
    expected = _EXPECTED[type(kind)]
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool and expected is not object):
        yield Flaw(where, f"must be {_NAMES[type(kind)]}, not {describe_type(value)}", is_structural=True)
    elif isinstance(kind, Text):
        yield from _check_text(kind, value, where)
    elif isinstance(kind, Choice) and value not in kind.values:
        yield Flaw(where, f"must be one of {', '.join(kind.values)}, not {shorten(value)!r}", kind.vital)
    elif isinstance(kind, Choices):
        yield from _check_choices(kind, value, where)
    elif isinstance(kind, Number) and not kind.minimum <= value <= kind.maximum:
        yield Flaw(where, f"must be from {kind.minimum} to {kind.maximum}")
    elif isinstance(kind, Count) and not 0 <= value <= kind.maximum:
        yield Flaw(where, f"must be from 0 to {kind.maximum:,}")
    elif isinstance(kind, Instant) and not timestamps.is_instant(value):
        yield Flaw(where, f"must be a moment such as 2026-03-02T09:30:00Z, not {shorten(value)!r}")
    elif isinstance(kind, ListOf):
        yield from _check_list(kind, value, where)
    elif isinstance(kind, Object):
        yield from check_fields(kind.fields, value, where + ".")


def _check_choices(choices_kind: Choices, value: Any, where: str) -> Iterator[Flaw]:
    values = [value] if isinstance(value, str) else value
    if not values:
        yield Flaw(where, f"must be one or more of {', '.join(choices_kind.values)}")
    for item in values:
        yield from _check(Choice(choices_kind.values), item, where)


def _check_text(text_kind: Text, text: str, where: str) -> Iterator[Flaw]:
    if not text.strip():
        yield Flaw(where, "must not be empty", text_kind.vital)
    elif len(text) > text_kind.max_length:
        yield Flaw(where, f"must be at most {text_kind.max_length:,} characters, and has {len(text):,}")
    elif text_kind.pattern and not re.fullmatch(text_kind.pattern.regex, text):
        yield Flaw(where, f"must be {text_kind.pattern.name}, not {shorten(text)!r}", text_kind.vital)


def _check_list(list_kind: ListOf, json_list: list[Any], where: str) -> Iterator[Flaw]:
    if len(json_list) < list_kind.min_items:
        yield Flaw(where, f"must have at least {plural(list_kind.min_items, 'item')}")
    if len(json_list) > list_kind.max_items:
        yield Flaw(where, f"must have at most {list_kind.max_items} items, and has {len(json_list)}")
    if list_kind.is_sorted and all(isinstance(item, str) for item in json_list) and json_list != sorted(set(json_list)):
        yield Flaw(where, "must be sorted, each item once")
    for number, item in enumerate(json_list):
        if not _is_plain_text(list_kind.item, item):
            yield from _check(list_kind.item, item, f"{where}[{number}]")


_EXPECTED: Mapping[type, Any] = {
    Text: str,
    Choice: str,
    Choices: (str, list),
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
    Choices: "a text or a list of texts",
    Instant: "a text",
    Day: "a text",
    Flag: "true or false",
    Number: "a number",
    Count: "a whole number",
    ListOf: "a list",
    Object: "an object",
}


def describe_type(value: object) -> str:
    """Return the type of a JSON value in words."""
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return "null" if value is None else names.get(type(value), type(value).__name__)


def shorten(text: str, limit: int = 60) -> str:
    """Return `text` cut to `limit` characters, for a message."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def within(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without what is out of bounds: whatever a file says, no more of it is used than may be written.

    Texts are cut, lists end at their limit, numbers become the nearest in range. A text in a list of names or phrases
    that is too long is left out, and so is a pattern that fits every file. The record has no structural flaw.
    """
    bounded = _bounded_object(RECORD, raw)
    if isinstance(raw.get("content"), dict) and raw.get("category") in FOLDERS:
        bounded["content"] = _bounded_object(content_fields(raw["category"]), raw["content"], is_prose=True)
    _drop_broad_patterns(bounded)
    return bounded


def _drop_broad_patterns(bounded: dict[str, Any]) -> None:
    holders = [(bounded if len(where) == 1 else bounded.get(where[0]) or {}, where[-1]) for where in _PATTERNS]
    broad = breadth.broad_patterns([pattern for holder, key in holders for pattern in holder.get(key) or ()])
    for holder, key in holders if broad else ():
        if holder.get(key):
            holder[key] = [pattern for pattern in holder[key] if pattern not in broad]


def _bounded_object(fields: tuple[Field, ...], raw: Mapping[str, Any], *, is_prose: bool = False) -> dict[str, Any]:
    kinds = {field.name: field.kind for field in fields}
    return {
        key: _bounded_value(kinds[key], value, is_prose=is_prose) if key in kinds and value is not None else value
        for key, value in raw.items()
    }


def _bounded_value(kind: Kind, value: Any, *, is_prose: bool) -> Any:
    if isinstance(kind, Text):
        return value[: kind.max_length]
    if isinstance(kind, Number):
        return min(max(value, kind.minimum), kind.maximum)
    if isinstance(kind, Count):
        return min(max(value, 0), kind.maximum)
    if isinstance(kind, Object):
        return _bounded_object(kind.fields, value, is_prose=is_prose)
    if isinstance(kind, ListOf):
        items = value if is_prose else [item for item in value if not _is_too_long(kind.item, item)]
        return [_bounded_value(kind.item, item, is_prose=is_prose) for item in items[: kind.max_items]]
    return value


def _is_too_long(kind: Kind, value: Any) -> bool:
    return isinstance(kind, Text) and len(value) > kind.max_length

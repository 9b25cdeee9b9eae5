"""What a record may say: the one definition that validation, the JSON Schemas and the reference pages come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from onrecord import categories, languages
from onrecord.record.fields import (
    Choice,
    Count,
    Day,
    Field,
    Flag,
    Flaw,
    Instant,
    Kind,
    ListOf,
    Number,
    Object,
    Pattern,
    Scalar,
    Text,
    check_fields,
    name_of,
)

SCHEMA_VERSION = "1.0"


def _must(name: str, kind: Kind, doc: str) -> Field:
    return Field(name, kind, doc, required=True)


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


def content_fields(category: str) -> tuple[Field, ...]:
    """The fields of a category's content."""
    return _CONTENT[category]


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


_CONTENT = {category.name: _fields(category.content) for category in categories.BY_NAME.values()}

FOLDERS: Mapping[str, str] = MappingProxyType(
    {category.name: category.folder for category in categories.BY_NAME.values()}
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
                    ListOf(Choice(tuple(languages.LANGUAGES)), most=20),
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


def most_items(key: str) -> int:
    """How many items a list of the record may have."""
    return next(int(field.kind.most) for field in RECORD if field.name == key)


def flaws(record: object) -> Iterator[Flaw]:
    """Everything wrong with a record as read from JSON."""
    if not isinstance(record, dict):
        yield Flaw("record", f"must be a JSON object, not {name_of(record)}", shape=True)
        return
    yield from check_fields(RECORD, record, "")
    category = record.get("category")
    if isinstance(category, str) and category in FOLDERS and isinstance(record.get("content"), dict):
        yield from check_fields(content_fields(category), record["content"], "content.")

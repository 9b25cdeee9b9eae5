"""What a record may say: the one definition that validation, the JSON Schemas and the reference pages come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from recollect.record.fields import (
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


_VERSION = Pattern(r"1\.[0-9]{1,4}", "a version this Recollect knows, such as 1.0")
_SLUG = Pattern(r"[a-z0-9]+(-[a-z0-9]+)*", "a slug such as use-postgres-16")
_TAG = Pattern(r"[^A-Z\s,#]+", "in lower case, without spaces, commas or #")
_HEX = Pattern(r"[0-9a-f]{7,64}", "a hexadecimal id")
_LINES = ListOf(Text(4_000))
_SOME_LINES = ListOf(Text(4_000), least=1)

CATEGORIES: Mapping[str, tuple[str, tuple[Field, ...]]] = {
    "decision": (
        "decisions",
        (
            _must("status", Choice(("proposed", "accepted", "deprecated", "superseded")), "Where the decision stands."),
            _must("context", Text(), "The situation that called for it."),
            _must("decision", Text(), "What was decided, with its literal values."),
            _must("rationale", _SOME_LINES, "Why."),
            Field(
                "alternatives",
                ListOf(
                    Object(
                        (
                            _must("option", Text(2_000), "What else was considered."),
                            _must("rejected_reason", Text(2_000), "Why it lost."),
                        )
                    )
                ),
                "What was considered and rejected.",
            ),
            Field("consequences", _LINES, "What follows from it."),
        ),
    ),
    "constraint": (
        "constraints",
        (
            _must("kind", Choice(("limitation", "gap", "policy", "technical")), "What sort of limit it is."),
            _must("rule", Text(), "The rule itself."),
            _must("impact", _SOME_LINES, "What happens when it is ignored."),
            _must("severity", Choice(("high", "medium", "low")), "How bad that is."),
            _must("active", Flag(), "Whether it holds now."),
            Field("workarounds", _LINES, "What to do instead."),
            Field("expires", Day(), "A date after which it no longer holds, or the condition in words."),
        ),
    ),
    "preference": (
        "preferences",
        (
            _must("topic", Text(500), "What it is about."),
            _must("value", Text(), "What is preferred."),
            _must("reason", Text(), "Why."),
            _must("strength", Choice(("strong", "default", "soft")), "How firmly."),
            Field(
                "examples",
                Object(
                    (
                        Field("prefer", _LINES, "Like this."),
                        Field("avoid", _LINES, "Not like this."),
                    )
                ),
                "How it looks in practice.",
            ),
        ),
    ),
    "runbook": (
        "runbooks",
        (
            _must("trigger", Text(), "When to use it."),
            _must("steps", _SOME_LINES, "What to do, in order."),
            _must("verification", Text(), "How to know that it worked."),
            Field("symptoms", _LINES, "What one sees: messages, exit codes, behaviour."),
            Field("root_cause", Text(), "Why it happens."),
            Field("environment", Text(2_000), "Where it happens."),
        ),
    ),
    "tech_debt": (
        "tech-debt",
        (
            _must("status", Choice(("open", "in_progress", "resolved", "wont_fix")), "Where it stands."),
            _must("priority", Choice(("critical", "high", "medium", "low")), "How urgent it is."),
            _must("description", Text(), "What is wrong."),
            _must("reason_deferred", Text(), "Why it was left."),
            Field("impact", _LINES, "What it costs."),
            Field("suggested_fix", _LINES, "What would mend it."),
            Field("acceptance_criteria", _LINES, "When it is done."),
        ),
    ),
    "session_summary": (
        "sessions",
        (
            _must("goal", Text(), "What the session was for."),
            _must("outcome", Choice(("success", "partial", "blocked", "abandoned")), "How it ended."),
            _must("completed", _LINES, "What was done."),
            _must("next_actions", _LINES, "What comes next."),
            Field("in_progress", _LINES, "What was left half done."),
            Field("blockers", _LINES, "What stands in the way."),
            Field("key_changes", _LINES, "What changed in the code."),
        ),
    ),
}

FOLDERS: Mapping[str, str] = MappingProxyType({category: folder for category, (folder, _) in CATEGORIES.items()})

RECORD: tuple[Field, ...] = (
    _must("schema_version", Text(10, _VERSION, vital=True), "The format of the file."),
    _must("category", Choice(tuple(CATEGORIES), vital=True), "What sort of memory it is."),
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
        ListOf(Text(120), most=8),
        "How someone will ask for it, in other words than the title: questions, symptoms, error texts, synonyms.",
    ),
    Field("related_files", ListOf(Text(500), most=100), "Files it is about, relative to the project."),
    Field(
        "scope",
        Object(
            (
                Field("paths", ListOf(Text(500), most=50), "Globs of files it applies to."),
                Field("branches", ListOf(Text(200), most=50), "Branches it applies to."),
            )
        ),
        "Where it applies, when not everywhere.",
    ),
    Field("confidence", Number(0, 1), "How sure the author was, from 0 to 1."),
    _must("content", Object((), vital=True), "The fields of its category."),
    Field("supersedes", ListOf(Text(80, _SLUG), most=50), "Records it replaces."),
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
        "The state of its files when it was saved, to notice drift.",
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
    return CATEGORIES[category][1]


def flaws(record: object) -> Iterator[Flaw]:
    """Everything wrong with a record as read from JSON."""
    if not isinstance(record, dict):
        yield Flaw("record", f"must be a JSON object, not {name_of(record)}", shape=True)
        return
    yield from check_fields(RECORD, record, "")
    category = record.get("category")
    if isinstance(category, str) and category in CATEGORIES and isinstance(record.get("content"), dict):
        yield from check_fields(content_fields(category), record["content"], "content.")

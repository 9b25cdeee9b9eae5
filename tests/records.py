"""Sample records for tests, and Hypothesis strategies derived from the schema itself."""

from __future__ import annotations

import copy
import datetime
import functools
import os
from typing import Any

from hypothesis import strategies as st

from onrecord.record import memory, schema
from onrecord.record.memory import Memory
from onrecord.record.schema import Choice, Count, Day, Field, Flag, Instant, ListOf, Number, Object, Scalar, Text

NOW = "2026-03-02T09:30:00Z"
LATER = "2026-04-01T12:00:00Z"

CONTENT: dict[str, dict[str, Any]] = {
    "decision": {
        "status": "accepted",
        "context": "Two stores were in use",
        "decision": "Sessions live in Redis 7",
        "rationale": ["One thing to run"],
    },
    "constraint": {
        "kind": "limitation",
        "rule": "At most 100 requests a minute",
        "impact": ["429 from the provider"],
        "severity": "high",
        "active": True,
    },
    "preference": {"topic": "indentation", "value": "tabs", "reason": "Widths differ", "strength": "strong"},
    "runbook": {"trigger": "Disk is full", "steps": ["Rotate the logs"], "verification": "df shows room"},
    "tech_debt": {
        "status": "open",
        "priority": "high",
        "description": "Retries are copied four times",
        "reason_deferred": "Release week",
    },
    "session_summary": {"goal": "Move sessions", "outcome": "partial", "completed": ["Schema"], "next_actions": []},
}


def raw(category: str = "decision", **fields: Any) -> dict[str, Any]:
    """Return a valid record as JSON with `fields`; None leaves a field out."""
    record = {
        "schema_version": "1.0",
        "category": category,
        "id": "sessions-in-redis",
        "title": "Sessions in Redis",
        "record_status": "active",
        "created_at": NOW,
        "updated_at": NOW,
        "tags": ["redis", "sessions"],
        "content": dict(CONTENT[category]),
        "times_updated": 0,
        **fields,
    }
    return {key: value for key, value in record.items() if value is not None}


def sample(category: str = "decision", **fields: Any) -> Memory:
    """Return a valid record with `fields`."""
    return memory.from_json(raw(category, **fields))


def decision(name: str, title: str, text: str, **fields: Any) -> Memory:
    content = {"status": "accepted", "context": "", "decision": text, "rationale": []}
    return sample(id=name, title=title, content=content, tags=["topic"], **fields)


def put(root: str, record: Memory) -> None:
    """Write the file of `record` into the store at `root`, as another program would."""
    path = os.path.join(root, record.path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(memory.render(record))


texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
scalars = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    scalars | texts, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=2), max_leaves=4
)
any_json = st.recursive(
    scalars | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
"""JSON as a parser may deliver it: lone surrogates included."""

instants = st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2200, 1, 1)).map(
    lambda when: when.strftime("%Y-%m-%dT%H:%M:%SZ")
)


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for the values that `kind` accepts."""
    if isinstance(kind, Text):
        return _texts_of(kind)
    if isinstance(kind, Choice):
        return st.sampled_from(kind.values)
    if isinstance(kind, ListOf):
        return _lists_of(kind)
    if isinstance(kind, Object):
        return objects_of(kind.fields)
    if isinstance(kind, Number):
        return st.floats(kind.minimum, kind.maximum) | st.integers(int(kind.minimum), int(kind.maximum))
    simple = {Flag: st.booleans(), Instant: instants, Scalar: json_values, Day: texts, Count: st.integers(0, 10**9)}
    return simple[type(kind)]


def _texts_of(kind: Text) -> st.SearchStrategy[str]:
    if kind.pattern:
        return st.from_regex(kind.pattern.regex, fullmatch=True).filter(lambda text: len(text) <= kind.max_length)
    return texts.filter(lambda text: bool(text.strip()) and len(text) <= kind.max_length)


def _lists_of(kind: ListOf) -> st.SearchStrategy[list[Any]]:
    most = min(max(2, kind.min_items), kind.max_items)
    lists = st.lists(values_of(kind.item), min_size=kind.min_items, max_size=most, unique=kind.is_sorted)
    return lists.map(sorted) if kind.is_sorted else lists


CHECKS: tuple[dict[str, Any], ...] = (
    {"on": "command", "starts": ["npm install"], "unless": ["--workspace"], "say": "pnpm add"},
    {"on": ["edit", "command"], "has": ["moment"], "examples": {"breaks": ["a moment"], "fits": ["momentum"]}},
    {"on": "edit", "paths": ["src/**/*.ts"], "adds": ["from 'moment'"], "x-later": {"a": [1]}},
    {"on": ["write"], "paths": ["gen/"], "examples": {"x-later": True}},
)


@functools.cache
def objects_of(fields: tuple[Field, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for objects with the required keys, some optional and some unknown ones."""
    required = {field.name: values_of(field.kind) for field in fields if field.required}
    # Few texts that are drawn at random make a check that can be broken.
    checks = st.lists(st.sampled_from(CHECKS).map(copy.deepcopy), max_size=2)
    optional = {
        field.name: checks if field.name == "checks" else values_of(field.kind)
        for field in fields
        if not field.required
    }
    unknown = st.just({}) | st.dictionaries(texts.map(lambda name: f"x-{name}"), json_values, max_size=1)
    fields_of_schema = st.fixed_dictionaries(required, optional=optional)
    return st.tuples(fields_of_schema, unknown).map(lambda parts: {**parts[0], **parts[1]})


@st.composite
def valid_records(draw: st.DrawFn, categories: tuple[str, ...] = tuple(schema.FOLDERS)) -> dict[str, Any]:
    """Draw valid records of every category, as JSON, with unknown keys at every level."""
    category = draw(st.sampled_from(categories))
    record = draw(objects_of(schema.RECORD))
    return {**record, "category": category, "content": draw(objects_of(schema.content_fields(category)))}

"""JSON Schemas (draft 2020-12) of the records, from the same definition that validates them.

A schema describes what is written. Five things our own validator sees differently: it takes null for a field
that is not there, checks that a moment exists (2026-02-30 does not), that tags are sorted, that a whole
number is written as one (3, not 3.0), and that a check can be broken and agrees with its own examples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from onrecord.record import schema
from onrecord.record.schema import (
    Choice,
    Choices,
    Count,
    Day,
    Field,
    Flag,
    Instant,
    Kind,
    ListOf,
    Number,
    Object,
    Scalar,
    Text,
)

_INSTANT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|\+00:00)$"


def of(category: str) -> dict[str, Any]:
    """The JSON Schema of one category's records."""
    record = _object(schema.RECORD)
    record["properties"]["category"] = {"const": category, "description": "What sort of memory it is."}
    record["properties"]["content"] = {
        **_object(schema.content_fields(category)),
        "description": f"The fields of a {category}.",
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Onrecord record: {category}",
        "description": f"One file in {schema.FOLDERS[category]}/, named after its id. Unknown keys are kept.",
        **record,
    }


def _object(fields: tuple[Field, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": [field.name for field in fields if field.required],
        "properties": {field.name: {**_of_kind(field.kind), "description": field.doc} for field in fields},
    }


def _of_kind(kind: Kind) -> dict[str, Any]:
    return _BY_KIND[type(kind)](kind)


def _text(kind: Text) -> dict[str, Any]:
    pattern = f"^{kind.pattern.regex}$" if kind.pattern else r"\S"
    return {"type": "string", "maxLength": kind.max_length, "pattern": pattern}


def _list(kind: ListOf) -> dict[str, Any]:
    counted = {"type": "array", "items": _of_kind(kind.item), "minItems": kind.min_items, "maxItems": kind.max_items}
    return {**counted, "uniqueItems": True} if kind.is_sorted else counted


def _choice(kind: Choice | Choices) -> dict[str, Any]:
    return {"type": "string", "enum": list(kind.values)}


_BY_KIND: Mapping[type, Callable[[Any], dict[str, Any]]] = {
    Text: _text,
    Choice: _choice,
    Choices: lambda kind: {"anyOf": [_choice(kind), {"type": "array", "items": _choice(kind), "minItems": 1}]},
    Flag: lambda kind: {"type": "boolean"},
    Number: lambda kind: {"type": "number", "minimum": kind.minimum, "maximum": kind.maximum},
    Count: lambda kind: {"type": "integer", "minimum": 0, "maximum": kind.maximum},
    Instant: lambda kind: {"type": "string", "format": "date-time", "pattern": _INSTANT},
    Day: lambda kind: {"type": "string"},
    Scalar: lambda kind: {},
    ListOf: _list,
    Object: lambda kind: _object(kind.fields),
}

"""Bounds of a record that was read: whatever a file says, no more of it is used than may be written.

`memory.parse` is the only door, so a file that was committed by hand gets no further than one that the program wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onrecord.record import breadth, schema
from onrecord.record.schema import Count, Field, Kind, ListOf, Number, Object, Text

PATTERNS = (("related_files",), ("scope", "paths"))
"""Where a record has patterns of files."""


def within(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without what is out of bounds.

    Texts are cut, lists end at their limit, numbers become the nearest in range. A text in a list of names or phrases
    that is too long is left out, and so is a pattern that fits every file. The record has no structural flaw.
    """
    bounded = _object(schema.RECORD, raw)
    if isinstance(raw.get("content"), dict) and raw.get("category") in schema.FOLDERS:
        bounded["content"] = _object(schema.content_fields(raw["category"]), raw["content"], is_prose=True)
    for where in PATTERNS:
        holder: dict[str, Any] = bounded if len(where) == 1 else bounded.get(where[0]) or {}
        patterns = holder.get(where[-1])
        if patterns:
            broad = breadth.broad_patterns(patterns)
            holder[where[-1]] = [pattern for pattern in patterns if pattern not in broad]
    return bounded


def _object(fields: tuple[Field, ...], raw: Mapping[str, Any], *, is_prose: bool = False) -> dict[str, Any]:
    kinds = {field.name: field.kind for field in fields}
    return {
        key: _value(kinds[key], value, is_prose=is_prose) if key in kinds and value is not None else value
        for key, value in raw.items()
    }


def _value(kind: Kind, value: Any, *, is_prose: bool) -> Any:
    if isinstance(kind, Text):
        return value[: kind.max_length]
    if isinstance(kind, Number):
        return min(max(value, kind.minimum), kind.maximum)
    if isinstance(kind, Count):
        return min(max(value, 0), kind.maximum)
    if isinstance(kind, Object):
        return _object(kind.fields, value, is_prose=is_prose)
    if isinstance(kind, ListOf):
        items = value if is_prose else [item for item in value if not _is_too_long(kind.item, item)]
        return [_value(kind.item, item, is_prose=is_prose) for item in items[: kind.max_items]]
    return value


def _is_too_long(kind: Kind, value: Any) -> bool:
    return isinstance(kind, Text) and len(value) > kind.max_length

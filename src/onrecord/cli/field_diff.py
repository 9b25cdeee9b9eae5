"""What changes in a record, field by field, as a person reads it."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from onrecord.cli.output import Screen, clean
from onrecord.record import form, memory, schema
from onrecord.record.form import field_label
from onrecord.record.memory import Memory
from onrecord.record.schema import ListOf

_DERIVED = ("changes", "times_updated", "updated_at", "anchors", "id")
_KINDS = {field.name: field.kind for field in schema.RECORD}
_MARK = re.compile(r"^(?:-|[0-9]+\.) ")


def between(before: Memory, after: Memory, screen: Screen) -> str:
    """The fields that differ, each with the lines that go and those that come; empty if none does."""
    old, new = (_fields(record) for record in (before, after))
    lines: list[str] = []
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            lines.append(screen.paint(clean(field_label(name)), "cyan"))
            lines += _changed(_lines(before.category, name, old), _lines(before.category, name, new), screen)
    return "\n".join(lines)


def _fields(record: Memory) -> dict[str, Any]:
    """The fields of a record and of its content side by side, without what is computed."""
    raw = memory.to_json(record)
    return {**{key: value for key, value in raw.items() if key not in (*_DERIVED, "content")}, **raw["content"]}


def _lines(category: str, name: str, fields: Mapping[str, Any]) -> list[str]:
    """A value in the lines of its form, without the marks of items; as JSON where a form does not show it."""
    if fields.get(name) is None:
        return []
    kind = {**_KINDS, **{field.name: field.kind for field in schema.content_fields(category)}}.get(name)
    if kind is None or name in ("content", "changes", "anchors") or not form.can_show(kind, fields[name]):
        return [json.dumps(fields[name], ensure_ascii=False)]
    lines = form.value_lines(kind, fields[name])
    return [_MARK.sub("", line) for line in lines] if isinstance(kind, ListOf) else lines


def _changed(old: list[str], new: list[str], screen: Screen) -> Iterator[str]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for action, a, b, c, d in matcher.get_opcodes():
        if action != "equal":
            yield from (screen.paint(f"  - {clean(line)}", "red") for line in old[a:b])
            yield from (screen.paint(f"  + {clean(line)}", "green") for line in new[c:d])

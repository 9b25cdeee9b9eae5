"""The patch by which a draft changes a record: put into it as it is now, or in place of the version its author read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onrecord.record import lifecycle, memory
from onrecord.record.draft import Draft
from onrecord.record.memory import Memory

_MISSING = object()


def patch_of(draft: Draft, record: Memory) -> dict[str, Any]:
    """What a draft changes in a record: the fields it names, else all that differs where it revises the record.

    One that does neither only adds to it.
    """
    if not draft.revises and not draft.fields:
        return added(record, draft.record)
    patch = _changes(record, draft.record)
    if not draft.fields:
        return patch
    content = {name: value for name, value in patch.pop("content", {}).items() if f"content.{name}" in draft.fields}
    chosen = {key: value for key, value in patch.items() if key in draft.fields}
    return {**chosen, "content": content} if content else chosen


def fields(before: Memory, after: Memory) -> tuple[str, ...]:
    """The names of the fields that a change is about, those of the content as `content.decision`."""
    patch = _changes(before, after)
    content = patch.pop("content", {})
    return (*patch, *(f"content.{name}" for name in content))


def _changes(before: Memory, after: Memory) -> dict[str, Any]:
    patch = difference(memory.to_json(before), memory.to_json(after))
    return {key: value for key, value in patch.items() if key not in lifecycle.NOT_PATCHED}


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The patch that leads from one JSON object to another; null removes a key."""
    patch: dict[str, Any] = {}
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key, _MISSING), new.get(key)
        if before == after:
            continue
        if key == "content" and isinstance(before, dict) and isinstance(after, dict):
            after = difference(before, after)
        patch[key] = after
    return patch


def applied(raw: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object that such a patch leads to."""
    changed = dict(patch)
    if isinstance(changed.get("content"), dict):
        changed["content"] = applied(raw.get("content", {}), changed["content"])
    return {key: value for key, value in {**raw, **changed}.items() if changed.get(key, key) is not None}


def added(record: Memory, draft: Memory) -> dict[str, Any]:
    """The patch that adds a draft to a record: texts are replaced, lists and sets grow, the title stays."""
    content = {
        key: _grown(record.content.get(key), value)
        for key, value in draft.content.items()
        if value != record.content.get(key) and draft.category == record.category
    }
    patch: dict[str, Any] = {"content": content} if content else {}
    for field in ("tags", "related_files"):
        if set(getattr(draft, field)) - set(getattr(record, field)):
            patch[field] = list(getattr(draft, field))
    triggers = list(dict.fromkeys((*record.triggers, *draft.triggers)))
    if triggers != list(record.triggers):
        patch["triggers"] = triggers
    if draft.source and not record.source:
        patch["source"] = draft.source
    return patch


def _grown(old: Any, new: Any) -> Any:
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *(each for each in new if each not in old)]
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {**old, **{key: _grown(old.get(key), value) for key, value in new.items()}}
    return new

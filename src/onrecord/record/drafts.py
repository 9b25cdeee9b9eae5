"""A draft: a record that waits for review, what it rests on, and how both lie in a file of the inbox."""

from __future__ import annotations

import json
from collections.abc import Mapping
from shlex import quote
from typing import Any

from onrecord import paths
from onrecord.coldstart import NamedTuple, content_hash
from onrecord.errors import BadRecord
from onrecord.record import lifecycle, memory
from onrecord.record.memory import Memory

_TEXTS = ("made_at", "session", "updates", "revises", "summary", "supersedes")
_MISSING = object()


class Draft(NamedTuple):
    """A record that waits for review, and what it rests on."""

    name: str
    record: Memory
    made_at: str = ""
    session: str = ""
    evidence: tuple[str, ...] = ()
    updates: str = ""
    """The record it would change, if it is no new one."""

    revises: str = ""
    """The hash of the version of that record that it would take the place of; empty if it only adds to it."""

    fields: tuple[str, ...] = ()
    """The fields that it changes in that record, such as `title` or `content.decision`; empty if nobody noted them."""

    summary: str = ""
    """What changes in that record and why, for its history."""

    supersedes: str = ""
    """The record it would replace."""

    hash: str = ""
    """The hash of the file that it was read from; empty for one that was not."""

    @property
    def is_machine_made(self) -> bool:
        return self.record.origin == "tool"


def render(draft: Draft) -> bytes:
    """The file of a draft."""
    about: dict[str, Any] = {key: getattr(draft, key) for key in _TEXTS}
    about |= {"evidence": list(draft.evidence), "fields": list(draft.fields)}
    body = {"draft": {key: value for key, value in about.items() if value}, "record": memory.to_json(draft.record)}
    return (json.dumps(body, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def parse(name: str, data: bytes) -> Draft:
    """The draft in a file; BadRecord if there is none."""
    where = f"{paths.INBOX}/{name}.json"
    raw = memory.decode(data, where)
    about = raw.get("draft", {}) if isinstance(raw, dict) else None
    if not isinstance(about, dict) or not isinstance(raw.get("record"), dict):
        fix = f"correct it by hand; or throw it away: onrecord review --reject {quote(name)}"
        raise BadRecord(f"{where}: is not a draft", fix=fix)
    record = memory.parse(json.dumps(raw["record"]).encode("utf-8"), where)
    texts = {key: about[key] for key in _TEXTS if isinstance(about.get(key), str)}
    evidence, fields = _lines(about.get("evidence")), _lines(about.get("fields"))
    return Draft(name, record, evidence=evidence, fields=fields, hash=content_hash(data), **texts)


def _lines(value: object) -> tuple[str, ...]:
    return tuple(line for line in value if isinstance(line, str)) if isinstance(value, list) else ()


def draft_patch(draft: Draft, record: Memory) -> dict[str, Any]:
    """What a draft changes in a record: the fields it names, else all that differs where it revises the record.

    One that does neither only adds to it.
    """
    if not draft.revises and not draft.fields:
        return additions(record, draft.record)
    patch = _changes(record, draft.record)
    if not draft.fields:
        return patch
    content = {name: value for name, value in patch.pop("content", {}).items() if f"content.{name}" in draft.fields}
    chosen = {key: value for key, value in patch.items() if key in draft.fields}
    return {**chosen, "content": content} if content else chosen


def changed_fields(before: Memory, after: Memory) -> tuple[str, ...]:
    """The names of the fields that a change is about, those of the content as `content.decision`."""
    patch = _changes(before, after)
    content = patch.pop("content", {})
    return (*patch, *(f"content.{name}" for name in content))


def _changes(before: Memory, after: Memory) -> dict[str, Any]:
    patch = difference(memory.to_json(before), memory.to_json(after))
    return {key: value for key, value in patch.items() if key not in lifecycle.UNPATCHABLE}


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


def apply(raw: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object that such a patch leads to."""
    changed = dict(patch)
    if isinstance(changed.get("content"), dict):
        changed["content"] = apply(raw.get("content", {}), changed["content"])
    return {key: value for key, value in {**raw, **changed}.items() if changed.get(key, key) is not None}


def additions(record: Memory, draft: Memory) -> dict[str, Any]:
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

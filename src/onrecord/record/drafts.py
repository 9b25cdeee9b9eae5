"""Drafts: records that wait for review, their files in the inbox, and the changes that they propose to a record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from shlex import quote
from typing import Any

from onrecord import paths
from onrecord.coldstart import NamedTuple, content_hash
from onrecord.errors import BadRecord
from onrecord.record import lifecycle, memory
from onrecord.record.check import to_json
from onrecord.record.memory import Memory

_TEXTS = ("made_at", "session", "updates", "revises", "summary", "supersedes", "note")
_MISSING = object()


class Draft(NamedTuple):
    """A record that waits for review, with its evidence."""

    name: str
    record: Memory
    made_at: str = ""
    session: str = ""
    evidence: tuple[str, ...] = ()
    updates: str = ""
    """The id of the record that it would change; empty if it proposes a new record."""

    revises: str = ""
    """The hash of the version that it would replace of that record; empty if it only adds to the record."""

    fields: tuple[str, ...] = ()
    """The fields that it changes in that record, such as `title` or `content.decision`; empty if unknown."""

    summary: str = ""
    """A summary of the change and its reason, for the history of that record."""

    supersedes: str = ""
    """The id of the record that it would replace."""

    note: str = ""
    """What the reviewer should know: what of its source is not in it."""

    hash: str = ""
    """The hash of the file that it was read from; empty for a new draft."""

    @property
    def is_machine_made(self) -> bool:
        return self.record.origin == "tool"

    @property
    def replaces(self) -> str:
        """The ids of all records that it would replace: whoever decides on it must see them, however it names them."""
        return ", ".join(dict.fromkeys(filter(None, (self.supersedes, *self.record.supersedes))))


def render(draft: Draft) -> bytes:
    """Return the file of a draft."""
    about: dict[str, Any] = {key: getattr(draft, key) for key in _TEXTS}
    about |= {"evidence": list(draft.evidence), "fields": list(draft.fields)}
    body = {"draft": {key: value for key, value in about.items() if value}, "record": memory.to_json(draft.record)}
    return (json.dumps(body, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def parse(name: str, data: bytes) -> Draft:
    """Parse the file of a draft. Raises BadRecord."""
    where = f"{paths.INBOX}/{name}.json"
    raw = memory.decode(data, where)
    about = raw.get("draft", {}) if isinstance(raw, dict) else None
    if not isinstance(about, dict) or not isinstance(raw.get("record"), dict):
        fix = f"correct it by hand; or throw it away: onrecord review --reject {quote(name)}"
        raise BadRecord(f"{where}: is not a draft", fix=fix)
    # As it was written: with escapes, a record of half a megabyte in Japanese would be larger than any may be.
    record = memory.parse(json.dumps(raw["record"], ensure_ascii=False).encode("utf-8"), where)
    texts = {key: about[key] for key in _TEXTS if isinstance(about.get(key), str)}
    evidence, fields = _lines(about.get("evidence")), _lines(about.get("fields"))
    return Draft(name, record, evidence=evidence, fields=fields, hash=content_hash(data), **texts)


def _lines(value: object) -> tuple[str, ...]:
    return tuple(line for line in value if isinstance(line, str)) if isinstance(value, list) else ()


def draft_patch(draft: Draft, record: Memory) -> dict[str, Any]:
    """Return the patch that a draft makes to a record.

    It has the fields that `draft.fields` names. Without these, it has all differences if the draft revises the record,
    and only additions if not.
    """
    if not draft.revises and not draft.fields:
        return additions(record, draft.record)
    patch = _changes(record, draft.record)
    if not draft.fields:
        return patch
    content = {name: value for name, value in patch.pop("content", {}).items() if f"content.{name}" in draft.fields}
    fields = {key: value for key, value in patch.items() if key in draft.fields}
    return {**fields, "content": content} if content else fields


def changed_fields(before: Memory, after: Memory) -> tuple[str, ...]:
    """Return the names of the fields that differ, those of the content as `content.decision`."""
    patch = _changes(before, after)
    content = patch.pop("content", {})
    return (*patch, *(f"content.{name}" for name in content))


def _changes(before: Memory, after: Memory) -> dict[str, Any]:
    patch = difference(memory.to_json(before), memory.to_json(after))
    return {key: value for key, value in patch.items() if key not in lifecycle.UNPATCHABLE}


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch from one JSON object to another; null removes a key."""
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
    """Return the JSON object with a patch of `difference` applied."""
    changes = dict(patch)
    if isinstance(changes.get("content"), dict):
        changes["content"] = apply(raw.get("content", {}), changes["content"])
    return {key: value for key, value in {**raw, **changes}.items() if changes.get(key, key) is not None}


def additions(record: Memory, proposed: Memory) -> dict[str, Any]:
    """Return the patch that adds `proposed` to a record: texts are replaced, lists grow, the title stays."""
    content = {
        key: _grow(record.content.get(key), value)
        for key, value in proposed.content.items()
        if value != record.content.get(key) and proposed.category == record.category
    }
    patch: dict[str, Any] = {"content": content} if content else {}
    for field in ("tags", "related_files"):
        if set(getattr(proposed, field)) - set(getattr(record, field)):
            patch[field] = list(getattr(proposed, field))
    triggers = list(dict.fromkeys((*record.triggers, *proposed.triggers)))
    if triggers != list(record.triggers):
        patch["triggers"] = triggers
    new_checks = [check for check in proposed.checks if check not in record.checks]
    if new_checks:
        patch["checks"] = [to_json(check) for check in (*record.checks, *new_checks)]
    if proposed.source and not record.source:
        patch["source"] = proposed.source
    return patch


def _grow(value: Any, addition: Any) -> Any:
    if isinstance(value, list) and isinstance(addition, list):
        return [*value, *(item for item in addition if item not in value)]
    if isinstance(value, Mapping) and isinstance(addition, Mapping):
        return {**value, **{key: _grow(value.get(key), part) for key, part in addition.items()}}
    return addition

"""A draft: a record that waits for review, what it rests on, and how both lie in a file of the inbox."""

from __future__ import annotations

import json
from shlex import quote
from typing import Any

from onrecord import paths
from onrecord.coldstart import NamedTuple, digest
from onrecord.errors import BadRecord
from onrecord.record import memory
from onrecord.record.memory import Memory

_TEXTS = ("made_at", "session", "updates", "revises", "summary", "supersedes")


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
    return Draft(name, record, evidence=evidence, fields=fields, hash=digest(data), **texts)


def _lines(value: object) -> tuple[str, ...]:
    return tuple(line for line in value if isinstance(line, str)) if isinstance(value, list) else ()

"""A record: its type `Memory`, parsing from a file, and rendering to one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadRecord
from onrecord.record import check, schema
from onrecord.record.check import Check
from onrecord.record.schema import Flaw
from onrecord.scopes import Scope

MAX_FILE_BYTES = 1_000_000
_MAX_FLAWS = 20
MAX_DEPTH = 100
"""Levels of nesting in a record; every Python can read and write that many."""


class Anchor(NamedTuple):
    """The state of a file when a record about it was saved."""

    path: str = ""
    blob: str = ""
    hash: str = ""
    commit: str = ""
    symbol: str = ""
    block: str = ""
    date: str = ""
    unknown: Mapping[str, Any] = {}


class HistoryEntry(NamedTuple):
    """One line of a record's history."""

    date: str = ""
    summary: str = ""
    field: str = ""
    old: Any = None
    new: Any = None
    unknown: Mapping[str, Any] = {}


class Memory(NamedTuple):
    """A record: one thing that a project decided, learned or prefers. `content` has the fields of its category."""

    category: str
    id: str
    title: str
    content: Mapping[str, Any]
    schema_version: str = schema.SCHEMA_VERSION
    record_status: str = "active"
    created_at: str = ""
    updated_at: str = ""
    tags: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    related_files: tuple[str, ...] = ()
    scope: Scope = Scope()
    checks: tuple[Check, ...] = ()
    confidence: float | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    anchors: tuple[Anchor, ...] = ()
    origin: str = ""
    agent: str = ""
    host: str = ""
    source: str = ""
    changes: tuple[HistoryEntry, ...] = ()
    times_updated: int = 0
    retired_at: str = ""
    retired_reason: str = ""
    archived_at: str = ""
    archived_reason: str = ""
    unknown: Mapping[str, Any] = {}
    """Keys that this version does not know; they are written back unchanged."""

    flaws_in_file: tuple[str, ...] = ()
    """What is wrong with the file that it was read from; what was out of bounds there is not in the record."""

    @property
    def path(self) -> str:
        """Its path in the store."""
        return f"{schema.FOLDERS[self.category]}/{self.id}.json"

    def text(self, field: str) -> str:
        """Return a content field as text: lists are joined with "; ", and `a.b` is a field of an object."""
        value = self._value(field)
        return "; ".join(self.lines(field)) if isinstance(value, list) else str(value or "")

    def _value(self, field: str) -> Any:
        outer, dot, inner = field.partition(".")
        value = self.content.get(outer)
        return value if not dot else value.get(inner) if isinstance(value, dict) else None

    def lines(self, field: str) -> tuple[str, ...]:
        """Return a content field as lines."""
        value = self._value(field)
        if isinstance(value, list):
            return tuple(item for item in value if isinstance(item, str))
        return (str(value),) if value else ()


def parse(data: bytes, where: str = "record") -> Memory:
    """Parse a record file. Raises BadRecord."""
    raw = decode(data, where)
    flaws: list[Flaw] = []
    for flaw in schema.flaws(raw):
        if flaw.is_structural:
            raise BadRecord(f"{where}: {flaw}", fix=f"correct the file by hand, or move it out of the store: {where}")
        flaws.append(flaw)
    if not flaws:
        return from_json(raw)
    return from_json(schema.within(raw))._replace(flaws_in_file=tuple(map(str, flaws[:_MAX_FLAWS])))


def decode(data: bytes, where: str) -> Any:
    """Return the JSON value in a file. Raises BadRecord."""
    reason = ""
    value = None
    if len(data) > MAX_FILE_BYTES:
        reason = f"larger than {MAX_FILE_BYTES:,} bytes"
    else:
        try:
            # Not by the codec utf-8-sig: Python 3.13.0 cannot look up a codec in a working directory that was deleted.
            value = _loads(data.decode().removeprefix("\ufeff"))
        except UnicodeDecodeError as error:
            reason = f"not UTF-8 (byte {error.start})"
        except RecursionError:
            reason = "nested too deeply"
        except ValueError as error:
            if b"\n<<<<<<< " in b"\n" + data:
                fix = f"resolve the git conflict in {where}, delete its markers, then git add it"
                raise BadRecord(f"{where}: it has the markers of a git conflict", fix=fix) from error
            reason = f"not JSON ({error})"
        else:
            if b"\\ud" in data.lower() or data.count(b"[") + data.count(b"{") > MAX_DEPTH:
                reason = _storage_problem(value)
    if reason:
        raise BadRecord(f"{where}: {reason}", fix=f"restore it with git, or move it out of the store: {where}")
    return value


def from_json(raw: Mapping[str, Any]) -> Memory:
    """Return the record of a JSON object that has no structural flaw."""
    values: dict[str, Any] = {key: raw[key] for key in schema.KEYS if raw.get(key) is not None}
    for key in ("tags", "triggers", "related_files", "supersedes"):
        values[key] = tuple(values.get(key, ()))
    values["anchors"] = tuple(_part(Anchor, anchor) for anchor in values.get("anchors", ()))
    values["changes"] = tuple(_part(HistoryEntry, change) for change in values.get("changes", ()))
    values["scope"] = _part(Scope, values.get("scope", {}))
    values["checks"] = tuple(check.parse(part) for part in values.get("checks", ()))
    unknown = {key: value for key, value in raw.items() if key not in schema.KEYS}
    return Memory(**values, unknown=unknown)


def to_json(record: Memory) -> dict[str, Any]:
    """Return the JSON object of a record, keys in stable order, without empty optional fields."""
    values = record._asdict()
    values["scope"] = _filled(record.scope)
    values["checks"] = [check.to_json(part) for part in record.checks]
    values["anchors"] = [_filled(anchor) for anchor in record.anchors]
    values["changes"] = [_filled(change) for change in record.changes]
    body = {key: _plain(values[key]) for key in schema.KEYS if key in _REQUIRED or not _is_empty(values[key])}
    return {**body, **record.unknown}


def render(record: Memory) -> bytes:
    """Return the file of a record: UTF-8, two-space indent, stable key order, final newline."""
    return _encode(to_json(record))


def flaws(record: Memory) -> list[Flaw]:
    """Return the flaws that must be fixed before the record may be written."""
    return flaws_in(to_json(record))


def new_flaws(raw: object, *earlier: object) -> list[Flaw]:
    """Return the flaws of `raw` that no earlier version has: a change is not refused because of old flaws."""
    # The position in a list does not matter: entries of a history move up as it grows.
    old = {(without_positions(flaw.where), flaw.message) for before in earlier for flaw in flaws_in(before)}
    return [flaw for flaw in flaws_in(raw) if (without_positions(flaw.where), flaw.message) not in old]


def without_positions(where: str) -> str:
    """Return the path of a flaw without positions in lists: `changes.date` for `changes[3].date`."""
    return re.sub(r"\[[0-9]+\]", "", where)


def flaws_in(raw: object) -> list[Flaw]:
    """Return the flaws that must be fixed before a JSON object may be written as a record."""
    reason = _storage_problem(raw)
    if not reason and len(_encode(raw)) > MAX_FILE_BYTES:
        reason = f"larger than {MAX_FILE_BYTES:,} bytes"
    return [Flaw("record", reason, is_structural=True)] if reason else list(schema.flaws(raw))


_REQUIRED = frozenset(field.name for field in schema.RECORD if field.required)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, tuple, list, dict)) and not value)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _part(part_type: Any, raw: Mapping[str, Any]) -> Any:
    """Return an anchor, a change or a scope from its JSON object, with unknown keys in `unknown`."""
    fields = {key: value for key, value in raw.items() if key in part_type._fields and key != "unknown"}
    present = {
        key: tuple(v) if isinstance(v, list) and part_type is Scope else v for key, v in fields.items() if v is not None
    }
    return part_type(**present, unknown={key: value for key, value in raw.items() if key not in fields})


def _filled(record_part: Any) -> dict[str, Any]:
    values = record_part._asdict()
    unknown = values.pop("unknown")
    filled = {
        key: _plain(v) for key, v in values.items() if v is not None and (key in ("old", "new") or not _is_empty(v))
    }
    return {**filled, **unknown}


def _encode(raw: object) -> bytes:
    return (json.dumps(raw, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode("utf-8")


def _storage_problem(value: Any) -> str:
    """Return the reason why a value cannot be written as JSON and read again; empty if it can."""
    if _depth_exceeds(value, MAX_DEPTH):
        return "nested too deeply"
    try:
        _loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8").decode("utf-8"))
    except UnicodeEncodeError:
        return "contains half a surrogate pair, which no file can store"
    except (TypeError, ValueError) as error:
        return f"cannot be written as JSON ({error})"
    return ""


def _depth_exceeds(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [item for outer in level for item in _items(outer) if isinstance(item, (dict, list))]
        if not level:
            return False
    return True


def _items(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _loads(text: str) -> Any:
    return json.loads(text, parse_constant=_no_constant, parse_float=_finite, parse_int=_bounded)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:40]} is too large a number")
    return number


def _bounded(text: str) -> int:
    # A number of more than 64 bits overflows in SQLite, in floats, and in most other programs that read JSON.
    if len(text) > 20 or not -(2**63) <= int(text) < 2**63:
        raise ValueError(f"{text[:40]} is too large a number")
    return int(text)

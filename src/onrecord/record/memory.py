"""Memory: one thing a project decided, learned or prefers. Parsed from its file once, here, and rendered back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from onrecord.coldstart import NamedTuple
from onrecord.errors import BadRecord
from onrecord.record import schema
from onrecord.record.schema import Flaw
from onrecord.scopes import Scope

MAX_FILE_BYTES = 1_000_000
MAX_DEPTH = 100
"""How deeply a record may nest: every Python reads and writes that much."""


class Anchor(NamedTuple):
    """The state of a file when a memory about it was saved."""

    path: str = ""
    blob: str = ""
    hash: str = ""
    commit: str = ""
    symbol: str = ""
    block: str = ""
    date: str = ""
    unknown: Mapping[str, Any] = {}


class HistoryEntry(NamedTuple):
    """One line of a memory's history."""

    date: str = ""
    summary: str = ""
    field: str = ""
    old: Any = None
    new: Any = None
    unknown: Mapping[str, Any] = {}


class Memory(NamedTuple):
    """A record. `content` holds the fields of its category, as the schema describes them."""

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
    confidence: float | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    anchors: tuple[Anchor, ...] = ()
    origin: str = ""
    source: str = ""
    changes: tuple[HistoryEntry, ...] = ()
    times_updated: int = 0
    retired_at: str = ""
    retired_reason: str = ""
    archived_at: str = ""
    archived_reason: str = ""
    unknown: Mapping[str, Any] = {}
    """Keys this version does not know; they are written back as they were."""

    @property
    def path(self) -> str:
        """Where it belongs in its store."""
        return f"{schema.FOLDERS[self.category]}/{self.id}.json"

    @property
    def is_current(self) -> bool:
        """Whether it may be presented as what holds now."""
        return self.record_status == "active" and not self.superseded_by

    def text(self, field: str) -> str:
        """A content field as text: lists are joined with "; ", and `a.b` is a field of an object."""
        value = self._value(field)
        return "; ".join(self.lines(field)) if isinstance(value, list) else str(value or "")

    def _value(self, field: str) -> Any:
        outer, dot, inner = field.partition(".")
        value = self.content.get(outer)
        return value if not dot else value.get(inner) if isinstance(value, dict) else None

    def lines(self, field: str) -> tuple[str, ...]:
        """A content field as lines."""
        value = self._value(field)
        if isinstance(value, list):
            return tuple(item for item in value if isinstance(item, str))
        return (str(value),) if value else ()


def parse(data: bytes, where: str = "record") -> Memory:
    """The memory a file holds; BadRecord if it cannot be one."""
    raw = decode(data, where)
    flaw = next((flaw for flaw in schema.flaws(raw) if flaw.is_structural), None)
    if flaw:
        raise BadRecord(f"{where}: {flaw}", fix=f"correct the file by hand, or move it out of the store: {where}")
    return from_json(raw)


def decode(data: bytes, where: str) -> Any:
    """The JSON value in a file, or BadRecord saying why there is none."""
    reason = ""
    value = None
    if len(data) > MAX_FILE_BYTES:
        reason = f"larger than {MAX_FILE_BYTES:,} bytes"
    else:
        try:
            value = _loads(data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            reason = f"not UTF-8 (byte {error.start})"
        except RecursionError:
            reason = "nested too deeply"
        except ValueError as error:
            reason = f"not JSON ({error})"
        else:
            if b"\\ud" in data.lower() or data.count(b"[") + data.count(b"{") > MAX_DEPTH:
                reason = _obstacle(value)
    if reason:
        raise BadRecord(f"{where}: {reason}", fix=f"restore it with git, or move it out of the store: {where}")
    return value


def from_json(raw: Mapping[str, Any]) -> Memory:
    """A memory from a JSON object whose shape has been checked."""
    values: dict[str, Any] = {key: raw[key] for key in schema.KEYS if raw.get(key) is not None}
    for key in ("tags", "triggers", "related_files", "supersedes"):
        values[key] = tuple(values.get(key, ()))
    values["anchors"] = tuple(_part(Anchor, anchor) for anchor in values.get("anchors", ()))
    values["changes"] = tuple(_part(HistoryEntry, change) for change in values.get("changes", ()))
    values["scope"] = _part(Scope, values.get("scope", {}))
    unknown = {key: value for key, value in raw.items() if key not in schema.KEYS}
    return Memory(**values, unknown=unknown)


def to_json(memory: Memory) -> dict[str, Any]:
    """The JSON object of a memory, keys in their stable order, empty optional fields left out."""
    values = memory._asdict()
    values["scope"] = _filled(memory.scope)
    values["anchors"] = [_filled(anchor) for anchor in memory.anchors]
    values["changes"] = [_filled(change) for change in memory.changes]
    body = {key: _plain(values[key]) for key in schema.KEYS if key in _REQUIRED or not _is_empty(values[key])}
    return {**body, **memory.unknown}


def render(memory: Memory) -> bytes:
    """The file of a memory: UTF-8, two-space indent, stable key order, final newline."""
    return _written(to_json(memory))


def flaws(memory: Memory) -> list[Flaw]:
    """What would have to be fixed before this memory may be written."""
    return flaws_in(to_json(memory))


def new_flaws(raw: object, *earlier: object) -> list[Flaw]:
    """What is wrong with a JSON object and with no earlier version: older flaws are no reason to refuse a change."""
    # A flaw counts as the same wherever it stands in a list: a history moves up as it grows.
    old = {(without_positions(flaw.where), flaw.message) for before in earlier for flaw in flaws_in(before)}
    return [flaw for flaw in flaws_in(raw) if (without_positions(flaw.where), flaw.message) not in old]


def without_positions(where: str) -> str:
    """The place of a flaw without positions in lists: `changes.date` for `changes[3].date`."""
    return re.sub(r"\[[0-9]+\]", "", where)


def flaws_in(raw: object) -> list[Flaw]:
    """What would have to be fixed before a JSON object may be written as a record."""
    reason = _obstacle(raw)
    if not reason and len(_written(raw)) > MAX_FILE_BYTES:
        reason = f"larger than {MAX_FILE_BYTES:,} bytes"
    return [Flaw("record", reason, is_structural=True)] if reason else list(schema.flaws(raw))


_REQUIRED = frozenset(field.name for field in schema.RECORD if field.required)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, tuple, list, dict)) and not value)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _part(record: Any, raw: Mapping[str, Any]) -> Any:
    """An anchor, a change or a scope from its JSON object, keys it does not know kept aside."""
    fields = {key: value for key, value in raw.items() if key in record._fields and key != "unknown"}
    present = {
        key: tuple(v) if isinstance(v, list) and record is Scope else v for key, v in fields.items() if v is not None
    }
    return record(**present, unknown={key: value for key, value in raw.items() if key not in fields})


def _filled(record: Any) -> dict[str, Any]:
    values = record._asdict()
    unknown = values.pop("unknown")
    filled = {
        key: _plain(v) for key, v in values.items() if v is not None and (key in ("old", "new") or not _is_empty(v))
    }
    return {**filled, **unknown}


def _written(raw: object) -> bytes:
    return (json.dumps(raw, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode("utf-8")


def _obstacle(value: Any) -> str:
    """Why no file can carry a value, or no reader would take it; empty if there is no reason."""
    if _depth_exceeds(value, MAX_DEPTH):
        return "nested too deeply"
    try:
        _loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8").decode("utf-8"))
    except UnicodeEncodeError:
        return "holds half a surrogate pair, which no file can carry"
    except (TypeError, ValueError) as error:
        return f"cannot be written as JSON ({error})"
    return ""


def _depth_exceeds(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most):
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
    # What needs more than 64 bits overflows in SQLite, in floats, and in most other programs that read JSON.
    if len(text) > 20 or not -(2**63) <= int(text) < 2**63:
        raise ValueError(f"{text[:40]} is too large a number")
    return int(text)

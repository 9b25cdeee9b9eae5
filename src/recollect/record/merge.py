"""Two versions of one record merged over their common ancestor, field by field.

Lists of points are merged item by item; what grows only is united; what counts or dates is computed. Where both
sides changed the same thing differently, both versions stay in the text between git's markers, around that
field alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recollect.coldstart import NamedTuple
from recollect.errors import BadRecord
from recollect.record import memory, schema
from recollect.record.fields import ListOf
from recollect.record.lifecycle import MOST_TAGS, NEWEST_CHANGES

_ABSENT: Any = object()
_LIFECYCLE = ("record_status", "retired_at", "retired_reason", "archived_at", "archived_reason")
_IN_ORDER = frozenset(
    f"content.{field.name}"
    for category in schema.FOLDERS
    for field in schema.content_fields(category)
    if isinstance(field.kind, ListOf) and field.kind.in_order
)
"""Lists whose order is their meaning: two people's changes to one cannot be put together blindly."""

_MOST = {field.name: field.kind.most for field in schema.RECORD if isinstance(field.kind, ListOf)}


class Clash(NamedTuple):
    """A value that both sides changed, each in its own way."""

    ours: Any
    theirs: Any


class Merged(NamedTuple):
    """The merged file, and the fields in which both versions were left for a person to choose from."""

    data: bytes
    clashes: tuple[str, ...]


def merge(base: bytes, ours: bytes, theirs: bytes, marker_size: int = 7) -> Merged:
    """The merge of two versions of a record file; BadRecord if one of them is not a JSON object."""
    ancestor = _object(base, "the common ancestor") if base.strip() else {}
    merged = merge_objects(ancestor, _object(ours, "our version"), _object(theirs, "their version"))
    clashes: list[str] = []
    lines = ["{", *_members(merged, "", "  ", marker_size, clashes), "}", ""]
    return Merged("\n".join(lines).encode("utf-8"), tuple(clashes))


def merge_objects(base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """The merged record; a `Clash` stands where a person must choose."""
    merged: dict[str, Any] = {}
    for key in _keys(base, ours, theirs):
        values = tuple(side.get(key, _ABSENT) for side in (base, ours, theirs))
        merged[key] = _field(key, *values)
    merged.update(_lifecycle(base, ours, theirs))
    lost = _lost_tags(base, ours, theirs)
    if lost and isinstance(merged.get("changes"), list):
        summary = f"Tags are full: dropped {', '.join(lost)}"[:300]
        line = {"date": merged.get("updated_at"), "summary": summary, "field": "tags"}
        merged["changes"] = [*merged["changes"], line][-NEWEST_CHANGES:]
    return {key: merged[key] for key in _keys(merged) if merged[key] is not _ABSENT}


def _keys(*sides: Mapping[str, Any]) -> list[str]:
    """All keys: those of the schema in their order, then unknown ones as they come."""
    present = dict.fromkeys(key for side in sides for key in side)
    return [key for key in schema.KEYS if key in present] + [key for key in present if key not in schema.KEYS]


def _field(key: str, base: Any, ours: Any, theirs: Any) -> Any:
    if key in _COMPUTED and base not in (ours, theirs):
        empty, work_out = _COMPUTED[key]
        values = [empty if side is _ABSENT or side is None else side for side in (base, ours, theirs)]
        if all(_is_like(key, value, empty) for value in values):
            return work_out(*values)
    return _value(key, base, ours, theirs)


def _is_like(key: str, value: Any, empty: Any) -> bool:
    if type(value) is not type(empty):
        return False
    return not isinstance(value, list) or all(isinstance(item, _ITEMS[key]) for item in value)


def _value(where: str, base: Any, ours: Any, theirs: Any) -> Any:
    if theirs in (ours, base):
        return ours
    if ours == base:
        return theirs
    if isinstance(ours, dict) and isinstance(theirs, dict):
        below = base if isinstance(base, dict) else {}
        merged = {
            key: _value(f"{where}.{key}", *(side.get(key, _ABSENT) for side in (below, ours, theirs)))
            for key in dict.fromkeys((*below, *ours, *theirs))
        }
        return {key: value for key, value in merged.items() if value is not _ABSENT}
    if isinstance(ours, list) and isinstance(theirs, list) and where not in _IN_ORDER:
        return _list(where, base if isinstance(base, list) else [], ours, theirs)
    return Clash(ours, theirs)


def _list(where: str, base: Sequence[Any], ours: Sequence[Any], theirs: Sequence[Any]) -> Any:
    """Items added on either side, without those removed on either; a clash if both replaced the same item."""
    gone_here, gone_there = _without(base, ours), _without(base, theirs)
    new_here, new_there = _without(ours, base), _without(theirs, base)
    replaced_by_both = any(item in gone_there for item in gone_here) and (new_here or new_there)
    united = [item for item in ours if item not in gone_there] + _without(new_there, ours)
    if (replaced_by_both and new_here != new_there) or len(united) > _MOST.get(where, 200):
        return Clash(ours, theirs)
    return united


def _without(items: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    return [item for item in items if item not in others]


def _tags(base: list[str], ours: list[str], theirs: list[str]) -> list[str]:
    """The tags of both sides without those one of them removed, as many as a record may have."""
    return sorted(_ranked_tags(base, ours, theirs)[:MOST_TAGS])


def _ranked_tags(base: list[str], ours: list[str], theirs: list[str]) -> list[str]:
    """All tags that should stay, those that both sides have first."""
    gone = {*base} - ({*ours} & {*theirs})
    staying = ({*ours} | {*theirs}) - gone or {*ours, *theirs}
    return sorted(staying, key=lambda tag: (-((tag in ours) + (tag in theirs)), tag))


def _lost_tags(*sides: Mapping[str, Any]) -> list[str]:
    """The tags there was no room for."""
    base, ours, theirs = (side.get("tags", []) for side in sides)
    if base in (ours, theirs) or not all(_is_like("tags", tags, []) for tags in (base, ours, theirs)):
        return []
    return _ranked_tags(base, ours, theirs)[MOST_TAGS:]


def _anchors(base: list[Any], ours: list[Any], theirs: list[Any]) -> list[Any]:
    """One anchor for each place; where both sides renewed one, either will do: merged code fits neither."""
    was, here, there = ({(a.get("path"), a.get("symbol")): a for a in side} for side in (base, ours, theirs))
    merged = {}
    for place in dict.fromkeys((*here, *there)):
        value = _value("anchors[]", was.get(place), here.get(place), there.get(place))
        merged[place] = max(value, key=json.dumps) if isinstance(value, Clash) else value
    return [anchor for anchor in merged.values() if anchor is not None]


def _changes(base: list[Any], ours: list[Any], theirs: list[Any]) -> list[Any]:
    """Both histories as one, by date, the newest of them."""
    united = ours + _without(theirs, ours)
    return sorted(united, key=lambda change: str(change.get("date", "")))[-NEWEST_CHANGES:]


def _times(base: int, ours: int, theirs: int) -> int:
    return max(ours, theirs, ours + theirs - base)


def _lifecycle(base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Status, date and reason as one value: they mean something only together."""
    was, here, there = ({key: side[key] for key in _LIFECYCLE if key in side} for side in (base, ours, theirs))
    if there in (here, was):
        chosen = here
    elif here == was:
        chosen = there
    elif here.get("record_status") == there.get("record_status"):
        chosen = max(here, there, key=lambda side: [str(side.get(key, "")) for key in _LIFECYCLE])
    else:
        return {key: _choice(here, there, key) for key in _LIFECYCLE}
    return {key: chosen.get(key, _ABSENT) for key in _LIFECYCLE}


def _choice(here: Mapping[str, Any], there: Mapping[str, Any], key: str) -> Any:
    ours, theirs = here.get(key, _ABSENT), there.get(key, _ABSENT)
    return ours if ours == theirs else Clash(ours, theirs)


_COMPUTED: Mapping[str, tuple[Any, Callable[[Any, Any, Any], Any]]] = {
    "tags": ([], _tags),
    "anchors": ([], _anchors),
    "changes": ([], _changes),
    "times_updated": (0, _times),
    "created_at": ("", lambda base, ours, theirs: min(ours or theirs, theirs or ours)),
    "updated_at": ("", lambda base, ours, theirs: max(ours, theirs)),
}
"""Fields that are worked out, never a clash: what an absent one counts as, and how."""

_ITEMS = {"tags": str, "anchors": dict, "changes": dict}


def _object(data: bytes, where: str) -> dict[str, Any]:
    value = memory.decode(data, where)
    if not isinstance(value, dict):
        raise BadRecord(f"{where}: is not a JSON object", fix="merge it by hand")
    return value


def _members(record: Mapping[str, Any], where: str, indent: str, size: int, clashes: list[str]) -> list[str]:
    """The lines between the braces of an object, markers around what clashes."""
    lines: list[str] = []
    items = _without_loose_end(list(record.items()))
    for number, (key, value) in enumerate(items, 1):
        comma = "," if number < len(items) else ""
        if isinstance(value, Clash):
            clashes.append(where + key)
            lines += ["<" * size + " ours", *_member(key, value.ours, indent, comma), "=" * size]
            lines += [*_member(key, value.theirs, indent, comma), ">" * size + " theirs"]
        elif isinstance(value, dict) and _clashes_within(value):
            inner = _members(value, f"{where}{key}.", indent + "  ", size, clashes)
            lines += [f"{indent}{_json(key)}: {{", *inner, f"{indent}}}{comma}"]
        else:
            lines += _member(key, value, indent, comma)
    return lines


def _member(key: str, value: Any, indent: str, comma: str) -> list[str]:
    if value is _ABSENT:
        return []
    return [indent + line for line in f"{_json(key)}: {_json(value)}{comma}".split("\n")]


def _without_loose_end(items: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The members, none of which could leave a comma before the closing brace once its clash is settled."""
    loose = [(key, value) for key, value in items if isinstance(value, Clash) and _ABSENT in value]
    firm = [item for item in items if item not in loose]
    return firm[:-1] + loose + firm[-1:] if items[-1:] == loose[-1:] else items


def _clashes_within(value: Any) -> bool:
    return isinstance(value, Clash) or (isinstance(value, dict) and any(map(_clashes_within, value.values())))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)

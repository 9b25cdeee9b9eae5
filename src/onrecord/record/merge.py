"""The merge of two versions of a record over their common ancestor, field by field.

Lists are merged item by item; append-only lists keep the items of both sides; counters and dates are recomputed. If
both sides changed a field differently, or the merged record would not be valid, both versions of the field are written
between git's conflict markers. A merge without markers has the changes of both sides, and is valid if both sides are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from onrecord import timestamps
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadRecord
from onrecord.record import memory, schema
from onrecord.record.lifecycle import MAX_CHANGES, MAX_REASON_CHARACTERS
from onrecord.record.schema import Count, ListOf

_ABSENT: Any = object()
_DATES = ("retired_at", "archived_at")
_REASONS = ("retired_reason", "archived_reason")
_LIFECYCLE = ("record_status", *_DATES, *_REASONS)
_FILE_STATE = frozenset({"blob", "hash", "commit", "block", "date"})
_IN_ORDER = frozenset(
    f"content.{field.name}"
    for category in schema.FOLDERS
    for field in schema.content_fields(category)
    if isinstance(field.kind, ListOf) and field.kind.is_ordered
)
"""Lists whose order has a meaning: changes of two people to one of them cannot be merged."""


class Clash(NamedTuple):
    """A value that both sides changed differently."""

    ours: Any
    theirs: Any


class MergedFile(NamedTuple):
    """The merged file, and the fields with both versions, for a person to choose from."""

    data: bytes
    clashes: tuple[str, ...]


def merge(base_data: bytes, our_data: bytes, their_data: bytes, marker_size: int = 7) -> MergedFile:
    """Merge two versions of a record file. Raises BadRecord if they cannot be merged as records."""
    ancestor = _object(base_data, "the common ancestor") if base_data.strip() else {}
    merged = merge_objects(ancestor, _object(our_data, "our version"), _object(their_data, "their version"))
    clashes: list[str] = []
    lines = ["{", *_members(merged, "", "  ", marker_size, clashes), "}", ""]
    return MergedFile("\n".join(lines).encode("utf-8"), tuple(clashes))


def merge_objects(ancestor: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merged record, with a `Clash` where a person must choose. Raises BadRecord."""
    merged: dict[str, Any] = {}
    for key in _keys(ancestor, ours, theirs):
        merged[key] = _field(key, *(side.get(key, _ABSENT) for side in (ancestor, ours, theirs)))
    merged.update(_lifecycle(ancestor, ours, theirs))
    merged = {key: value for key, value in merged.items() if value is not _ABSENT}
    _clash_opposite_links(merged, ours, theirs)
    for side in (0, 1):
        for flaw in memory.new_flaws(resolve(merged, side), ours, theirs):
            if not _set_clash(merged, ours, theirs, memory.without_positions(flaw.where).split(".")):
                raise BadRecord(f"the two versions together are no valid record: {flaw}", fix="merge it by hand")
    if len(merged) > 1 and all(map(_is_loose, merged.values())):
        raise BadRecord("the two versions have nothing in common", fix="merge it by hand")
    return {key: merged[key] for key in _keys(merged)}


def resolve(value: Any, side: int) -> Any:
    """Return a merged value with one side of every clash: 0 is ours, 1 theirs."""
    if isinstance(value, Clash):
        return value[side]
    if not isinstance(value, dict):
        return value
    members = {key: resolve(inner, side) for key, inner in value.items()}
    return {key: inner for key, inner in members.items() if inner is not _ABSENT}


def _keys(*sides: Mapping[str, Any]) -> list[str]:
    """Return all keys: those of the schema in their order, then unknown ones."""
    present = dict.fromkeys(key for side in sides for key in side)
    return [key for key in schema.KEYS if key in present] + [key for key in present if key not in schema.KEYS]


def _field(key: str, ancestor: Any, ours: Any, theirs: Any) -> Any:
    if ours is theirs is _ABSENT:
        return _ABSENT
    if key in _COMPUTED and not _same(ancestor, ours) and not _same(ancestor, theirs):
        empty, compute = _COMPUTED[key]
        values = [empty if side is _ABSENT or side is None else side for side in (ancestor, ours, theirs)]
        if all(_is_like(key, value, empty) for value in values):
            return compute(*values)
    return _value(key, ancestor, ours, theirs)


def _is_like(key: str, value: Any, empty: Any) -> bool:
    if type(value) is not type(empty):
        return False
    return not isinstance(value, list) or all(isinstance(item, _ITEMS[key]) for item in value)


def _value(where: str, ancestor: Any, ours: Any, theirs: Any) -> Any:
    if _same(theirs, ours) or _same(theirs, ancestor):
        return ours
    if _same(ours, ancestor):
        return theirs
    if isinstance(ours, dict) and isinstance(theirs, dict):
        below = ancestor if isinstance(ancestor, dict) else {}
        merged = {
            key: _value(f"{where}.{key}", *(side.get(key, _ABSENT) for side in (below, ours, theirs)))
            for key in dict.fromkeys((*below, *ours, *theirs))
        }
        merged = {key: value for key, value in merged.items() if value is not _ABSENT}
        return Clash(ours, theirs) if len(merged) > 1 and all(map(_is_loose, merged.values())) else merged
    if isinstance(ours, list) and isinstance(theirs, list) and where not in _IN_ORDER:
        return _list(ancestor if isinstance(ancestor, list) else [], ours, theirs)
    return Clash(ours, theirs)


def _same(value: Any, other_value: Any) -> bool:
    """True if two values are the same JSON: for Python, true equals 1."""
    if type(value) is not type(other_value):
        return False
    if isinstance(value, dict):
        return value.keys() == other_value.keys() and all(_same(value[key], other_value[key]) for key in value)
    if isinstance(value, list):
        return len(value) == len(other_value) and all(map(_same, value, other_value))
    return bool(value == other_value)


def _list(ancestor: Any, ours: Any, theirs: Any) -> Any:
    """Return the items without those removed, with those added on either side; a clash if both replaced one item."""
    was, here, there = (_by_text(side) for side in (ancestor, ours, theirs))
    if len(was) < len(ancestor) or len(here) < len(ours) or len(there) < len(theirs):
        # An item that occurs twice cannot be followed from one version to the next.
        return Clash(ours, theirs)
    new_here, new_there = here.keys() - was, there.keys() - was
    if (was.keys() - here) & (was.keys() - there) and new_here != new_there:
        return Clash(ours, theirs)
    staying = [item for text, item in here.items() if text in there or text not in was]
    return staying + [item for text, item in there.items() if text in new_there and text not in here]


def _by_text(json_values: Iterable[Any]) -> dict[str, Any]:
    return {json.dumps(value, sort_keys=True): value for value in json_values}


def _tags(ancestor: Any, ours: Any, theirs: Any) -> list[str]:
    """Return the tags of both sides without those that one of them removed."""
    removed = {*ancestor} - ({*ours} & {*theirs})
    return sorted(({*ours} | {*theirs}) - removed or {*ours, *theirs})


def _anchors(ancestor: Any, ours: Any, theirs: Any) -> Any:
    """Return one anchor for each symbol; if both sides renewed it, the later one: neither fits the merged file."""
    was, here, there = (_by_symbol(side) for side in (ancestor, ours, theirs))
    if len(here) < len(ours) or len(there) < len(theirs):
        return _list(ancestor, ours, theirs)
    sides = (was, here, there)
    merged = [_anchor(*(side.get(key, _ABSENT) for side in sides)) for key in {**here, **there}]
    clashes = any(map(_has_clash, merged))
    return Clash(ours, theirs) if clashes else [anchor for anchor in merged if anchor is not _ABSENT]


def _by_symbol(anchors: Iterable[Any]) -> dict[str, Any]:
    return {json.dumps([anchor.get("path"), anchor.get("symbol")]): anchor for anchor in anchors}


def _anchor(ancestor: Any, ours: Any, theirs: Any) -> Any:
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return _value("anchors[]", ancestor, ours, theirs)
    below = ancestor if isinstance(ancestor, dict) else {}
    states = [{key: side[key] for key in side if key in _FILE_STATE} for side in (below, ours, theirs)]
    rest = [{key: side[key] for key in side if key not in _FILE_STATE} for side in (below, ours, theirs)]
    state = states[1] if _same(states[0], states[2]) else states[2]
    if not any(_same(states[0], other) for other in states[1:]):
        state = max(
            states[1:], key=lambda state: (*_in_time(str(state.get("date", ""))), json.dumps(state, sort_keys=True))
        )
    merged = _value("anchors[]", *rest)
    return {**merged, **state} if isinstance(merged, dict) else merged


def _changes(ancestor: Any, ours: Any, theirs: Any) -> list[Any]:
    """Return the newest entries of both histories, by date."""
    here = _by_text(ours)
    united = ours + [change for text, change in _by_text(theirs).items() if text not in here]
    return sorted(united, key=lambda change: _in_time(str(change.get("date", ""))))[-MAX_CHANGES:]


def _times(ancestor: Any, ours: Any, theirs: Any) -> Any:
    return max(ours, theirs, min(ours + theirs - ancestor, Count().maximum))


def _lifecycle(ancestor: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Merge status, date and reason as one value: they belong together."""
    was, here, there = ({key: side.get(key, _ABSENT) for key in _LIFECYCLE} for side in (ancestor, ours, theirs))
    if _same(there, here) or _same(there, was):
        return here
    if _same(here, was):
        return there
    if not _same(here["record_status"], there["record_status"]):
        return {key: here[key] if _same(here[key], there[key]) else Clash(here[key], there[key]) for key in _LIFECYCLE}
    dates = {key: _later(here[key], there[key]) for key in _DATES}
    reasons = {key: _both_reasons(was[key], here[key], there[key]) for key in _REASONS}
    return {"record_status": here["record_status"], **dates, **reasons}


def _later(ours: Any, theirs: Any) -> Any:
    dates = [date for date in (ours, theirs) if date is not _ABSENT]
    are_texts = bool(dates) and all(isinstance(date, str) for date in dates)
    return max(dates, key=_in_time) if are_texts else _value("", _ABSENT, ours, theirs)


def _in_time(moment: str) -> tuple[str, str]:
    """Return what sorts moments by time, and two spellings of one moment the same way on both sides."""
    return timestamps.order(moment), moment


def _both_reasons(ancestor: Any, ours: Any, theirs: Any) -> Any:
    merged = _value("", ancestor, ours, theirs)
    if isinstance(merged, Clash) and isinstance(ours, str) and isinstance(theirs, str):
        both = ours if theirs in ours else theirs if ours in theirs else "; ".join(sorted((ours, theirs)))
        return both if len(both) <= MAX_REASON_CHARACTERS else merged
    return merged


def _clash_opposite_links(merged: dict[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    """Set clashes if the merge would make two records replace each other: then neither would be current."""
    if not _links_back(merged) or _links_back(ours) or _links_back(theirs):
        return
    category = CATEGORIES.get(str(merged.get("category")))
    content = category.when_superseded if category else ()
    for where in (["superseded_by"], ["supersedes"], *(["content", key] for key in content)):
        _set_clash(merged, ours, theirs, where)


def _links_back(raw: Mapping[str, Any]) -> bool:
    """True if a record both replaces another record and is replaced by it."""
    old = raw.get("supersedes")
    return isinstance(old, list) and raw.get("superseded_by") in old


def _set_clash(
    merged: dict[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any], where: Sequence[str]
) -> bool:
    """Replace a merged field, or the object around it, by both versions. Return False if they are the same."""
    key, *below = where
    values = Clash(ours.get(key, _ABSENT), theirs.get(key, _ABSENT))
    if below and all(isinstance(value, dict) for value in (merged.get(key), *values)):
        inner = dict(merged[key])
        if _set_clash(inner, values.ours, values.theirs, below):
            merged[key] = inner
            return True
    if _same(values.ours, values.theirs):
        return False
    merged[key] = values
    return True


_COMPUTED: Mapping[str, tuple[Any, Callable[[Any, Any, Any], Any]]] = {
    "tags": ([], _tags),
    "anchors": ([], _anchors),
    "changes": ([], _changes),
    "times_updated": (0, _times),
    "created_at": ("", lambda ancestor, ours, theirs: min(ours or theirs, theirs or ours, key=_in_time)),
    "updated_at": ("", lambda ancestor, ours, theirs: max(ours, theirs, key=_in_time)),
}
"""Fields that are computed from both sides: the value if one is absent, and the function."""

_ITEMS = {"tags": str, "anchors": dict, "changes": dict}


def _object(data: bytes, where: str) -> dict[str, Any]:
    value = memory.decode(data, where)
    if not isinstance(value, dict):
        raise BadRecord(f"{where}: is not a JSON object", fix="merge it by hand")
    return value


def _members(raw: Mapping[str, Any], where: str, indent: str, size: int, clashes: list[str]) -> list[str]:
    """Return the lines between the braces of an object, with markers around clashes."""
    lines: list[str] = []
    items = _without_loose_end(list(raw.items()))
    for number, (key, value) in enumerate(items, 1):
        comma = "," if number < len(items) else ""
        if isinstance(value, Clash):
            clashes.append(where + key)
            lines += ["<" * size + " ours", *_member(key, value.ours, indent, comma), "=" * size]
            lines += [*_member(key, value.theirs, indent, comma), ">" * size + " theirs"]
        elif isinstance(value, dict) and _has_clash(value):
            inner = _members(value, f"{where}{key}.", indent + "  ", size, clashes)
            lines += [f"{indent}{_json(key)}: {{", *inner, f"{indent}}}{comma}"]
        else:
            lines += _member(key, value, indent, comma)
    return lines


def _member(key: str, value: Any, indent: str, comma: str) -> list[str]:
    if value is _ABSENT:
        return []
    return [indent + line for line in f"{_json(key)}: {_json(value)}{comma}".split("\n")]


def _without_loose_end(members: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return the members in an order in which no resolved clash leaves a comma before the closing brace."""
    loose = [member for member in members if _is_loose(member[1])]
    firm = [member for member in members if not _is_loose(member[1])]
    return firm[:-1] + loose + firm[-1:] if members and _is_loose(members[-1][1]) else members


def _is_loose(value: Any) -> bool:
    """True if a member may be absent once its clash is resolved."""
    return isinstance(value, Clash) and (value.ours is _ABSENT or value.theirs is _ABSENT)


def _has_clash(value: Any) -> bool:
    return isinstance(value, Clash) or (isinstance(value, dict) and any(map(_has_clash, value.values())))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)

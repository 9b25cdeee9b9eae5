"""Two versions of one record merged over their common ancestor, field by field.

Lists are merged item by item, append-only ones are unioned, counters and dates are recomputed. Where both sides changed
the same thing differently, and where the two together would be no valid record, both versions stay in the text between
git's markers, around that field alone. A merge without markers holds what both sides wrote, and is valid if they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

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
"""Lists whose order is their meaning: two people's changes to one cannot be put together blindly."""


class Clash(NamedTuple):
    """A value that both sides changed, each in its own way."""

    ours: Any
    theirs: Any


class MergedFile(NamedTuple):
    """The merged file, and the fields in which both versions were left for a person to choose from."""

    data: bytes
    clashes: tuple[str, ...]


def merge(base: bytes, ours: bytes, theirs: bytes, marker_size: int = 7) -> MergedFile:
    """The merge of two versions of a record file; BadRecord if they cannot be merged as records."""
    ancestor = _object(base, "the common ancestor") if base.strip() else {}
    merged = merge_objects(ancestor, _object(ours, "our version"), _object(theirs, "their version"))
    clashes: list[str] = []
    lines = ["{", *_members(merged, "", "  ", marker_size, clashes), "}", ""]
    return MergedFile("\n".join(lines).encode("utf-8"), tuple(clashes))


def merge_objects(base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """The merged record; a `Clash` stands where a person must choose."""
    merged: dict[str, Any] = {}
    for key in _keys(base, ours, theirs):
        merged[key] = _field(key, *(side.get(key, _ABSENT) for side in (base, ours, theirs)))
    merged.update(_lifecycle(base, ours, theirs))
    merged = {key: value for key, value in merged.items() if value is not _ABSENT}
    _part_opposite_links(merged, ours, theirs)
    for side in (0, 1):
        for flaw in memory.new_flaws(resolve(merged, side), ours, theirs):
            if not _set_clash(merged, ours, theirs, memory.without_positions(flaw.where).split(".")):
                raise BadRecord(f"the two versions together are no valid record: {flaw}", fix="merge it by hand")
    if len(merged) > 1 and all(map(_is_loose, merged.values())):
        raise BadRecord("the two versions have nothing in common", fix="merge it by hand")
    return {key: merged[key] for key in _keys(merged)}


def resolve(value: Any, side: int) -> Any:
    """A merged value after somebody chose one side of every clash."""
    if isinstance(value, Clash):
        return value[side]
    if not isinstance(value, dict):
        return value
    members = {key: resolve(inner, side) for key, inner in value.items()}
    return {key: inner for key, inner in members.items() if inner is not _ABSENT}


def _keys(*sides: Mapping[str, Any]) -> list[str]:
    """All keys: those of the schema in their order, then unknown ones as they come."""
    present = dict.fromkeys(key for side in sides for key in side)
    return [key for key in schema.KEYS if key in present] + [key for key in present if key not in schema.KEYS]


def _field(key: str, base: Any, ours: Any, theirs: Any) -> Any:
    if ours is theirs is _ABSENT:
        return _ABSENT
    if key in _COMPUTED and not _same(base, ours) and not _same(base, theirs):
        empty, compute = _COMPUTED[key]
        values = [empty if side is _ABSENT or side is None else side for side in (base, ours, theirs)]
        if all(_is_like(key, value, empty) for value in values):
            return compute(*values)
    return _value(key, base, ours, theirs)


def _is_like(key: str, value: Any, empty: Any) -> bool:
    if type(value) is not type(empty):
        return False
    return not isinstance(value, list) or all(isinstance(item, _ITEMS[key]) for item in value)


def _value(where: str, base: Any, ours: Any, theirs: Any) -> Any:
    if _same(theirs, ours) or _same(theirs, base):
        return ours
    if _same(ours, base):
        return theirs
    if isinstance(ours, dict) and isinstance(theirs, dict):
        below = base if isinstance(base, dict) else {}
        merged = {
            key: _value(f"{where}.{key}", *(side.get(key, _ABSENT) for side in (below, ours, theirs)))
            for key in dict.fromkeys((*below, *ours, *theirs))
        }
        merged = {key: value for key, value in merged.items() if value is not _ABSENT}
        return Clash(ours, theirs) if len(merged) > 1 and all(map(_is_loose, merged.values())) else merged
    if isinstance(ours, list) and isinstance(theirs, list) and where not in _IN_ORDER:
        return _list(base if isinstance(base, list) else [], ours, theirs)
    return Clash(ours, theirs)


def _same(left: Any, right: Any) -> bool:
    """Whether two values are the same JSON: to Python, true equals 1."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


def _list(base: Sequence[Any], ours: Sequence[Any], theirs: Sequence[Any]) -> Any:
    """Items added on either side, without those removed on either; a clash if both replaced the same item."""
    was, here, there = (_by_text(side) for side in (base, ours, theirs))
    if len(was) < len(base) or len(here) < len(ours) or len(there) < len(theirs):
        # An item that is listed twice cannot be followed from one version to the next.
        return Clash(ours, theirs)
    new_here, new_there = here.keys() - was, there.keys() - was
    if (was.keys() - here) & (was.keys() - there) and new_here != new_there:
        return Clash(ours, theirs)
    staying = [item for text, item in here.items() if text in there or text not in was]
    return staying + [item for text, item in there.items() if text in new_there and text not in here]


def _by_text(items: Iterable[Any]) -> dict[str, Any]:
    return {json.dumps(item, sort_keys=True): item for item in items}


def _tags(base: list[str], ours: list[str], theirs: list[str]) -> list[str]:
    """The tags of both sides without those one of them removed."""
    removed = {*base} - ({*ours} & {*theirs})
    return sorted(({*ours} | {*theirs}) - removed or {*ours, *theirs})


def _anchors(base: list[Any], ours: list[Any], theirs: list[Any]) -> Any:
    """One anchor for each place; where both sides renewed one, the later state: the merged file fits neither."""
    was, here, there = (_by_place(side) for side in (base, ours, theirs))
    if len(here) < len(ours) or len(there) < len(theirs):
        return _list(base, ours, theirs)
    merged = [_anchor(was.get(at, _ABSENT), here.get(at, _ABSENT), there.get(at, _ABSENT)) for at in {**here, **there}]
    return Clash(ours, theirs) if any(map(_has_clash, merged)) else [each for each in merged if each is not _ABSENT]


def _by_place(anchors: Iterable[Any]) -> dict[str, Any]:
    return {json.dumps([anchor.get("path"), anchor.get("symbol")]): anchor for anchor in anchors}


def _anchor(base: Any, ours: Any, theirs: Any) -> Any:
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return _value("anchors[]", base, ours, theirs)
    below = base if isinstance(base, dict) else {}
    states = [{key: side[key] for key in side if key in _FILE_STATE} for side in (below, ours, theirs)]
    rest = [{key: side[key] for key in side if key not in _FILE_STATE} for side in (below, ours, theirs)]
    state = states[1] if _same(states[0], states[2]) else states[2]
    if not any(_same(states[0], each) for each in states[1:]):
        state = max(states[1:], key=lambda each: (str(each.get("date", "")), json.dumps(each, sort_keys=True)))
    merged = _value("anchors[]", *rest)
    return {**merged, **state} if isinstance(merged, dict) else merged


def _changes(base: list[Any], ours: list[Any], theirs: list[Any]) -> list[Any]:
    """Both histories as one, by date, the newest of them."""
    here = _by_text(ours)
    united = ours + [change for text, change in _by_text(theirs).items() if text not in here]
    return sorted(united, key=lambda change: str(change.get("date", "")))[-MAX_CHANGES:]


def _times(base: int, ours: int, theirs: int) -> int:
    return max(ours, theirs, min(ours + theirs - base, Count().maximum))


def _lifecycle(base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Status, date and reason as one value: they mean something only together."""
    was, here, there = ({key: side.get(key, _ABSENT) for key in _LIFECYCLE} for side in (base, ours, theirs))
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
    return max(dates) if all(isinstance(date, str) for date in dates) and dates else _value("", _ABSENT, ours, theirs)


def _both_reasons(base: Any, ours: Any, theirs: Any) -> Any:
    merged = _value("", base, ours, theirs)
    if isinstance(merged, Clash) and isinstance(ours, str) and isinstance(theirs, str):
        both = ours if theirs in ours else theirs if ours in theirs else "; ".join(sorted((ours, theirs)))
        return both if len(both) <= MAX_REASON_CHARACTERS else merged
    return merged


def _part_opposite_links(merged: dict[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    """Leave it to a person where each side says that another record replaced the other: neither would be current."""
    if not _links_back(merged) or _links_back(ours) or _links_back(theirs):
        return
    category = CATEGORIES.get(str(merged.get("category")))
    content = category.when_superseded if category else ()
    for where in (["superseded_by"], ["supersedes"], *(["content", key] for key in content)):
        _set_clash(merged, ours, theirs, where)


def _links_back(record: Mapping[str, Any]) -> bool:
    """Whether a record says of one and the same other record that it replaces it and is replaced by it."""
    old = record.get("supersedes")
    return isinstance(old, list) and record.get("superseded_by") in old


def _set_clash(
    merged: dict[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any], where: Sequence[str]
) -> bool:
    """Put both versions of a field, or of what holds it, in place of the merged one; False if they are the same."""
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
    "created_at": ("", lambda base, ours, theirs: min(ours or theirs, theirs or ours)),
    "updated_at": ("", lambda base, ours, theirs: max(ours, theirs)),
}
"""Fields that are computed: what an absent one counts as, and how."""

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


def _without_loose_end(items: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The members, none of which could leave a comma before the closing brace once its clash is settled."""
    loose = [item for item in items if _is_loose(item[1])]
    firm = [item for item in items if not _is_loose(item[1])]
    return firm[:-1] + loose + firm[-1:] if items and _is_loose(items[-1][1]) else items


def _is_loose(value: Any) -> bool:
    """Whether a member may be gone once its clash is settled."""
    return isinstance(value, Clash) and (value.ours is _ABSENT or value.theirs is _ABSENT)


def _has_clash(value: Any) -> bool:
    return isinstance(value, Clash) or (isinstance(value, dict) and any(map(_has_clash, value.values())))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)

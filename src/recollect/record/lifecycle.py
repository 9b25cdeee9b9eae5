"""What happens to a record after it was saved: changed, retired, restored, archived, replaced, collected.

Pure: each function takes a memory and gives the one that should take its place. `writer` does it on a store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from recollect import categories, timestamps
from recollect.errors import BadInput, Invalid, WrongState
from recollect.record import memory, sanitize
from recollect.record.memory import HistoryEntry, Memory
from recollect.settings import Settings

NEWEST_CHANGES = 50
MOST_TAGS = 12
_LOG_LONGEST = 200
_KEPT = frozenset(
    "id category schema_version created_at updated_at changes times_updated record_status"
    " retired_at retired_reason archived_at archived_reason".split()
)


def noted(record: Memory, change: HistoryEntry) -> Memory:
    """The record with one more line of history."""
    changes = (*record.changes, change)[-NEWEST_CHANGES:]
    return record._replace(changes=changes, times_updated=record.times_updated + 1, updated_at=change.date)


def revised(
    record: Memory, patch: Mapping[str, Any], *, now: str, summary: str = "", may_shrink: bool = False
) -> Memory:
    """The record with a patch applied, each change logged: given fields replace, null removes.

    Tags and files only grow, unless whoever changes them had the whole list before their eyes.
    """
    refused = sorted(_KEPT.intersection(key for key in patch if patch[key] != memory.to_json(record).get(key)))
    if refused:
        raise Invalid(f"{refused[0]}: cannot be changed by an update", fix=_other_command(refused[0]))
    old = memory.to_json(record)
    given = {key: value for key, value in patch.items() if key not in _KEPT}
    new = {key: value for key, value in {**old, **given}.items() if given.get(key, key) is not None}
    new["content"] = _merged_content(record, patch)
    if isinstance(new.get("title"), str):
        new["title"] = sanitize.title(new["title"])
    lost: tuple[str, ...] = ()
    if "tags" in given:
        tags = sanitize.tags(_texts(given["tags"], "tags"))
        if not may_shrink:
            tags, lost = _grown_tags(record, tags)
        new["tags"] = list(tags)
    if "related_files" in given and not may_shrink:
        new["related_files"] = list(
            dict.fromkeys([*record.related_files, *_texts(patch["related_files"], "related_files")])
        )
    changed = memory.from_json(_sound(new, old))
    lines = list(_differences(old, memory.to_json(changed), now))
    if lost:
        lines.append(HistoryEntry(now, f"Tags are full: dropped {', '.join(lost)}", "tags"))
    if not lines:
        return record
    if summary:
        lines.insert(0, HistoryEntry(now, summary[:300]))
    changes = (*record.changes, *lines)[-NEWEST_CHANGES:]
    return changed._replace(changes=changes, times_updated=record.times_updated + 1, updated_at=now)


def retired(record: Memory, reason: str, now: str) -> Memory:
    _require(record, ("active", "archived"), "retire")
    change = HistoryEntry(now, f"Retired: {reason}"[:300], "record_status", record.record_status, "retired")
    kept = record._replace(archived_at="", archived_reason="")
    return noted(kept._replace(record_status="retired", retired_at=now, retired_reason=reason.strip()[:500]), change)


def restored(record: Memory, now: str) -> Memory:
    _require(record, ("retired",), "restore")
    change = HistoryEntry(now, "Restored", "record_status", "retired", "active")
    return noted(record._replace(record_status="active", retired_at="", retired_reason=""), change)


def archived(record: Memory, reason: str, now: str) -> Memory:
    _require(record, ("active",), "archive")
    change = HistoryEntry(now, f"Archived: {reason}"[:300], "record_status", "active", "archived")
    return noted(
        record._replace(record_status="archived", archived_at=now, archived_reason=reason.strip()[:500]), change
    )


def unarchived(record: Memory, now: str) -> Memory:
    _require(record, ("archived",), "unarchive")
    change = HistoryEntry(now, "Unarchived", "record_status", "archived", "active")
    return noted(record._replace(record_status="active", archived_at="", archived_reason=""), change)


def superseded(old: Memory, new: Memory, now: str) -> tuple[Memory, Memory]:
    """Both records with the link between them; the old one stays on file, but is no longer current."""
    if old.id == new.id:
        raise BadInput(f"{old.id} cannot supersede itself", fix="name the old record first and the new one second")
    if new.record_status != "active":
        raise WrongState(f"{new.id} is {new.record_status} and cannot replace {old.id}", fix=_way_back(new))
    if old.superseded_by and old.superseded_by != new.id:
        raise WrongState(
            f"{old.id} is superseded by {old.superseded_by} already",
            fix=f"recollect supersede {old.superseded_by} {new.id}",
        )
    content = {**old.content, **categories.BY_NAME[old.category].when_superseded}
    linked = old._replace(superseded_by=new.id, content=content)
    successor = new._replace(supersedes=tuple(dict.fromkeys((*new.supersedes, old.id))))
    return (
        noted(linked, HistoryEntry(now, f"Superseded by {new.id}", "superseded_by", None, new.id)),
        noted(successor, HistoryEntry(now, f"Supersedes {old.id}", "supersedes", None, old.id)),
    )


def past_retention(record: Memory, settings: Settings, now: str) -> bool:
    days = settings.retention_days(record.category)
    return bool(days) and _is_before(record.updated_at, timestamps.days_before(now, days))


def past_grace(record: Memory, days: float, now: str) -> bool:
    """Whether a retired record may be deleted; one whose dates cannot be read never is."""
    when = record.retired_at or record.updated_at
    return record.record_status == "retired" and _is_before(when, timestamps.days_before(now, days))


def _is_before(when: str, limit: str) -> bool:
    return timestamps.is_instant(when) and when < limit


def crowded_out(records: Iterable[Memory], category: str, most: int) -> list[Memory]:
    """The oldest active records of a category beyond its rolling window."""
    active = [record for record in records if record.record_status == "active" and record.category == category]
    return sorted(active, key=lambda record: (record.created_at, record.id), reverse=True)[most:]


def _require(record: Memory, statuses: tuple[str, ...], verb: str) -> None:
    if record.record_status not in statuses:
        raise WrongState(
            f"{record.id} is {record.record_status}; only {' or '.join(statuses)} records can be {verb}d",
            fix=_way_back(record),
        )


def _way_back(record: Memory) -> str:
    ways = {"retired": f"recollect restore {record.id}", "archived": f"recollect unarchive {record.id}"}
    return ways.get(record.record_status, f"recollect show {record.id}")


def _other_command(field: str) -> str:
    if field in ("record_status", "retired_at", "retired_reason", "archived_at", "archived_reason"):
        return "use recollect retire, restore, archive or unarchive"
    return "leave it out: it is kept by recollect itself"


def _merged_content(record: Memory, patch: Mapping[str, Any]) -> dict[str, Any]:
    given = patch.get("content", {})
    if not isinstance(given, Mapping):
        raise Invalid("content: must be an object", fix="give only the fields that change")
    merged = {**record.content, **given}
    return {key: value for key, value in merged.items() if value is not None or key not in given}


def _texts(value: Any, where: str) -> list[str]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise Invalid(f"{where}: must be a list of texts", fix=f'for example "{where}": ["…"]')
    return list(value)


def _grown_tags(record: Memory, added: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All tags, and those given up for want of room: first the ones the title says anyway, then the longest-winded."""
    old = sanitize.tags(list(record.tags))
    new = [tag for tag in added if tag not in old]
    said = record.title.lower()
    by_use = [*new, *sorted(old, key=lambda tag: (tag in said, len(tag), tag))]
    return tuple(sorted(by_use[:MOST_TAGS])), tuple(sorted(by_use[MOST_TAGS:]))


def _sound(raw: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    for flaw in memory.new_flaws(raw, before):
        raise Invalid(str(flaw), fix=f"correct {flaw.where} and try again; nothing was written")
    return raw


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], now: str) -> Iterable[HistoryEntry]:
    for prefix, before, after in (("", old, new), ("content.", old["content"], new["content"])):
        for key in dict.fromkeys((*before, *after)):
            if key in _KEPT or key == "content" or before.get(key) == after.get(key):
                continue
            verb = "Added" if key not in before else "Removed" if key not in after else "Changed"
            yield HistoryEntry(
                now, f"{verb} {prefix}{key}", prefix + key, _brief(before.get(key)), _brief(after.get(key))
            )


def _brief(value: Any) -> Any:
    """A value short enough for the log."""
    if isinstance(value, str) and len(value) > _LOG_LONGEST:
        return value[: _LOG_LONGEST - 1] + "…"
    if isinstance(value, (list, dict)) and len(str(value)) > _LOG_LONGEST:
        return str(value)[: _LOG_LONGEST - 1] + "…"
    return value

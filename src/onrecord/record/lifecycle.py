"""Changes to a saved record: revise, retire, restore, archive, supersede, share; and tests whether it may be deleted.

The functions write nothing: each takes a record and returns the changed one, and `store.writer` writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from shlex import quote
from typing import Any

from onrecord import timestamps
from onrecord.categories import CATEGORIES
from onrecord.errors import BadInput, Invalid, WrongState
from onrecord.record import compose, memory, naming, schema
from onrecord.record.memory import HistoryEntry, Memory
from onrecord.scopes import Scope
from onrecord.settings import Settings

MAX_CHANGES = schema.max_items("changes")
MAX_TAGS = schema.max_items("tags")
MAX_SUMMARY_CHARACTERS = 300
MAX_REASON_CHARACTERS = 500
_MAX_VALUE_CHARACTERS = 200
"""Characters of an old or new value in the history: enough to recognise it; git has the rest."""

UNPATCHABLE = frozenset(
    "id category schema_version created_at updated_at changes times_updated record_status"
    " retired_at retired_reason archived_at archived_reason origin agent host".split()
)
"""Fields that a patch may not change."""


def revise(
    record: Memory, patch: Mapping[str, Any], *, now: str, summary: str = "", may_shrink: bool = False
) -> Memory:
    """Return the record with a patch applied and its changes in the history. Raises Invalid.

    A field of the patch replaces the old one, and null removes it. Tags and files are only added, unless `may_shrink`,
    for a patch that has the complete lists.
    """
    old = memory.to_json(record)
    refused = sorted(key for key in UNPATCHABLE.intersection(patch) if patch[key] != old.get(key))
    if refused:
        raise Invalid(f"{refused[0]}: cannot be changed by an update", fix=_other_command(refused[0]))
    fields = {key: value for key, value in patch.items() if key not in UNPATCHABLE}
    new = {key: value for key, value in {**old, **fields}.items() if fields.get(key, key) is not None}
    new["content"] = _merge_content(record, patch)
    if isinstance(new.get("title"), str):
        new["title"] = naming.clean_title(new["title"])
    dropped = _set_tags(new, record, fields["tags"], may_shrink) if fields.get("tags") is not None else ()
    if "related_files" in fields and not may_shrink:
        files = _texts(fields["related_files"], "related_files")
        new["related_files"] = list(dict.fromkeys([*record.related_files, *files]))
    changed = memory.from_json(_valid(new, old))
    lines = list(_differences(old, memory.to_json(changed), now))
    if dropped:
        lines.append(HistoryEntry(now, f"Tags are full: dropped {', '.join(dropped)}", "tags"))
    if not lines:
        return record
    if summary:
        lines.insert(0, HistoryEntry(now, summary[:MAX_SUMMARY_CHARACTERS]))
    changes = (*record.changes, *lines)[-MAX_CHANGES:]
    return changed._replace(changes=changes, times_updated=record.times_updated + 1, updated_at=now)


def retire(record: Memory, reason: str, now: str) -> Memory:
    _require(record, ("active", "archived"), "retire")
    change = HistoryEntry(
        now, f"Retired: {reason}"[:MAX_SUMMARY_CHARACTERS], "record_status", record.record_status, "retired"
    )
    reason = reason.strip()[:MAX_REASON_CHARACTERS]
    in_use = record._replace(archived_at="", archived_reason="")
    return add_history(in_use._replace(record_status="retired", retired_at=now, retired_reason=reason), change)


def restore(record: Memory, now: str) -> Memory:
    _require(record, ("retired",), "restore")
    change = HistoryEntry(now, "Restored", "record_status", "retired", "active")
    return add_history(record._replace(record_status="active", retired_at="", retired_reason=""), change)


def archive(record: Memory, reason: str, now: str) -> Memory:
    _require(record, ("active",), "archive")
    change = HistoryEntry(now, f"Archived: {reason}"[:MAX_SUMMARY_CHARACTERS], "record_status", "active", "archived")
    reason = reason.strip()[:MAX_REASON_CHARACTERS]
    return add_history(record._replace(record_status="archived", archived_at=now, archived_reason=reason), change)


def unarchive(record: Memory, now: str) -> Memory:
    _require(record, ("archived",), "unarchive")
    change = HistoryEntry(now, "Unarchived", "record_status", "archived", "active")
    return add_history(record._replace(record_status="active", archived_at="", archived_reason=""), change)


def supersede(record: Memory, successor: Memory, now: str) -> tuple[Memory, Memory]:
    """Return a record and its successor, linked; the first is no longer current. Raises BadInput or WrongState."""
    record_id, new_id, status = record.id, successor.id, successor.record_status
    if record_id == new_id:
        raise BadInput(f"{record_id} cannot supersede itself", fix="name the old record first and the new one second")
    if status != "active":
        raise WrongState(f"{new_id} is {status} and cannot replace {record_id}", fix=fix_for_status(successor))
    if record.superseded_by and record.superseded_by != new_id:
        raise WrongState(
            f"{record_id} is superseded by {record.superseded_by} already",
            fix=f"onrecord supersede {quote(record.superseded_by)} {new_id}",
        )
    content = {**record.content, **CATEGORIES[record.category].when_superseded}
    linked = record._replace(superseded_by=new_id, content=content)
    change = HistoryEntry(now, f"Superseded by {new_id}", "superseded_by", None, new_id)
    return add_history(linked, change), add_supersedes(successor, record_id, now)


def add_supersedes(record: Memory, old_id: str, now: str) -> Memory:
    """Return a record that replaces the one with `old_id`."""
    successor = record._replace(supersedes=tuple(dict.fromkeys((*record.supersedes, old_id))))
    return add_history(successor, HistoryEntry(now, f"Supersedes {old_id}", "supersedes", None, old_id))


def shared_copy(record: Memory, *, scope: Scope, source: str, now: str) -> Memory:
    """Return the copy of a record for a shared store. Raises Invalid or SecretFound.

    It leaves out what applies to one machine or project: files, anchors and links, the history with older wordings, the
    session and the sentences that the record came from, and fields that this version does not know.
    """
    copy = Memory(
        category=record.category,
        id=record.id,
        title=record.title,
        content=record.content,
        created_at=record.created_at,
        updated_at=now,
        tags=record.tags,
        triggers=record.triggers,
        checks=record.checks,
        scope=scope,
        confidence=record.confidence,
        origin=record.origin,
        agent=record.agent,
        host=record.host,
        source=source,
        changes=(HistoryEntry(now, f"Shared from {source}" if source else "Shared"),),
    )
    return compose.check(memory.to_json(copy))


def require_shareable(record: Memory) -> None:
    """Raise WrongState for a record that is useless to others: not current, or about one session."""
    if CATEGORIES[record.category].max_active:
        raise WrongState(
            f"{record.id} sums up a session: it has prompts and file names of one machine",
            fix="save what others should know as a decision, a constraint or a runbook, and share that",
        )
    if record.superseded_by:
        raise WrongState(
            f"{record.id} is superseded by {record.superseded_by}", fix=f"onrecord show {record.superseded_by}"
        )
    if record.record_status != "active":
        raise WrongState(f"{record.id} is {record.record_status}", fix=fix_for_status(record))


def is_past_retention(record: Memory, settings: Settings, now: str) -> bool:
    days = settings.retention_days(record.category)
    return bool(days) and _is_before(record.updated_at, timestamps.days_before(now, days))


def is_past_grace(record: Memory, days: float, now: str) -> bool:
    """True if a retired record may be deleted; False if its dates cannot be read."""
    retired_at = record.retired_at or record.updated_at
    return record.record_status == "retired" and _is_before(retired_at, timestamps.days_before(now, days))


def over_limit(records: Iterable[Memory], category: str, limit: int) -> list[Memory]:
    """Return the oldest active records of `category` beyond its limit."""
    active = [record for record in records if record.record_status == "active" and record.category == category]
    return sorted(active, key=lambda record: (timestamps.order(record.created_at), record.id), reverse=True)[limit:]


def fix_for_status(record: Memory, otherwise: str = "") -> str:
    """Return the command that makes a record active again; `otherwise` for an active one."""
    ways = {"retired": f"onrecord restore {record.id}", "archived": f"onrecord unarchive {record.id}"}
    return ways.get(record.record_status, otherwise or f"onrecord show {record.id}")


def add_history(record: Memory, history_entry: HistoryEntry) -> Memory:
    """Return the record with one more line of history."""
    changes = (*record.changes, history_entry)[-MAX_CHANGES:]
    return record._replace(changes=changes, times_updated=record.times_updated + 1, updated_at=history_entry.date)


def _require(record: Memory, statuses: tuple[str, ...], verb: str) -> None:
    if record.record_status not in statuses:
        raise WrongState(
            f"{record.id} is {record.record_status}; only {' or '.join(statuses)} records can be {verb}d",
            fix=fix_for_status(record),
        )


def _is_before(moment: str, other: str) -> bool:
    return timestamps.is_instant(moment) and timestamps.order(moment) < timestamps.order(other)


def _merge_content(record: Memory, patch: Mapping[str, Any]) -> dict[str, Any]:
    changes = patch.get("content", {})
    if not isinstance(changes, Mapping):
        raise Invalid("content: must be an object", fix="give only the fields that change")
    merged = {**record.content, **changes}
    return {key: value for key, value in merged.items() if value is not None or key not in changes}


def _set_tags(target: dict[str, Any], record: Memory, tags: Any, may_shrink: bool) -> tuple[str, ...]:
    """Set the tags of `target` to those of a patch. Return the tags that were dropped over the limit.

    New tags are kept. Of the old ones, those that the title contains are dropped first, then the longest.
    """
    added = naming.clean_tags(_texts(tags, "tags"))
    old = () if may_shrink else naming.clean_tags(list(record.tags))
    title = record.title.lower()
    by_use = [*(tag for tag in added if tag not in old), *sorted(old, key=lambda tag: (tag in title, len(tag), tag))]
    limit = len(by_use) if may_shrink else MAX_TAGS
    target["tags"] = sorted(by_use[:limit])
    return tuple(sorted(by_use[limit:]))


def _texts(value: Any, where: str) -> list[str]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise Invalid(f"{where}: must be a list of texts", fix=f'for example "{where}": ["…"]')
    return list(value)


def _valid(raw: Mapping[str, Any], earlier: object) -> Mapping[str, Any]:
    flaws = memory.new_flaws(raw, earlier)
    if flaws:
        fix = f"correct {flaws[0].where} and try again; nothing was written"
        raise Invalid(str(flaws[0]), fix, tuple((flaw.where, flaw.message) for flaw in flaws))
    return raw


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], now: str) -> Iterable[HistoryEntry]:
    for prefix, before, after in (("", old, new), ("content.", old["content"], new["content"])):
        for key in dict.fromkeys((*before, *after)):
            if key in UNPATCHABLE or key == "content" or before.get(key) == after.get(key):
                continue
            verb = "Added" if key not in before else "Removed" if key not in after else "Changed"
            yield HistoryEntry(
                now, f"{verb} {prefix}{key}", prefix + key, brief(before.get(key)), brief(after.get(key))
            )


def is_cut(value: Any) -> bool:
    """True if a value of the history may have been cut."""
    return isinstance(value, str) and len(value) == _MAX_VALUE_CHARACTERS and value.endswith("…")


def brief(value: Any) -> Any:
    """Return a value cut for the history."""
    if isinstance(value, str) and len(value) > _MAX_VALUE_CHARACTERS:
        return value[: _MAX_VALUE_CHARACTERS - 1] + "…"
    if isinstance(value, (list, dict)) and len(str(value)) > _MAX_VALUE_CHARACTERS:
        return str(value)[: _MAX_VALUE_CHARACTERS - 1] + "…"
    return value


def _other_command(field: str) -> str:
    if field in ("record_status", "retired_at", "retired_reason", "archived_at", "archived_reason"):
        return "the commands retire, restore, archive and unarchive change it"
    return "leave it out: Onrecord keeps it itself"

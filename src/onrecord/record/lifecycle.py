"""What happens to a record after it was saved: changed, retired, restored, archived, replaced, collected.

Pure: each function takes a record and returns the record that should take its place. `store.writer` writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from shlex import quote
from typing import Any

from onrecord import categories, timestamps
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
_LOG_LONGEST = 200
"""Characters of an old or new value in the history: enough to recognise it by; git has the rest."""

UNPATCHABLE = frozenset(
    "id category schema_version created_at updated_at changes times_updated record_status"
    " retired_at retired_reason archived_at archived_reason".split()
)


def revise(
    record: Memory, patch: Mapping[str, Any], *, now: str, summary: str = "", may_shrink: bool = False
) -> Memory:
    """The record with a patch applied, each change logged: fields of the patch replace, null removes.

    Tags and files only grow, unless whoever changes them had the whole list before their eyes.
    """
    old = memory.to_json(record)
    refused = sorted(key for key in UNPATCHABLE.intersection(patch) if patch[key] != old.get(key))
    if refused:
        raise Invalid(f"{refused[0]}: cannot be changed by an update", fix=_other_command(refused[0]))
    fields = {key: value for key, value in patch.items() if key not in UNPATCHABLE}
    new = {key: value for key, value in {**old, **fields}.items() if fields.get(key, key) is not None}
    new["content"] = _merged_content(record, patch)
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


def supersede(old: Memory, new: Memory, now: str) -> tuple[Memory, Memory]:
    """Both records with the link between them; the old one stays on file, but is no longer current."""
    if old.id == new.id:
        raise BadInput(f"{old.id} cannot supersede itself", fix="name the old record first and the new one second")
    if new.record_status != "active":
        raise WrongState(f"{new.id} is {new.record_status} and cannot replace {old.id}", fix=fix_for_status(new))
    if old.superseded_by and old.superseded_by != new.id:
        raise WrongState(
            f"{old.id} is superseded by {old.superseded_by} already",
            fix=f"onrecord supersede {quote(old.superseded_by)} {new.id}",
        )
    content = {**old.content, **categories.CATEGORIES[old.category].when_superseded}
    linked = old._replace(superseded_by=new.id, content=content)
    return (
        add_history(linked, HistoryEntry(now, f"Superseded by {new.id}", "superseded_by", None, new.id)),
        add_supersedes(new, old.id, now),
    )


def add_supersedes(new: Memory, old_id: str, now: str) -> Memory:
    """A record that says it replaces another one."""
    successor = new._replace(supersedes=tuple(dict.fromkeys((*new.supersedes, old_id))))
    return add_history(successor, HistoryEntry(now, f"Supersedes {old_id}", "supersedes", None, old_id))


def shared_copy(record: Memory, *, scope: Scope, source: str, now: str) -> Memory:
    """The record as others get it; Invalid or SecretFound if it may not be written at all.

    Left out is what holds on one machine or in one project: files, anchors and links, the history with its older
    wordings, the session and the sentences that the record came from, and fields that this version does not know.
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
        scope=scope,
        confidence=record.confidence,
        origin=record.origin,
        source=source,
        changes=(HistoryEntry(now, f"Shared from {source}" if source else "Shared"),),
    )
    return compose.check(memory.to_json(copy))


def require_shareable(record: Memory) -> None:
    """WrongState for a record that others could not use: one that is no longer current, or is about one session."""
    if CATEGORIES[record.category].max_active:
        raise WrongState(
            f"{record.id} sums up a session: it holds prompts and file names of one machine",
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
    """Whether a retired record may be deleted; one whose dates cannot be read never is."""
    when = record.retired_at or record.updated_at
    return record.record_status == "retired" and _is_before(when, timestamps.days_before(now, days))


def over_limit(records: Iterable[Memory], category: str, most: int) -> list[Memory]:
    """The oldest active records of a category beyond its rolling window."""
    active = [record for record in records if record.record_status == "active" and record.category == category]
    return sorted(active, key=lambda record: (record.created_at, record.id), reverse=True)[most:]


def fix_for_status(record: Memory, otherwise: str = "") -> str:
    """The command that brings a record back into use; what else to do with one that is in use."""
    ways = {"retired": f"onrecord restore {record.id}", "archived": f"onrecord unarchive {record.id}"}
    return ways.get(record.record_status, otherwise or f"onrecord show {record.id}")


def add_history(record: Memory, change: HistoryEntry) -> Memory:
    """The record with one more line of history."""
    changes = (*record.changes, change)[-MAX_CHANGES:]
    return record._replace(changes=changes, times_updated=record.times_updated + 1, updated_at=change.date)


def _require(record: Memory, statuses: tuple[str, ...], verb: str) -> None:
    if record.record_status not in statuses:
        raise WrongState(
            f"{record.id} is {record.record_status}; only {' or '.join(statuses)} records can be {verb}d",
            fix=fix_for_status(record),
        )


def _is_before(when: str, limit: str) -> bool:
    return timestamps.is_instant(when) and when < limit


def _merged_content(record: Memory, patch: Mapping[str, Any]) -> dict[str, Any]:
    changes = patch.get("content", {})
    if not isinstance(changes, Mapping):
        raise Invalid("content: must be an object", fix="give only the fields that change")
    merged = {**record.content, **changes}
    return {key: value for key, value in merged.items() if value is not None or key not in changes}


def _set_tags(new: dict[str, Any], record: Memory, tags: Any, may_shrink: bool) -> tuple[str, ...]:
    """Put the tags of a patch in place; those that were dropped over the limit are returned.

    New tags stay. Of the old ones words of the title go first, then the longest.
    """
    added = naming.clean_tags(_texts(tags, "tags"))
    old = () if may_shrink else naming.clean_tags(list(record.tags))
    title = record.title.lower()
    by_use = [*(tag for tag in added if tag not in old), *sorted(old, key=lambda tag: (tag in title, len(tag), tag))]
    most = len(by_use) if may_shrink else MAX_TAGS
    new["tags"] = sorted(by_use[:most])
    return tuple(sorted(by_use[most:]))


def _texts(value: Any, where: str) -> list[str]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise Invalid(f"{where}: must be a list of texts", fix=f'for example "{where}": ["…"]')
    return list(value)


def _valid(raw: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    flaws = memory.new_flaws(raw, before)
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
                now, f"{verb} {prefix}{key}", prefix + key, _brief(before.get(key)), _brief(after.get(key))
            )


def _brief(value: Any) -> Any:
    """A value short enough for the log."""
    if isinstance(value, str) and len(value) > _LOG_LONGEST:
        return value[: _LOG_LONGEST - 1] + "…"
    if isinstance(value, (list, dict)) and len(str(value)) > _LOG_LONGEST:
        return str(value)[: _LOG_LONGEST - 1] + "…"
    return value


def _other_command(field: str) -> str:
    if field in ("record_status", "retired_at", "retired_reason", "archived_at", "archived_reason"):
        return "the commands retire, restore, archive and unarchive change it"
    return "leave it out: Onrecord keeps it itself"

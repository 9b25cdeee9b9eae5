"""The copy of a record that is shared with others: what is true beyond the project it comes from, and nothing more."""

from __future__ import annotations

from onrecord.categories import BY_NAME
from onrecord.errors import WrongState
from onrecord.record import compose, lifecycle, memory
from onrecord.record.memory import HistoryEntry, Memory, Scope


def refuse_unfit(record: Memory) -> None:
    """WrongState for a record that others could not use: one that is no longer current, or is about one session."""
    if BY_NAME[record.category].most_active:
        raise WrongState(
            f"{record.id} sums up a session: it holds prompts and file names of one machine",
            fix="save what others should know as a decision, a constraint or a runbook, and share that",
        )
    if record.superseded_by:
        raise WrongState(
            f"{record.id} is superseded by {record.superseded_by}", fix=f"onrecord show {record.superseded_by}"
        )
    if record.record_status != "active":
        raise WrongState(f"{record.id} is {record.record_status}", fix=lifecycle.way_back(record))


def of(record: Memory, *, scope: Scope, source: str, now: str) -> Memory:
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
    return compose.checked(memory.to_json(copy))

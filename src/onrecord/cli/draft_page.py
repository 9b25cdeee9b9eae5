"""A draft as a person reads it: the record, what it rests on, similar records, and what it would change."""

from __future__ import annotations

from collections.abc import Iterator

from onrecord.capture import review, similar
from onrecord.cli import field_diff
from onrecord.cli.output import Screen, clean
from onrecord.cli.show import page
from onrecord.errors import OnrecordError
from onrecord.record.drafts import Draft
from onrecord.store.inbox import BrokenDraft
from onrecord.store.store import Entry
from onrecord.store.writer import Writer


def of(writer: Writer, draft: Draft | BrokenDraft, screen: Screen) -> str:
    """All that somebody needs to decide on a draft."""
    if isinstance(draft, BrokenDraft):
        return f"cannot be read: {clean(draft.error.message)}"
    is_revision = bool(draft.revises) and writer.store.has(draft.updates)
    return "\n".join(_change(writer, draft, screen) if is_revision else _record(writer, draft, screen))


def _record(writer: Writer, draft: Draft, screen: Screen) -> Iterator[str]:
    # The quotations follow the page, and the source repeats them.
    record = draft.record._replace(source="") if draft.evidence else draft.record
    yield page(Entry(record, f"inbox/{draft.name}.json", ""), screen, status="draft")
    for quote in draft.evidence:
        yield f"{screen.paint('said', 'cyan')}: {clean(quote)}"
    if draft.is_machine_made:
        yield screen.paint("made by onrecord from the transcript, not by an agent", "yellow")
    for near in similar.find(writer.store, draft.record):
        word = "says nearly the same" if near.is_same else "similar"
        yield f"{screen.paint(word, 'yellow')}: {near.entry.path} ({clean(near.memory.title)})"
    if changes := difference(writer, draft, screen):
        yield f"changes {clean(draft.updates)}:"
        yield changes


def _change(writer: Writer, draft: Draft, screen: Screen) -> Iterator[str]:
    """Only what a draft changes in the record it revises."""
    entry = writer.store.get(draft.updates)
    yield f"a draft that changes {entry.path} ({clean(entry.memory.title)})"
    if entry.hash != draft.revises:
        yield screen.paint("the record was changed since: merge puts the draft into it, accept is refused", "yellow")
    if draft.summary:
        yield f"{screen.paint('why', 'cyan')}: {clean(draft.summary)}"
    yield difference(writer, draft, screen)


def difference(writer: Writer, draft: Draft, screen: Screen, into: str = "") -> str:
    """What a draft changes in the record that it updates, or is put into; empty if there is no such record."""
    target = into or draft.updates
    if not target or not writer.store.has(target):
        return ""
    try:
        before, after = review.preview(writer, draft, into)
    except OnrecordError as error:
        return f"cannot be applied: {clean(error.message)}"
    return field_diff.between(before, after, screen) or "The record says all of it already."

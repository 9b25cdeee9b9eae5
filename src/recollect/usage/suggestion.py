"""Suggestions for review: memories that those who were told them took back, or never had a use for."""

from __future__ import annotations

from typing import NamedTuple

from recollect.errors import RecollectError
from recollect.record.memory import Memory
from recollect.store.store import Store
from recollect.usage.counts import Counts, per_record


class Suggestion(NamedTuple):
    """A memory that wants a look: why, and the commands for it."""

    path: str
    id: str
    title: str
    kind: str
    """`contradicted` or `never-used`."""
    reason: str
    fix: str


def of(store_root: str, least: int = 5) -> list[Suggestion]:
    """What to look at, contradicted memories first, then by how often they were told in vain."""
    store = Store(store_root)
    found: list[tuple[int, Suggestion]] = []
    for path, counts in per_record(store_root).items():
        record = _current(store, path)
        one = _about(record, path, counts, least) if record else None
        if one:
            found.append((counts.contradicted * 1_000 + counts.ignored, one))
    return [one for _, one in sorted(found, key=lambda pair: (pair[1].kind, -pair[0], pair[1].path))]


def _current(store: Store, path: str) -> Memory | None:
    """The record, if it is there and in use; what is retired or replaced needs no suggestion."""
    try:
        record = store.read(path).memory
    except RecollectError:
        return None
    return record if record.is_current else None


def _about(record: Memory, path: str, counts: Counts, least: int) -> Suggestion | None:
    if counts.contradicted and counts.last_contradicted >= record.updated_at[:10]:
        times = f"{counts.contradicted} time{'' if counts.contradicted == 1 else 's'}"
        reason = f"contradicted {times}, last on {counts.last_contradicted}, and not changed since"
        fix = f"recollect update {record.id}, recollect supersede {record.id} NEW, or recollect retire {record.id}"
        return Suggestion(path, record.id, record.title, "contradicted", reason, fix)
    if counts.ignored >= least and not counts.used:
        reason = f"told {counts.injected} times, ignored {counts.ignored} times, never used"
        fix = f"recollect edit {record.id} (is it true, is it too general?), or recollect archive {record.id}"
        return Suggestion(path, record.id, record.title, "never-used", reason, fix)
    return None

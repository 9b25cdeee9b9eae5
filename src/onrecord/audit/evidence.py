"""What is known about records beside their text: whether their files changed, and how often agents used them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from onrecord.audit import record_freshness
from onrecord.audit.report import Evidence
from onrecord.freshness import anchors, check
from onrecord.store.store import Entry, Store
from onrecord.usage.counts import per_record

# Shown less often, a record had no fair chance to be used.
_SHOWN_OFTEN = 5


def of(store: Store, entries: Sequence[Entry], watch: Callable[[Iterable[Entry]], Iterable[Entry]] = iter) -> Evidence:
    """What the files and the usage of records say about them; `watch` may count the records as they go by."""
    uses = _uses(store, entries)
    if not anchors.root_of(store.root):
        return Evidence(uses=uses)
    states: dict[str, dict[str, str]] = {check.CHANGED: {}, check.MISSING: {}}
    current = [entry for entry in entries if entry.memory.is_current]
    for looked in record_freshness.check_all(store, watch(current)):
        for state, messages in states.items():
            changes = [check.sentence(each) for each in looked.verdicts if each.state == state]
            if changes:
                messages[looked.entry.memory.id] = "; ".join(changes[:3])
    return Evidence(changed=states[check.CHANGED], missing=states[check.MISSING], uses=uses)


def _uses(store: Store, entries: Sequence[Entry]) -> dict[str, int] | None:
    """How often each record was used that was shown often enough; None if there is no such record."""
    summary = per_record(store.root)
    counts = {entry.memory.id: summary.get(entry.path) for entry in entries}
    return {key: count.used for key, count in counts.items() if count and count.injected >= _SHOWN_OFTEN} or None

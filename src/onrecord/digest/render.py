"""How a digest reads: a line on the work, then records in the one format they have everywhere.

The same state gives the same bytes: the host leaves out a text that a resumed conversation has already.
"""

from __future__ import annotations

from onrecord import paths
from onrecord.coldstart import NamedTuple
from onrecord.recall.context_block import Item
from onrecord.text import cut, fence, many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.digest.digest import Digest
    from onrecord.digest.selection import Pick
    from onrecord.digest.work_context import WorkContext

_ATTRIBUTES = {"source": paths.PROJECT_PREFIX, "kind": "digest"}


class Page(NamedTuple):
    """The text of a digest, and the entries in it."""

    text: str
    shown: list[Pick]


def render(digest: Digest) -> Page:
    """The page: as many entries as have room, each in full; an empty text if there is none."""
    shown: list[Pick] = []
    text = ""
    for pick in digest.picks:
        page = _text(digest.context, [*shown, pick])
        if len(page) <= digest.longest:
            shown.append(pick)
            text = page
    return Page(text, shown)


def _text(context: WorkContext, shown: list[Pick]) -> str:
    return fence(_ATTRIBUTES, [_opening(context), *(_item(pick).render() for pick in shown)])


def _opening(context: WorkContext) -> str:
    parts = []
    if context.feature:
        phase = f" (last completed phase: {cut(context.feature.phase, 60)})" if context.feature.phase else ""
        parts.append(f"feature {cut(context.feature.slug, 100)}{phase}")
    if context.branch:
        parts.append(f"branch {cut(context.branch, 100)}")
    work = f" for {', '.join(parts)}" if parts else ""
    count = len(context.files)
    changed = f" ({many(count, 'changed file')})" if count else ""
    return f"Project memory{work}{changed}:"


def _item(pick: Pick) -> Item:
    entry = pick.candidate
    # What a bank observed last may be a number, or its place in the file: only a date says when.
    is_dated = entry.updated[:4].isdigit() and entry.updated[:4] != "0000"
    # The agent is told why only where that is news to it: there is something to go on with, or something presses.
    reason = pick.reason if entry.urgency else ""
    note = "; ".join(part for part in (reason, pick.caution) if part)
    return Item(
        entry.category,
        entry.text,
        entry.path,
        updated=entry.updated if is_dated else "",
        note=note,
        source=entry.shared,
    )

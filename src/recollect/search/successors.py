"""From a superseded record to the one that holds in its place."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.search.index import Index, Row


def heads(index: Index, rows: Sequence[Row]) -> dict[int, Row | None]:
    """For each record the one that holds: itself, or the end of its chain; None where the chain leads nowhere."""
    replaced = index.replaced([row.id for row in rows])
    return {row.n: _head(index, row) if row.id in replaced else row for row in rows}


def _head(index: Index, row: Row) -> Row | None:
    here, seen = row, {row.id}
    while True:
        heirs = index.replaced([here.id]).get(here.id)
        if not heirs:
            return here
        found = _newest(index, heirs)
        if found is None:
            return None
        if found.id in seen:
            return _newest(index, sorted(seen))
        here = found
        seen.add(found.id)


def _newest(index: Index, ids: Sequence[str]) -> Row | None:
    """Of several heirs, or of records that replace each other in a circle, the one in use that was written last."""
    rows = [row for one in ids for row in index.rows("WHERE id = ? AND status <> 'broken'", (one,))]
    return max(rows, key=lambda row: (row.status == "active", row.updated_at, row.path), default=None)

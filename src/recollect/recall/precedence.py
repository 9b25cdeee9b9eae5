"""Which records of a store are hidden by a store before it: first the project's, then the user's.

A record hides those of the same id in the stores after its own, and those that it says it replaces. In `supersedes`, a
record of a shared store is called `platform:use-uv`. One that does not apply here hides nothing here.
"""

from __future__ import annotations

from recollect import paths
from recollect.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from recollect.search.index import Index

_AT_ONCE = 400
"""Names in one question: the oldest SQLite takes 999 values."""

_SAME = "SELECT id, scope FROM record WHERE status = 'active' AND id IN ({})"
_REPLACED = "SELECT old, scope FROM succession JOIN record USING (n) WHERE old IN ({}) AND status = 'active'"


class Higher(NamedTuple):
    """A store before another one, and what tells whether a record of it with a scope applies here; None if all do."""

    opened: Index
    fits: Callable[[str], bool] | None


def hidden(ids: Collection[str], source: str, higher: Iterable[Higher]) -> set[str]:
    """Those of some ids of a store that a record in one of the stores before it hides."""
    qualified = {f"{source}{each}": each for each in ids} if paths.is_shared(source) else {}
    names = [*ids, *qualified]
    hiding = {name for store in higher for name in _named(store, names)}
    return {qualified.get(name, name) for name in hiding}


def _named(store: Higher, names: list[str]) -> set[str]:
    hiding: set[str] = set()
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        marks = ",".join("?" * len(some))
        for question in (_SAME, _REPLACED):
            rows = store.opened.connection.execute(question.format(marks), some)
            hiding.update(str(name) for name, scope in rows if not scope or not store.fits or store.fits(scope))
    return hiding

"""Which records of a store are hidden by a store before it: by the project's, or by the user's own.

A record hides those of the same id in the stores after its own, and those that it says it replaces. In `supersedes`, a
record of a shared store is called `platform:use-uv`. One that does not apply here hides nothing here, nor does one that
has expired hide what it does not replace. A shared store hides nothing: one team could silence another.
"""

from __future__ import annotations

from onrecord import paths
from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from onrecord.search.index import Index

_AT_ONCE = 400
"""Names in one question: the oldest SQLite takes 999 values."""

_SAME = """
    SELECT id, path, scope FROM record
    WHERE id IN ({}) AND status = 'active' AND (expires = '' OR substr(expires, 1, 10) >= date('now'))
"""
_REPLACED = "SELECT old, path, scope FROM succession JOIN record USING (n) WHERE old IN ({}) AND status = 'active'"


class Higher(NamedTuple):
    """A store before another one, and what tells whether a record of it with a scope applies here; None if all do."""

    opened: Index
    source: str
    fits: Callable[[str], bool] | None


def hidden(ids: Collection[str], source: str, higher: Iterable[Higher]) -> dict[str, str]:
    """For those of some ids of a store that a record in one of the stores before it hides, the path of that record."""
    qualified = {f"{source}{each}": each for each in ids} if paths.is_shared(source) else {}
    names = [*ids, *qualified]
    hiding: dict[str, str] = {}
    for store in higher:
        for name, path in _named(store, names).items():
            hiding.setdefault(qualified.get(name, name), store.source + path)
    return hiding


def _named(store: Higher, names: list[str]) -> dict[str, str]:
    hiding: dict[str, str] = {}
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        marks = ",".join("?" * len(some))
        for question in (_SAME, _REPLACED):
            rows = store.opened.connection.execute(question.format(marks), some)
            applying = (row for row in rows if not row[2] or not store.fits or store.fits(row[2]))
            hiding.update((str(name), str(path)) for name, path, _ in applying)
    return hiding

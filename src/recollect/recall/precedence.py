"""Which records of a store are hidden by a store before it: first the project's, then the user's.

A record hides those of the same id in the stores after its own, and those that it says it replaces. In `supersedes`, a
record of a shared store is called `platform:use-uv`.
"""

from __future__ import annotations

from recollect import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from recollect.search.index import Index

_AT_ONCE = 400
"""Names in one question: the oldest SQLite takes 999 values."""

_SAME = "SELECT id FROM record WHERE status = 'active' AND id IN ({})"
_REPLACED = "SELECT old FROM succession WHERE old IN ({}) AND n IN (SELECT n FROM record WHERE status = 'active')"


def hidden(ids: Collection[str], source: str, higher: Iterable[Index]) -> set[str]:
    """Those of some ids of a store that a record in one of the stores before it hides."""
    qualified = {f"{source}{each}": each for each in ids} if paths.is_shared(source) else {}
    names = [*ids, *qualified]
    hiding = {name for index in higher for name in _named(index, names)}
    return {qualified.get(name, name) for name in hiding}


def _named(index: Index, names: list[str]) -> set[str]:
    hiding: set[str] = set()
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        marks = ",".join("?" * len(some))
        for question in (_SAME, _REPLACED):
            hiding.update(str(name) for (name,) in index.connection.execute(question.format(marks), some))
    return hiding

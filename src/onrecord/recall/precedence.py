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
    for name, path, scope in store.opened.records_hiding(names):
        if not scope or not store.fits or store.fits(scope):
            hiding[name] = path
    return hiding

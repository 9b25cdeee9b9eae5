"""The stores in play: searched in turn, each within its share of the time, without what a store before it hides.

A record of the project's or the user's store hides those of the same id in the stores after its own, and those that it
says it replaces. In `supersedes`, a record of a shared store is called `platform:use-uv`. One that does not apply here
hides nothing here, nor does one that has expired hide what it does not replace. A shared store hides nothing: one team
could silence another.
"""

from __future__ import annotations

from onrecord import budget, paths
from onrecord.coldstart import NamedTuple
from onrecord.recall.candidate import Candidate
from onrecord.search import index, indexing, rank
from onrecord.search.candidates import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import TypeVar

    from onrecord.paths import StorePlace
    from onrecord.recall.scope import Here
    from onrecord.search.index import Index
    from onrecord.search.query import Query
    from onrecord.search.rank import Match
    from onrecord.settings import Settings

    Result = TypeVar("Result")


class HigherStore(NamedTuple):
    """A store before another one, which may hide records of it."""

    search_index: Index
    source: str
    fits: Callable[[str], bool] | None
    """True for the scope of a record that applies here; None if all records do."""


def hidden(ids: Collection[str], source: str, higher: Iterable[HigherStore]) -> dict[str, str]:
    """Return those of `ids` of the store `source` that are hidden, each with the path of the record that hides it."""
    qualified = {f"{source}{record_id}": record_id for record_id in ids} if paths.is_shared(source) else {}
    names = [*ids, *qualified]
    hiding: dict[str, str] = {}
    for store in higher:
        for name, path in _hidden_by(store, names).items():
            hiding.setdefault(qualified.get(name, name), store.source + path)
    return hiding


def _hidden_by(store: HigherStore, names: list[str]) -> dict[str, str]:
    rows = store.search_index.records_hiding(names)
    return {name: path for name, path, scope in rows if not scope or not store.fits or store.fits(scope)}


class SearchedStore:
    """One of the stores in play, in its turn to be searched."""

    __slots__ = ("_before", "_share", "_stores", "hides_others", "index", "place")

    def __init__(self, stores: Stores, place: StorePlace, before: Sequence[HigherStore], share: float | None) -> None:
        self._stores = stores
        self._before = before
        self._share = share
        """Seconds that a search of it may take; None for all there are."""
        self.place = place
        self.index: Index | None = None
        """Its index, once it is open."""
        self.hides_others = False
        """True once it is known which records of the stores after it this one hides."""

    @property
    def fits(self) -> Callable[[str], bool] | None:
        """True for the scope of a record that applies here; None if all records do."""
        return self._stores.fits(self.place)

    def attempt(self, search: Callable[..., list[Result]], *args: object) -> list[Result]:
        """Return `search(self, *args)`, or nothing if it fails or takes longer than the store's share of the time."""
        if self._share is None:
            return search(self, *args)
        nothing: list[Result] = []
        return budget.attempt(f"search {self.place.root}", nothing, search, self, *args, seconds=self._share)

    def open(self) -> Index:
        """Open its index, which `Stores.in_turn` closes."""
        self.index = self._stores.open(self.place.root)
        self.hides_others = self._stores.may_hide(self.place, self.index)
        return self.index

    def visible(self, matches: Iterable[Match]) -> list[Candidate]:
        """Return the matches that no store before this one hides, as candidates."""
        candidates = [Candidate(match, self.place.source) for match in matches]
        ids = hidden([candidate.match.id for candidate in candidates], self.place.source, self._before)
        return [candidate for candidate in candidates if candidate.match.id not in ids]


class Stores:
    """The stores in play, in the order of their precedence."""

    def __init__(
        self,
        places: Sequence[StorePlace],
        project: str = "",
        *,
        hook: bool = True,
        only: str = "",
        is_scoped: bool = True,
    ) -> None:
        """With `only`, the source of one of them, the others are read for nothing but what they hide of it.

        Without `is_scoped`, records that apply elsewhere are searched, too.
        """
        self.places = list(places)
        self._only = only
        self._is_scoped = is_scoped
        self._project = project
        self._here: Here | None = None
        self._hook = hook
        self.has_words = True
        """True if all indexes that were searched have full-text tables; without them the keyword scorer is used."""

    @property
    def here(self) -> Here:
        """The project, to compare scopes with; made when the first record has one."""
        if self._here is None:
            from onrecord.recall.scope import Here

            self._here = Here(self._project)
        return self._here

    def fits(self, place: StorePlace) -> Callable[[str], bool] | None:
        """Return the test whether a record's scope applies here; None if all records of the store do."""
        return None if place.source == paths.PROJECT_SOURCE or not self._is_scoped else self._applies

    def _applies(self, scope: str) -> bool:
        return self.here.fits(scope)

    def in_turn(self, *, is_last: bool = True) -> Iterator[SearchedStore]:
        """Yield the stores to search, in order, each with its share of the time.

        The last one may take all the time there is, unless something follows (`is_last` is false).
        """
        before: list[HigherStore] = []
        opened: list[Index] = []
        for number, place in enumerate(self.places):
            # As much for each store as will be left for those after it, and for what follows.
            parts = len(self.places) - number + (0 if is_last else 1)
            share = None if len(self.places) == parts == 1 else budget.remaining() / parts
            store = SearchedStore(self, place, tuple(before), share)
            if self._only and place.source != self._only:
                store.attempt(_open)
            else:
                yield store
            if store.index:
                opened.append(store.index)
            if store.index and store.hides_others:
                before.append(HigherStore(store.index, place.source, store.fits))
            elif not paths.is_shared(place.source):
                # It cannot tell which records of the others it replaces: none of them may be shown as current.
                break
        for each in opened:
            self.close(each)

    def may_hide(self, place: StorePlace, index: Index) -> bool:
        """True if a store may hide records of those after it, and all of its records are known."""
        if paths.is_shared(place.source) or place == self.places[-1]:
            return False
        return not self._hook or indexing.is_complete(index)

    def search(
        self, query: Query, filter: Filter, limit: int, *, min_probability: float = 0.0, is_last: bool = True
    ) -> list[Candidate]:
        """Return the candidates for `query` from all stores, best first within each."""
        candidates: list[Candidate] = []
        for store in self.in_turn(is_last=is_last):
            candidates += store.attempt(_search, query, filter, limit, min_probability)
        return distinct(candidates)

    def have_no_match(self, query: Query, settings: Settings) -> bool:
        """True if there are records, and not even a retired one matches `query`."""
        if not query.terms:
            return False
        records = 0
        for place in self.places:
            count = budget.attempt(f"search {place.root}", None, self._count_without_match, place, query, settings)
            if count is None:
                return False
            records += count
        return records > 0

    def _count_without_match(self, place: StorePlace, query: Query, settings: Settings) -> int | None:
        """Return the number of records of a store if none matches; None if one does, or not all could be searched."""
        index = self.open(place.root)
        filter = Filter(include_retired=True, settings=settings, fits=self.fits(place))
        matches = rank.find(index, query, filter, limit=1)
        count = index.totals()[0] if not matches and indexing.is_complete(index) else None
        self.close(index)
        return count

    def hidden(self, source: str, ids: Sequence[str]) -> dict[str, str]:
        """Return those of `ids` of the store `source` that are hidden here, each with the path that hides it."""
        own = [place for place in self.places if not paths.is_shared(place.source)]
        before = own[: next((at for at, place in enumerate(own) if place.source == source), len(own))]
        higher = [HigherStore(self.open(place.root), place.source, self.fits(place)) for place in before]
        ids_hidden = hidden(ids, source, higher)
        for store in higher:
            self.close(store.search_index)
        return ids_hidden

    def open(self, root: str) -> Index:
        """Return the open index of the store at `root`."""
        opened = index.open(root, hook=self._hook)
        self.has_words = self.has_words and opened.has_words
        return opened

    def close(self, index: Index) -> None:
        index.close()


def _open(store: SearchedStore) -> list[Candidate]:
    store.open()
    return []


def _search(store: SearchedStore, query: Query, filter: Filter, limit: int, min_probability: float) -> list[Candidate]:
    matches = rank.find(store.open(), query, filter._replace(fits=store.fits), limit)
    return store.visible(match for match in matches if match.probability >= min_probability)


def distinct(candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates without copies: the same id and text in a second shared store."""
    first: dict[tuple[str, ...], Candidate] = {}
    for candidate in candidates:
        store = "" if paths.is_shared(candidate.source) else candidate.source
        first.setdefault((store, candidate.match.id, candidate.match.summary_line), candidate)
    return list(first.values())

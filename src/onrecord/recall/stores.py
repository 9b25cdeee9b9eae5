"""The stores in play: searched in turn, each within its share of the time, without what a store before it hides.

A record of the project's or the user's store hides those of the same id in the stores after its own, and those that it
says it replaces. In `supersedes`, a record of a shared store is called `platform:use-uv`. One that does not apply here
hides nothing here, nor does one that has expired hide what it does not replace. A shared store hides nothing: one team
could silence another. A store in a folder of the project hides only at the files there: one that a change brings could
silence the project.
"""

from __future__ import annotations

import os

from onrecord import budget, paths
from onrecord.coldstart import NamedTuple
from onrecord.recall.candidate import Candidate
from onrecord.search import index, indexing
from onrecord.search.candidates import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import TypeVar

    from onrecord.paths import StoreRef
    from onrecord.recall.scope import ProjectScope
    from onrecord.search.index import Index
    from onrecord.search.query import Query
    from onrecord.search.rank import Match
    from onrecord.settings import Settings

    Result = TypeVar("Result")


_MIN_COVERAGE = 0.5
"""The share of a topic's words that a retired record must have to be about it."""

_MAX_RETIRED = 6
"""Records that are looked at beside the candidates, before it is said that nothing is on file."""


class HigherStore(NamedTuple):
    """A store before another one, which may hide records of it."""

    search_index: Index
    prefix: str
    applies: Callable[[str], bool]
    """True for the scope of a record that applies here."""


def hidden(ids: Collection[str], prefix: str, higher: Iterable[HigherStore]) -> dict[str, str]:
    """Return those of `ids` of the store with `prefix` that are hidden, each with the path that hides it."""
    qualified = {f"{prefix}{record_id}": record_id for record_id in ids} if paths.is_shared(prefix) else {}
    names = [*ids, *qualified]
    hiding: dict[str, str] = {}
    for store in higher:
        for name, path in _hidden_by(store, names).items():
            hiding.setdefault(qualified.get(name, name), store.prefix + path)
    return hiding


def _hidden_by(higher_store: HigherStore, names: list[str]) -> dict[str, str]:
    rows = higher_store.search_index.records_hiding(names)
    return {name: path for name, path, scope in rows if higher_store.applies(scope)}


class SearchedStore:
    """One of the stores in play, in its turn to be searched."""

    __slots__ = ("_higher", "_share", "_stores", "hides_others", "index", "store_ref")

    def __init__(self, stores: Stores, store_ref: StoreRef, higher: Sequence[HigherStore], share: float | None) -> None:
        self._stores = stores
        self._higher = higher
        self._share = share
        """Seconds that a search of it may take; None for all there are."""
        self.store_ref = store_ref
        self.index: Index | None = None
        """Its index, once it is open."""
        self.hides_others = False
        """True once it is known which records of the stores after it this one hides."""

    @property
    def fits(self) -> Callable[[str], bool] | None:
        """True for the scope of a record that may be a candidate; None if all records may."""
        return self._stores.fits(self.store_ref)

    def applies(self, file: str = "") -> Callable[[str], bool]:
        """Return the test whether a record's scope applies here, or at a file of the store's folder."""
        return self._stores.applies(self.store_ref, file)

    @property
    def folder(self) -> str:
        """The folder that paths in its records are relative to."""
        return self._stores.folder(self.store_ref)

    @property
    def inner(self) -> str:
        """The path of the project in the folder of a store above it, with a slash; empty for other stores."""
        return self._stores.inner(self.store_ref)

    def attempt(self, search: Callable[..., list[Result]], *args: object) -> list[Result]:
        """Return `search(self, *args)`, or nothing if it fails or takes longer than the store's share of the time."""
        if self._share is None:
            return search(self, *args)
        nothing: list[Result] = []
        return budget.attempt(f"search {self.store_ref.root}", nothing, search, self, *args, seconds=self._share)

    def open(self) -> Index:
        """Open its index, which `Stores.in_turn` closes."""
        self.index = self._stores.open(self.store_ref.root)
        self.hides_others = self._stores.may_hide(self.store_ref, self.index)
        return self.index

    def visible(self, matches: Iterable[Match]) -> list[Candidate]:
        """Return the matches that no store before this one hides, as candidates."""
        is_accepted = self.store_ref.is_trusted
        candidates = [Candidate(match, self.store_ref.prefix, is_accepted=is_accepted) for match in matches]
        ids = hidden([candidate.match.id for candidate in candidates], self.store_ref.prefix, self._higher)
        return [candidate for candidate in candidates if candidate.match.id not in ids]


class Stores:
    """The stores in play, in the order of their precedence."""

    def __init__(
        self,
        store_refs: Sequence[StoreRef],
        project: str = "",
        *,
        hook: bool = True,
        only: str = "",
        lenient: Sequence[str] = (),
    ) -> None:
        """Search these stores; with `only`, the prefix of one, the others are read only for what they hide of it.

        Of the stores with the prefixes `lenient`, records that do not apply here are searched, too.
        """
        self.store_refs = list(store_refs)
        self._only = only
        self._lenient = lenient
        self.project = project
        self._scopes: dict[str, ProjectScope] = {}
        self._hook = hook
        self.has_words = True
        """True if all indexes that were searched have full-text tables; without them the keyword scorer is used."""

    def folder(self, store_ref: StoreRef) -> str:
        """Return the folder that paths in the records of a store are relative to."""
        return paths.project_of(store_ref.root) if paths.is_project(store_ref.prefix) else self.project

    def inner(self, store_ref: StoreRef) -> str:
        """Return the path of the project in the folder of a store above it, with a slash; empty for other stores."""
        folder = self.folder(store_ref)
        start = os.path.join(folder, "")
        is_above = self.project != folder and self.project.startswith(start)
        return os.path.join(self.project[len(start) :], "").replace(os.sep, "/") if is_above else ""

    def misfit(self, store_ref: StoreRef, scope: str, file: str = "") -> str:
        """Return what keeps a record from applying here, or at a file of the store's folder; empty if it applies."""
        if not scope:
            return ""
        folder = self.folder(store_ref)
        if folder not in self._scopes:
            from onrecord.recall.scope import ProjectScope

            self._scopes[folder] = ProjectScope(folder)
        return self._scopes[folder].misfit(scope, file)

    def applies(self, store_ref: StoreRef, file: str = "") -> Callable[[str], bool]:
        """Return the test whether a record's scope applies here, or at a file of the store's folder."""
        return lambda scope: not self.misfit(store_ref, scope, file)

    def fits(self, store_ref: StoreRef) -> Callable[[str], bool] | None:
        """Return the test whether a record may be a candidate, by its scope; None if all records of the store may."""
        return None if store_ref.prefix in self._lenient else self.applies(store_ref)

    def among(self, prefixes: Sequence[str]) -> Stores:
        """Return the same stores, without those whose prefix is not among `prefixes`."""
        if len(prefixes) == len(self.store_refs):
            return self
        store_refs = [store_ref for store_ref in self.store_refs if store_ref.prefix in prefixes]
        some = Stores(store_refs, self.project, hook=self._hook, only=self._only, lenient=self._lenient)
        some._scopes = self._scopes
        return some

    def in_turn(self, *, is_last: bool = True, at_file: bool = False) -> Iterator[SearchedStore]:
        """Yield the stores to search, in order, each with its share of the time.

        The last one may take all the time there is, unless something follows (`is_last` is false). With `at_file` all
        of them are about one file.
        """
        higher: list[HigherStore] = []
        indexes: list[Index] = []
        for number, store_ref in enumerate(self.store_refs):
            hides = self._hides(store_ref, at_file)
            # As much for each store as will be left for those after it, and for what follows.
            parts = len(self.store_refs) - number + (0 if is_last else 1)
            share = None if len(self.store_refs) == parts == 1 else budget.remaining() / parts
            store = SearchedStore(self, store_ref, tuple(higher), share)
            if self._only and store_ref.prefix != self._only:
                store.attempt(_open)
            else:
                yield store
            if store.index:
                indexes.append(store.index)
            if store.index and hides and store.hides_others:
                higher.append(HigherStore(store.index, store_ref.prefix, self.applies(store_ref)))
            elif hides:
                # It cannot tell which records of the others it replaces: none of them may be shown as current.
                break
        for search_index in indexes:
            self.close(search_index)

    def _hides(self, store_ref: StoreRef, at_file: bool) -> bool:
        """True if records of a store hide others: those of a folder below the project only at the files there."""
        is_own = not paths.is_shared(store_ref.prefix) and store_ref.is_trusted
        return is_own and (at_file or not self._is_below(store_ref))

    def _is_below(self, store_ref: StoreRef) -> bool:
        """True for a store in a folder of the project, which must not take the place of what the project says."""
        if not self.project or not paths.is_project(store_ref.prefix):
            return False
        return self.folder(store_ref).startswith(os.path.join(self.project, ""))

    def may_hide(self, store_ref: StoreRef, index: Index) -> bool:
        """True if a store may hide records of those after it, and all of its records are known."""
        if paths.is_shared(store_ref.prefix) or store_ref == self.store_refs[-1] or not store_ref.is_trusted:
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

    def have_no_match(self, query: Query, settings: Settings, candidates: Sequence[Candidate]) -> bool:
        """True if there are records, none matches beside `candidates`, and none that is not in force has the topic."""
        if not query.terms:
            return False
        records, candidate_paths = 0, {candidate.record for candidate in candidates}
        for store_ref in self.store_refs:
            count = budget.attempt(
                f"search {store_ref.root}", None, self._count_without_match, store_ref, query, settings, candidate_paths
            )
            if count is None:
                return False
            records += count
        return records > 0

    def _count_without_match(
        self, store_ref: StoreRef, query: Query, settings: Settings, candidate_paths: Collection[str]
    ) -> int | None:
        """Return the number of records of a store if none matches; None if one does, or not all could be searched."""
        from onrecord.search import rank

        index = self.open(store_ref.root)
        filter = Filter(include_retired=True, settings=settings, fits=self.fits(store_ref))
        others = [
            match
            for match in rank.find(index, query, filter, limit=len(candidate_paths) + _MAX_RETIRED)
            if os.path.join(match.root, match.path) not in candidate_paths
            and match.features.get("coverage", 1.0) >= _MIN_COVERAGE
        ]
        # What is in force was a candidate, or less likely than all that were.
        has_match = any(rank.is_void(index, match, settings) for match in others) if candidate_paths else bool(others)
        count = index.totals()[0] if not has_match and indexing.is_complete(index) else None
        self.close(index)
        return count

    def hidden(self, prefix: str, ids: Sequence[str]) -> dict[str, str]:
        """Return those of `ids` of the store with `prefix` that are hidden here, each with the path that hides it."""
        own = [ref for ref in self.store_refs if not paths.is_shared(ref.prefix) and ref.is_trusted]
        position = next((number for number, store_ref in enumerate(own) if store_ref.prefix == prefix), len(own))
        higher = [
            HigherStore(self.open(store_ref.root), store_ref.prefix, self.applies(store_ref))
            for store_ref in own[:position]
        ]
        ids_hidden = hidden(ids, prefix, higher)
        for store in higher:
            self.close(store.search_index)
        return ids_hidden

    def open(self, root: str) -> Index:
        """Return the open index of the store at `root`."""
        search_index = index.open(root, hook=self._hook)
        self.has_words = self.has_words and search_index.has_words
        return search_index

    def close(self, index: Index) -> None:
        index.close()


def _open(searched_store: SearchedStore) -> list[Candidate]:
    searched_store.open()
    return []


def _search(
    searched_store: SearchedStore, query: Query, filter: Filter, limit: int, min_probability: float
) -> list[Candidate]:
    # Not every event ranks: the start of a session reads records without it.
    from onrecord.search import rank

    matches = rank.find(searched_store.open(), query, filter._replace(fits=searched_store.fits), limit)
    return searched_store.visible(match for match in matches if match.probability >= min_probability)


def distinct(candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates without copies: the same id and text in a second shared store."""
    first: dict[tuple[str, ...], Candidate] = {}
    for candidate in candidates:
        store = "" if paths.is_shared(candidate.prefix) else candidate.prefix
        first.setdefault((store, candidate.match.id, candidate.match.summary_line), candidate)
    return list(first.values())

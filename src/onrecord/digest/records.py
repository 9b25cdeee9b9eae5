"""The records of a store that are in force here, as candidates for a session's start; read from the index alone."""

from __future__ import annotations

import os

from onrecord import coldstart, globs, paths, scopes, timestamps
from onrecord.categories import CATEGORIES
from onrecord.digest.selection import DigestCandidate, Unavailable
from onrecord.recall import stores
from onrecord.recall.stores import HigherStore
from onrecord.record import validity
from onrecord.search import index, indexing, overview, query, refresh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onrecord.paths import StoreRef
    from onrecord.search.index import Index
    from onrecord.search.overview import MapRow
    from onrecord.settings import Settings

SOON_DAYS = 30
"""A constraint that expires within this time is pointed out while its files are being changed."""

_MAX_TOUCHED = 60
"""Records about changed files that are looked at, the gravest."""

_MAX_SESSIONS = 20
_MAX_OBSERVED = 200


class Records:
    """The current records of one store: nothing retired, replaced, void, expired, or for another branch."""

    def __init__(
        self,
        store_ref: StoreRef,
        settings: Settings,
        *,
        now: str,
        applies: Callable[[str], bool],
        higher: Sequence[Records] = (),
        inner: str = "",
    ) -> None:
        self._index = index.open(store_ref.root, hook=True)
        self.root, self.prefix = store_ref.root, store_ref.prefix
        self.inner = inner
        """The path of the project in the folder of a store above it; empty for other stores."""
        self._is_local = paths.is_project(store_ref.prefix)
        self._is_shared = paths.is_shared(store_ref.prefix)
        self._applies = applies
        self._higher = [HigherStore(records._index, records.prefix, records._applies) for records in higher]
        self._now = now
        self._soon = timestamps.days_before(now, -SOON_DAYS)[:10]
        enabled = [category for category in CATEGORIES if settings.is_enabled(category)]
        self._oldest = {category: _oldest(settings.retention_days(category), now) for category in enabled}
        self._observed: Mapping[str, int] = {}
        self.candidates: list[DigestCandidate] = []
        """Those that may be in the map: all of a small store."""
        self.weights: dict[str, float] = {}
        """How much each has in common with the work, by key, on a scale of the store's own."""
        self.touched: dict[str, str] = {}
        """The changed file that a record is about, by key, the gravest first."""
        self.sessions: list[DigestCandidate] = []
        """Sessions that left something to do."""

    def close(self) -> None:
        self._index.close()

    def load(self, text: str, files: Sequence[str], observed: Mapping[str, int]) -> None:
        """Read the candidates, for work with these words and changed files; `observed` counts what happened to them."""
        self._observed = observed
        self._index.run(_load, self, text, [self.inner + file for file in files], hook=True)

    def _read(self, search_index: Index, text: str, files: Sequence[str]) -> None:
        by_number = overview.relevant(search_index, query.parse(text)) if text and search_index.has_words else {}
        touched = self._touched(search_index, files)
        if search_index.totals()[0] <= overview.MAX_WHOLE:
            rows = overview.all_current(search_index)
        else:
            numbers = overview.prominent(search_index, [name for name in self._oldest if CATEGORIES[name].is_in_map])
            rows = overview.numbered(search_index, {*numbers, *by_number, *touched})
            most_observed = sorted(self._observed, key=lambda path: -self._observed[path])[:_MAX_OBSERVED]
            present = {row.path for row in rows}
            rows += [row for row in overview.at(search_index, most_observed) if row.path not in present]
            rows += overview.latest(search_index, "session_summary", _MAX_SESSIONS)
        keys = {row.n: os.path.join(search_index.root, row.path) for row in rows}
        visible = self._visible(rows)
        self.candidates = [each for each in visible if CATEGORIES[each.category].is_in_map]
        self.sessions = [each for each in visible if each.urgency == "open"]
        self.weights = {keys[n]: weight for n, weight in by_number.items() if n in keys}
        # Related files in a shared store are those of another project; only its scope speaks of files here.
        elsewhere = {each.key for each in self.candidates if self._is_shared and not each.files}
        self.touched = {keys[n]: file for n, file in touched.items() if n in keys and keys[n] not in elsewhere}

    def _touched(self, search_index: Index, files: Sequence[str]) -> dict[int, str]:
        """Return the numbers of the records about changed files, the gravest first, each with a file."""
        if not files:
            return {}
        changed = globs.PathSet(files)
        patterns: dict[int, tuple[int, str]] = {}
        for pattern, n, gravity in overview.files_touched(search_index, files):
            if n not in patterns and changed.first_under([pattern]):
                patterns[n] = (gravity, pattern)
        gravest = sorted(patterns, key=lambda n: (patterns[n][0], n))[:_MAX_TOUCHED]
        return {n: patterns[n][1] for n in gravest}

    @property
    def areas(self) -> dict[str, int]:
        """The number of records in each area that may be in a map; those in force are under an empty name.

        Of a large store they are counted without regard to expiry and retention.
        """
        counts: dict[str, int] = {}
        if self._index.totals()[0] <= overview.MAX_WHOLE:
            for candidate in self.candidates:
                for area in ("", *candidate.areas):
                    counts[area] = counts.get(area, 0) + 1
            return counts
        for area, scope, count in overview.areas(self._index):
            if self._applies(scope):
                counts[area] = counts.get(area, 0) + count
        return counts

    def neighbours(self, name: str) -> list[str]:
        """Return the ids in the store that are next to `name` in alphabetical order."""
        return overview.neighbours(self._index, name)

    def anchors(self, candidates: Sequence[DigestCandidate]) -> dict[str, str]:
        """Return the anchors of the shown records, by key, as `Freshness` reads them."""
        anchors = self._index.anchors(self._paths(candidates))
        return {os.path.join(self._index.root, path): packed for path, packed in anchors.items()}

    def _paths(self, candidates: Sequence[DigestCandidate]) -> list[str]:
        root = os.path.join(self._index.root, "")
        return [candidate.key[len(root) :] for candidate in candidates if candidate.key.startswith(root)]

    def have_changed(self, candidates: Sequence[DigestCandidate]) -> bool:
        """True if the index is behind the files of the shown records; if so these are indexed again.

        While another process writes the index, they are shown as they were.
        """
        stale = indexing.changed_since(self._index, self._paths(candidates))
        if not stale:
            return False
        try:
            indexing.reread(self._index, stale)
        except coldstart.SqliteError:
            return False
        return True

    @property
    def is_complete(self) -> bool:
        """True if all records of the store were read, so that it is known what they hide in others."""
        return indexing.is_complete(self._index)

    @property
    def is_in_memory(self) -> bool:
        """True if what was indexed cannot be kept for the next hook."""
        return self._index.in_memory

    @property
    def progress(self) -> tuple[int, int]:
        """Return how many records of the store are indexed, and how many there are."""
        return refresh.progress(self._index)

    @property
    def has_words(self) -> bool:
        return self._index.has_words

    def _visible(self, rows: Iterable[MapRow]) -> list[DigestCandidate]:
        """Return candidates for `rows`, without those that no longer apply or that a store before this one hides."""
        candidates = [candidate for candidate in map(self._candidate, rows) if candidate]
        if not self._higher:
            return candidates
        hidden = stores.hidden([candidate.name for candidate in candidates], self.prefix, self._higher)
        return [candidate for candidate in candidates if candidate.name not in hidden]

    def _candidate(self, row: MapRow) -> DigestCandidate | None:
        """Return a record as a candidate; None if it is no longer in force, or does not apply here."""
        if row.category not in CATEGORIES:
            raise ValueError(f"the index has a category {row.category}")
        oldest = self._oldest.get(row.category)
        if oldest is None or row.updated_at < oldest or validity.is_over(False, row.expires, self._now):
            return None
        if not self._applies(row.scope):
            return None
        _, confidence, files, _, state = index.unpack_facts(row.facts)
        if self._is_shared:
            # Another person's unfinished session is not for this one, and related files are those of their project.
            if row.category == "session_summary":
                return None
            files = list(scopes.unpack(row.scope).paths)
        if state == "closed":
            return None
        return DigestCandidate(
            os.path.join(self._index.root, row.path),
            row.category,
            row.title,
            row.summary_line,
            self.prefix + row.path,
            self._is_local,
            1 + self._observed.get(row.path, 0),
            confidence,
            row.updated_at,
            files,
            _urgency(row, state, self._soon) if row.expires or state or row.mark else "",
            paths.store_name(self.prefix) if self._is_shared else "",
            row.rule_line,
            ", ".join(filter(None, (row.mark, _expiry(row.expires)))),
            tuple(filter(None, row.areas.split("\n"))),
            row.id,
        )


def _load(search_index: Index, store_records: Records, text: str, files: Sequence[str]) -> None:
    store_records._read(search_index, text, files)


def relevance(all_records: Sequence[Records]) -> dict[str, float]:
    """Return the relevance of records to the work, from 0 to 1, by key: their weight against the best of all stores."""
    if any(not records.has_words for records in all_records):
        raise Unavailable
    weights = {key: weight for records in all_records for key, weight in records.weights.items()}
    best = max(weights.values(), default=0.0)
    return {key: weight / best for key, weight in weights.items()} if best else {}


def _oldest(days: int, now: str) -> str:
    return timestamps.days_before(now, days) if days else ""


def _expiry(expires: str) -> str:
    return f"expires {expires[:10]}" if expires else ""


def _urgency(row: MapRow, state: str, soon: str) -> str:
    """Return why an entry is shown as soon as its files are changed."""
    category = CATEGORIES[row.category]
    if state in category.urgent_states:
        return category.urgent_states[state]
    expiry = _expiry(row.expires)
    if expiry and row.expires[:10] <= soon:
        return expiry
    return row.mark if row.mark == category.marks.get((category.severity_field, "high")) else ""

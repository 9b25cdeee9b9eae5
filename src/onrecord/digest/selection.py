"""The selection of entries: the reason to show one, and the order, in which every category gets its share.

Words alone mislead: the names of changed files match records about the same area that are of no use for the change.
So two things must speak for a record, for example a changed file that it names and the name of the branch. The
thresholds were chosen on three projects and measured on nine others: `python -m bench digest`, docs/how-it-works.md.
They are low because a list of words is no prompt: the model for prompts is far less sure of it.
"""

from __future__ import annotations

import os

from onrecord import globs, paths, scopes, timestamps
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.recall import stores
from onrecord.recall.stores import HigherStore
from onrecord.search import coefficients, index, indexing, query, rank
from onrecord.search.candidates import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onrecord.paths import StoreRef
    from onrecord.search.index import DigestRow, Index
    from onrecord.settings import Settings

MIN_PER_CATEGORY = 3
MIN_BALANCED = 9
"""Entries from which on every category gets its share; with fewer the best entries alone count."""

_BANK_RANKS = {"anti_pattern": 15, "pattern": 40, "heuristic": 50}
"""Rank of the entries of knowledge banks among the categories."""

_RANKS = {**{name: category.digest_rank for name, category in CATEGORIES.items()}, **_BANK_RANKS}
PRIORITY = tuple(sorted(_RANKS, key=lambda category: _RANKS[category]))
_PLACES = {category: place for place, category in enumerate(PRIORITY)}

MIN_INTENT = 0.2
"""Relevance to what is being done (branch, own commits, feature) that counts beside a changed file."""

MIN_ABOUT = 0.2
"""Relevance to all words of the work that must come with it."""

MIN_BINDING = 0.2
"""The same for a rule that binds every change of its files, whatever the intent."""

MIN_SHARE = 0.5
"""Share of the changed files that such a rule must be about: what touches one file of many is seldom what matters."""

MIN_CERTAIN = 0.9
"""Relevance to all words that needs no changed file beside it."""

MIN_WORDS = min(MIN_ABOUT, MIN_BINDING, MIN_CERTAIN)
"""Relevance to all words below which nothing is shown, however relevant it is to what is being done."""

SOON_DAYS = 30
"""A constraint that expires within this time is pointed out while its files are being changed."""

MAX_RECORDS, MAX_SHARED_RECORDS = 5_000, 500
"""Records of a store that are compared by prominence, the newest; and of a shared store, which has other people's."""

MAX_MATCHES = 40
"""Records of a store for which relevance is measured: many more than a digest has room for."""


class Unavailable(Exception):
    """This Python's SQLite has no FTS5, so relevance cannot be measured."""


class DigestCandidate(NamedTuple):
    """An entry that a digest could show. Confidence goes from 0 to 3; `updated` sorts as text."""

    key: str
    category: str
    title: str
    text: str
    path: str
    is_local: bool
    observations: int = 1
    confidence: float = 2.0
    updated: str = ""
    files: Sequence[str] = ()
    urgency: str = ""
    """Why it is shown as soon as one of its files is changed, or nothing."""
    shared: str = ""
    """The name of the shared store that it is in, or nothing."""


class Pick(NamedTuple):
    """A candidate with its numbers, and once it is picked, the reason."""

    candidate: DigestCandidate
    relevance: float
    prominence: float
    score: float
    reason: str = ""
    """Why it is shown, in words."""
    caution: str = ""
    """Warning that the files it is about have changed since."""


def order(candidates: Sequence[DigestCandidate], relevance: Mapping[str, float], weight: float) -> list[Pick]:
    """Return all candidates, best first. Without relevance, or weight on it, prominence alone decides."""
    weight = weight if relevance else 0.0
    picks = []
    for candidate, prominent in zip(candidates, prominence(candidates)):
        relevant = relevance.get(candidate.key, 0.0)
        picks.append(Pick(candidate, relevant, prominent, weight * relevant + (1 - weight) * prominent))
    return sorted(picks, key=_order)


def prominence(candidates: Sequence[DigestCandidate]) -> list[float]:
    """Return the prominence of each entry by itself: often observed, sure, and recent."""
    most = max((candidate.observations for candidate in candidates), default=1) or 1
    moments = sorted({candidate.updated for candidate in candidates})
    recency = {moment: position / len(moments) for position, moment in enumerate(moments, 1)}
    return [
        0.5 * candidate.observations / most
        + 0.3 * min(candidate.confidence, 3.0) / 3
        + 0.2 * recency[candidate.updated]
        for candidate in candidates
    ]


def choose(all_picks: Sequence[Pick], limit: int, pinned: Sequence[Pick] = ()) -> list[Pick]:
    """Return the best entries within the limit: pinned ones, then each category's share, then the rest by score."""
    picks = list(pinned)[:limit]
    keys = {pick.candidate.key for pick in picks}
    free = [pick for pick in all_picks if pick.candidate.key not in keys]
    if limit >= MIN_BALANCED:
        shared = _shares(free, picks, limit)
        picks += shared
        keys |= {pick.candidate.key for pick in shared}
        free = [pick for pick in free if pick.candidate.key not in keys]
    picks += free[: limit - len(picks)]
    return picks[: len(pinned)] + sorted(picks[len(pinned) :], key=_order)


def _shares(free: Sequence[Pick], picks: Sequence[Pick], limit: int) -> list[Pick]:
    """Return the entries by which every category has three, or an equal share if that is less."""
    kinds = {pick.candidate.category for pick in (*free, *picks)}
    fewest = min(MIN_PER_CATEGORY, limit // len(kinds)) if kinds else 0
    counts = dict.fromkeys(kinds, 0)
    for pick in picks:
        counts[pick.candidate.category] += 1
    shares: list[Pick] = []
    for pick in free:
        kind = pick.candidate.category
        if counts[kind] < fewest and len(picks) + len(shares) < limit:
            counts[kind] += 1
            shares.append(pick)
    return shares


def _order(pick: Pick) -> tuple[float, int, str]:
    return (-round(pick.score, 9), _PLACES.get(pick.candidate.category, len(_PLACES)), pick.candidate.key)


class Relevance(NamedTuple):
    """Probabilities that a record is relevant to what is being done, and to all words of the work with file names."""

    intent: float = 0.0
    words: float = 0.0


def reason(category: str, patterns: Sequence[str], probabilities: Relevance, files: Sequence[str]) -> str:
    """Return why an entry of this category that is about `patterns` is shown; empty if it is not."""
    if category not in CATEGORIES:
        # Entries of knowledge banks name no files; `knowledge_bank.relevance` returns only those that have most words.
        return "most words of the branch are in it" if probabilities.intent else ""
    if not files:
        # A new branch: its name is all there is, and is taken for a prompt.
        return "the branch is about it" if probabilities.intent >= coefficients.THRESHOLD else ""
    touched = _touched(patterns, files) if probabilities.words >= MIN_ABOUT else []
    if touched and probabilities.intent >= MIN_INTENT:
        return f"the branch is about it, and it names {touched[0]}"
    if (
        CATEGORIES[category].binds_files
        and probabilities.words >= MIN_BINDING
        and len(touched) >= MIN_SHARE * len(files)
    ):
        return f"a rule for {touched[0]}" if touched else ""
    return "all words of the work are about it" if probabilities.words >= MIN_CERTAIN else ""


def _touched(patterns: Sequence[str], files: Sequence[str]) -> list[str]:
    return [file for file in files if any(globs.matches(pattern, file) for pattern in patterns)]


class Records:
    """The current records of one store: nothing retired, replaced, void, expired, or for another branch."""

    def __init__(
        self,
        store_ref: StoreRef,
        settings: Settings,
        *,
        branch: str,
        now: str,
        fits: Callable[[str], bool] | None = None,
        higher: Sequence[Records] = (),
    ) -> None:
        self._index = index.open(store_ref.root, hook=True)
        self.root, self.prefix = store_ref
        self._is_local = store_ref.prefix == paths.PROJECT_PREFIX
        self._is_shared = paths.is_shared(store_ref.prefix)
        self._fits = fits
        self._higher = [HigherStore(records._index, records.prefix, records._fits) for records in higher]
        self._branch = branch
        self._now = now
        self._soon = timestamps.days_before(now, -SOON_DAYS)[:10]
        enabled = [category for category in CATEGORIES if settings.is_enabled(category)]
        self._oldest = {category: _oldest(settings.retention_days(category), now) for category in enabled}
        self.candidates: list[DigestCandidate] = []
        """Those that may be urgent; those that match or are new are added when they are asked for."""
        self._index.run(self._add_newest, MAX_RECORDS, True, hook=True)

    def close(self) -> None:
        self._index.close()

    def add_newest(self) -> None:
        """Make the newest records candidates: where relevance cannot be measured, any of them may be prominent."""
        most = MAX_SHARED_RECORDS if self._is_shared else MAX_RECORDS
        self._index.run(self._add_newest, most, hook=True)

    def _add_newest(self, index: Index, limit: int, urgent_only: bool = False) -> None:
        self._add(index.newest_current(limit, urgent_only=urgent_only))

    def relevance(self, intent: str, text: str) -> dict[str, Relevance]:
        """Return the relevance of records to `intent` (what is being done) and `text` (the words of the work)."""
        if not self._index.has_words:
            raise Unavailable
        by_words = self._probabilities(text)
        by_intent = by_words if intent == text else self._intended(intent, by_words)
        self._add_matches({*by_intent, *by_words})
        return {
            candidate.key: Relevance(by_intent.get(candidate.path, 0.0), by_words.get(candidate.path, 0.0))
            for candidate in self.candidates
            if candidate.path in by_intent or candidate.path in by_words
        }

    def _intended(self, intent: str, by_words: dict[str, float]) -> dict[str, float]:
        """Return the same for what is being done; empty if no record could be shown anyway."""
        return self._probabilities(intent) if max(by_words.values(), default=0.0) >= MIN_WORDS else {}

    def _probabilities(self, text: str) -> dict[str, float]:
        filter = Filter("auto", now=self._now, fits=self._fits)
        matches = rank.find(self._index, query.parse(text), filter, MAX_MATCHES)
        return {self.prefix + match.path: match.probability for match in matches}

    def _add_matches(self, record_paths: set[str]) -> None:
        self._add(self._index.current_at([path[len(self.prefix) :] for path in record_paths]))

    def _add(self, rows: Sequence[DigestRow]) -> None:
        present = {candidate.path for candidate in self.candidates}
        self.candidates += [candidate for candidate in self._visible(rows) if candidate.path not in present]

    def anchors(self, candidates: Sequence[DigestCandidate]) -> dict[str, str]:
        """Return the anchors of the shown records, by key, as `Freshness` reads them."""
        anchors = self._index.anchors(self._paths(candidates))
        return {os.path.join(self._index.root, path): packed for path, packed in anchors.items()}

    def _paths(self, candidates: Sequence[DigestCandidate]) -> list[str]:
        root = os.path.join(self._index.root, "")
        return [candidate.key[len(root) :] for candidate in candidates if candidate.key.startswith(root)]

    def have_changed(self, candidates: Sequence[DigestCandidate]) -> bool:
        """True if the index is behind the files of the shown records; if so these are indexed again."""
        stale = indexing.changed_since(self._index, self._paths(candidates))
        if stale:
            indexing.reread(self._index, stale)
        return bool(stale)

    @property
    def is_complete(self) -> bool:
        """True if all records of the store were read, so that it is known what they hide in others."""
        return indexing.is_complete(self._index)

    def _visible(self, rows: Sequence[DigestRow]) -> list[DigestCandidate]:
        """Return candidates for `rows`, without those that no longer apply or that a store before this one hides."""
        candidates = {
            row.path: candidate for row, candidate in ((row, self._candidate(row)) for row in rows) if candidate
        }
        if not self._higher:
            return list(candidates.values())
        ids = {path: path.rpartition("/")[2][: -len(".json")] for path in candidates}
        hidden = stores.hidden(list(ids.values()), self.prefix, self._higher)
        return [candidate for path, candidate in candidates.items() if ids[path] not in hidden]

    def _candidate(self, digest_row: DigestRow) -> DigestCandidate | None:
        """Return a record as a candidate; None if it is no longer in force, or does not apply here."""
        if digest_row.category not in CATEGORIES:
            raise ValueError(f"the index has a category {digest_row.category}")
        oldest = self._oldest.get(digest_row.category)
        if (
            oldest is None
            or digest_row.updated_at < oldest
            or (digest_row.expires and digest_row.expires[:10] < self._now[:10])
        ):
            return None
        if digest_row.scope and self._fits and not self._fits(digest_row.scope):
            return None
        observations, confidence, files, branches, state = index.unpack_facts(digest_row.facts)
        if self._is_shared:
            # Another person's unfinished session is not for this one, and related files are those of their project.
            if digest_row.category == "session_summary":
                return None
            files = list(scopes.unpack(digest_row.scope).paths)
        if state == "closed" or (self._branch and branches and not _is_for(self._branch, branches)):
            return None
        key = os.path.join(self._index.root, digest_row.path)
        head = (key, digest_row.category, digest_row.title, digest_row.summary_line, self.prefix + digest_row.path)
        urgency = (
            _urgency(digest_row.category, digest_row.expires, state, self._soon) if digest_row.expires or state else ""
        )
        shared = paths.store_name(self.prefix) if self._is_shared else ""
        return DigestCandidate(
            *head, self._is_local, observations, confidence, digest_row.updated_at, files, urgency, shared
        )


def _oldest(days: int, now: str) -> str:
    return timestamps.days_before(now, days) if days else ""


def _is_for(branch: str, patterns: list[str]) -> bool:
    from onrecord import globs

    return any(globs.matches(pattern, branch) for pattern in patterns)


def _urgency(category: str, expires: str, state: str, soon: str) -> str:
    """Return why an entry is shown as soon as its files are changed."""
    if state in CATEGORIES[category].urgent_states:
        return CATEGORIES[category].urgent_states[state]
    return f"expires {expires[:10]}" if expires and timestamps.is_day(expires) and expires[:10] <= soon else ""

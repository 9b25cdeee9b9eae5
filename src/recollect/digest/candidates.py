"""The records that a digest may show, read from the index of their store."""

from __future__ import annotations

import os

from recollect import timestamps
from recollect.categories import BY_NAME
from recollect.digest import selection
from recollect.digest.selection import Candidate
from recollect.search import index, refresh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.settings import Settings

SOON_DAYS = 30
"""A constraint that expires within this time is pointed out while its files are being changed."""

MOST_RECORDS = 5_000
"""Records of a store that are ranked, the newest and those that match the work best: all of 200,000 take 3 seconds."""

_IS_CURRENT = f"status = 'active' AND NOT void AND {index.NOT_REPLACED}"
_COLUMNS = "SELECT n, path, category, title, updated_at, expires, essence, facts FROM record"


class Records:
    """The current records of one store: nothing retired, replaced, void, expired, or for another branch."""

    def __init__(self, root: str, source: str, settings: Settings, *, is_local: bool, branch: str, now: str) -> None:
        self._index = index.open(root, hook=True)
        self._source = source
        self._is_local = is_local
        self._branch = branch
        self._now = now
        enabled = [category for category in BY_NAME if settings.is_enabled(category)]
        self._oldest = {category: _oldest(settings.retention_days(category), now) for category in enabled}
        rows = f"{_COLUMNS} WHERE {_IS_CURRENT} ORDER BY updated_at DESC LIMIT {MOST_RECORDS}"
        self._by_number = self._index.ask(lambda _: self._read(rows), hook=True)
        self.candidates = list(self._by_number.values())

    @property
    def total(self) -> int:
        """How many current records the store has, candidates or not."""
        if len(self.candidates) < MOST_RECORDS:
            return len(self.candidates)
        (count,) = self._index.connection.execute(f"SELECT count(*) FROM record WHERE {_IS_CURRENT}").fetchone()
        return int(count)

    def scores(self, text: str) -> dict[str, float]:
        """Relevance by key; `selection.Unavailable` without FTS5."""
        scores = selection.relevance_of_records(self._index, text, MOST_RECORDS)
        missing = [str(n) for n in scores if n not in self._by_number] if self.total > len(self.candidates) else []
        if missing:
            older = self._read(f"{_COLUMNS} WHERE {_IS_CURRENT} AND n IN ({','.join(missing)})")
            self._by_number.update(older)
            self.candidates += older.values()
        return {self._by_number[n].key: score for n, score in scores.items() if n in self._by_number}

    def have_changed(self, shown: list[Candidate]) -> bool:
        """Whether the index is behind the files of some records; if so these are indexed again."""
        root = os.path.join(self._index.root, "")
        paths = [each.key[len(root) :] for each in shown if each.key.startswith(root)]
        marks = ",".join("?" * len(paths))
        rows = self._index.connection.execute(f"SELECT path, mtime, size FROM record WHERE path IN ({marks})", paths)
        stale = [path for path, mtime, size in rows if refresh.stamp(self._index.root, path) != (mtime, size)]
        if stale:
            refresh.reread(self._index, stale)
        return bool(stale)

    def _read(self, query: str) -> dict[int, Candidate]:
        candidates: dict[int, Candidate] = {}
        soon = timestamps.days_before(self._now, -SOON_DAYS)[:10]
        for n, path, category, title, updated, expires, essence, packed in self._index.connection.execute(query):
            if category not in BY_NAME:
                raise ValueError(f"the index has a category {category}")
            oldest = self._oldest.get(category)
            if oldest is None or updated < oldest or (expires and expires[:10] < self._now[:10]):
                continue
            observations, confidence, files, branches, state = index.unpack_facts(packed)
            if state == "closed" or (self._branch and branches and not _is_for(self._branch, branches)):
                continue
            key, place = os.path.join(self._index.root, path), self._source + path
            urgency = _urgency(category, expires, state, soon) if expires or state else ""
            candidates[n] = Candidate(
                key, category, title, essence, place, self._is_local, observations, confidence, updated, files, urgency
            )
        return candidates


def _oldest(days: int, now: str) -> str:
    return timestamps.days_before(now, days) if days else ""


def _is_for(branch: str, patterns: list[str]) -> bool:
    from recollect import globs

    return any(globs.covers(pattern, branch) for pattern in patterns)


def _urgency(category: str, expires: str, state: str, soon: str) -> str:
    """Why an entry is shown as soon as its files are changed."""
    if state in BY_NAME[category].urgent:
        return BY_NAME[category].urgent[state]
    return f"expires {expires[:10]}" if expires and timestamps.is_day(expires) and expires[:10] <= soon else ""

"""Where the entries of a digest come from: the stores, by way of their index, and the knowledge banks."""

from __future__ import annotations

import os

from recollect import paths, timestamps
from recollect.categories import BY_NAME
from recollect.digest import selection
from recollect.digest.selection import Candidate
from recollect.search import index, refresh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.settings import Settings

SOON_DAYS = 30
"""A constraint that expires within this time is pointed out while its files are being changed."""

_CURRENT = """
    SELECT n, path, category, title, updated_at, expires, essence, facts FROM record
    WHERE status = 'active' AND NOT void AND id NOT IN (SELECT old FROM succession)
"""


class Entries:
    """The candidates of one source, and how to score them against the work."""

    def __init__(self, candidates: list[Candidate]) -> None:
        self.candidates = candidates

    def scores(self, text: str) -> dict[str, float]:
        """Relevance by key; `selection.Unavailable` without FTS5."""
        return selection.relevance_of_texts(self.candidates, text)


class Records(Entries):
    """The current records of one store."""

    def __init__(self, opened: index.Index, candidates: dict[int, Candidate]) -> None:
        super().__init__(list(candidates.values()))
        self._index = opened
        self._by_number = candidates

    def scores(self, text: str) -> dict[str, float]:
        scores = selection.relevance_of_records(self._index, text)
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


def lessons(project: str) -> Entries:
    """The entries of the knowledge banks, the project's own and the user's."""
    if not any(map(os.path.isdir, paths.knowledge_banks(project))):
        return Entries([])
    from recollect.digest import knowledge_bank

    return Entries(knowledge_bank.lessons(project))


def store_records(root: str, source: str, settings: Settings, *, is_local: bool, branch: str, now: str) -> Records:
    """What a store may show: nothing retired, replaced, void, expired, out of retention or for another branch."""
    opened = index.open(root, hook=True)
    soon = timestamps.days_before(now, -SOON_DAYS)[:10]
    candidates: dict[int, Candidate] = {}
    limits = {category: _oldest(category, settings, now) for category in BY_NAME if settings.is_enabled(category)}
    for n, path, category, title, updated, expires, essence, packed in opened.connection.execute(_CURRENT):
        if category not in limits or updated < limits[category] or (expires and expires[:10] < now[:10]):
            continue
        observations, confidence, files, branches, state = index.unpack_facts(packed)
        if state == "closed" or (branch and branches and not _is_for(branch, branches)):
            continue
        key, place = os.path.join(root, path), source + path
        urgency = _urgency(category, expires, state, soon) if expires or state else ""
        candidates[n] = Candidate(
            key, category, title, essence, place, is_local, observations, confidence, updated, files, urgency
        )
    return Records(opened, candidates)


def _oldest(category: str, settings: Settings, now: str) -> str:
    days = settings.retention_days(category)
    return timestamps.days_before(now, days) if days else ""


def _is_for(branch: str, patterns: list[str]) -> bool:
    from recollect import globs

    return any(globs.covers(pattern, branch) for pattern in patterns)


def _urgency(category: str, expires: str, state: str, soon: str) -> str:
    """Why an entry is shown as soon as its files are changed."""
    if state in BY_NAME[category].urgent:
        return BY_NAME[category].urgent[state]
    return f"expires {expires[:10]}" if expires and timestamps.is_day(expires) and expires[:10] <= soon else ""

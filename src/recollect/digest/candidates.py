"""Where the entries of a digest come from: the stores, by way of their index, and the knowledge banks."""

from __future__ import annotations

import os

from recollect import paths, timestamps
from recollect.categories import BY_NAME
from recollect.digest import relevance
from recollect.digest.selection import Candidate
from recollect.search import digest_columns, index, refresh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.digest.knowledge_bank import Lesson
    from recollect.settings import Settings

SOON_DAYS = 30
"""A constraint that expires within this time is worth a word while its files are in play."""

_CURRENT = """
    SELECT n, path, category, title, updated_at, expires, essence, facts FROM record
    WHERE status = 'active' AND NOT void AND id NOT IN (SELECT old FROM succession)
"""


class Entries:
    """The candidates of one place, and how to score them against the work."""

    def __init__(self, candidates: list[Candidate]) -> None:
        self.candidates = candidates

    def scores(self, text: str) -> dict[str, float]:
        """Relevance by key; `relevance.Unavailable` without FTS5."""
        return relevance.of_texts(self.candidates, text)


class Records(Entries):
    """The current records of one store."""

    def __init__(self, opened: index.Index, candidates: dict[int, Candidate]) -> None:
        super().__init__(list(candidates.values()))
        self._opened = opened
        self._by_number = candidates

    def scores(self, text: str) -> dict[str, float]:
        found = relevance.of_records(self._opened, text)
        return {self._by_number[n].key: score for n, score in found.items() if n in self._by_number}

    def have_changed(self, shown: list[Candidate]) -> bool:
        """Whether one of these is no longer as the index has it; if so it is indexed again."""
        root = os.path.join(self._opened.root, "")
        paths = [one.key[len(root) :] for one in shown if one.key.startswith(root)]
        marks = ",".join("?" * len(paths))
        rows = self._opened.connection.execute(f"SELECT path, mtime, size FROM record WHERE path IN ({marks})", paths)
        stale = [path for path, mtime, size in rows if refresh.stamp(self._opened.root, path) != (mtime, size)]
        if stale:
            self._opened.reread(stale)
        return bool(stale)


def lessons(project: str) -> Entries:
    """The entries of the knowledge banks, the project's own and the user's."""
    if not any(os.path.isdir(folder) for folder, _, _ in bank_folders(project)):
        return Entries([])
    from recollect.digest import knowledge_bank

    return Entries([_of_lesson(lesson) for lesson in knowledge_bank.lessons(bank_folders(project))])


def bank_folders(project: str) -> list[tuple[str, str, str]]:
    """Where knowledge banks may lie: the folder, how it is called to the agent, and what it must not lead out of."""
    local, shared, older = paths.knowledge_banks(project)
    return [
        *([(local, "docs/knowledge-bank/", project)] if project else []),
        (shared, f"{paths.USER_SOURCE}knowledge-bank/", ""),
        (older, "~/.claude/iflow/memory/", ""),
    ]


def store_records(root: str, source: str, settings: Settings, *, is_local: bool, branch: str, now: str) -> Records:
    """What may be told of a store: nothing retired, replaced, void, expired, out of retention or for another branch."""
    opened = index.open(root, hook=True)
    prefix = os.path.join(root, "")
    soon = timestamps.days_before(now, -SOON_DAYS)[:10]
    found: dict[int, Candidate] = {}
    limits = {category: _oldest(category, settings, now) for category in BY_NAME if settings.is_enabled(category)}
    for n, path, category, title, updated, expires, essence, packed in opened.connection.execute(_CURRENT):
        if category not in limits or updated < limits[category] or (expires and expires[:10] < now[:10]):
            continue
        observations, confidence, files, branches, state = digest_columns.unpack(packed)
        if state == "closed" or (branch and branches and not _is_for(branch, branches)):
            continue
        found[n] = Candidate(
            prefix + path,
            category,
            title,
            essence,
            source + path,
            is_local=is_local,
            observations=observations,
            confidence=confidence,
            updated=updated,
            files=files,
            urgency=_urgency(category, expires, state, soon) if expires or state else "",
        )
    return Records(opened, found)


def _oldest(category: str, settings: Settings, now: str) -> str:
    days = settings.retention_days(category)
    return timestamps.days_before(now, days) if days else ""


def _is_for(branch: str, patterns: list[str]) -> bool:
    from recollect import globs

    return any(globs.covers(pattern, branch) for pattern in patterns)


def _urgency(category: str, expires: str, state: str, soon: str) -> str:
    """Why an entry is shown as soon as its files are in play."""
    if state in BY_NAME[category].urgent:
        return BY_NAME[category].urgent[state]
    return f"expires {expires[:10]}" if expires and timestamps.is_day(expires) and expires[:10] <= soon else ""


def _of_lesson(lesson: Lesson) -> Candidate:
    text = f"{lesson.title}: {lesson.text}" if lesson.text else lesson.title
    return Candidate(
        f"bank:{lesson.identity}",
        lesson.category,
        lesson.title,
        text,
        lesson.path,
        is_local=lesson.is_local,
        observations=lesson.observations,
        confidence=lesson.confidence,
        updated=lesson.last_observed,
    )

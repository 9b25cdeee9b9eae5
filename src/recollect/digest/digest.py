"""The digest a session starts with: what is being worked on, what was left unfinished, which rules hold here."""

from __future__ import annotations

import os
import time

from recollect import budget, coldstart, paths, timestamps
from recollect.coldstart import NamedTuple
from recollect.digest import selection, work_context
from recollect.digest.candidates import Records
from recollect.digest.render import Page, render
from recollect.digest.selection import Candidate
from recollect.digest.work_context import WorkContext
from recollect.git.changes import Changes
from recollect.state_file import StateFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recollect.digest.selection import Pick
    from recollect.settings import Settings

GIT_SECONDS = 1.4
LATEST_FOR_GIT = 2.6
"""Seconds after the start by which git must have answered; indexing a store for the first time may come before."""

STEP_SECONDS = 0.6
"""Of computing, for the work context and for the knowledge banks: without either there still is a digest."""

MOST_URGENT = 3
SESSION_BAR = 0.25
"""How relevant an older session must be, measured against the most relevant entry."""

_MOST_FILES = 50
_LARGEST = 1_000_000
_NO_FTS5 = "this Python's SQLite has no FTS5: the digest goes by prominence alone"


class Digest(NamedTuple):
    """What would be shown, and why."""

    context: WorkContext
    weight: float
    warnings: Sequence[str] = ()
    left_off: Sequence[Pick] = ()
    urgent: Sequence[Pick] = ()
    rest: Sequence[Pick] = ()
    more: int = 0
    relevance: str = "inactive"

    @property
    def picks(self) -> list[Pick]:
        return [*self.left_off, *self.urgent, *self.rest]

    def only(self, is_wanted: Callable[[Candidate], bool]) -> Digest:
        """The digest without what is not wanted, such as what the session was shown already."""
        parts = (
            [pick for pick in part if is_wanted(pick.candidate)] for part in (self.left_off, self.urgent, self.rest)
        )
        left_off, urgent, rest = parts
        return self._replace(left_off=left_off, urgent=urgent, rest=rest, more=0)

    def render(self) -> Page:
        return render(self)


def make(project: str, store: str, user_store: str, settings: Settings) -> Digest:
    """The digest for a session that starts now; empty when there is no work context and nothing is open."""
    latest = time.monotonic() + LATEST_FOR_GIT
    branch = work_context.branch(project)
    stores = _stores(store, user_store, settings, branch)
    nothing = WorkContext(None, branch, Changes(), ["took too long"])
    until = min(time.monotonic() + GIT_SECONDS, latest)
    context = budget.attempt("work context", nothing, work_context.read, project, until, seconds=STEP_SECONDS)
    warnings = [str(problem) for problem in settings.problems if problem.key.startswith("session_start.")]
    empty = Digest(context, settings.number("session_start.relevance_weight"), warnings)
    lessons = budget.attempt("knowledge banks", list[Candidate](), _lessons, project, seconds=STEP_SECONDS)
    limit = settings.count("session_start.limit")
    # The index may be a moment behind: what is about to be shown is looked at, and chosen again if it has changed.
    for _ in range(2):
        digest = _choose(empty, stores, lessons, limit)
        about_to_show = [pick.candidate for pick in digest.picks]
        if not [records for records in stores if records.have_changed(about_to_show)]:
            break
        stores = _stores(store, user_store, settings, branch)
    return digest


def _stores(store: str, user_store: str, settings: Settings, branch: str) -> list[Records]:
    now = timestamps.now()
    places = ((store, paths.PROJECT_SOURCE, True), (user_store, paths.USER_SOURCE, False))
    return [
        Records(root, source, settings, is_local=is_local, branch=branch, now=now)
        for root, source, is_local in places
        if root
    ]


def _lessons(project: str) -> list[Candidate]:
    """The entries of the knowledge banks, the project's own and the user's."""
    if not any(map(os.path.isdir, paths.knowledge_banks(project))):
        return []
    from recollect.digest import knowledge_bank

    return knowledge_bank.lessons(project)


def _choose(empty: Digest, stores: Sequence[Records], lessons: Sequence[Candidate], limit: int) -> Digest:
    scores, digest = _relevance(empty, stores, lessons)
    candidates = [*(candidate for records in stores for candidate in records.candidates), *lessons]
    ranked = selection.rank(candidates, scores, digest.weight)
    left_off = _left_off(ranked)
    if not digest.context.query and not left_off:
        return digest
    urgent = _urgent(ranked, digest.context.files)[: min(MOST_URGENT, limit - len(left_off))]
    pinned = [*left_off, *urgent]
    pool = _distinct([*pinned, *(pick for pick in ranked if _is_eligible(pick))])
    rest = selection.choose(pool, limit, pinned)[len(pinned) :]
    more = sum(records.total for records in stores) + len(lessons) - len(pinned) - len(rest)
    return digest._replace(left_off=left_off, urgent=urgent, rest=rest, more=more)


def _relevance(
    digest: Digest, stores: Sequence[Records], lessons: Sequence[Candidate]
) -> tuple[dict[str, float], Digest]:
    """Relevance by key, and the digest with a remark on whether it counted."""
    if not digest.context.query or not digest.weight:
        return {}, digest
    try:
        scores = selection.relevance_of_texts(lessons, digest.context.query)
        for records in stores:
            scores.update(records.scores(digest.context.query))
    except selection.Unavailable:
        return {}, digest._replace(warnings=[*digest.warnings, _NO_FTS5])
    return scores, digest._replace(relevance="active")


def _left_off(ranked: Sequence[Pick]) -> list[Pick]:
    """The latest of the sessions that left something to do."""
    sessions = [pick for pick in ranked if pick.candidate.urgency == "open"]
    latest = max(sessions, key=lambda pick: (pick.candidate.updated, pick.candidate.key), default=None)
    return [latest._replace(reason="the latest session that left something to do")] if latest else []


def _urgent(ranked: Sequence[Pick], files: Sequence[str]) -> list[Pick]:
    """Urgent debt and constraints that expire soon, where they are about a changed file."""
    pressing = [pick for pick in ranked if pick.candidate.urgency not in ("", "open") and pick.candidate.files]
    if not pressing or not files:
        return []
    from recollect import globs

    changed = globs.Paths(files)
    touched = [(pick, changed.first_under(pick.candidate.files)) for pick in pressing]
    return [pick._replace(reason=f"{pick.candidate.urgency}, touches {file}") for pick, file in touched if file]


def _distinct(picks: Sequence[Pick]) -> list[Pick]:
    """The picks without those whose text is, word for word, that of an earlier pick."""
    first: dict[str, Pick] = {}
    for pick in picks:
        first.setdefault(pick.candidate.text, pick)
    return list(first.values())


def _is_eligible(pick: Pick) -> bool:
    return pick.candidate.category != "session_summary" or pick.relevance >= SESSION_BAR


def last_digest() -> StateFile:
    """The digest shown last, and why, as JSON: for `stats` and `doctor`."""
    path = os.path.join(paths.state_dir(), "last-injection.json")
    return StateFile(path, _LARGEST, "last digest", shrink=None)


def write_last(event: str, session: str, project: str, shown: Mapping[str, object]) -> None:
    """Remember what was shown."""
    data = {"at": timestamps.now(), "event": event, "session": session, "project": project, **shown}
    last_digest().replace(coldstart.dumps(data).encode("ascii") + b"\n")


def describe(digest: Digest, page: Page) -> dict[str, object]:
    """A digest as data: the work context, the settings that counted, and every entry with its numbers."""
    context = digest.context
    return {
        "relevance": digest.relevance,
        "weight": digest.weight,
        "query": context.query,
        "signals": {
            "feature": context.feature.slug if context.feature else None,
            "phase": context.feature.phase if context.feature else None,
            "branch": context.branch or None,
            "files": context.files[:_MOST_FILES],
            "notes": context.notes,
        },
        "entries": [
            {
                "path": pick.candidate.path,
                "category": pick.candidate.category,
                "title": pick.candidate.title,
                "score": round(pick.score, 4),
                "relevance": round(pick.relevance, 4),
                "prominence": round(pick.prominence, 4),
                "reason": pick.reason or ("relevance and prominence" if pick.relevance else "prominence"),
                "in_full": pick in page.full,
            }
            for pick in page.shown
        ],
        "more": page.more,
        "characters": len(page.text),
        "warnings": list(digest.warnings),
    }

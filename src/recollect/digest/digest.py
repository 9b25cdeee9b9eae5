"""The digest a session starts with: what is being worked on, what was left unfinished, which rules hold here."""

from __future__ import annotations

import time

from recollect import paths, timestamps
from recollect.digest import relevance, selection, work_context
from recollect.digest.candidates import Entries, lessons, store_records
from recollect.digest.render import Page, render
from recollect.digest.selection import Pick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.digest.candidates import Records
    from recollect.digest.selection import Candidate
    from recollect.digest.work_context import Signals
    from recollect.settings import Settings

GIT_SECONDS = 1.4
LATEST_FOR_GIT = 2.6
"""Seconds after the start by which git must have answered; indexing a store for the first time may come before."""

MOST_URGENT = 3
SESSION_BAR = 0.25
"""How relevant an older session must be, measured against the most relevant entry."""

_NO_FTS5 = "this Python's SQLite has no FTS5: the digest goes by prominence alone"


class Digest:
    """What would be shown, and why."""

    __slots__ = ("left_off", "more", "query", "relevance", "rest", "signals", "urgent", "warnings", "weight")

    def __init__(self, seen: Signals, weight: float) -> None:
        self.signals = seen
        self.query = seen.query
        self.weight = weight
        self.left_off: list[Pick] = []
        self.urgent: list[Pick] = []
        self.rest: list[Pick] = []
        self.more = 0
        self.relevance = "inactive"
        self.warnings: list[str] = []

    @property
    def picks(self) -> list[Pick]:
        return [*self.left_off, *self.urgent, *self.rest]

    def keep(self, wanted: Callable[[Candidate], bool]) -> None:
        """Leave out what is not wanted, such as what the session has been told already."""
        for part in (self.left_off, self.urgent, self.rest):
            part[:] = [pick for pick in part if wanted(pick.candidate)]
        self.more = 0

    def render(self) -> Page:
        return render(self)


def make(project: str, store: str, user_store: str, settings: Settings) -> Digest:
    """The digest for a session that starts now; empty when there is no work context and nothing is open."""
    latest = time.monotonic() + LATEST_FOR_GIT
    branch = work_context.branch(project)
    stores = _stores(store, user_store, settings, branch)
    seen = work_context.read(project, min(time.monotonic() + GIT_SECONDS, latest))
    digest = Digest(seen, settings.number("session_start.relevance_weight"))
    digest.warnings += [str(problem) for problem in settings.problems if problem.key.startswith("session_start.")]
    limit = settings.count("session_start.limit")
    # The index may be a moment behind: what is about to be shown is looked at, and chosen again if it has changed.
    for _ in range(2):
        _choose(digest, stores, project, limit)
        about_to_show = [pick.candidate for pick in digest.picks]
        if not [records for records in stores if records.have_changed(about_to_show)]:
            break
        stores = _stores(store, user_store, settings, branch)
    return digest


def _stores(store: str, user_store: str, settings: Settings, branch: str) -> list[Records]:
    now = timestamps.now()
    places = ((store, paths.PROJECT_SOURCE, True), (user_store, paths.USER_SOURCE, False))
    return [
        store_records(root, source, settings, is_local=is_local, branch=branch, now=now)
        for root, source, is_local in places
        if root
    ]


def _choose(digest: Digest, stores: Sequence[Records], project: str, limit: int) -> None:
    entries: list[Entries] = [*stores, lessons(project)]
    candidates = [one for place in entries for one in place.candidates]
    ranked = selection.rank(candidates, _relevance(digest, entries), digest.weight)
    digest.left_off = _left_off(ranked)
    if not digest.query and not digest.left_off:
        digest.urgent, digest.rest = [], []
        return
    digest.urgent = _urgent(ranked, digest.signals.files)[: min(MOST_URGENT, limit - len(digest.left_off))]
    pinned = [*digest.left_off, *digest.urgent]
    pool = _distinct([*pinned, *(pick for pick in ranked if _is_eligible(pick))])
    digest.rest = selection.choose(pool, limit, pinned)[len(pinned) :]
    digest.more = len(candidates) - len(digest.picks)


def _relevance(digest: Digest, entries: Sequence[Entries]) -> dict[str, float]:
    if not digest.query or not digest.weight:
        return {}
    found: dict[str, float] = {}
    try:
        for place in entries:
            found.update(place.scores(digest.query))
    except relevance.Unavailable:
        if _NO_FTS5 not in digest.warnings:
            digest.warnings.append(_NO_FTS5)
        return {}
    digest.relevance = "active"
    return found


def _left_off(ranked: Sequence[Pick]) -> list[Pick]:
    """The latest of the sessions that left something to do."""
    sessions = [pick for pick in ranked if pick.candidate.urgency == "open"]
    latest = max(sessions, key=lambda pick: (pick.candidate.updated, pick.candidate.key), default=None)
    if latest is None:
        return []
    latest.reason = "the latest session that left something to do"
    return [latest]


def _urgent(ranked: Sequence[Pick], files: Sequence[str]) -> list[Pick]:
    """Debt that presses and constraints that run out, where they touch a file in play."""
    pressing = [pick for pick in ranked if pick.candidate.urgency not in ("", "open") and pick.candidate.files]
    if not pressing or not files:
        return []
    from recollect import globs

    in_play = globs.Paths(files)
    found = []
    for pick in pressing:
        touched = in_play.first_under(pick.candidate.files)
        if touched:
            pick.reason = f"{pick.candidate.urgency}, touches {touched}"
            found.append(pick)
    return found


def _distinct(picks: Sequence[Pick]) -> list[Pick]:
    """The picks without those that say, word for word, what one before them says."""
    first: dict[str, Pick] = {}
    for pick in picks:
        first.setdefault(pick.candidate.text, pick)
    return list(first.values())


def _is_eligible(pick: Pick) -> bool:
    return pick.candidate.category != "session_summary" or pick.relevance >= SESSION_BAR

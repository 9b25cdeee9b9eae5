"""The digest a session starts with: what is being worked on, what was left unfinished, which rules apply here."""

from __future__ import annotations

import os
import time

from onrecord import budget, paths, timestamps
from onrecord.coldstart import NamedTuple
from onrecord.digest import selection, work_context
from onrecord.digest.selection import DigestCandidate, Records, Relevance
from onrecord.digest.work_context import WorkContext
from onrecord.git.changes import Changes
from onrecord.recall.candidate import Cautions, Item
from onrecord.recall.stores import Stores
from onrecord.text import cut, fence, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onrecord.digest.selection import Pick
    from onrecord.paths import StoreRef
    from onrecord.settings import Settings

GIT_SECONDS = 1.4
LATEST_FOR_GIT = 2.6
"""Seconds after the start by which git must have answered; indexing a store for the first time may come before."""

STEP_SECONDS = 0.6
"""Of computing, for the work context, the knowledge banks and each store of others: without it there is a digest."""

MAX_URGENT = 3
MAX_NEAR = 3
CHECK_SECONDS = 0.3
"""Of computing, to check if the files of what is shown have changed."""

LEFT_OFF = "left unfinished"
_NO_FTS5 = "this Python's SQLite has no FTS5: the digest goes by prominence alone"

_ATTRIBUTES = {"source": paths.PROJECT_PREFIX, "kind": "digest"}


class DigestPage(NamedTuple):
    """The text of a digest, and the picks in it."""

    text: str
    picks: list[Pick]


class Digest(NamedTuple):
    """The entries that would be shown, and why."""

    context: WorkContext
    weight: float
    longest: int
    """Characters that it may have in all."""
    warnings: Sequence[str] = ()
    picks: Sequence[Pick] = ()
    near: Sequence[Pick] = ()
    """The best matches among the records that there is no reason to show."""
    relevance: str = "inactive"
    """`active` where relevance decides; `inactive` where there is nothing to be relevant to, or no way to tell."""

    def only(self, is_wanted: Callable[[DigestCandidate], bool]) -> Digest:
        """Return the digest without unwanted entries, such as those the session was shown already."""
        return self._replace(picks=[pick for pick in self.picks if is_wanted(pick.candidate)])

    def render(self) -> DigestPage:
        """Return the page: the same state gives the same bytes, as hosts leave out a text that is there already."""
        return _page(self)


def make(project: str, store_refs: Sequence[StoreRef], settings: Settings, only: str = "") -> Digest:
    """Return the digest for a session that starts now; empty if there is no reason to show any record.

    With `only`, the prefix of one of them, the others are read for nothing but what they hide of it.
    """
    latest = time.monotonic() + LATEST_FOR_GIT
    branch = work_context.branch(project)
    # Before git is asked: indexing a store for the first time takes what time there is.
    store_records = _stores(store_refs, project, settings, branch, only)
    nothing = WorkContext(None, branch, Changes(), ["took too long"])
    until = min(time.monotonic() + GIT_SECONDS, latest)
    context = budget.attempt("work context", nothing, work_context.read, project, until, seconds=STEP_SECONDS)
    lessons = list[DigestCandidate]()
    if not only:
        lessons = budget.attempt("knowledge banks", lessons, _lessons, project, seconds=STEP_SECONDS)
    digest = compose(context, store_records, lessons, settings)
    # The index may be a moment behind: what is about to be shown is looked at, and chosen again if it has changed.
    about_to_show = [pick.candidate for pick in digest.picks]
    if [records for records in store_records if records.have_changed(about_to_show)]:
        store_records = _stores(store_refs, project, settings, branch, only)
        digest = compose(context, store_records, lessons, settings)
    return budget.attempt("check files", digest, _checked, digest, store_records, seconds=CHECK_SECONDS)


def compose(
    context: WorkContext, store_records: Sequence[Records], lessons: Sequence[DigestCandidate], settings: Settings
) -> Digest:
    """Return the digest for a work context, from these stores and entries of knowledge banks."""
    warnings = [str(problem) for problem in settings.problems if problem.key.startswith("session_start.")]
    weight, longest = settings.number("session_start.relevance_weight"), settings.count("session_start.max_characters")
    digest = Digest(context, weight, longest, warnings)
    limit = settings.count("session_start.limit")
    if context.is_empty or not weight:
        return digest._replace(picks=_by_prominence(store_records, lessons, limit, context))
    try:
        relevance = {key: value for records in store_records for key, value in _relevance(records, context).items()}
        relevance.update(_of_lessons(lessons, context))
    except selection.Unavailable:
        picks = _by_prominence(store_records, lessons, limit, context)
        return digest._replace(warnings=[*warnings, _NO_FTS5], picks=picks)
    words = {key: value.words for key, value in relevance.items()}
    all_picks = selection.order(_all(store_records, lessons), words, weight)
    picks = _by_evidence(all_picks, relevance, limit, context.files)
    return digest._replace(picks=picks, near=_near(all_picks, picks), relevance="active")


def _relevance(store_records: Records, context: WorkContext) -> dict[str, Relevance]:
    return store_records.relevance(context.intent, context.query) if context.query else {}


def _of_lessons(lessons: Sequence[DigestCandidate], context: WorkContext) -> dict[str, Relevance]:
    if not lessons:
        return {}
    from onrecord.digest import knowledge_bank

    shares = knowledge_bank.relevance(lessons, context.intent)
    return {key: Relevance(share, share) for key, share in shares.items()}


def _by_prominence(
    store_records: Sequence[Records], lessons: Sequence[DigestCandidate], limit: int, context: WorkContext
) -> list[Pick]:
    """Return the most prominent entries, where relevance cannot be measured."""
    for records in store_records:
        budget.attempt(f"read {records.root}", None, records.add_newest, seconds=STEP_SECONDS)
    all_picks = selection.order(_all(store_records, lessons), {}, 0.0)
    pinned = _pinned(all_picks, context.files, limit)
    eligible = [
        pick._replace(reason="prominence") for pick in all_picks if pick.candidate.category != "session_summary"
    ]
    return selection.choose(_distinct([*pinned, *eligible]), limit, pinned)


def _by_evidence(
    all_picks: Sequence[Pick], relevance: Mapping[str, Relevance], limit: int, files: Sequence[str]
) -> list[Pick]:
    """Return the pinned entries, and then those that there is a reason to show."""
    pinned = _pinned(all_picks, files, limit)
    supported = [pick for pick in (_supported(pick, relevance, files) for pick in all_picks) if pick]
    return selection.choose(_distinct([*pinned, *supported]), limit, pinned)


def _near(all_picks: Sequence[Pick], picks: Sequence[Pick]) -> list[Pick]:
    keys = {pick.candidate.key for pick in picks}
    others = [pick for pick in all_picks if pick.relevance and pick.candidate.key not in keys]
    return sorted(others, key=lambda pick: -pick.relevance)[:MAX_NEAR]


def _all(store_records: Sequence[Records], lessons: Sequence[DigestCandidate]) -> list[DigestCandidate]:
    return [*(candidate for records in store_records for candidate in records.candidates), *lessons]


def _supported(pick: Pick, relevance: Mapping[str, Relevance], files: Sequence[str]) -> Pick | None:
    entry = pick.candidate
    if entry.key not in relevance:
        return None
    reason = selection.reason(entry.category, entry.files, relevance[entry.key], files)
    return pick._replace(reason=reason) if reason else None


def _checked(digest: Digest, store_records: Sequence[Records]) -> Digest:
    """Return the digest with a caution on each record whose files have changed."""
    cautions = Cautions()
    picks = list(digest.picks)
    for records in store_records:
        anchors = records.anchors([pick.candidate for pick in picks])
        for place, pick in enumerate(picks):
            if pick.candidate.key in anchors:
                caution, _ = cautions.check(records.root, records.prefix, anchors[pick.candidate.key])
                picks[place] = pick._replace(caution=caution)
    return digest._replace(picks=picks)


def _stores(store_refs: Sequence[StoreRef], project: str, settings: Settings, branch: str, only: str) -> list[Records]:
    """Return the records of each store that apply here, without those that a store before it hides."""
    in_play = Stores(store_refs, project)
    store_records: list[Records] = []
    for store_ref in store_refs:
        args = (in_play, store_ref, settings, branch, store_records)
        # The project's own may take what time there is; another one that takes too long costs no other.
        if store_ref.prefix == paths.PROJECT_PREFIX:
            records: Records | None = _records(*args)
        else:
            records = budget.attempt(f"read {store_ref.root}", None, _records, *args, seconds=STEP_SECONDS)
        store_records += [records] if records else []
        if not paths.is_shared(store_ref.prefix) and not (records and records.is_complete):
            # It cannot tell which records of the others it replaces: none of them may be shown as current.
            break
    return [records for records in store_records if not only or records.prefix == only]


def _records(
    in_play: Stores, store_ref: StoreRef, settings: Settings, branch: str, earlier: Sequence[Records]
) -> Records:
    """Read the records of one store; `earlier` are those of the stores before it."""
    higher = [records for records in earlier if not paths.is_shared(records.prefix)]
    fits = in_play.fits(store_ref)
    return Records(store_ref, settings, branch=branch, now=timestamps.now(), fits=fits, higher=higher)


def _lessons(project: str) -> list[DigestCandidate]:
    """Return the entries of the knowledge banks, the project's own and the user's."""
    if not any(map(os.path.isdir, paths.knowledge_banks(project))):
        return []
    from onrecord.digest import knowledge_bank

    return knowledge_bank.lessons(project)


def _pinned(all_picks: Sequence[Pick], files: Sequence[str], limit: int) -> list[Pick]:
    """Return what comes first whatever its relevance: the session to resume, and urgent entries about changed files."""
    left_off = _left_off(all_picks)
    return [*left_off, *_urgent(all_picks, files)[: min(MAX_URGENT, limit - len(left_off))]]


def _left_off(all_picks: Sequence[Pick]) -> list[Pick]:
    """Return the latest of the sessions that left something to do."""
    sessions = [pick for pick in all_picks if pick.candidate.urgency == "open"]
    latest = max(sessions, key=lambda pick: (pick.candidate.updated, pick.candidate.key), default=None)
    return [latest._replace(reason=LEFT_OFF)] if latest else []


def _urgent(all_picks: Sequence[Pick], files: Sequence[str]) -> list[Pick]:
    """Return urgent debt and constraints that expire soon, if they are about a changed file."""
    pressing = [pick for pick in all_picks if pick.candidate.urgency not in ("", "open") and pick.candidate.files]
    if not pressing or not files:
        return []
    from onrecord import globs

    changed = globs.PathSet(files)
    touched = [(pick, changed.first_under(pick.candidate.files)) for pick in pressing]
    return [pick._replace(reason=f"{pick.candidate.urgency}, about {file}") for pick, file in touched if file]


def _distinct(picks: Sequence[Pick]) -> list[Pick]:
    """Return the picks without those whose text equals that of an earlier pick."""
    first: dict[str, Pick] = {}
    for pick in picks:
        first.setdefault(pick.candidate.text, pick)
    return list(first.values())


def _page(digest: Digest) -> DigestPage:
    """Return the page: as many entries as fit, each in full; an empty text if there is none."""
    page_picks: list[Pick] = []
    text = ""
    for pick in digest.picks:
        page = _text(digest.context, [*page_picks, pick])
        if len(page) <= digest.longest:
            page_picks.append(pick)
            text = page
    return DigestPage(text, page_picks)


def _text(context: WorkContext, page_picks: list[Pick]) -> str:
    return fence(_ATTRIBUTES, [_opening(context), *(_item(pick).render() for pick in page_picks)])


def _opening(context: WorkContext) -> str:
    parts = []
    if context.feature:
        phase = f" (last completed phase: {cut(context.feature.phase, 60)})" if context.feature.phase else ""
        parts.append(f"feature {cut(context.feature.slug, 100)}{phase}")
    if context.branch:
        parts.append(f"branch {cut(context.branch, 100)}")
    work = f" for {', '.join(parts)}" if parts else ""
    count = len(context.files)
    changed = f" ({plural(count, 'changed file')})" if count else ""
    return f"Project memory{work}{changed}:"


def _item(pick: Pick) -> Item:
    entry = pick.candidate
    # What a bank observed last may be a number, or its place in the file: only a date says when.
    is_dated = entry.updated[:4].isdigit() and entry.updated[:4] != "0000"
    # The agent is shown why only where that is news to it: there is something to go on with, or something presses.
    reason = pick.reason if entry.urgency else ""
    note = "; ".join(part for part in (reason, pick.caution) if part)
    return Item(
        entry.category,
        entry.text,
        entry.path,
        updated=entry.updated if is_dated else "",
        note=note,
        source=entry.shared,
    )

"""The digest a session starts with: what was left unfinished, what presses on the changed files, and the map."""

from __future__ import annotations

import os
import time

from onrecord import budget, paths, timestamps
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.digest import map_page, records, selection, work_context
from onrecord.digest.records import Records
from onrecord.digest.selection import DigestCandidate, Pick
from onrecord.digest.work_context import WorkContext
from onrecord.git.changes import Changes
from onrecord.recall.candidate import Cautions, Item
from onrecord.recall.stores import Stores
from onrecord.store import record_names
from onrecord.text import count_tokens, fence, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onrecord.paths import StoreRef
    from onrecord.settings import Settings

GIT_SECONDS = 1.4
LATEST_FOR_GIT = 2.6
"""Seconds after the start by which git must have answered; indexing a store for the first time may come before."""

STEP_SECONDS = 0.6
"""Seconds of computing for each part that a digest can do without: the work context, knowledge banks, other stores."""

MAX_URGENT = 3
"""Records above the map, with their whole rule, about files that are being changed."""

CHECK_SECONDS = 0.3
"""Seconds of computing for the check whether the files of what is shown have changed."""

MAX_CHARACTERS = 9_700
"""Characters of a digest, whatever the settings say: the reply of a hook has at most 9,900."""

LEFT_OFF = "left unfinished"
_LAST_LINE_TOKENS = 40
_NO_FTS5 = "this Python's SQLite has no FTS5: the digest goes by prominence alone"
_ATTRIBUTES = {"source": paths.PROJECT_PREFIX, "kind": "map"}


class DigestPage(NamedTuple):
    """The text of a digest, and what is in it."""

    text: str
    above: Sequence[Pick] = ()
    """What is shown in full above the map."""
    lines: Sequence[Pick] = ()
    """The entries with a line in the map."""
    left_out: int = 0
    """How many entries in force have no line."""
    is_partial: bool = False
    """True if not all records are indexed yet."""

    @property
    def entries(self) -> list[DigestCandidate]:
        """The entries with a line in the map."""
        return [pick.candidate for pick in self.lines]

    @property
    def is_whole(self) -> bool:
        """True if the map has all that is on record here."""
        return bool(self.lines) and not self.left_out and not self.is_partial


class Digest(NamedTuple):
    """The entries that would be shown, and why."""

    context: WorkContext
    weight: float
    limit: int
    max_tokens: int
    warnings: Sequence[str]
    above: Sequence[Pick] = ()
    """What comes above the map, in full: the session to resume, and what presses on the changed files."""
    pinned: Sequence[Pick] = ()
    """Entries of the map that are in it whatever their score."""
    picks: Sequence[Pick] = ()
    """All entries in force, or those of a large store that come into question, best first; empty without a map."""
    areas: Mapping[str, int] = {}
    """How many entries each area has; under an empty name, how many there are in all."""
    is_update: bool = False
    """True if the session has a map already."""
    relevance: str = "inactive"
    """`active` where relevance decides; `inactive` where there is nothing to be relevant to, or no way to tell."""
    building: str = ""
    """The line that says how many records are known so far, if not all of them are indexed."""

    @property
    def words(self) -> str:
        """All that is known about the work, in words."""
        return words_of(self.context)

    def only(self, is_wanted: Callable[[DigestCandidate], bool]) -> Digest:
        """Return the digest without unwanted entries above the map."""
        return self._replace(above=[pick for pick in self.above if is_wanted(pick.candidate)])

    def after_map(self, is_new: Callable[[DigestCandidate], bool]) -> Digest:
        """Return the digest for a session that has a map: it gets lines only for what is new."""
        new = [pick for pick in self.picks if is_new(pick.candidate)]
        return self._replace(picks=new, pinned=(), areas={}, is_update=True)

    def render(self, max_characters: int = MAX_CHARACTERS) -> DigestPage:
        """Return the page: the same state gives the same bytes, as hosts leave out a text that is there already."""
        return _page(self, max_characters)


def make(project: str, store_refs: Sequence[StoreRef], settings: Settings, only: str = "") -> Digest:
    """Return the digest for a session that starts now.

    With `only`, the prefix of one of them, the others are read for nothing but what they hide of it.
    """
    latest = time.monotonic() + LATEST_FOR_GIT
    waiting = [store_ref for store_ref in store_refs if not store_ref.is_trusted]
    store_refs = [store_ref for store_ref in store_refs if store_ref.is_trusted]
    branch = work_context.branch(project)
    # Before git is asked: indexing a store for the first time takes what time there is.
    all_records = _stores(store_refs, project, settings, only)
    nothing = WorkContext(None, branch, Changes(), ["took too long"])
    until = min(time.monotonic() + GIT_SECONDS, latest)
    context = budget.attempt("work context", nothing, work_context.read, project, until, seconds=STEP_SECONDS)
    from_banks = list[DigestCandidate]()
    if not only:
        from_banks = budget.attempt("knowledge banks", from_banks, lessons, project, seconds=STEP_SECONDS)
        from_banks = [lesson for lesson in from_banks if not (waiting and lesson.is_local)]
    digest = compose(context, all_records, from_banks, settings)
    # The index may be a moment behind: what is about to be shown is looked at, and chosen again if it has changed.
    map_picks = selection.choose(digest.picks, digest.limit, digest.pinned)
    about_to_show = [pick.candidate for pick in (*digest.above, *map_picks)]
    if [each for each in all_records if each.have_changed(about_to_show)]:
        digest = compose(context, all_records, from_banks, settings)
    digest = budget.attempt("check files", digest, _checked, digest, all_records, seconds=CHECK_SECONDS)
    if settings.flag("session_start.map") and digest.limit:
        digest = digest._replace(building=_building(all_records))
    for each in all_records:
        each.close()
    return digest


def _building(all_records: Sequence[Records]) -> str:
    """Return the line that says how many records are known so far; empty if all are."""
    partial = [each for each in all_records if not each.is_complete]
    if not partial:
        return ""
    counts = [each.progress for each in partial]
    indexed, records = (sum(numbers) for numbers in zip(*counts))
    return map_page.building_line(indexed, records, can_be_kept=not any(each.is_in_memory for each in partial))


def compose(
    context: WorkContext, all_records: Sequence[Records], lessons: Sequence[DigestCandidate], settings: Settings
) -> Digest:
    """Return the digest for a work context, from these stores and entries of knowledge banks."""
    warnings = [str(problem) for problem in settings.problems if problem.key.startswith("session_start.")]
    warnings += context.warnings
    weight, limit = settings.number("session_start.relevance_weight"), settings.count("session_start.limit")
    digest = Digest(context, weight, limit, settings.count("session_start.max_tokens"), warnings)
    if not limit:
        return digest
    for each in all_records:
        budget.attempt(f"read {each.root}", None, _load, each, context, weight, seconds=STEP_SECONDS)
    relevance: dict[str, float] = {}
    if weight and not context.is_empty:
        try:
            relevance = {**records.relevance(all_records), **_of_lessons(lessons, context)}
            digest = digest._replace(relevance="active")
        except selection.Unavailable:
            digest = digest._replace(warnings=[*warnings, _NO_FTS5])
    candidates = [*(candidate for each in all_records for candidate in each.candidates), *lessons]
    distinct = _distinct(candidates)
    picks = selection.order(distinct, relevance, weight)
    touched = _touched(picks, all_records)
    above = [*_left_off(all_records), *touched[:MAX_URGENT]][:limit]
    if not settings.flag("session_start.map"):
        return digest._replace(above=above)
    picks_by_key = _named([*touched, *picks], all_records, lessons, limit)
    return digest._replace(
        above=above,
        pinned=[picks_by_key.get(pick.candidate.key, pick) for pick in touched[:limit]],
        picks=[picks_by_key.get(pick.candidate.key, pick) for pick in picks],
        areas=_areas(all_records, lessons, len(candidates) - len(distinct)),
    )


def _load(store_records: Records, context: WorkContext, weight: float) -> None:
    store_records.load(words_of(context) if weight else "", context.files, _observed(store_records.root))


def words_of(context: WorkContext) -> str:
    """Return all that is known about the work, each word once."""
    return " ".join(dict.fromkeys(word for _, text in context.signals for word in text.split()))


def _observed(root: str) -> Mapping[str, int]:
    """Return how often something happened to each record of a store, by path: what is used and corrected matters."""
    from onrecord.usage import usage_log

    return usage_log.observations(root)


def _of_lessons(lessons: Sequence[DigestCandidate], context: WorkContext) -> dict[str, float]:
    if not lessons:
        return {}
    from onrecord.digest import knowledge_bank

    return knowledge_bank.relevance(lessons, context)


def _touched(picks: Sequence[Pick], all_records: Sequence[Records]) -> list[Pick]:
    """Return the urgent entries about changed files: high-severity constraints, urgent debt, what expires soon."""
    files = {key: file for each in all_records for key, file in each.touched.items()}
    by_key = {pick.candidate.key: pick for pick in picks}
    return [
        by_key[key]._replace(reason=f"{by_key[key].candidate.urgency}, about {file}")
        for key, file in files.items()
        if key in by_key and by_key[key].candidate.urgency
    ]


def _left_off(all_records: Sequence[Records]) -> list[Pick]:
    """Return the latest of the sessions that left something to do."""
    sessions = [candidate for each in all_records for candidate in each.sessions]
    latest = max(sessions, key=lambda candidate: (candidate.updated, candidate.key), default=None)
    return [Pick(latest, 0.0, 0.0, 0.0, LEFT_OFF)] if latest else []


def _distinct(candidates: Sequence[DigestCandidate]) -> list[DigestCandidate]:
    """Return the candidates without those whose text equals that of an earlier one."""
    first: dict[str, DigestCandidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.text, candidate)
    return list(first.values())


def _named(
    picks: Sequence[Pick], all_records: Sequence[Records], lessons: Sequence[DigestCandidate], limit: int
) -> dict[str, Pick]:
    """Return those of the picks that may be in the map with the shortest names that `onrecord show` takes, by key."""
    few = selection.choose(picks, min(limit, selection.MIN_BALANCED - 1))
    picks_by_key = {pick.candidate.key: pick for pick in (*selection.choose(picks, limit), *few)}
    slugs = [candidate.name for candidate in lessons]
    named_picks: dict[str, Pick] = {}
    for key, pick in picks_by_key.items():
        candidate = pick.candidate
        others = [other for each in all_records for other in each.neighbours(candidate.name)]
        others += [slug for slug in slugs if slug != candidate.name]
        name = record_names.beginning(candidate.name, others) or _last_resort(candidate)
        # The name is the last field; `_replace` would take ten times as long, for each line.
        named_picks[key] = Pick(DigestCandidate(*candidate[:-1], name), *pick[1:])
    return named_picks


def _last_resort(lesson: DigestCandidate) -> str:
    """Return a name for an entry whose id is no name, or the same as another's."""
    if lesson.category in CATEGORIES:
        return record_names.short_name("/".join(lesson.key.split(os.sep)[-2:]))
    return f"lesson-{lesson.key[-6:]}"


def _areas(all_records: Sequence[Records], lessons: Sequence[DigestCandidate], copies: int) -> dict[str, int]:
    """Return the number of entries in each area; under an empty name, of all, without `copies`."""
    counts = {"": len(lessons) - copies}
    for each in all_records:
        for area, count in each.areas.items():
            counts[area] = counts.get(area, 0) + count
    return counts


def _checked(digest: Digest, all_records: Sequence[Records]) -> Digest:
    """Return the digest with a caution on each record above the map whose files have changed."""
    cautions = Cautions()
    above = list(digest.above)
    for each in all_records:
        anchors = each.anchors([pick.candidate for pick in above])
        for place, pick in enumerate(above):
            if pick.candidate.key in anchors:
                caution, _ = cautions.check(each.root, each.prefix, anchors[pick.candidate.key])
                above[place] = pick._replace(caution=caution)
    return digest._replace(above=above)


def _stores(store_refs: Sequence[StoreRef], project: str, settings: Settings, only: str) -> list[Records]:
    """Return the records of each store that apply here, without those that a store before it hides."""
    in_play = Stores(store_refs, project)
    all_records: list[Records] = []
    for store_ref in store_refs:
        args = (in_play, store_ref, settings, all_records)
        # The project's own may take what time there is; another one that takes too long costs no other.
        if store_ref.prefix == paths.PROJECT_PREFIX:
            one: Records | None = _records(*args)
        else:
            one = budget.attempt(f"read {store_ref.root}", None, _records, *args, seconds=STEP_SECONDS)
        all_records += [one] if one else []
        if not paths.is_shared(store_ref.prefix) and not (one and one.is_complete):
            # It cannot tell which records of the others it replaces: none of them may be shown as current.
            break
    return [each for each in all_records if not only or each.prefix == only]


def _records(in_play: Stores, store_ref: StoreRef, settings: Settings, earlier: Sequence[Records]) -> Records:
    """Open the records of one store; `earlier` are those of the stores before it."""
    higher = [each for each in earlier if not paths.is_shared(each.prefix)]
    return Records(
        store_ref,
        settings,
        now=timestamps.now(),
        applies=in_play.applies(store_ref),
        higher=higher,
        inner=in_play.inner(store_ref),
    )


def has_knowledge_banks(project: str) -> bool:
    """True if the project or its user has a folder of knowledge banks."""
    return any(map(os.path.isdir, paths.knowledge_banks(project)))


def lessons(project: str) -> list[DigestCandidate]:
    """Return the entries of the knowledge banks, the project's own and the user's, each with a name."""
    if not has_knowledge_banks(project):
        return []
    from onrecord.digest import knowledge_bank

    return [_with_slug(lesson) for lesson in knowledge_bank.entries(project)]


def _with_slug(lesson: DigestCandidate) -> DigestCandidate:
    """Return an entry of a knowledge bank with a name like the id of a record, and its rule in a line."""
    from onrecord.digest import knowledge_bank

    name = record_names.slug(lesson.title) or _last_resort(lesson)
    return lesson._replace(name=name, line=knowledge_bank.line(lesson))


def is_called(lesson: DigestCandidate, name: str) -> bool:
    """True if an entry of a knowledge bank has this name, in whole or as its last resort."""
    return name.lower() in (lesson.name, _last_resort(lesson))


def _page(digest: Digest, max_characters: int) -> DigestPage:
    """Return the page: what comes above the map, as far as it fits, then the map."""
    tokens = min(digest.max_tokens, max_characters // 4)
    above: list[Pick] = []
    for pick in digest.above:
        if _size([*above, pick]) <= tokens:
            above.append(pick)
    map_text = map_page.MapText((), (), 0)
    if digest.picks:
        room = tokens - _size(above) - _LAST_LINE_TOKENS * (2 if digest.building else 1)
        map_text = map_page.compose(digest.picks, digest.pinned, digest.limit, room, digest.areas)
    building = [digest.building] if digest.building else []
    if not above and not map_text.picks and not building:
        return DigestPage("")
    last = map_page.last_line(map_text.picks, digest.words, digest.weight, is_active=digest.relevance == "active")
    body: list[str] = []
    if digest.is_update and map_text.picks:
        body = [map_page.HEAD_OF_UPDATE, *map_text.lines[len(map_page.HEAD) :]]
    elif map_text.picks:
        body = [*map_text.lines, last]
    shows = [pick.candidate.title for pick in above]
    shows += [f"map of {plural(len(map_text.picks), 'record')}"] if body else []
    text = fence(_ATTRIBUTES, [*(_item(pick).render() for pick in above), *building, *body], shows=shows)
    return DigestPage(text, above, map_text.picks, map_text.left_out, bool(building))


def _size(above: Sequence[Pick]) -> int:
    return count_tokens(fence(_ATTRIBUTES, [_item(pick).render() for pick in above]))


def _item(pick: Pick) -> Item:
    entry = pick.candidate
    note = "; ".join(part for part in (pick.reason, pick.caution) if part)
    return Item(entry.category, entry.text, entry.path, updated=entry.updated, note=note, source=entry.shared)

"""The records that an agent is shown for a prompt: find candidates, filter them, check their files, render the block.

This is the one pipeline of the prompt hook, `recall`, `why`, `try` and the benchmark. It is strict: what is probably
not relevant is not shown, and what is only likely is named in one line. A question about the past is answered like a
search. It returns a `Decision` that says what became of every candidate.
"""

from __future__ import annotations

from onrecord import budget
from onrecord.coldstart import NamedTuple
from onrecord.recall import past_question, selection
from onrecord.recall.candidate import (
    AT_PROMPT,
    NOTHING_CERTAIN,
    NOTHING_ON_FILE,
    POINTER,
    RULE,
    SHOWN,
    Candidate,
    count_shown,
)
from onrecord.recall.selection import Room, Thresholds
from onrecord.recall.stores import Stores
from onrecord.search import query
from onrecord.search.candidates import Filter
from onrecord.session import transcript as transcripts
from onrecord.session.ledger import Ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onrecord.recall.judge import Verdict
    from onrecord.recall.past_question import PastQuestion
    from onrecord.recall.work_question import WorkQuestion
    from onrecord.search.query import Query
    from onrecord.search.rank import Match
    from onrecord.session.transcript import Transcript
    from onrecord.settings import Settings

    Judge = Callable[[str, list[Match], Sequence[str]], Sequence[Verdict]]
    """Given the prompt, matches and earlier turns, a verdict on each match."""

_MAX_CANDIDATES = 12
"""Candidates of one store, if no judge is to see more."""

_MAX_REFERRING_TERMS = 3
"""Terms of a prompt that may refer to the one before it: one with more is about something else."""

_MAX_ANSWERS = 3
"""Records shown for a question about the past."""

WITH_MAP = "retrieval.with_map is none, and the session has all records in its map"
BELOW_THRESHOLD, DROPPED, TURNED_OFF = "below the threshold", "dropped by the judge", "turned off"


class Request(NamedTuple):
    """A prompt, and what of its session matters for it."""

    prompt: str
    is_first: bool = False
    last_prompt: str = ""
    """The prompt before, for one that may refer to it."""
    turns: Sequence[str] = ()
    """The last turns of both sides, which only a judge is shown."""


class Decision(NamedTuple):
    """The block for a prompt, and the outcome of every candidate."""

    text: str
    is_first: bool
    thresholds: Thresholds
    borrowed: str
    """The prompt before, if it was searched for in place of this one, whose own words are on no record."""
    candidates: tuple[Candidate, ...]
    is_past: bool = False
    """True if the prompt asks about the past, so that what counts is its topic."""
    work: str = ""
    """For a question about the work, which is answered from session summaries: which ones, in words."""

    @property
    def shown_candidates(self) -> list[Candidate]:
        """The candidates that are shown in either form."""
        return [candidate for candidate in self.candidates if candidate.outcome == SHOWN]

    @property
    def rules(self) -> list[Candidate]:
        return [candidate for candidate in self.shown_candidates if candidate.form == RULE]

    @property
    def pointers(self) -> list[Candidate]:
        return [candidate for candidate in self.shown_candidates if candidate.form == POINTER]


class PromptSearch(NamedTuple):
    """The result of searching all stores for a prompt."""

    query: Query
    question: PastQuestion | None
    """The question about the past that the prompt is, if it is one; then `query` is its topic."""
    candidates: list[Candidate]
    borrowed: str = ""
    """The prompt before, if it was searched for instead; what it finds is only pointed to."""
    work: WorkQuestion | None = None
    """The question about the work that the prompt is, if it is one; then `candidates` are not searched for."""

    @property
    def is_past(self) -> bool:
        return self.question is not None


def search(stores: Stores, request: Request, settings: Settings) -> PromptSearch:
    """Search all stores for a prompt."""
    from onrecord.recall.work_question import parse

    work = parse(request.prompt)
    if work and (not work.topic or _has_work(stores, work, settings)):
        return PromptSearch(query.parse(""), None, [], work=work)
    question = past_question.parse(request.prompt)
    parsed = query.parse(question.topic) if question else query.parse_prompt(request.prompt)
    candidates = find(stores, parsed, settings, is_past=bool(question))
    if candidates or question or not request.last_prompt:
        return PromptSearch(parsed, question, candidates)
    parsed = query.parse_prompt(request.last_prompt)
    return PromptSearch(parsed, None, find(stores, parsed, settings), request.last_prompt)


def find(stores: Stores, query: Query, settings: Settings, *, is_past: bool = False) -> list[Candidate]:
    """Return the candidates for a prompt, or for a question about the past, best first within each store."""
    max_judged = settings.count("retrieval.judge.max_candidates") if settings.flag("retrieval.judge.enabled") else 0
    filter = Filter("past" if is_past else "auto", settings=settings)
    return stores.search(query, filter, max(_MAX_CANDIDATES, max_judged), is_last=False)


def decide(
    stores: Stores,
    request: Request,
    settings: Settings,
    *,
    judge: Judge | None = None,
    ledger: Ledger | None = None,
    even_if_off: bool = False,
) -> Decision:
    """Search for a prompt and decide what to show; what is shown is noted in `ledger`."""
    prompt_search = search(stores, request, settings)
    ledger = ledger or Ledger("")
    return choose(stores, request, prompt_search, settings, judge=judge, ledger=ledger, even_if_off=even_if_off)


def choose(
    stores: Stores,
    request: Request,
    prompt_search: PromptSearch,
    settings: Settings,
    *,
    judge: Judge | None,
    ledger: Ledger,
    even_if_off: bool = False,
) -> Decision:
    """Decide what to show of the candidates of a search; what is shown is noted in `ledger`, which must be open."""
    if prompt_search.work:
        return _of_work(stores, request, prompt_search.work, settings, ledger, even_if_off=even_if_off)
    thresholds = _thresholds(request, prompt_search, settings)
    with_map = settings.text("retrieval.with_map")
    with_map = with_map if ledger.map_is_whole and not prompt_search.is_past else ""
    if with_map == "rules":
        thresholds = Thresholds(thresholds.rule)
    text, off = "", "" if even_if_off else turned_off(settings) or (WITH_MAP if with_map == "none" else "")
    candidates = [] if off else _with_forms(prompt_search.candidates, request, thresholds, judge)
    if off:
        candidates = [candidate._replace(outcome=f"{TURNED_OFF}: {off}") for candidate in prompt_search.candidates]
    elif any(candidate.form for candidate in candidates):
        room = _room(settings, request, prompt_search.is_past)
        text, candidates = selection.show(candidates, thresholds, room, ledger)
    elif prompt_search.question:
        is_missing = past_question.is_missing(
            stores, prompt_search.question, prompt_search.query, prompt_search.candidates, settings
        )
        # Without a candidate it is not known that there is a record at all: the index may be incomplete.
        text = NOTHING_ON_FILE if is_missing else NOTHING_CERTAIN if candidates else ""
    borrowed, is_past = prompt_search.borrowed, prompt_search.is_past
    return Decision(text, request.is_first, thresholds, borrowed, tuple(candidates), is_past)


def _has_work(stores: Stores, work_question: WorkQuestion, settings: Settings) -> bool:
    from onrecord.recall import work_answer

    return bool(work_answer.about(work_question, work_answer.find(stores, work_question, settings)).all)


def _of_work(
    stores: Stores,
    request: Request,
    work_question: WorkQuestion,
    settings: Settings,
    ledger: Ledger,
    *,
    even_if_off: bool,
) -> Decision:
    """Decide what a question about the work is shown, from session summaries."""
    from onrecord.recall import work_answer

    off = "" if even_if_off else turned_off(settings)
    summaries = work_answer.about(work_question, work_answer.find(stores, work_question, settings))
    answer = work_answer.Answer("", ())
    if not off:
        answer = work_answer.show(work_question, summaries, selection.room(settings, is_first=request.is_first), ledger)
    heading = work_answer.heading(work_question)
    return Decision(answer.text, request.is_first, Thresholds(0.0), "", tuple(answer.candidates), work=heading)


def _thresholds(request: Request, prompt_search: PromptSearch, settings: Settings) -> Thresholds:
    if prompt_search.question:
        return past_question.thresholds(prompt_search.question, prompt_search.candidates, settings)
    matches = [candidate.match for candidate in prompt_search.candidates]
    thresholds = selection.thresholds_for(settings, matches, is_first=request.is_first)
    return thresholds.without_rules if prompt_search.borrowed else thresholds


def _room(settings: Settings, request: Request, is_past: bool) -> Room:
    room = selection.room(settings, is_first=request.is_first)
    return room._replace(rules=min(room.rules, _MAX_ANSWERS)) if is_past else room


def _with_forms(
    candidates: list[Candidate], request: Request, thresholds: Thresholds, judge: Judge | None
) -> list[Candidate]:
    """Return each candidate with its form; those below the thresholds, or dropped by the judge, are marked.

    A judge has the last word where it has one: what it keeps is a rule. All else is as without it.
    """
    in_forms = [
        selection.in_form(candidate, thresholds.form(candidate.match.probability), BELOW_THRESHOLD)
        for candidate in candidates
    ]
    if thresholds.has_pointers:
        in_forms = selection.with_siblings_pointed_to(in_forms)
    if judge is None:
        return in_forms
    verdicts = judge(request.prompt, [candidate.match for candidate in candidates], request.turns)
    return list(map(_as_judged, in_forms, verdicts))


def _as_judged(candidate: Candidate, verdict: Verdict) -> Candidate:
    """Return a candidate in the form that the judge decides; as it is if the judge does not."""
    if verdict:
        return candidate._replace(form=RULE, outcome="")
    is_dropped = verdict is False and candidate.form
    return candidate._replace(form="", outcome=DROPPED) if is_dropped else candidate


def answer(stores: Stores, prompt: str, settings: Settings, *, session: str, transcript: Transcript) -> str:
    """Return what the prompt hook shows: a block of records, that nothing is on file, or nothing. It is noted."""
    judge = configured_judge(settings)
    request = request_for(prompt, transcript, is_first=False, max_turns=_max_turns(judge, settings))
    prompt_search = search(stores, request, settings)
    # Opened once, and only now: other hooks of the session do not wait for the search.
    with Ledger(session) as ledger:
        request = request._replace(is_first=bool(session) and ledger.is_first_prompt)
        ledger.count_prompt()
        decision = choose(stores, request, prompt_search, settings, judge=judge, ledger=ledger)
    count_shown(decision.shown_candidates, AT_PROMPT)
    return decision.text


def preview(
    stores: Stores,
    prompt: str,
    settings: Settings,
    *,
    first: bool,
    transcript: Transcript = transcripts.NO_SESSION,
    judge: Judge | None = None,
) -> Decision:
    """Decide what the prompt hook would show a session that was shown nothing yet; nothing is noted."""
    judge = judge or configured_judge(settings)
    request = request_for(prompt, transcript, is_first=first, max_turns=_max_turns(judge, settings))
    return decide(stores, request, settings, judge=judge)


def _max_turns(judge: Judge | None, settings: Settings) -> int:
    """Return the number of earlier turns that the judge is shown."""
    return settings.count("retrieval.judge.context_turns") if judge else 0


def request_for(prompt: str, transcript: Transcript, *, is_first: bool, max_turns: int) -> Request:
    """Return a prompt with what its transcript adds to it."""
    last_prompt = transcripts.last_prompt(transcript, prompt) if transcript.path and may_refer(prompt) else ""
    return Request(prompt, is_first, last_prompt, transcripts.last_turns(transcript, max_turns) if max_turns else ())


def may_refer(prompt: str) -> bool:
    """True if a prompt names so little that it may be about what the one before it named."""
    return len(query.parse(prompt).terms) <= _MAX_REFERRING_TERMS


def configured_judge(settings: Settings) -> Judge | None:
    """Return the judge that the user has turned on, if any."""
    if not settings.flag("retrieval.judge.enabled"):
        return None
    from onrecord.recall import judge

    def ask(prompt: str, matches: list[Match], turns: Sequence[str]) -> Sequence[Verdict]:
        undecided = [None] * len(matches)
        return budget.attempt("ask the judge", undecided, judge.verdicts, prompt, matches, turns, settings)

    return ask


def turned_off(settings: Settings) -> str:
    """Return the setting that turns recall at prompts off, in words; empty if it is on."""
    if not settings.flag("retrieval.enabled"):
        return "retrieval.enabled is false"
    return "" if settings.count("retrieval.max_inject") else "retrieval.max_inject is 0"

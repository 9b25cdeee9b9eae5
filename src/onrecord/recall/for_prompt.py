"""The records that an agent is shown for a prompt: find candidates, filter them, check their files, render the block.

This is the one pipeline of the prompt hook, `recall`, `why`, `try` and the benchmark. It is strict: what is probably
not relevant is not shown, and what is only likely is named in one line. A question about the past is answered like a
search. It returns a `Decision` that says what became of every candidate.
"""

from __future__ import annotations

from onrecord.coldstart import NamedTuple
from onrecord.recall import past_question, selection
from onrecord.recall.candidate import NOTHING_ON_FILE, POINTER, RULE, SHOWN, Candidate, count_shown
from onrecord.recall.selection import Room, Thresholds
from onrecord.recall.stores import Stores
from onrecord.search import query
from onrecord.search.candidates import Filter
from onrecord.session import transcript as transcripts
from onrecord.session.ledger import Ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onrecord.search.query import Query
    from onrecord.search.rank import Match
    from onrecord.session.transcript import Transcript
    from onrecord.settings import Settings

    Judge = Callable[[str, list[Match], Sequence[str], float], list[Match]]
    """Given the prompt, matches, earlier turns and the threshold, those of the matches that may be shown."""

_MAX_CANDIDATES = 12
"""Candidates of one store, if no judge is to see more."""

_MAX_EARLIER_CHARACTERS = 2_000
"""Characters of each earlier prompt that a prompt refers to."""

_MAX_ANSWERS = 3
"""Records shown for a question about the past."""

WITH_MAP = "retrieval.with_map is none, and the session has all records in its map"
BELOW_THRESHOLD, DROPPED, TURNED_OFF = "below the threshold", "dropped by the judge", "turned off"


class Request(NamedTuple):
    """A prompt, and what of its session matters for it."""

    prompt: str
    is_first: bool = False
    earlier_text: str = ""
    """The last prompts of the user, for a prompt that refers to them."""
    turns: Sequence[str] = ()
    """The last turns of both sides, which only a judge is shown."""


class Decision(NamedTuple):
    """The block for a prompt, and the outcome of every candidate."""

    text: str
    is_first: bool
    thresholds: Thresholds
    earlier_text: str
    """The earlier prompts whose words were searched for, too; empty if the prompt does not refer to them."""
    candidates: tuple[Candidate, ...]
    is_past: bool = False
    """True if the prompt asks about the past, so that it is answered like a search."""

    @property
    def threshold(self) -> float:
        """Lowest probability at which a record is shown as a rule."""
        return self.thresholds.rule

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
    is_past: bool
    """True if the prompt asks about the past; then `query` is the topic of the question."""
    candidates: list[Candidate]


def search(stores: Stores, request: Request, settings: Settings) -> PromptSearch:
    """Search all stores for a prompt."""
    topic = past_question.topic(request.prompt)
    parsed = query.parse(topic or request.prompt, request.earlier_text)
    return PromptSearch(parsed, bool(topic), find(stores, parsed, settings, is_past=bool(topic)))


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
    matches = [candidate.match for candidate in prompt_search.candidates]
    thresholds = selection.thresholds_for(settings, matches, is_first=request.is_first, is_past=prompt_search.is_past)
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
    elif prompt_search.is_past and not candidates and stores.have_no_match(prompt_search.query, settings):
        text = NOTHING_ON_FILE
    return Decision(text, request.is_first, thresholds, request.earlier_text, tuple(candidates), prompt_search.is_past)


def _room(settings: Settings, request: Request, is_past: bool) -> Room:
    room = selection.room(settings, is_first=request.is_first)
    return room._replace(rules=min(room.rules, _MAX_ANSWERS)) if is_past else room


def _with_forms(
    candidates: list[Candidate], request: Request, thresholds: Thresholds, judge: Judge | None
) -> list[Candidate]:
    """Return each candidate with its form; those below the thresholds, or dropped by the judge, are marked.

    A judge decides what ranking is not sure of, so beside one there are no pointers.
    """
    if judge is None:
        return [
            selection.in_form(candidate, thresholds.form(candidate.match.probability), BELOW_THRESHOLD)
            for candidate in candidates
        ]
    matches = judge(request.prompt, [candidate.match for candidate in candidates], request.turns, thresholds.rule)
    # By identity: two stores may have equal records.
    is_kept = set(map(id, matches))
    return [
        candidate._replace(form=RULE)
        if id(candidate.match) in is_kept
        else candidate._replace(outcome=DROPPED if candidate.match.probability >= thresholds.rule else BELOW_THRESHOLD)
        for candidate in candidates
    ]


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
    count_shown(decision.shown_candidates)
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
    is_referring = bool(transcript.path) and query.is_referring(prompt)
    earlier_text = join_prompts(transcripts.last_prompts(transcript)) if is_referring else ""
    return Request(prompt, is_first, earlier_text, transcripts.last_turns(transcript, max_turns) if max_turns else ())


def join_prompts(prompts: Iterable[str]) -> str:
    """Return earlier prompts as the text that is searched for with a prompt that refers to them."""
    return "\n".join(prompt[:_MAX_EARLIER_CHARACTERS] for prompt in prompts)


def configured_judge(settings: Settings) -> Judge | None:
    """Return the judge that the user has turned on, if any."""
    if not settings.flag("retrieval.judge.enabled"):
        return None
    from onrecord.recall import judge

    return lambda prompt, matches, turns, threshold: judge.keep(prompt, matches, turns, settings, threshold=threshold)


def turned_off(settings: Settings) -> str:
    """Return the setting that turns recall at prompts off, in words; empty if it is on."""
    if not settings.flag("retrieval.enabled"):
        return "retrieval.enabled is false"
    return "" if settings.count("retrieval.max_inject") else "retrieval.max_inject is 0"

"""What the agent is shown for a prompt: find candidates, filter them, check their files, render the block.

This is the one pipeline of the prompt hook, `recall`, `why`, `try` and the benchmark. It is strict: what is probably
not relevant is not shown. It returns a `Decision` that says what became of every candidate.
"""

from __future__ import annotations

import os

from recollect.coldstart import NamedTuple
from recollect.paths import PROJECT_SOURCE
from recollect.recall import context_block
from recollect.recall.cautions import Cautions
from recollect.recall.context_block import SHOWN, Candidate, Stores, count_shown
from recollect.search import gate, query, rank
from recollect.session import transcript
from recollect.session.ledger import Ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recollect.search.rank import Match
    from recollect.settings import Settings

    Judge = Callable[[str, list[Match], Sequence[str], float], list[Match]]
    """Given the prompt, matches, earlier turns and the bar, those of the matches that may be shown."""

_AFTER_COMPACTION = 900
"""Tokens for what a compacted session was shown before."""

_MOST_AFTER_COMPACTION = 20
"""Records, the latest shown: no more have room in as many tokens, so the files of no more are checked."""

_MISSING = -1.0
"""What it counts against a record, in logits, that a file it is about no longer exists."""

_LOWEST_BAR = 0.05

BELOW_BAR, REPEATED = "below the bar", "shown before in this session"
NO_ROOM, FILE_MISSING, DROPPED, TURNED_OFF = "no room", "file missing", "dropped by the judge", "turned off"

_PAST = (
    "did we decide", "have we decided", "we decided", "was decided", "what was our", "what were our", "why did we",
    "why do we", "why are we", "did we ever", "have we ever", "do you remember", "remember when", "remind me",
    "last time we", "did we agree", "did we choose", "did we pick", "leave off", "left off", "was haben wir",
    "warum haben wir", "qué decidimos", "pourquoi avons", "qu'avons-nous décidé",
)  # fmt: skip


class Request(NamedTuple):
    """A prompt, and what of its session matters for it."""

    prompt: str
    is_first: bool = False
    borrowed: str = ""
    """The last turns of the user, for a prompt that does not say by itself what it is about."""
    turns: Sequence[str] = ()
    """The last turns of the user, which only a judge is shown."""


class Decision(NamedTuple):
    """What the agent is shown for a prompt, and what became of every candidate."""

    text: str
    is_first: bool
    bar: float
    borrowed: str
    candidates: tuple[Candidate, ...]

    @property
    def shown(self) -> list[Candidate]:
        return [candidate for candidate in self.candidates if candidate.outcome == SHOWN]


def decide(
    stores: Stores,
    request: Request,
    settings: Settings,
    *,
    judge: Judge | None = None,
    open_ledger: Callable[[], Ledger] = lambda: Ledger(""),
    even_if_off: bool = False,
) -> Decision:
    """What to show for a prompt; what is shown is noted in the ledger."""
    bar = threshold(settings, is_first=request.is_first)
    candidates = stores.find(request.prompt, settings, request.borrowed)
    off = "" if even_if_off else turned_off(settings)
    text = ""
    if off:
        candidates = [candidate._replace(outcome=f"{TURNED_OFF}: {off}") for candidate in candidates]
    else:
        candidates = _filtered(candidates, request, bar, judge)
        if any(not candidate.outcome for candidate in candidates):
            text, candidates = _shown(candidates, request, settings, bar, open_ledger)
        else:
            text = hint(request.prompt)
    return Decision(text, request.is_first, bar, request.borrowed, tuple(candidates))


def _shown(
    candidates: list[Candidate], request: Request, settings: Settings, bar: float, open_ledger: Callable[[], Ledger]
) -> tuple[str, list[Candidate]]:
    """The block, and all candidates with their outcome; the ledger is locked from the first look to the last note."""
    with open_ledger() as session:
        text, decided = _rendered(_checked(candidates, session, bar), settings, is_first=request.is_first)
        for candidate in decided:
            if candidate.outcome == SHOWN:
                session.add_shown(candidate.record, candidate.stamp)
    return text, decided


def _filtered(candidates: list[Candidate], request: Request, bar: float, judge: Judge | None) -> list[Candidate]:
    """Those below the bar, or dropped by the judge, marked as such."""
    passed = [candidate.match for candidate in candidates if candidate.match.probability >= bar]
    chosen = passed
    if judge is not None:
        chosen = judge(request.prompt, [candidate.match for candidate in candidates], request.turns, bar)
    # By identity: two stores may hold equal records.
    is_passed, is_chosen = set(map(id, passed)), set(map(id, chosen))
    return [
        candidate
        if id(candidate.match) in is_chosen
        else candidate._replace(outcome=DROPPED if id(candidate.match) in is_passed else BELOW_BAR)
        for candidate in candidates
    ]


def _checked(candidates: list[Candidate], session: Ledger, bar: float) -> list[Candidate]:
    """Those shown before in the session marked, the others with a caution where their files have changed.

    A missing file counts against a record, which may then be dropped.
    """
    cautions = Cautions()

    def check(candidate: Candidate) -> Candidate:
        match = candidate.match
        if session.has_shown(candidate.record, candidate.stamp):
            return candidate._replace(outcome=REPEATED)
        caution, is_missing = cautions.check(match.root, candidate.source, match.anchors)
        is_dropped = is_missing and gate.shifted(match.probability, _MISSING) < bar
        return candidate._replace(caution=caution, outcome=FILE_MISSING if is_dropped else "")

    return [candidate if candidate.outcome else check(candidate) for candidate in candidates]


def _rendered(candidates: list[Candidate], settings: Settings, *, is_first: bool) -> tuple[str, list[Candidate]]:
    """The block for the agent, and all candidates with their outcome."""
    generosity = settings.number("retrieval.first_prompt_budget") if is_first else 1.0
    most = int(settings.count("retrieval.max_inject") * generosity)
    waiting = [place for place, candidate in enumerate(candidates) if not candidate.outcome]
    items = [candidates[place].item for place in waiting[:most]]
    fitted = context_block.fitting(items, int(settings.number("retrieval.max_tokens") * generosity))
    decided = list(candidates)
    for number, place in enumerate(waiting):
        decided[place] = candidates[place]._replace(outcome=SHOWN if number < len(fitted) else NO_ROOM)
    return context_block.render(fitted, PROJECT_SOURCE), decided


def answer(stores: Stores, prompt: str, settings: Settings, *, session: str, transcript_path: str) -> str:
    """What the prompt hook shows: a block of records, a hint, or nothing. The session and the use are noted."""
    with Ledger(session) as noted:
        is_first = bool(session) and noted.is_first_prompt
        noted.count_prompt()
    judge = configured_judge(settings, session)
    request = request_for(prompt, transcript_path, is_first=is_first, is_judged=judge is not None)
    decision = decide(stores, request, settings, judge=judge, open_ledger=lambda: Ledger(session))
    count_shown(decision.shown)
    return decision.text


def preview(
    stores: Stores,
    prompt: str,
    settings: Settings,
    *,
    first: bool,
    transcript_path: str = "",
    judge: Judge | None = None,
) -> Decision:
    """What the prompt hook would show a session that was shown nothing yet; nothing is noted."""
    judge = judge or configured_judge(settings)
    request = request_for(prompt, transcript_path, is_first=first, is_judged=judge is not None)
    return decide(stores, request, settings, judge=judge)


def request_for(prompt: str, transcript_path: str, *, is_first: bool, is_judged: bool) -> Request:
    """A prompt with what its transcript adds to it."""
    is_referring = bool(transcript_path) and query.is_referring(prompt)
    borrowed = lent(transcript.last_prompts(transcript_path)) if is_referring else ""
    return Request(prompt, is_first, borrowed, transcript.last_prompts(transcript_path, 5) if is_judged else ())


def lent(turns: Iterable[str]) -> str:
    """What earlier turns lend to a prompt that refers to them."""
    return "\n".join(turn[:2_000] for turn in turns)


def configured_judge(settings: Settings, session: str = "") -> Judge | None:
    """The judge that the user has turned on, if any."""
    if not settings.flag("retrieval.judge.enabled"):
        return None
    from recollect.judge import judge

    return lambda prompt, matches, turns, bar: judge.keep(prompt, matches, turns, settings, session, bar=bar)


def turned_off(settings: Settings) -> str:
    """The setting by which prompts bring nothing up at all, in words; empty if they do."""
    if not settings.flag("retrieval.enabled"):
        return "retrieval.enabled is false"
    return "" if settings.count("retrieval.max_inject") else "retrieval.max_inject is 0"


def threshold(settings: Settings, *, is_first: bool) -> float:
    """The probability from which on a record is shown."""
    bar = settings.number("retrieval.min_probability") or gate.THRESHOLD
    return max(bar - settings.number("retrieval.first_prompt_relief"), _LOWEST_BAR) if is_first else bar


def after_compaction(stores: Stores, session: str) -> str:
    """What the session was shown before its conversation was compacted, once more."""
    with Ledger(session) as noted:
        records = list(reversed(noted.shown))
        noted.reset()
        current = {each.record: each for each in (_current(record, stores) for record in records) if each}
        candidates = list(current.values())[:_MOST_AFTER_COMPACTION]
        cautions = Cautions()
        items = [cautions.beside(candidate).item for candidate in candidates]
        fitted = context_block.fitting(items, _AFTER_COMPACTION)
        for candidate in candidates[: len(fitted)]:
            noted.add_shown(candidate.record, candidate.stamp)
        noted.count_prompt()
    return context_block.render(fitted, PROJECT_SOURCE)


def _current(record: str, stores: Stores) -> Candidate | None:
    """A record named in a ledger as it is now, or what has replaced it."""
    for root, source in stores.places:
        if record.startswith(root + os.sep):
            match = rank.current(stores.open(root), record[len(root) + 1 :])
            return Candidate(match, source) if match else None
    return None


def hint(prompt: str) -> str:
    """What is said where nothing matched: something only to a question about the past."""
    asked = prompt[:400].lower()
    return context_block.HINT if any(phrase in asked for phrase in _PAST) else ""

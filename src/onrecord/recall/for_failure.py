"""The runbook for a command that has just failed, if one clearly is about that failure."""

from __future__ import annotations

from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.paths import PROJECT_SOURCE
from onrecord.recall import context_block, error_text, quotation
from onrecord.recall.cautions import Cautions
from onrecord.recall.context_block import Candidate, Stores, count_shown
from onrecord.search import rank, terms
from onrecord.session.ledger import Ledger
from onrecord.store.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from onrecord.paths import StorePlace
    from onrecord.record.memory import Memory
    from onrecord.search.index import Index
    from onrecord.search.rank import Match
    from onrecord.settings import Settings


class Bar(NamedTuple):
    """How probable it must be that a runbook is relevant, given how rare the words are that it quotes."""

    probability: float
    quoted: float
    """In units of inverse document frequency."""


RUN = Bar(0.6, 6.0)
"""For a runbook that has a run of the output's words anywhere."""

PHRASE = Bar(0.1, 7.0)
"""For a runbook whose symptom, trigger or title the output has as a whole: that says more than the other words."""

_BUDGET = 420
_FIRST_QUERIES, _LAST_QUERIES = 3, 7
_FEWEST_TERMS = 4


def block(stores: Stores, command: str, error: str, settings: Settings, session: str) -> str:
    """The block for a failure, once per session; empty when no runbook is clearly about it."""
    runbook = None if error_text.is_noise(command, error) else best(stores, error_text.symptoms(error), settings)
    if runbook is None:
        return ""
    with Ledger(session) as noted:
        key = f"remedy:{runbook.record}"
        if noted.has_shown(key, runbook.stamp):
            return ""
        noted.add_shown(key, runbook.stamp)
        noted.add_shown(runbook.record, runbook.stamp)
    count_shown([runbook])
    item = Cautions().beside(runbook).item
    # It is shown for what it quotes, not for how probable the words of the whole output make it.
    item = item._replace(text=_steps(runbook.match) or item.text, confidence="")
    return context_block.render(context_block.fitting([item], _BUDGET), PROJECT_SOURCE)


def best(stores: Stores, symptoms: str, settings: Settings) -> Candidate | None:
    """The runbook that quotes the output: a whole phrase, or else a run of words; the most probable of several."""
    lines = symptoms.split("\n")
    phrased: set[str] = set()

    def ask(opened: Index, place: StorePlace) -> list[Candidate]:
        if not opened.ask(lambda index: quotation.may_be_in(index, lines, RUN.quoted), hook=True):
            return []
        matches = _matches(opened, [symptoms, *_queries(lines)], settings, stores.fits(place))
        candidates = [(Candidate(match, place.source), _quoting(opened, match, lines)) for match in matches]
        phrased.update(candidate.record for candidate, quoting in candidates if quoting is PHRASE)
        return [candidate for candidate, quoting in candidates if quoting]

    return max(stores.gather(ask), key=lambda each: (each.record in phrased, each.match.probability), default=None)


def _queries(lines: list[str]) -> list[str]:
    """The lines with something to search for: the first errors and the end."""
    queries = [line for line in lines if len(set(terms.stream(line))) >= _FEWEST_TERMS]
    return queries[:_FIRST_QUERIES] + queries[_FIRST_QUERIES:][-_LAST_QUERIES:]


def _matches(opened: Index, texts: list[str], settings: Settings, fits: Callable[[str], bool] | None) -> list[Match]:
    """What the error as a whole, or any line of it, brings up."""
    by_path: dict[str, Match] = {}
    named: dict[str, Any] = {"limit": 3, "mode": "auto", "categories": ("runbook",), "settings": settings, "fits": fits}
    for text in texts:
        for match in rank.find(opened, text, **named):
            earlier = by_path.get(match.path)
            if match.probability >= PHRASE.probability and (earlier is None or earlier.probability < match.probability):
                by_path[match.path] = match
    return list(by_path.values())


def _quoting(opened: Index, match: Match, lines: list[str]) -> Bar | None:
    """Which bar a runbook reaches, if any."""
    memory = _read(match)
    if memory is None:
        return None
    if quotation.whole_phrase(opened, memory, lines) >= PHRASE.quoted:
        return PHRASE
    is_probable = match.probability >= RUN.probability
    return RUN if is_probable and quotation.rarest_run(opened, memory, lines) >= RUN.quoted else None


def _read(match: Match) -> Memory | None:
    try:
        return Store(match.root).read(match.path).memory
    except OnrecordError:
        return None


def _steps(match: Match) -> str:
    """What to do, in full, rather than the summary that a prompt is given."""
    memory = _read(match)
    if memory is None:
        return ""
    cause = memory.text("root_cause").rstrip(".")
    steps = " ".join(f"{number}. {step.rstrip('.')}." for number, step in enumerate(memory.lines("steps"), 1))
    return f"{memory.title}. {f'Cause: {cause}. ' if cause else ''}{steps} Check: {memory.text('verification')}"

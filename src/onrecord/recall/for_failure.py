"""The runbook for a command that has just failed, if one clearly is about that failure."""

from __future__ import annotations

from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.paths import PROJECT_PREFIX
from onrecord.recall import context_block, error_text, quotation
from onrecord.recall.candidate import Candidate, Cautions, count_shown
from onrecord.recall.stores import SearchedStore, Stores, distinct
from onrecord.search import query, rank, terms
from onrecord.search.candidates import Filter
from onrecord.session.ledger import Ledger
from onrecord.store.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from onrecord.record.memory import Memory
    from onrecord.search.index import Index
    from onrecord.search.query import Query
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
    return context_block.render(context_block.fitting([item], _BUDGET), PROJECT_PREFIX)


def best(stores: Stores, symptoms: str, settings: Settings) -> Candidate | None:
    """Return the runbook that quotes the output: a whole phrase, or else a run of words; the most probable."""
    lines = symptoms.split("\n")
    queries: list[Query] = []
    candidates: list[Candidate] = []
    with_phrase: set[str] = set()
    for store in stores.in_turn():
        for candidate, bar in store.attempt(_quoting_runbooks, symptoms, lines, queries, settings):
            candidates.append(candidate)
            with_phrase.update([candidate.record] if bar is PHRASE else [])
    ranked = sorted(distinct(candidates), key=lambda each: (each.record not in with_phrase, -each.match.probability))
    return ranked[0] if ranked else None


def _quoting_runbooks(
    store: SearchedStore, symptoms: str, lines: list[str], queries: list[Query], settings: Settings
) -> list[tuple[Candidate, Bar]]:
    """Return the runbooks of one store that reach a bar, each with that bar; `queries` is filled when first needed."""
    index = store.open()
    if not index.run(quotation.may_be_in, lines, RUN.quoted, hook=True):
        return []
    if not queries:
        queries += [query.parse(text) for text in (symptoms, *_queries(lines))]
    filter = Filter("auto", ("runbook",), settings=settings, fits=store.fits)
    quoting = {match.path: (match, _quoting(index, match, lines)) for match in _matches(index, queries, filter)}
    visible = store.visible(match for match, bar in quoting.values() if bar)
    return [(candidate, bar) for candidate in visible if (bar := quoting[candidate.match.path][1])]


def _queries(lines: list[str]) -> list[str]:
    """The lines with something to search for: the first errors and the end."""
    queries = [line for line in lines if len(set(terms.stream(line))) >= _FEWEST_TERMS]
    return queries[:_FIRST_QUERIES] + queries[_FIRST_QUERIES:][-_LAST_QUERIES:]


def _matches(index: Index, queries: list[Query], filter: Filter) -> list[Match]:
    """Return the matches for any of `queries`, each with its highest probability."""
    by_path: dict[str, Match] = {}
    for each in queries:
        for match in rank.find(index, each, filter, limit=3):
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

"""Judge: a small model's second opinion on what ranking found, within a time limit. Off unless the user turns it on.

It is asked only about what ranking is not sure of. Whatever goes wrong, the prompt goes on with less, in time.
"""

from __future__ import annotations

from recollect.judge.hearing import CERTAIN_IN, CERTAIN_OUT, KEPT, UNJUDGED, Case, Opinion, Ruling, hear, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.judge.api import Model
    from recollect.judge.hearing import Ask, C, Candidate
    from recollect.settings import Settings


def is_on(settings: Settings) -> bool:
    return settings.flag("retrieval.judge.enabled")


def keep(
    prompt: str,
    candidates: list[C],
    turns: Sequence[str],
    settings: Settings,
    session: str,
    *,
    bar: float | None = None,
) -> list[C]:
    """The candidates to inject, in ranking order. `bar` is the probability from which ranking alone would inject."""
    from recollect import failure_log
    from recollect.errors import NoModel
    from recollect.judge import limits, precedent, provider

    case = Case(prompt, candidates, turns, settings.number("retrieval.judge.timeout_seconds"))
    bar = _usual_bar(settings) if bar is None else bar
    opinion, open_ones = _first_look(candidates, settings)
    if not open_ones:
        return opinion.kept(candidates, bar)
    passed = [candidate for candidate in candidates if candidate.probability >= bar]
    try:
        model = provider.model(settings)
    except NoModel as error:
        if limits.is_first_today("no-model"):
            failure_log.leave("judge (info)", f"{error.message}; ranking decides alone. {error.fix}")
        return passed
    question = precedent.key(prompt, [candidates[at] for at in open_ones], model.fingerprint)
    known = precedent.find(session, question)
    if known is not None and len(known) == len(open_ones):
        opinion.add(open_ones, Ruling([at for at, mark in enumerate(known) if mark]))
        return opinion.kept(candidates, bar)
    if not limits.claim(len(split(open_ones)), settings.count("retrieval.judge.daily_cap")):
        return passed
    hear(opinion, case, open_ones, asking(model))
    for failure in opinion.failures:
        failure_log.leave("judge", failure)
    if not opinion.failures:
        precedent.note(session, question, [opinion.outcomes[at] == KEPT for at in open_ones])
    return opinion.kept(candidates, bar)


def verdicts(
    prompt: str,
    candidates: Sequence[Candidate],
    turns: Sequence[str],
    settings: Settings,
    *,
    ask: Ask | None = None,
    timeout: float | None = None,
) -> Opinion:
    """The judge's opinion on every candidate, asked for by a person: no cap, no earlier verdicts. NoModel if there
    is nobody to ask; `ask` puts somebody else in the model's place."""
    from recollect.judge import provider

    limit = settings.number("retrieval.judge.timeout_seconds") if timeout is None else timeout
    opinion, open_ones = _first_look(candidates, settings)
    if open_ones:
        case = Case(prompt, candidates, turns, limit)
        hear(opinion, case, open_ones, ask or asking(provider.model(settings)))
    return opinion


def asking(model: Model) -> Ask:
    """How a model is asked about one batch."""
    from recollect.judge import api
    from recollect.judge.prompt import SCHEMA, SYSTEM, parse, render

    def ask(prompt: str, batch: Sequence[Candidate], turns: Sequence[str], deadline: float) -> Ruling:
        shown = render(prompt, batch, turns)
        reply = api.ask(model, SYSTEM, shown, SCHEMA, deadline)
        kept = parse(reply.text, len(batch))
        return Ruling(kept, reply.tokens_in, reply.tokens_out, reply.seconds)

    return ask


def _usual_bar(settings: Settings) -> float:
    from recollect.search import gate

    return settings.number("retrieval.min_probability") or gate.THRESHOLD


def _first_look(candidates: Sequence[Candidate], settings: Settings) -> tuple[Opinion, list[int]]:
    """What ranking is certain of, and the positions of the most probable of the rest."""
    certain_in = settings.number("retrieval.judge.certain_in")
    certain_out = settings.number("retrieval.judge.certain_out")
    outcomes, open_ones = [], []
    for at, candidate in enumerate(candidates):
        chance = candidate.probability
        outcomes.append(CERTAIN_IN if chance > certain_in else CERTAIN_OUT)
        if certain_out <= chance <= certain_in:
            open_ones.append(at)
    likeliest = sorted(open_ones, key=lambda at: -candidates[at].probability)
    open_ones = sorted(likeliest[: settings.count("retrieval.judge.max_candidates")])
    for at in open_ones:
        outcomes[at] = UNJUDGED
    return Opinion(outcomes), open_ones

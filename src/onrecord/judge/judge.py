"""A small model's second opinion on what ranking found, within a time limit. Off unless the user turns it on.

It is asked only about what ranking is not sure of. Whatever goes wrong, the prompt goes on with less, in time.
"""

from __future__ import annotations

import time

from onrecord.coldstart import NamedTuple
from onrecord.errors import ModelFailed, NoModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onrecord.judge.api import Model
    from onrecord.search.rank import Match
    from onrecord.settings import Settings

    Ask = Callable[[str, Sequence[Match], Sequence[str], float], "Ruling"]

ONE_BATCH = 6  # candidates above which two requests run at once: one long request would be late
CERTAIN_IN, CERTAIN_OUT, KEPT, DROPPED, UNJUDGED = "certain in", "certain out", "kept", "dropped", "unjudged"


class Ruling(NamedTuple):
    """What one request brought: the positions of the candidates it keeps, its tokens, and how long it took."""

    positions: Sequence[int]
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


class Opinion:
    """The outcome for each candidate, by position, and what the requests took."""

    def __init__(self, candidates: Sequence[Match], settings: Settings) -> None:
        low, high = settings.number("retrieval.judge.certain_out"), settings.number("retrieval.judge.certain_in")
        chances = [candidate.probability for candidate in candidates]
        between = sorted(
            (at for at, chance in enumerate(chances) if low <= chance <= high), key=lambda at: -chances[at]
        )
        self.candidates = candidates
        self.fallback = settings.count("retrieval.judge.fallback_top_k")
        self.unsure = sorted(between[: settings.count("retrieval.judge.max_candidates")])
        self.outcomes = [CERTAIN_IN if chance > high else CERTAIN_OUT for chance in chances]
        for at in self.unsure:
            self.outcomes[at] = UNJUDGED
        self.failures: list[ModelFailed] = []
        self.requests = self.tokens_in = self.tokens_out = 0
        self.seconds = 0.0

    def add(self, batch: Sequence[int], ruling: Ruling) -> None:
        """Enter a ruling on the candidates of one batch."""
        for number, position in enumerate(batch):
            self.outcomes[position] = KEPT if number in ruling.positions else DROPPED
        self.tokens_in += ruling.tokens_in
        self.tokens_out += ruling.tokens_out

    def kept(self, bar: float) -> list[Match]:
        """The candidates to show, in ranking order; the ranking's best stand in for what was not judged."""
        best = [at for at, candidate in enumerate(self.candidates) if candidate.probability >= bar][: self.fallback]
        if self.requests and len(self.failures) == self.requests:
            return [self.candidates[at] for at in best]
        chosen = {at for at, outcome in enumerate(self.outcomes) if outcome in (CERTAIN_IN, KEPT)}
        chosen.update(at for at in best if self.outcomes[at] == UNJUDGED)
        return [self.candidates[at] for at in sorted(chosen)]


def is_on(settings: Settings) -> bool:
    return settings.flag("retrieval.judge.enabled")


def keep(
    prompt: str, candidates: Sequence[Match], turns: Sequence[str], settings: Settings, *, bar: float
) -> list[Match]:
    """The candidates to show, in ranking order. `bar` is the probability from which ranking alone would show them."""
    from onrecord import state_file, timestamps
    from onrecord.judge import api, limits

    opinion = Opinion(candidates, settings)
    if not opinion.unsure:
        return opinion.kept(bar)
    passed = [candidate for candidate in candidates if candidate.probability >= bar]
    try:
        model = api.model(settings)
    except NoModel as error:
        if limits.mark(f"no-model-{timestamps.now()[:10]}"):
            state_file.leave("judge (info)", f"{error.message}; ranking decides alone. {error.fix}")
        return passed
    if not limits.claim(1 if len(opinion.unsure) <= ONE_BATCH else 2, settings.count("retrieval.judge.daily_cap")):
        return passed
    hear(opinion, prompt, turns, asking(model), settings.number("retrieval.judge.timeout_seconds"))
    for failure in opinion.failures:
        state_file.leave("judge", failure.message)
    return opinion.kept(bar)


def verdicts(
    prompt: str, candidates: Sequence[Match], turns: Sequence[str], settings: Settings, ask: Ask | None = None
) -> Opinion:
    """The opinion that a person asks for: no cap; NoModel if there is neither model nor `ask`."""
    from onrecord.judge import api

    opinion = Opinion(candidates, settings)
    if opinion.unsure:
        ask = ask or asking(api.model(settings))
        hear(opinion, prompt, turns, ask, settings.number("retrieval.judge.timeout_seconds"))
    return opinion


def asking(model: Model) -> Ask:
    """How a model is asked about one batch."""
    from onrecord.judge import api
    from onrecord.judge import prompt as prompts

    def ask(prompt: str, batch: Sequence[Match], turns: Sequence[str], deadline: float) -> Ruling:
        started = time.monotonic()
        text, tokens_in, tokens_out = api.ask(model, prompts.render(prompt, batch, turns), deadline)
        return Ruling(prompts.parse(text, len(batch)), tokens_in, tokens_out, time.monotonic() - started)

    return ask


def hear(opinion: Opinion, prompt: str, turns: Sequence[str], ask: Ask, seconds: float) -> None:
    """Ask about the unsure candidates, in one request or two at once, and enter what comes back in time.

    The threads are daemons and are not waited for after that: one that hangs in a name lookup or a dripping answer
    keeps neither the prompt waiting nor the process alive.
    """
    from threading import Thread

    from onrecord.judge.prompt import shuffle

    started = time.monotonic()
    order = [opinion.unsure[at] for at in shuffle(prompt, [opinion.candidates[at] for at in opinion.unsure])]
    batches = [order] if len(order) <= ONE_BATCH else [order[::2], order[1::2]]
    late = ModelFailed("no answer in time", fix="to see how long the model takes: onrecord judge test")
    answers: list[Ruling | Exception] = [late for _ in batches]

    def work(number: int) -> None:
        batch = [opinion.candidates[at] for at in batches[number]]
        try:
            answers[number] = ask(prompt, batch, turns, started + seconds)
        except Exception as error:  # carried to the thread that waits, which lets all but the expected rise
            answers[number] = error

    threads = [Thread(target=work, args=(number,), daemon=True) for number in range(len(batches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(started + seconds - time.monotonic(), 0))
    for batch, answer in zip(batches, list(answers)):
        if isinstance(answer, ModelFailed):
            opinion.failures.append(answer)
        elif isinstance(answer, Exception):
            raise answer
        else:
            opinion.add(batch, answer)
    opinion.requests, opinion.seconds = len(batches), time.monotonic() - started

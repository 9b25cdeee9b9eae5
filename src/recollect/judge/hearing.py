"""Hearing: candidates put before a model in one request or two at once, and what comes back by the deadline."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from queue import SimpleQueue
    from typing import Protocol, TypeVar

    class Candidate(Protocol):
        """What the judge needs to know of a memory; a `search.Match` is one."""

        @property
        def id(self) -> str: ...
        @property
        def title(self) -> str: ...
        @property
        def category(self) -> str: ...
        @property
        def tags(self) -> Sequence[str]: ...
        @property
        def essence(self) -> str: ...
        @property
        def probability(self) -> float: ...

    C = TypeVar("C", bound=Candidate)
    Ask = Callable[[str, Sequence[Candidate], Sequence[str], float], "Ruling"]

FALLBACK = 2
"""How many of the ranking's best stand in for an opinion that did not come."""

ONE_BATCH = 6
"""Candidates above which two requests run side by side."""

CERTAIN_IN, CERTAIN_OUT, KEPT, DROPPED, UNJUDGED = "certain in", "certain out", "kept", "dropped", "unjudged"


class Case:
    """What is to be judged, and by when."""

    __slots__ = ("candidates", "deadline", "prompt", "turns")

    def __init__(self, prompt: str, candidates: Sequence[Candidate], turns: Sequence[str], seconds: float) -> None:
        self.prompt = prompt
        self.candidates = candidates
        self.turns = turns
        self.deadline = time.monotonic() + seconds


class Ruling:
    """What one request brought: the positions it keeps, its tokens, and how long it took."""

    __slots__ = ("kept", "seconds", "tokens_in", "tokens_out")

    def __init__(self, kept: Sequence[int], tokens_in: int = 0, tokens_out: int = 0, seconds: float = 0.0) -> None:
        self.kept = kept
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out
        self.seconds = seconds


class Opinion:
    """What became of each candidate, by position, and what finding out took."""

    __slots__ = ("failures", "outcomes", "requests", "seconds", "tokens_in", "tokens_out")

    def __init__(self, outcomes: list[str]) -> None:
        self.outcomes = outcomes
        self.failures: list[str] = []
        self.requests = 0
        self.tokens_in = 0
        self.tokens_out = 0
        self.seconds = 0.0

    def add(self, batch: Sequence[int], ruling: Ruling) -> None:
        """Enter a ruling on the candidates of one batch."""
        kept = {batch[at] for at in ruling.kept}
        for position in batch:
            self.outcomes[position] = KEPT if position in kept else DROPPED
        self.tokens_in += ruling.tokens_in
        self.tokens_out += ruling.tokens_out

    def kept(self, candidates: Sequence[C], bar: float) -> list[C]:
        """The candidates to inject, in ranking order; the ranking's best stand in for what was not judged."""
        best = [at for at, candidate in enumerate(candidates) if candidate.probability >= bar][:FALLBACK]
        if self.requests and len(self.failures) == self.requests:
            return [candidates[at] for at in best]
        chosen = (CERTAIN_IN, KEPT)
        return [
            candidate
            for at, candidate in enumerate(candidates)
            if self.outcomes[at] in chosen or (self.outcomes[at] == UNJUDGED and at in best)
        ]


def split(positions: list[int]) -> list[list[int]]:
    """The batches that positions are heard in."""
    return [positions] if len(positions) <= ONE_BATCH else [positions[::2], positions[1::2]]


def hear(opinion: Opinion, case: Case, open_ones: list[int], ask: Ask) -> None:
    """Ask about the open candidates, in one request or two at once, and enter what comes back by the deadline.

    The threads are daemons and nobody joins them: one that hangs in a name lookup or a dripping answer keeps neither
    the prompt waiting nor the process alive.
    """
    import queue

    from recollect.errors import ModelFailed
    from recollect.judge.prompt import shuffle

    started = time.monotonic()
    order = shuffle(case.prompt, [case.candidates[at] for at in open_ones])
    batches = split([open_ones[at] for at in order])
    answers = _asked(case, batches, ask)
    opinion.requests = len(batches)
    for waiting in range(len(batches), 0, -1):
        try:
            number, answer = answers.get(timeout=max(case.deadline - time.monotonic(), 0))
        except queue.Empty:
            opinion.failures += ["no answer in time"] * waiting
            break
        if isinstance(answer, Ruling):
            opinion.add(batches[number], answer)
        elif isinstance(answer, ModelFailed):
            opinion.failures.append(answer.message)
        else:
            raise answer
    opinion.seconds = time.monotonic() - started


def _asked(case: Case, batches: list[list[int]], ask: Ask) -> SimpleQueue[tuple[int, Ruling | Exception]]:
    """Where the answers will arrive, each with the number of its batch."""
    import queue
    import threading

    answers: SimpleQueue[tuple[int, Ruling | Exception]] = queue.SimpleQueue()

    def work(number: int) -> None:
        batch = [case.candidates[at] for at in batches[number]]
        try:
            answers.put((number, ask(case.prompt, batch, case.turns, case.deadline)))
        except Exception as error:  # carried to the thread that waits, which lets all but the expected rise
            answers.put((number, error))

    for number in range(len(batches)):
        threading.Thread(target=work, args=(number,), daemon=True).start()
    return answers

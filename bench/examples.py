"""Every prompt asked three times: answer present, answer taken away, and of a store about something else."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from bench.data import Prompt, Set
from bench.stage import Stage, borrowed
from recollect.search import candidates, gate, rank

SIZES = (3, 8, 20, 60)
"""Records in the small stores that the model also has to get right."""


class Pool(NamedTuple):
    """The candidates of one search: their features, and which of them answer the prompt."""

    features: np.ndarray
    labels: np.ndarray
    relevant: int


class Examples(NamedTuple):
    """All searches of one set."""

    name: str
    present: list[Pool]
    near: list[Pool]
    off: list[Pool]
    none: list[Pool]
    small_present: list[Pool]
    small_near: list[Pool]
    small_off: list[Pool]


def pool(stage: Stage, prompt: Prompt, relevant: frozenset[str]) -> Pool:
    """The candidates for a prompt, in the order the index gave them."""
    found = rank.find(stage.index, prompt.text, limit=candidates.SEARCH, borrowed=borrowed(prompt))
    found = [match for match in found if match.status == "active"]
    rows = [[match.features[name] for name in gate.NAMES] for match in found]
    table = np.array(rows, dtype=float).reshape(-1, len(gate.NAMES))
    return Pool(table, np.array([match.id in relevant for match in found], dtype=bool), len(relevant))


def gather(own: Set, strangers: Sequence[Prompt], *, most: int = 400, seed: int = 1) -> Examples:
    """The examples of a set, with prompts of other sets as strangers; sampled, the same way every time."""
    rng = random.Random(f"{own.name}-{seed}")
    asked = list(own.answerable)
    if len(asked) > most:
        asked = rng.sample(asked, most)
    with Stage(own.records) as stage:
        present = [pool(stage, prompt, prompt.relevant) for prompt in asked]
        near = [_near(stage, prompt) for prompt in asked]
        off = [pool(stage, prompt, frozenset()) for prompt in rng.sample(list(strangers), min(250, len(strangers)))]
        none = [pool(stage, prompt, frozenset()) for prompt in own.unanswerable]
    return Examples(own.name, present, near, off, none, *_small(own, strangers, rng))


def _near(stage: Stage, prompt: Prompt) -> Pool:
    with stage.without(prompt.relevant):
        return pool(stage, prompt, frozenset())


def _small(own: Set, strangers: Sequence[Prompt], rng: random.Random) -> tuple[list[Pool], list[Pool], list[Pool]]:
    present: list[Pool] = []
    near: list[Pool] = []
    off: list[Pool] = []
    for size in SIZES:
        for _ in range(max(2, 60 // size)):
            seeds = rng.sample(list(own.answerable), min(max(1, size // 4), len(own.answerable)))
            wanted = {one for prompt in seeds for one in prompt.relevant}
            fill = rng.sample(own.records, min(size, len(own.records)))
            chosen = [record for record in own.records if record.id in wanted]
            chosen += [record for record in fill if record.id not in wanted][: max(0, size - len(chosen))]
            ids = {record.id for record in chosen}
            with Stage(chosen) as stage:
                for prompt in _sample(rng, (p for p in own.answerable if p.relevant <= ids), 6):
                    present.append(pool(stage, prompt, prompt.relevant))
                    near.append(_near(stage, prompt))
                off += [pool(stage, prompt, frozenset()) for prompt in rng.sample(list(strangers), 4)]
    return present, near, off


def _sample(rng: random.Random, prompts: Iterable[Prompt], most: int) -> list[Prompt]:
    found = list(prompts)
    return rng.sample(found, min(most, len(found)))

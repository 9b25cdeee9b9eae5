"""The linear models of ranking and relevance, and how they are fitted: numpy only, and the same every time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bench import life_sets
from bench.examples import Pool
from onrecord.search import relevance

TOP = 8
"""Matches of a prompt that are judged: five could be shown, and those behind them teach what is not relevant."""

_RANK_DECAY = 1e-2
_GATE_DECAY = 1e-3
_STEPS = 150
_ROUNDS = 3
"""Fits of the relevance model, each with the passages that the one before finds most probable."""


class Part(NamedTuple):
    """Pools of one kind of store, and how much each counts."""

    pools: list[Pool]
    importance: float = 1.0
    is_ranked_only: bool = False
    """Whether only the ranking learns from them: nobody knows which of their prompts have no answer."""


class Line(NamedTuple):
    """A linear function of features."""

    weights: np.ndarray
    base: float

    def of(self, table: np.ndarray) -> np.ndarray:
        return np.asarray(table @ self.weights + self.base)


class Model(NamedTuple):
    """The order of matches, and the probability that one is relevant to a prompt."""

    features: int
    """How many of the features it weighs: all, or those of words only."""
    rank: Line
    relevance: Line


class Ranked(NamedTuple):
    """The best matches of one prompt, their probabilities and whether they are relevant."""

    probabilities: np.ndarray
    labels: np.ndarray
    maybe: np.ndarray
    pool: Pool


def fit(parts: Sequence[Part], features: int = len(relevance.NAMES)) -> Model:
    """Fit a model of the first features."""
    rank = _fit_rank(parts, features)
    judged = [part for part in parts if not part.is_ranked_only]
    prompts = [(each, part.importance) for part in judged for each in part.pools]
    return Model(features, rank, _fit_relevance(prompts, rank, features))


def _fit_relevance(pools: Sequence[tuple[Pool, float]], rank: Line, features: int) -> Line:
    """Fit the probability of a record by its best passage; which one that is depends on the fit before."""
    line = None
    for _ in range(_ROUNDS):
        rows, labels, weights = [], [], []
        for pool, importance in pools:
            table, truth, maybe = standing(pool, rank, features, line)
            rows.append(table[~maybe])
            labels.append(truth[~maybe])
            weights.append(np.full(int((~maybe).sum()), importance))
        line = Line(*fit_logistic(np.vstack(rows), np.concatenate(labels), np.concatenate(weights)))
    assert line
    return line


def standing(
    pool: Pool, rank: Line, features: int, line: Line | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the features of the best matches of a pool, and which of them are relevant, and perhaps relevant.

    Each record has the passage that makes it most probable by `line`, or first without one.
    """
    rows, places, values = [], [], []
    for passage in range(int(pool.passages.max(initial=0)) + 1):
        inside = np.flatnonzero(pool.passages == passage)
        table = pool.features[inside][:, :features]
        scores = rank.of(table)
        order = np.argsort(-scores, kind="stable")
        compared = relevance.relative(list(scores[order]), list(pool.subjects[inside][order]))[:TOP]
        best = order[: len(compared)]
        stood = np.hstack([table[best], np.array(compared).reshape(-1, len(relevance.RELATIVE))])
        rows.append(stood)
        places.append(inside[best])
        values.append(line.of(stood) if line else scores[best])
    table, place, value = np.vstack(rows), np.concatenate(places).astype(int), np.concatenate(values)
    order = np.argsort(-value, kind="stable")
    _, first = np.unique(pool.records[place[order]], return_index=True)
    best = order[np.sort(first)]
    return table[best], pool.labels[place[best]], pool.maybe[place[best]]


def judge(model: Model, pool: Pool) -> Ranked:
    """Return the probabilities that a model gives to a pool, most probable first."""
    table, labels, maybe = standing(pool, model.rank, model.features, model.relevance)
    logits = model.relevance.of(table)
    return Ranked(1 / (1 + np.exp(-np.clip(logits, -30, 30))), labels, maybe, pool)


def _fit_rank(parts: Sequence[Part], features: int) -> Line:
    """Fit weights that give relevant candidates the largest share of a softmax over their passage."""
    pools = [
        (pool.features[inside][:, :features], pool.labels[inside], part.importance / (pool.passages.max() + 1))
        for part in parts
        for pool in part.pools
        if pool.kind != life_sets.COMMIT
        for inside in (pool.passages == passage for passage in range(int(pool.passages.max(initial=0)) + 1))
        if pool.labels[inside].any() and not pool.labels[inside].all()
    ]
    tables = np.vstack([table for table, _, _ in pools])
    middle, spread = tables.mean(0), tables.std(0) + 1e-6
    longest = max(len(labels) for _, labels, _ in pools)
    x = np.zeros((len(pools), longest, features), dtype=np.float32)
    y = np.zeros((len(pools), longest), dtype=np.float32)
    absent = np.full((len(pools), longest), -1e9, dtype=np.float32)
    for i, (table, labels, _) in enumerate(pools):
        size = len(labels)
        x[i, :size] = (table - middle) / spread
        y[i, :size] = labels / labels.sum()
        absent[i, :size] = 0
    importance = np.array([weight for _, _, weight in pools], dtype=np.float32)
    raw = _descend(x, y, absent, importance / importance.sum()) / spread
    return Line(raw, -float(middle @ raw))


def _descend(x: np.ndarray, y: np.ndarray, absent: np.ndarray, importance: np.ndarray) -> np.ndarray:
    pools, longest, features = x.shape
    flat = x.reshape(-1, features)
    weights = np.zeros(features, dtype=np.float32)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, _STEPS + 1):
        scores = (flat @ weights).reshape(pools, longest) + absent
        shares = np.exp(scores - scores.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        slope = ((shares - y) * importance[:, None]).reshape(-1) @ flat + _RANK_DECAY * weights
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        weights = weights - 0.05 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights.astype(float)


def fit_logistic(rows: np.ndarray, labels: np.ndarray, importance: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the weights of a logistic model on raw features, and its constant."""
    middle, spread = rows.mean(0), rows.std(0) + 1e-6
    x = np.hstack([(rows - middle) / spread, np.ones((len(rows), 1))])
    importance = importance / importance.sum()
    weights = np.zeros(x.shape[1])
    decay = np.diag([_GATE_DECAY] * (x.shape[1] - 1) + [0.0])
    for _ in range(40):
        guess = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (importance * (guess - labels)) + decay @ weights
        curve = (x * (importance * guess * (1 - guess) + 1e-9)[:, None]).T @ x + decay
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-9:
            break
    raw = weights[:-1] / spread
    return raw, float(weights[-1] - middle @ raw)

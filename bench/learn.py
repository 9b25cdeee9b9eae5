"""The two linear models behind the ranking and the gate, and how they are fitted: numpy only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bench.examples import Examples, Pool
from recollect.search import gate

TOP = 3
"""Hits of a search that could be injected, and so have to be judged."""

_RANK_DECAY = 1e-2
_GATE_DECAY = 1e-3


class Model(NamedTuple):
    """Weights on raw features: for the order, and for the probability."""

    rank: np.ndarray
    rank_mean: float
    gate: np.ndarray
    gate_base: float


class Judged(NamedTuple):
    """The best hits of one search, their probabilities and whether they are relevant."""

    probabilities: np.ndarray
    labels: np.ndarray


def fit(sets: Sequence[tuple[Examples, float]]) -> Model:
    """A model from examples, each set with its weight."""
    rank, mean = _fit_rank(sets)
    rows, labels, weights = [], [], []
    for examples, importance in sets:
        for pools, share in _groups(examples):
            for pool in pools:
                table, truth = standing(pool, rank, mean)
                rows.append(table)
                labels.append(truth)
                weights.append(np.full(len(truth), importance * share / len(pools)))
    gate_weights, base = fit_logistic(np.vstack(rows), np.concatenate(labels), np.concatenate(weights))
    return Model(rank, mean, gate_weights, base)


def _groups(examples: Examples) -> list[tuple[list[Pool], float]]:
    """The kinds of search and how much each counts: a real prompt is seldom answerable."""
    return [
        (examples.present, 1.0), (examples.near, 1.0), (examples.off, 1.0), (examples.none, 1.0),
        (examples.small_present, 0.5), (examples.small_near, 0.5), (examples.small_off, 0.5),
    ]  # fmt: skip


def standing(pool: Pool, rank: np.ndarray, mean: float, top: int = TOP) -> tuple[np.ndarray, np.ndarray]:
    """The best hits of a pool as the gate sees them."""
    scores = pool.features @ rank - mean
    order = np.argsort(-scores, kind="stable")
    standings = np.array(gate.relative(list(scores[order]))[:top]).reshape(-1, len(gate.RELATIVE))
    return np.hstack([pool.features[order[:top]], standings]), pool.labels[order[:top]]


def judge(model: Model, pool: Pool) -> Judged:
    table, labels = standing(pool, model.rank, model.rank_mean)
    evidence = np.array([gate.circumstances(row) for row in table.tolist()])
    odds = table @ model.gate + model.gate_base + evidence
    return Judged(1 / (1 + np.exp(-np.clip(odds, -30, 30))), labels)


def _fit_rank(sets: Sequence[tuple[Examples, float]]) -> tuple[np.ndarray, float]:
    """Weights under which relevant candidates get the largest share of a softmax over their pool."""
    pools = [
        (pool, importance / len(examples.present))
        for examples, importance in sets
        for pool in examples.present
        if pool.labels.any() and not pool.labels.all()
    ]
    tables = np.vstack([pool.features for pool, _ in pools])
    middle, spread = tables.mean(0), tables.std(0) + 1e-6
    longest = max(len(pool.labels) for pool, _ in pools)
    x = np.zeros((len(pools), longest, tables.shape[1]))
    y = np.zeros((len(pools), longest))
    absent = np.full((len(pools), longest), -1e9)
    for i, (pool, _) in enumerate(pools):
        size = len(pool.labels)
        x[i, :size] = (pool.features - middle) / spread
        y[i, :size] = pool.labels / pool.labels.sum()
        absent[i, :size] = 0
    importance = np.array([weight for _, weight in pools])
    weights = _descend(x, y, absent, importance / importance.sum())
    return weights / spread, float(middle @ (weights / spread))


def _descend(x: np.ndarray, y: np.ndarray, absent: np.ndarray, importance: np.ndarray) -> np.ndarray:
    weights = np.zeros(x.shape[2])
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, 301):
        scores = x @ weights + absent
        shares = np.exp(scores - scores.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        slope = np.tensordot((shares - y) * importance[:, None], x, axes=2) + _RANK_DECAY * weights
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        weights -= 0.05 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights


def fit_logistic(rows: np.ndarray, labels: np.ndarray, importance: np.ndarray) -> tuple[np.ndarray, float]:
    """The weights of a logistic model on raw features, and its constant."""
    middle, spread = rows.mean(0), rows.std(0) + 1e-6
    x = np.hstack([(rows - middle) / spread, np.ones((len(rows), 1))])
    importance = importance / importance.sum()
    weights = np.zeros(x.shape[1])
    decay = np.diag([_GATE_DECAY] * (x.shape[1] - 1) + [0.0])
    for _ in range(30):
        guess = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (importance * (guess - labels)) + decay @ weights
        curve = (x * (importance * guess * (1 - guess) + 1e-9)[:, None]).T @ x + decay
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-7:
            break
    raw = weights[:-1] / spread
    return raw, float(weights[-1] - middle @ raw)

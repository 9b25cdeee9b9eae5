"""Figures of merit, their intervals, and the differences between systems on the same prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log2
from typing import NamedTuple

import numpy as np


class Judged(NamedTuple):
    """The best matches of one search, their probabilities and whether they are relevant."""

    probabilities: np.ndarray
    labels: np.ndarray


def ndcg(hits: Sequence[bool], relevant: int, depth: int = 10) -> float:
    """Return the normalised discounted cumulative gain of a ranking, given which of its hits are relevant."""
    gain = sum(1 / log2(place + 2) for place, hit in enumerate(hits[:depth]) if hit)
    ideal = sum(1 / log2(place + 2) for place in range(min(relevant, depth)))
    return gain / ideal if ideal else 0.0


def ranking(hits: Sequence[bool], relevant: int) -> dict[str, float]:
    """Return every ranking figure of one prompt."""
    first = next((place for place, hit in enumerate(hits[:10]) if hit), None)
    return {
        "ndcg@10": ndcg(hits, relevant),
        "hit@1": float(any(hits[:1])),
        "hit@3": float(any(hits[:3])),
        "hit@5": float(any(hits[:5])),
        "precision@3": sum(hits[:3]) / 3,
        "recall@10": sum(hits[:10]) / relevant if relevant else 0.0,
        "mrr": 1 / (first + 1) if first is not None else 0.0,
    }


def auc(positive: np.ndarray, negative: np.ndarray) -> float:
    """Return the probability that a positive scores above a negative; ties count half."""
    if not len(positive) or not len(negative):
        return float("nan")
    both = np.concatenate([positive, negative])
    _, inverse, counts = np.unique(both, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    size = len(positive)
    return float((ranks[:size].sum() - size * (size + 1) / 2) / (size * len(negative)))


def hit_auc(present: Sequence[Judged], near: Sequence[Judged]) -> float:
    """Return the AUC of all hits that could be injected, answer present or taken away: relevant against the others."""
    right = [search.probabilities[search.labels] for search in present]
    wrong = [search.probabilities[~search.labels] for search in (*present, *near)]
    return auc(np.concatenate(right), np.concatenate(wrong))


def calibration(judged: Sequence[Judged], bins: int = 10) -> float:
    """Return the expected difference between a stated probability and how often it came true."""
    stated = np.concatenate([search.probabilities for search in judged])
    truth = np.concatenate([search.labels for search in judged]).astype(float)
    places = np.minimum((stated * bins).astype(int), bins - 1)
    gaps = [
        abs(stated[places == place].mean() - truth[places == place].mean()) * (places == place).mean()
        for place in range(bins)
        if (places == place).any()
    ]
    return float(sum(gaps))


def interval(values: Sequence[float], statistic: Callable[[np.ndarray], float] = np.mean) -> tuple[float, float]:
    """Return a 95 % bootstrap interval, the same every time."""
    table = np.asarray(values, dtype=float)
    rng = np.random.default_rng(1)
    draws = [statistic(table[rng.integers(0, len(table), len(table))]) for _ in range(1_000)]
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(low), float(high)

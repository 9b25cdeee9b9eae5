"""The thresholds from which on a record is shown, chosen on projects that were left out of the fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from bench import life_sets, word_sets
from bench.coefficients_file import Thresholds
from bench.learn import Ranked
from onrecord.recall import selection
from onrecord.search import coefficients

WRITTEN = ("task", "question", "other-words", "none")
RULES = 3
"""Rules that a prompt gets at most."""

TYPED = (word_sets.KIND,)
"""The kind of the prompts that people typed at work."""

_PRECISION, _DISTURBED = 0.90, 0.05
_TYPED_PRECISION, _TYPED_DISTURBED = 0.76, 0.08
"""What is asked of rules: how many are right for a written prompt, and right or defensible for one that was typed; and
how many prompts that no record is about may get one."""

_POINTED_IDLE = 0.12
"""The share of such prompts that may get a pointer."""

_STEPS = [step / 100 for step in range(5, 96)]


class Shown(NamedTuple):
    """What prompts get at some thresholds, as shares."""

    prompts: int
    answerable: int
    idle: int
    rules: int
    precision: float
    precision_with_maybe: float
    served: float
    disturbed: float
    reached: float
    """Answerable prompts that get a relevant record in either form."""
    pointers: int
    pointed_precision: float
    pointed_idle: float


def show(judged: Iterable[Ranked], threshold: float, pointer: float) -> Shown:
    """Return what all prompts together get."""
    counts = np.array([_count(each, threshold, pointer) for each in judged], dtype=float)
    return summary(counts)


def summary(counts: np.ndarray) -> Shown:
    """Return the shares from the counts of single prompts."""
    prompts = len(counts)
    answerable, idle, rules, right, maybe, served, disturbed, reached, pointers, pointed, pointed_idle = counts.sum(0)
    return Shown(
        prompts,
        int(answerable),
        int(idle),
        int(rules),
        right / max(rules, 1),
        (right + maybe) / max(rules, 1),
        served / max(answerable, 1),
        disturbed / max(idle, 1),
        reached / max(answerable, 1),
        int(pointers),
        pointed / max(pointers, 1),
        pointed_idle / max(idle, 1),
    )


def _count(judged: Ranked, threshold: float, pointer: float) -> tuple[float, ...]:
    """Return the figures of one prompt, to be added up over prompts."""
    is_rule = judged.probabilities >= threshold
    is_rule[RULES:] = False
    rules = int(is_rule.sum())
    likely = np.flatnonzero((judged.probabilities >= pointer) & ~is_rule)
    pointed = likely[: selection.MAX_POINTERS if rules < RULES else 0]
    right = int(judged.labels[is_rule].sum())
    maybe = int(judged.maybe[is_rule].sum())
    pointed_right = int(judged.labels[pointed].sum())
    is_answerable, is_idle = judged.pool.relevant > 0, judged.pool.is_idle
    return (
        is_answerable, is_idle, rules, right, maybe, right > 0, is_idle and rules > 0, right + pointed_right > 0,
        len(pointed), pointed_right, is_idle and len(pointed) > 0,
    )  # fmt: skip


def choose(judged: Sequence[Ranked]) -> Thresholds:
    """Return the lowest thresholds that reach the aims; those of the keyword scorer stay."""
    written, typed = ([each for each in judged if each.pool.kind in kinds] for kinds in (WRITTEN, TYPED))
    rule = next((step for step in _STEPS if _is_sure(show(written, step, 2.0), show(typed, step, 2.0))), _STEPS[-1])
    pointer = next((step for step in _STEPS if _is_likely(show(typed, rule, step))), rule)
    return Thresholds(rule, pointer, coefficients.KEYWORD_THRESHOLD, coefficients.KEYWORD_POINTER)


def curve(judged: Sequence[Ranked]) -> list[dict[str, float]]:
    """Return what each threshold for rules would do, for written prompts and for commit subjects."""
    written = [each for each in judged if each.pool.kind in WRITTEN]
    commits = [each for each in judged if each.pool.kind == life_sets.COMMIT]
    rows = []
    for threshold in (step / 20 for step in range(6, 20)):
        shown = show(written, threshold, 2.0)
        figures = {"precision": shown.precision, "served": shown.served, "disturbed": shown.disturbed}
        figures["precision, commit subjects"] = show(commits, threshold, 2.0).precision_with_maybe
        rows.append({"threshold": threshold, **{key: round(value, 4) for key, value in figures.items()}})
    return rows


def _is_sure(written: Shown, typed: Shown) -> bool:
    is_right = written.precision >= _PRECISION and typed.precision_with_maybe >= _TYPED_PRECISION
    return is_right and written.disturbed <= _DISTURBED and typed.disturbed <= _TYPED_DISTURBED


def _is_likely(shown: Shown) -> bool:
    return shown.pointed_idle <= _POINTED_IDLE

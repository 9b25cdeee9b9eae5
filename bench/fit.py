"""`python -m bench fit`: fit the ranking and the gate, check them on sets left out, write the coefficients."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench import data, learn, metrics
from bench.examples import Examples, gather
from bench.learn import Model
from recollect import coefficients, features, gate

MODEL = Path(coefficients.__file__)
_OWN = tuple(name for name in data.OWN_NAMES if name != data.HELD_OUT)
_OWN_IMPORTANCE = 0.5
"""Our projects are fitted twice, with and without triggers, so that they count as much as any other set."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--most", type=int, default=400, help="prompts of one set to learn from (default 400)")
    parser.add_argument("--data", type=Path, default=data.SHARED, help="folder of sets written by other people")
    parser.add_argument("--dry-run", action="store_true", help="show the figures, leave the coefficients alone")


def run(options: argparse.Namespace) -> int:
    examples = collect(options.data, options.most)
    figures = leave_one_out(examples)
    print(json.dumps(figures, indent=2))
    if not options.dry_run:
        write(fit_all(examples), figures, sorted(examples))
        print(f"wrote {MODEL}")
    return 0


def collect(folder: Path, most: int) -> dict[str, Examples]:
    """The examples of all sets that may be learnt from; ours once with and once without triggers (`name-`)."""
    sets = {name: data.load(name, folder=folder) for name in (*data.outside(folder), *_OWN)}
    sets.update({f"{name}-": data.load(name, triggers=False) for name in _OWN})
    found = {}
    for name, one in sets.items():
        began = time.monotonic()
        found[name] = gather(one, strangers(name, sets), most=most)
        print(f"{name}: {len(found[name].present)} prompts, {time.monotonic() - began:.0f} s", file=sys.stderr)
    return found


def strangers(name: str, sets: dict[str, data.Set]) -> list[data.Prompt]:
    rng = random.Random(name)
    others = [one for key, one in sets.items() if not key.endswith("-") and key != name.rstrip("-")]
    return [prompt for one in others for prompt in rng.sample(one.prompts, min(80, len(one.prompts)))]


def fit_all(examples: dict[str, Examples]) -> Model:
    return learn.fit([(one, importance(name)) for name, one in examples.items()])


def importance(name: str) -> float:
    return _OWN_IMPORTANCE if name.rstrip("-") in _OWN else 1.0


def leave_one_out(examples: dict[str, Examples]) -> dict[str, dict[str, float]]:
    """For each set, the figures of a model that never saw it."""
    figures = {}
    for name in examples:
        rest = [(one, importance(key)) for key, one in examples.items() if key.rstrip("-") != name.rstrip("-")]
        figures[name] = measure(learn.fit(rest), examples[name])
    return figures


def measure(fitted: Model, examples: Examples) -> dict[str, float]:
    judged = {kind: [learn.judge(fitted, pool) for pool in getattr(examples, kind)] for kind in ("present", "near")}
    off = [learn.judge(fitted, pool) for pool in examples.off]
    counts = metrics.injection(judged["present"], judged["near"], off, coefficients.THRESHOLD)
    return {
        "ndcg@10": round(float(np.mean([_ndcg(fitted, pool) for pool in examples.present])), 4),
        "auc": round(metrics.hit_auc(judged["present"], judged["near"]), 4),
        **{key: round(value, 4) for key, value in counts.items()},
    }


def _ndcg(fitted: Model, pool: learn.Pool) -> float:
    order = np.argsort(-(pool.features @ fitted.rank), kind="stable")
    return metrics.ndcg([bool(one) for one in pool.labels[order]], pool.relevant)


def write(fitted: Model, figures: dict[str, dict[str, float]], names: Sequence[str]) -> None:
    """The coefficients as a module, with where they come from."""
    macro = {
        key: np.mean([figures[name][key] for name in names if name.rstrip("-") not in _OWN])
        for key in next(iter(figures.values()))
    }
    known = ", ".join(f"{key} {value:.3f}" for key, value in macro.items())
    lines = [
        '"""Coefficients of the ranking and the gate. Written by `python -m bench fit`: do not edit.',
        "",
        f"Fitted {time.strftime('%Y-%m-%d')} on {', '.join(names)} (a dash: without triggers).",
        f"Left out one at a time, mean over the sets of other people: {known}.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        f"THRESHOLD = {coefficients.THRESHOLD}",
        f"FIRST_PROMPT_THRESHOLD = {coefficients.FIRST_PROMPT_THRESHOLD}",
        "",
        *_table("RANK", fitted.rank, features.NAMES),
        f"RANK_MEAN = {fitted.rank_mean:.5f}",
        "",
        *_table("GATE", fitted.gate, (*features.NAMES, *gate.STANDING)),
        f"GATE_BASE = {fitted.gate_base:.5f}",
    ]
    MODEL.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _table(name: str, weights: np.ndarray, names: Sequence[str]) -> list[str]:
    return [f"{name} = (", *(f"    {weight:.5f},  # {label}" for weight, label in zip(weights, names)), ")"]

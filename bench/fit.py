"""`python -m bench fit`: fit the ranking and the gate, check them on sets left out, write the coefficients."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench import data, learn, metrics, results
from bench.examples import Examples, Pool, gather
from bench.learn import Judged, Model
from recollect.search import coefficients, gate

MODEL = Path(coefficients.__file__)
_OWN = tuple(name for name in data.OWN_NAMES if name != data.HELD_OUT)
_LEAST_PRECISION = 0.82
_MOST_FALSE = 0.05
_BARS = ("POINTER", "KEYWORD_THRESHOLD", "KEYWORD_POINTER")
"""The bars beside the threshold, which this fit takes over as they are."""

_OWN_IMPORTANCE = 0.5
"""Our projects are fitted twice, with and without triggers, so that they count as much as any other set."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--most", type=int, default=400, help="prompts of one set to learn from (default 400)")
    parser.add_argument("--data", type=Path, default=data.SHARED, help="folder of sets written by other people")
    parser.add_argument("--dry-run", action="store_true", help="show the figures, leave the coefficients alone")


def run(options: argparse.Namespace) -> int:
    examples = collect(options.data, options.most)
    folds: dict[str, Model] = {}
    held_out = {name: judge_held_out(name, examples, folds) for name in examples}
    outside = [one for name, one in held_out.items() if name.rstrip("-") not in _OWN]
    threshold = choose_threshold(outside or list(held_out.values()))
    figures = {name: measure(one, threshold) for name, one in held_out.items()}
    print(json.dumps({"threshold": threshold, **figures}, indent=2))
    if not outside:
        print(f"no sets of other people in {options.data}: the coefficients are left alone", file=sys.stderr)
    elif not options.dry_run:
        write(fit_all(examples), threshold, figures)
        results.save("folds", {name: _plain(one) for name, one in folds.items()})
        results.save("fit", {"threshold": threshold, "curve": curve(held_out), "sets": figures})
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


class HeldOut(NamedTuple):
    """What a model that never saw a set makes of it."""

    ndcg: list[float]
    present: list[Judged]
    near: list[Judged]
    off: list[Judged]
    none: list[Judged]


def judge_held_out(name: str, examples: dict[str, Examples], folds: dict[str, Model]) -> HeldOut:
    rest = [(one, importance(key)) for key, one in examples.items() if key.rstrip("-") != name.rstrip("-")]
    fitted = learn.fit(rest)
    own = examples[name]
    folds[name] = fitted
    kinds = ([learn.judge(fitted, pool) for pool in pools] for pools in (own.present, own.near, own.off, own.none))
    return HeldOut([_ndcg(fitted, pool) for pool in own.present], *kinds)


def choose_threshold(sets: Sequence[HeldOut]) -> float:
    """The lowest bar at which, over sets not learnt from, enough of what is told is right and little is wrong."""
    for step in range(40, 95):
        found = [metrics.injection(one.present, one.near, one.off, step / 100) for one in sets]
        precision, false_near = (float(np.mean([one[key] for one in found])) for key in ("precision", "false_near"))
        if precision >= _LEAST_PRECISION and false_near <= _MOST_FALSE:
            return step / 100
    return 0.95


def measure(judged: HeldOut, threshold: float) -> dict[str, float]:
    counts = metrics.injection(judged.present, judged.near, judged.off, threshold)
    return {
        "ndcg@10": round(float(np.mean(judged.ndcg)), 4),
        "auc": round(metrics.hit_auc(judged.present, judged.near), 4),
        **{key: round(value, 4) for key, value in counts.items()},
    }


def curve(held_out: dict[str, HeldOut]) -> list[dict[str, float]]:
    """What each bar would do, on the mean over the sets of other people and over ours."""
    rows = []
    for step in range(4, 20):
        row = {"threshold": step / 20}
        for label, names in (("outside", set(held_out) - _own_names()), ("own", set(_OWN))):
            found = [
                metrics.injection(one.present, one.near, one.off, step / 20)
                for one in (held_out[name] for name in names)
            ]
            row.update({f"{label} {key}": round(float(np.mean([one[key] for one in found])), 4) for key in found[0]})
        rows.append(row)
    return rows


def _own_names() -> set[str]:
    return {name + dash for name in _OWN for dash in ("", "-")}


def _plain(fitted: Model) -> dict[str, object]:
    return {
        "RANK": [round(float(one), 6) for one in fitted.rank],
        "RANK_MEAN": fitted.rank_mean,
        "GATE": [round(float(one), 6) for one in fitted.gate],
        "GATE_BASE": fitted.gate_base,
    }


def _ndcg(fitted: Model, pool: Pool) -> float:
    order = np.argsort(-(pool.features @ fitted.rank), kind="stable")
    return metrics.ndcg([bool(one) for one in pool.labels[order]], pool.relevant)


def write(fitted: Model, threshold: float, figures: dict[str, dict[str, float]]) -> None:
    """The coefficients as a module, with where they come from."""
    outside = [one for name, one in figures.items() if name.rstrip("-") not in _OWN]
    known = "".join(f"    {key} {np.mean([one[key] for one in outside]):.3f}\n" for key in outside[0])
    rows = zip(gate.NAMES, fitted.rank, fitted.gate)
    relative = ", ".join(
        f'"{name}": {weight:.5f}' for name, weight in zip(gate.RELATIVE, fitted.gate[len(gate.NAMES) :])
    )
    lines = [
        '"""Coefficients of the ranking and the gate. Written by `python -m bench fit`: do not edit.',
        "",
        f"Fitted {time.strftime('%Y-%m-%d')} on {', '.join(sorted(figures))} (a dash: without triggers).",
        "Each left out in turn, at the threshold, mean over the sets of other people:",
        "",
        f'{known}"""',
        "",
        "from __future__ import annotations",
        "",
        f"THRESHOLD = {threshold}",
        *(f"{name} = {getattr(coefficients, name)}" for name in _BARS),
        f"RANK_MEAN = {fitted.rank_mean:.5f}",
        f"GATE_BASE = {fitted.gate_base:.5f}",
        "",
        "# Name: weight in the ranking, weight in the gate.",
        "FEATURES = {",
        *(f'    "{name}": ({rank:.5f}, {weight:.5f}),' for name, rank, weight in rows),
        "}",
        "# Of the score among the other scores, in the gate only.",
        f"RELATIVE = {{{relative}}}",
        "",
        "RANK = tuple(rank for rank, _ in FEATURES.values())",
        "GATE = (*(gate for _, gate in FEATURES.values()), *RELATIVE.values())",
    ]
    MODEL.write_text("\n".join(lines) + "\n", encoding="utf-8")

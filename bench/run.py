"""`python -m bench run`: every system, every set, every prompt three times; figures into bench/results."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bench import data, metrics, results
from bench.data import Prompt, Set
from bench.metrics import Judged
from bench.stage import Stage
from bench.systems import MOST_SHOWN, Hit, System, Systems
from onrecord.search import coefficients


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sets", nargs="*", help="names or folders (default: ours and all shared ones)")
    parser.add_argument("--most", type=int, default=400, help="prompts of one set (default 400)")
    parser.add_argument("--data", type=Path, default=data.SHARED, help="folder of sets written by other people")
    parser.add_argument("--again", action="store_true", help="measure sets again whose results are there")


def run(options: argparse.Namespace) -> int:
    names = options.sets or [
        *data.outside(options.data),
        *(f"{one}{dash}" for one in data.OWN_NAMES for dash in ("", "-")),
    ]
    measured = (results.load("run") or {}).get("sets", {})
    for name in names:
        if name in measured and not options.again:
            print(f"{name}: done before (--again to repeat)", file=sys.stderr)
            continue
        began = time.monotonic()
        measured[name] = measure(name, options.data, options.most)
        results.save("run", {"threshold": coefficients.THRESHOLD, "sets": measured})
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    return 0


def measure(name: str, folder: Path, most: int) -> dict[str, Any]:
    """Return all figures of one set, by a model that never saw it."""
    own = data.load(name.rstrip("-"), triggers=not name.endswith("-"), folder=folder)
    prompts = _sample(own.answerable, most, name)
    strangers = _sample([p for other in _others(name, folder) for p in other.prompts], most // 2, name)
    with _unseen(name), Stage(own.records) as stage:
        systems = Systems(stage)
        by_system = {
            label: _measure(systems, system, prompts, strangers, own.unanswerable)
            for label, system in systems.all.items()
        }
    against = by_system["onrecord"]["each"]
    for label, figures in by_system.items():
        if label != "onrecord":
            pairs = [ours - theirs for ours, theirs in zip(against, figures["each"])]
            figures["ndcg difference"] = [round(float(np.mean(pairs)), 4), *map(_short, metrics.interval(pairs))]
    for figures in by_system.values():
        del figures["each"]
    return {"prompts": len(prompts), "records": len(own.records), "systems": by_system, "kinds": _kinds(own, name)}


def _measure(
    systems: Systems, system: System, asked: Sequence[Prompt], strangers: Sequence[Prompt], none: Sequence[Prompt]
) -> dict[str, Any]:
    present = [system(prompt) for prompt in asked]
    near = [_without(systems, system, prompt) for prompt in asked]
    off = [system(prompt) for prompt in strangers]
    silent = [system(prompt) for prompt in none]
    ranks = [
        metrics.ranking([hit.id in prompt.relevant for hit in hits], len(prompt.relevant))
        for prompt, hits in zip(asked, present)
    ]
    each = [one["ndcg@10"] for one in ranks]
    figures: dict[str, Any] = {key: _short(np.mean([one[key] for one in ranks])) for key in ranks[0]}
    figures["ndcg interval"] = list(map(_short, metrics.interval(each)))
    figures.update(_injection(asked, present, near, off, silent))
    figures["each"] = each
    return figures


def _injection(
    prompts: Sequence[Prompt],
    present: Sequence[list[Hit]],
    near: Sequence[list[Hit]],
    off: Sequence[list[Hit]],
    none: Sequence[list[Hit]],
) -> dict[str, Any]:
    judged = [_judged(hits, prompt.relevant) for prompt, hits in zip(prompts, present)]
    missed = [_judged(hits, frozenset()) for hits in near]
    right = [sum(hit.shown and hit.id in prompt.relevant for hit in hits) for prompt, hits in zip(prompts, present)]
    shown_present, shown_near, shown_none = (
        [sum(hit.shown for hit in hits) for hits in runs] for runs in (present, near, none)
    )
    served = [float(one > 0) for one in right]
    false_near, false_off = ([float(any(hit.shown for hit in hits)) for hits in runs] for runs in (near, off))
    return {
        "auc": _short(metrics.hit_auc(judged, missed)),
        "auc first hit": _short(metrics.hit_auc([_first(one) for one in judged], [_first(one) for one in missed])),
        "auc prompt": _short(metrics.auc(_best(judged), _best(missed))),
        "calibration error": _short(metrics.calibration([*judged, *missed])),
        "precision": _short(sum(right) / max(1, sum(shown_present) + sum(shown_near))),
        "precision interval": list(
            map(_short, _ratio_interval(right, [a + b for a, b in zip(shown_present, shown_near)]))
        ),
        "precision, answer there or nothing to answer": _short(
            sum(right) / max(1, sum(shown_present) + sum(shown_none))
        ),
        "served": _short(np.mean(served)),
        "served interval": list(map(_short, metrics.interval(served))),
        "false near": _short(np.mean(false_near)),
        "false near interval": list(map(_short, metrics.interval(false_near))),
        "false off": _short(np.mean(false_off)),
        "false none": _short(np.mean([one > 0 for one in shown_none])) if none else None,
        "silent": _short(np.mean([not any(hit.shown for hit in hits) for hits in (*present, *near, *off, *none)])),
    }


def _ratio_interval(right: Sequence[int], shown: Sequence[int]) -> tuple[float, float]:
    pairs = np.array([right, shown]).T
    return metrics.interval(pairs, lambda table: table[:, 0].sum() / max(1, table[:, 1].sum()))


def _without(systems: Systems, system: System, prompt: Prompt) -> list[Hit]:
    with systems.stage.without(prompt.relevant):
        systems.gone = prompt.relevant
        hits = system(prompt)
    systems.gone = frozenset()
    return hits


def _judged(hits: Sequence[Hit], relevant: frozenset[str]) -> Judged:
    top = hits[:MOST_SHOWN]
    return Judged(np.array([hit.score for hit in top]), np.array([hit.id in relevant for hit in top], dtype=bool))


def _first(search: Judged) -> Judged:
    return Judged(search.probabilities[:1], search.labels[:1])


def _best(judged: Sequence[Judged]) -> np.ndarray:
    return np.array([search.probabilities.max(initial=0.0) for search in judged])


def _kinds(own: Set, name: str) -> dict[str, dict[str, float]]:
    """Return how each kind of prompt of our projects fares with us."""
    if name.rstrip("-") not in data.OWN_NAMES:
        return {}
    found: dict[str, list[tuple[Prompt, list[Hit]]]] = {}
    with _unseen(name), Stage(own.records) as stage:
        systems = Systems(stage)
        for prompt in own.prompts:
            found.setdefault(prompt.kind, []).append((prompt, systems.ours(prompt)))
    return {kind: _kind(answers) for kind, answers in sorted(found.items())}


def _kind(answers: Sequence[tuple[Prompt, list[Hit]]]) -> dict[str, float]:
    shown = sum(hit.shown for _, hits in answers for hit in hits)
    right = sum(hit.shown and hit.id in prompt.relevant for prompt, hits in answers for hit in hits)
    return {
        "prompts": len(answers),
        "hit@3": _short(np.mean([any(hit.id in prompt.relevant for hit in hits[:3]) for prompt, hits in answers])),
        "served": _short(np.mean([any(h.shown and h.id in prompt.relevant for h in hits) for prompt, hits in answers])),
        "wrong": shown - right,
    }


@contextmanager
def _unseen(name: str) -> Iterator[None]:
    """Use the coefficients fitted without a set, in place of the shipped ones, which may have seen it."""
    fold = (results.load("folds") or {}).get(name.rstrip("-"))
    if name.rstrip("-") != data.HELD_OUT and not fold and name in (*data.outside(), *data.OWN_NAMES):
        print(f"{name}: no fold; run `python -m bench fit` first", file=sys.stderr)
    shipped = {key: getattr(coefficients, key) for key in fold or {}}
    try:
        for key, value in (fold or {}).items():
            setattr(coefficients, key, value)
        yield
    finally:
        for key, value in shipped.items():
            setattr(coefficients, key, value)


def _others(name: str, folder: Path) -> list[Set]:
    names = [*data.outside(folder), *data.OWN_NAMES]
    return [data.load(one, folder=folder) for one in names if one != Path(name.rstrip("-")).name]


def _sample(prompts: Sequence[Prompt], most: int, seed: str) -> list[Prompt]:
    return random.Random(seed).sample(list(prompts), min(most, len(prompts)))


def _short(value: float) -> float:
    return round(float(value), 4)

"""`python -m bench improve`: what triggers by the recipe bring to records that have none, as imported ones.

The triggers in `bench/sets/recipe` were written as `/memory:improve` has an agent write them: by somebody who saw the
records and nothing else, one trigger of each kind. They are keyed by record, and the records are read from life sets.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench import data, life_sets, metrics, page, results
from bench.data import Prompt, Set
from bench.stage import Stage
from bench.systems import Hit, Systems
from onrecord.record.memory import Memory

RECIPE = data.OWN / "recipe"
PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "write-records-that-are-found.md"
KINDS = {
    "task": "tasks",
    "question": "questions",
    "other-words": "in other words",
    life_sets.COMMIT: "real commit subjects",
}
FIGURES = ("hit@1", "hit@3", "served")
_COLUMNS = ("right record first", "among the first three", "shown as a rule")
COUNTS = (0, 3, 6, 10)
"""Triggers a record: none, what an agent in a hurry writes, what counts as enough, all."""


class Asked(NamedTuple):
    """A prompt, what our ranking and plain BM25 return for it, and with which triggers."""

    prompt: Prompt
    ours: Sequence[Hit]
    porter: Sequence[Hit]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=data.SHARED, help="the folder with the life sets")


def run(options: argparse.Namespace) -> int:
    """Measure every set whose records are there, and write the figures of all of them together."""
    names = [path.stem for path in sorted(RECIPE.glob("*.jsonl")) if (options.data / path.stem).is_dir()]
    if not names:
        print(f"no set of {RECIPE} is in {options.data}")
        return 1
    answers: dict[str, list[Asked]] = {}
    for name in names:
        for variant, own in variants(name, options.data).items():
            answers.setdefault(variant, []).extend(ask(own))
    figures = {variant: _figures(asked) for variant, asked in answers.items()}
    growth = {kind: gains(answers["none"], answers["recipe"], kind) for kind in KINDS}
    counts = {str(count): by_count(count) for count in COUNTS}
    print(_table(figures))
    for count, row in counts.items():
        print(f"{count:>2} triggers, {', '.join(life_sets.CHOOSE)}: {row}")
    measured = {"sets": names, "figures": figures, "gain of the recipe": growth, "by number of triggers": counts}
    print(results.save("improve", measured))
    page.put(PAGE, "improve", tables(measured))
    return 0


def tables(measured: dict[str, Any]) -> dict[str, str]:
    """Return the tables of the page by the names of their places on it."""
    before, after = (measured["figures"][name]["kinds"] for name in ("none", "recipe"))
    gained = measured["gain of the recipe"]
    return {
        "recipe": page.table(
            ["prompts", *_COLUMNS],
            [
                [f"{called} ({before[kind]['prompts']})"]
                + [_growth(before[kind][name][0], after[kind][name][0], *gained[kind][name]) for name in FIGURES]
                for kind, called in KINDS.items()
            ],
        ),
        "number": page.table(
            ["triggers a record", *_COLUMNS],
            [
                [str(count), *("{:.0f} % ({:.0f} to {:.0f})".format(*_percents(row[name])) for name in FIGURES)]
                for count, row in measured["by number of triggers"].items()
            ],
        ),
    }


def _growth(before: float, after: float, *gain: float) -> str:
    texts = (f"{value:.0f}".replace("-", "−") for value in _percents(gain))
    return "{:.0f} → {:.0f} % (+{}, {} to {})".format(*_percents([before, after]), *texts)


def _percents(shares: Sequence[float]) -> list[float]:
    return [100 * share for share in shares]


def by_count(count: int) -> dict[str, list[float]]:
    """Return the figures of written prompts with that many of the ten triggers that records of other projects have."""
    answers = []
    for name in life_sets.CHOOSE:
        whole = life_sets.load(name)
        records = tuple(record._replace(triggers=record.triggers[:count]) for record in whole.records)
        prompts = tuple(each for each in whole.prompts if each.relevant and each.kind != life_sets.COMMIT)
        answers += ask(whole._replace(records=records, prompts=prompts))
    return {name: _mean([value(each, name) for each in answers]) for name in FIGURES}


def variants(name: str, folder: Path) -> dict[str, Set]:
    """Return a set with no triggers, with those by the recipe, and with those that its own author wrote."""
    recipe = {raw["key"]: tuple(raw["triggers"]) for raw in data.lines(RECIPE / f"{name}.jsonl")}
    bare, written = (life_sets.load(name, variant, folder=folder) for variant in ("none", "full"))
    return {"none": bare, "recipe": _with_triggers(bare, recipe), "author": written}


def _with_triggers(bare: Set, triggers: dict[str, tuple[str, ...]]) -> Set:
    def improved(record: Memory) -> Memory:
        return record._replace(triggers=triggers.get(record.id, ()))

    return bare._replace(records=tuple(map(improved, bare.records)))


def ask(own: Set) -> list[Asked]:
    """Return the answers to every prompt of a set, by our ranking and relevance model and by BM25."""
    with Stage(own.records) as stage:
        systems = Systems(stage)
        return [Asked(prompt, systems.ours(prompt), systems.porter(prompt)) for prompt in own.prompts]


def _figures(answers: Sequence[Asked]) -> dict[str, Any]:
    kinds = {kind: _kind([each for each in answers if each.prompt.kind == kind]) for kind in KINDS}
    idle = [each for each in answers if each.prompt.kind == "none"]
    written = [each for each in answers if each.prompt.kind != life_sets.COMMIT]
    shown = sum(hit.shown for each in written for hit in each.ours)
    right = sum(hit.shown and hit.id in each.prompt.relevant for each in written for hit in each.ours)
    return {
        "kinds": kinds,
        "precision, written prompts": _short(right / max(1, shown)),
        "disturbed": _short(np.mean([any(hit.shown for hit in each.ours) for each in idle])),
    }


def _kind(answers: Sequence[Asked]) -> dict[str, Any]:
    answerable = [each for each in answers if each.prompt.relevant]
    figures: dict[str, Any] = {"prompts": len(answerable)}
    for name in FIGURES:
        values = [value(each, name) for each in answerable]
        figures[name] = _mean(values)
    for name in FIGURES[:2]:
        figures[f"BM25 {name}"] = _short(np.mean([value(each._replace(ours=each.porter), name) for each in answerable]))
    return figures


def value(answer: Asked, figure: str) -> float:
    """Return a figure of one prompt."""
    hits = [hit for hit in answer.ours if hit.shown] if figure == "served" else answer.ours[: int(figure[-1])]
    return float(any(hit.id in answer.prompt.relevant for hit in hits))


def gains(before: Sequence[Asked], after: Sequence[Asked], kind: str) -> dict[str, list[float]]:
    """Return by how much each figure grows on the same prompts, with a 95 % interval."""
    pairs = [(old, new) for old, new in zip(before, after) if old.prompt.kind == kind and old.prompt.relevant]
    growth = {}
    for name in FIGURES:
        differences = [value(new, name) - value(old, name) for old, new in pairs]
        growth[name] = _mean(differences)
    return growth


def _table(figures: dict[str, Any]) -> str:
    lines = [f"{'kind':<13}{'triggers':<10}{'prompts':>8}{'hit@1':>8}{'hit@3':>8}{'served':>8}   BM25 hit@1, hit@3"]
    for kind in KINDS:
        for variant, measured in figures.items():
            row = measured["kinds"][kind]
            ours = "".join(f"{row[name][0]:>8.2f}" for name in FIGURES)
            bm25 = ", ".join(f"{row[f'BM25 {name}']:.2f}" for name in FIGURES[:2])
            lines.append(f"{kind:<13}{variant:<10}{row['prompts']:>8}{ours}   {bm25}")
    for variant, measured in figures.items():
        rates = ", ".join(f"{name} {measured[name]:.2f}" for name in ("precision, written prompts", "disturbed"))
        lines.append(f"{variant}: {rates}")
    return "\n".join(lines)


def _mean(values: Sequence[float]) -> list[float]:
    """Return a mean with its 95 % interval."""
    return [_short(np.mean(values)), *map(_short, metrics.interval(values))]


def _short(value: float) -> float:
    return round(float(value), 3)

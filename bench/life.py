"""`python -m bench life`: what the hook shows in real projects on which nothing was fitted and nothing chosen."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from multiprocessing import Pool as Workers
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench import life_sets, results
from bench.data import Prompt
from bench.stage import Stage
from bench.systems import Systems
from onrecord.recall import for_prompt
from onrecord.recall.for_prompt import Decision, Request
from onrecord.search import coefficients
from onrecord.settings import load_settings

WRITTEN = "written prompts"
KINDS = {
    WRITTEN: ("task", "question", "other-words", "none"),
    "tasks": ("task",),
    "questions": ("question",),
    "in other words": ("other-words",),
    "nothing applies": ("none",),
    "commit subjects": (life_sets.COMMIT,),
    "questions about the past": ("past",),
}
"""The rows of the report, and the kinds of prompts in each."""

_DRAWS = 1_000


class Count(NamedTuple):
    """What one prompt got, as numbers that are added up over prompts."""

    prompts: int
    answerable: bool
    idle: bool
    rules: int
    right: int
    maybe: int
    served: bool
    disturbed: bool
    reached: bool
    pointers: int
    pointed_right: int
    pointed_idle: bool
    hit_1: bool
    hit_3: bool
    bm25_hit_1: bool
    bm25_hit_3: bool


Counts = dict[str, list[Count]]
"""The counts of a project's prompts by kind."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repositories", type=Path, help="folder of clones to read the commit subjects from first")
    parser.add_argument("--choose", action="store_true", help="measure the projects that settings were chosen on")


def run(options: argparse.Namespace) -> int:
    names = life_sets.CHOOSE if options.choose else life_sets.REPORT
    if options.repositories:
        for name in (*life_sets.CHOOSE, *life_sets.REPORT):
            print(f"{name}: {life_sets.rebuild(name, options.repositories)} commit subjects", file=sys.stderr)
    incomplete = [name for name in names if not life_sets.has_subjects(name)]
    for name in incomplete:
        print(f"{name}: measured without commit subjects (--repositories reads them)", file=sys.stderr)
    measured = measure(names)
    print(table(measured["variants"]))
    if not options.choose and not incomplete:
        print(f"wrote {results.save('life', measured)}")
    return 0


def measure(names: Sequence[str]) -> dict[str, Any]:
    """Return all figures: by variant and kind over all projects, and the ranking of each project."""
    jobs = [(name, variant) for variant in life_sets.VARIANTS for name in names]
    with Workers(2) as workers:
        counted = dict(zip(jobs, workers.starmap(count, jobs, chunksize=1)))
    variants = {
        variant: {row: summary([counted[name, variant] for name in names], kinds) for row, kinds in KINDS.items()}
        for variant in life_sets.VARIANTS
    }
    projects = {
        name: {variant: summary([counted[name, variant]], KINDS[WRITTEN]) for variant in life_sets.VARIANTS}
        for name in names
    }
    thresholds = {"threshold": coefficients.THRESHOLD, "pointer": coefficients.POINTER}
    return {**thresholds, "variants": variants, "projects": projects}


def count(name: str, variant: str) -> Counts:
    """Count what each prompt of a project gets."""
    own = life_sets.load(name, variant)
    settings = load_settings("", "")
    counts: Counts = {}
    with Stage(own.records) as stage:
        systems = Systems(stage)
        for prompt in own.prompts:
            decision = for_prompt.decide(stage.stores, Request(prompt.text), settings)
            best = [hit.id for hit in systems.porter(prompt)]
            counts.setdefault(prompt.kind, []).append(count_prompt(prompt, decision, best))
    return counts


def count_prompt(prompt: Prompt, decision: Decision, best: Sequence[str]) -> Count:
    rules, pointers, ranked = (
        [candidate.match.id for candidate in candidates]
        for candidates in (decision.rules, decision.pointers, decision.candidates)
    )
    relevant = prompt.relevant
    is_idle = not relevant and not prompt.maybe
    right, pointed = len(relevant.intersection(rules)), len(relevant.intersection(pointers))
    return Count(
        prompts=1,
        answerable=bool(relevant),
        idle=is_idle,
        rules=len(rules),
        right=right,
        maybe=len(prompt.maybe.intersection(rules)),
        served=right > 0,
        disturbed=is_idle and bool(rules),
        reached=right + pointed > 0,
        pointers=len(pointers),
        pointed_right=pointed,
        pointed_idle=is_idle and bool(pointers),
        hit_1=not relevant.isdisjoint(ranked[:1]),
        hit_3=not relevant.isdisjoint(ranked[:3]),
        bm25_hit_1=not relevant.isdisjoint(best[:1]),
        bm25_hit_3=not relevant.isdisjoint(best[:3]),
    )


def summary(projects: Sequence[Counts], kinds: Sequence[str]) -> dict[str, Any]:
    """Return the figures of some kinds of prompts over some projects, with intervals."""
    tables = [np.array([each for kind in kinds for each in counts.get(kind, ())], dtype=float) for counts in projects]
    tables = [each for each in tables if len(each)]
    if not tables:
        return {}
    figures = shares(np.concatenate(tables).sum(0))
    drawn = _draws(tables)
    figures["intervals"] = {
        key: [round(float(bound), 4) for bound in np.percentile([each[key] for each in drawn], [2.5, 97.5])]
        for key in ("precision", "precision with maybe", "served", "disturbed", "reached", "pointed idle")
    }
    return figures


def _draws(tables: Sequence[np.ndarray]) -> list[dict[str, float]]:
    """Return the figures of bootstrap samples: of projects, and of the prompts of each."""
    rng = np.random.default_rng(1)
    drawn = []
    for _ in range(_DRAWS):
        chosen = [tables[place] for place in rng.integers(0, len(tables), len(tables))]
        drawn.append(shares(sum(each[rng.integers(0, len(each), len(each))].sum(0) for each in chosen)))
    return drawn


def shares(sums: np.ndarray) -> dict[str, float]:
    """Return the figures from the counts of many prompts."""
    total = Count(*sums)
    figures = {
        "precision": total.right / max(total.rules, 1),
        "precision with maybe": (total.right + total.maybe) / max(total.rules, 1),
        "served": total.served / max(total.answerable, 1),
        "disturbed": total.disturbed / max(total.idle, 1),
        "reached": total.reached / max(total.answerable, 1),
        "pointed precision": total.pointed_right / max(total.pointers, 1),
        "pointed idle": total.pointed_idle / max(total.idle, 1),
        **{name.replace("_", " "): getattr(total, name) / max(total.answerable, 1) for name in Count._fields[12:]},
    }
    numbers = {name: int(getattr(total, name)) for name in ("prompts", "answerable", "idle", "rules", "pointers")}
    return {**numbers, **{key: round(float(value), 4) for key, value in figures.items()}}


_HEAD = (
    "triggers", "prompts", "number", "shown", "precision", "served", "disturbed", "reached with pointers",
    "idle prompts with a pointer", "hit@1 / hit@3", "BM25",
)  # fmt: skip


def table(variants: dict[str, dict[str, Any]]) -> str:
    """Return the report as a table in Markdown."""
    rows = [
        [{"none": "none", "lean": "three", "full": "ten"}[variant], row, *_cells(row, figures)]
        for variant, figures_by_kind in variants.items()
        for row, figures in figures_by_kind.items()
        if figures
    ]
    lines = [_HEAD, ["---"] * len(_HEAD), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cells(row: str, figures: dict[str, Any]) -> list[str]:
    spans = figures["intervals"]

    def cell(key: str) -> str:
        return f"{_dot(figures[key])} [{', '.join(map(_dot, spans[key]))}]"

    # A commit subject may be answered by what is only perhaps relevant; nothing is labelled so for the others.
    precision = cell("precision with maybe" if row == "commit subjects" else "precision") if figures["rules"] else ""
    ranked = [f"{_dot(figures[f'{name}hit 1'])} / {_dot(figures[f'{name}hit 3'])}" for name in ("", "bm25 ")]
    answers = [cell("served"), cell("reached"), *ranked] if figures["answerable"] else [""] * 4
    idle = [cell("disturbed"), cell("pointed idle")] if figures["idle"] else [""] * 2
    counts = [str(figures["prompts"]), str(figures["rules"])]
    return [*counts, precision, answers[0], idle[0], answers[1], idle[1], *answers[2:]]


def _dot(value: float) -> str:
    """Return two digits, rounded as the per cent of the page of all figures are."""
    return f"{int(f'{value * 100:.0f}') / 100:.2f}".replace("0.", ".", 1)

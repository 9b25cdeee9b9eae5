"""`python -m bench report`: docs/benchmarks.md and its charts, from the stored results."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import data, life, life_sets, page, plot, results

DOCS = Path(__file__).parents[1] / "docs"
_SYSTEMS = ("keyword scorer", "original rule", "porter BM25", "onrecord")

_HEAD = """# Benchmarks

Written by `python -m bench report` from results of {date}; do not edit.

## In real projects

Measured on four public projects on which nothing was fitted and nothing chosen: {projects}. One author wrote the
records of a project from its decision documents, a second wrote prompts without seeing the records, a third labelled
220 real commit subjects taken as prompts. [Life sets](life-sets.md) says how they worked, which projects ranking and
gate were fitted and chosen on, and how often these four were measured.

Records have no triggers, three, or ten. All figures count what the hook shows, with 95 % bootstrap intervals over
projects and prompts.

- *Shown*: how many records were shown as rules.
- *Precision*: the share of them that is relevant; for commit subjects, relevant or *defensible* (a careful colleague
  might mention it).
- *Served*: of the prompts that a record answers, the share that get a relevant rule.
- *Disturbed*: of the prompts that no record answers (*idle*), the share that get a rule.
- *Reached*: like *served*, with pointers counted too. The next column is the share of idle prompts that get a pointer.
- *hit@1 / hit@3*: of the prompts that a record answers, the share with a relevant record as the first match, or among
  the first three. *BM25* is the same for SQLite's porter BM25 over the same fields.

{table}

A rule is shown from a probability of {threshold} on, a pointer from {pointer} on.

The ranking by project, hit@1 / hit@3 with porter BM25 in brackets:

{ranking}

The effect of another threshold for rules, on the eight projects that the thresholds were chosen on, each left out of
the fit in turn:

![precision, served and disturbed against the threshold](benchmarks-bar.svg)

[All figures](figures.md) has those of everything else: hooks, commands, capture, import.

To repeat it: `pip install -e .[bench]`, clone the projects into a folder, then `python -m bench life --repositories
FOLDER` and `python -m bench report`. Without `--repositories` commit subjects are left
out. `python -m bench fit` fits ranking and gate again; it needs sets that are not part of this repository, and names
those that are missing.
"""
_APPENDIX = """
## Appendix: technical sets and invented projects

These figures show how the ranking works on other texts, not what to expect in a project. The sets `eslint`, `peps`,
`ruff` and `runbooks` are documents of other people and are not part of this repository. `harbor`, `lumen` and `quarry`
are three projects that we invented, in `bench/sets`. A dash (`quarry-`) means the same records without triggers. Every
set is measured with coefficients fitted without it (`python -m bench run --again`): ranking and gate learn from the
technical sets, the ranking also from `harbor` and `lumen`. Nothing is fitted on `quarry`.
"""
_INJECTION = """
### What is injected

Each prompt is asked twice: with its answer in the store, and with the answer removed (*near miss*). Prompts of other
sets are asked too (*off topic*). `none` are prompts of our projects that no record answers.

- *Precision*: the share of injected records that are relevant, over both runs. *As asked*, for our projects, counts
  each prompt once, with nothing removed.
- *Served*: of the answerable prompts, the share that got a relevant record.
- *False*: of the prompts without an answer, the share that got a record.
- *AUC*: over the three best matches of both runs, relevant against not relevant.
- *Silent*: the share of prompts that got nothing.

The threshold is P ≥ {threshold}. The original rule always injects its best three matches.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, default=DOCS, help="where the page goes (default docs/)")


def run(options: argparse.Namespace) -> int:
    measured, fitted, real = map(results.load, ("run", "fit", "life"))
    if not measured or not fitted or not real:
        print("nothing to report: run `python -m bench life`, `python -m bench fit` and `python -m bench run` first")
        return 1
    sets = measured["sets"]
    parts = [_head(real)]
    _draw_curve(fitted, options.folder)
    parts += [_APPENDIX, *_ranking(sets, options.folder)]
    parts += [_INJECTION.format(threshold=measured["threshold"]), *_speaking(sets), *_kinds(sets)]
    (options.folder / "benchmarks.md").write_text("\n".join(parts) + "\n", encoding="utf-8")
    print(f"wrote {options.folder / 'benchmarks.md'}")
    return 0


def _head(real: dict[str, Any]) -> str:
    variants = ("none", "lean", "full")
    rows = [
        [name.replace("life-", ""), *(_against_bm25(listed[variant]) for variant in variants)]
        for name, listed in real["projects"].items()
    ]
    return _HEAD.format(
        date=real["date"],
        projects=", ".join(life_sets.repository(name) for name in real["projects"]),
        table=life.table(real["variants"]),
        threshold=real["threshold"],
        pointer=real["pointer"],
        ranking=page.table(["project", "no triggers", "three", "ten"], rows),
    )


def _against_bm25(figures: dict[str, Any]) -> str:
    ours, theirs = ((figures[f"{name}hit 1"], figures[f"{name}hit 3"]) for name in ("", "bm25 "))
    return f"{ours[0]:.2f} / {ours[1]:.2f} ({theirs[0]:.2f} / {theirs[1]:.2f})"


def _ranking(sets: dict[str, Any], folder: Path) -> list[str]:
    chart = {name: {one: figures["systems"][one]["ndcg@10"] for one in _SYSTEMS} for name, figures in sets.items()}
    (folder / "benchmarks-ranking.svg").write_text(plot.bars("nDCG@10", chart, 1.0), encoding="utf-8")
    rows = []
    for name, figures in sets.items():
        ours = figures["systems"]["onrecord"]
        difference, low, high = figures["systems"]["porter BM25"]["ndcg difference"]
        rows.append([
            f"{name} ({figures['records']} / {figures['prompts']})",
            *(_dot(figures["systems"][one]["ndcg@10"]) for one in _SYSTEMS[:-1]),
            f"**{_dot(ours['ndcg@10'])}** [{_span(ours['ndcg interval'])}]",
            f"{difference:+.3f} [{low:+.3f}, {high:+.3f}]",
            *(_dot(ours[key]) for key in ("hit@1", "hit@3", "hit@5", "precision@3", "recall@10", "mrr")),
        ])  # fmt: skip
    head = [
        "set (records / prompts)",
        *_SYSTEMS[:-1],
        "onrecord",
        "against BM25",
        "hit@1",
        "hit@3",
        "hit@5",
        "P@3",
        "R@10",
        "MRR",
    ]
    return [
        "\n### Ranking\n\nnDCG@10, with 95 % bootstrap intervals in brackets. The last columns are for Onrecord.\n",
        page.table(head, rows),
        "\n![nDCG@10](benchmarks-ranking.svg)",
    ]


def _speaking(sets: dict[str, Any]) -> list[str]:
    rows = []
    for name, figures in sets.items():
        for system in ("original rule", "onrecord"):
            one = figures["systems"][system]
            none = one["false none"]
            rows.append([
                name if system == "original rule" else "",
                system,
                f"{_dot(one['precision'])} [{_span(one['precision interval'])}]",
                "" if none is None else _dot(one["precision, answer there or nothing to answer"]),
                f"{_dot(one['served'])} [{_span(one['served interval'])}]",
                _dot(one["false near"]),
                _dot(one["false off"]),
                "" if none is None else _dot(none),
                _dot(one["auc"]),
                _dot(one["calibration error"]) if system == "onrecord" else "",
                _dot(one["silent"]),
            ])  # fmt: skip
    outside = [one for name, one in sets.items() if name.rstrip("-") not in data.OWN_NAMES]
    keys = ("precision", "served", "false near", "false off", "auc", "auc first hit", "auc prompt", "calibration error")
    mean = (
        {key: sum(one["systems"]["onrecord"][key] for one in outside) / len(outside) for key in keys} if outside else {}
    )
    line = ", ".join(f"{key} {_dot(value)}" for key, value in mean.items())
    head = [
        "set",
        "system",
        "precision",
        "as asked",
        "served",
        "false, near miss",
        "false, off topic",
        "false, none",
        "AUC",
        "calibration error",
        "silent",
    ]
    return [page.table(head, rows), f"\nOnrecord, mean over the sets of other people: {line}."]


def _kinds(sets: dict[str, Any]) -> list[str]:
    parts = [
        "\n### Our invented projects, kind by kind\n\n"
        "Share of prompts served / share with a relevant record among the first"
        " three results / number of\nprompts with a wrong injection, of all prompts.\n"
    ]
    names = [name for name in sets if sets[name]["kinds"]]
    kinds = sorted({kind for name in names for kind in sets[name]["kinds"]})
    rows = [[kind, *(_kind(sets[name]["kinds"].get(kind)) for name in names)] for kind in kinds]
    return [*parts, page.table(["kind", *names], rows)]


def _kind(one: dict[str, float] | None) -> str:
    return f"{_dot(one['served'])} / {_dot(one['hit@3'])} / {one['wrong']:g} of {one['prompts']:g}" if one else ""


def _draw_curve(fitted: dict[str, Any], folder: Path) -> None:
    rows = fitted["curve"]
    series = {key: [row[key] for row in rows] for key in rows[0] if key != "threshold"}
    chart = plot.lines("Effect of the threshold", [row["threshold"] for row in rows], series, fitted["threshold"])
    (folder / "benchmarks-bar.svg").write_text(chart, encoding="utf-8")


def _span(bounds: Sequence[float]) -> str:
    return f"{_dot(bounds[0])}, {_dot(bounds[1])}"


def _dot(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)

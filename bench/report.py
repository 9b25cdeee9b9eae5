"""`python -m bench report`: the tables and charts of docs/benchmarks.md, from the stored results."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import data, life, page, plot, results, words

DOCS = Path(__file__).parents[1] / "docs"
_HEADLINE = ("| out of 100 | typed | written |", "| --- | --- | --- |")
_SYSTEMS = ("keyword scorer", "original rule", "porter BM25", "onrecord")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, default=DOCS, help="where the page is (default docs/)")


def run(options: argparse.Namespace) -> int:
    measured, fitted, real, typed = map(results.load, ("run", "fit", "life", "words"))
    if not measured or not fitted or not real or not typed:
        print("nothing to report: measure words, life, fit and run first, each with `python -m bench NAME`")
        return 1
    sets = measured["sets"]
    _draw_curve(fitted, options.folder)
    _draw_ranking(sets, options.folder)
    file = options.folder / "benchmarks.md"
    tables = {
        "headline": "\n".join([*_HEADLINE, *words.headline(typed, real)]),
        "words": words.table(typed).partition("\n\n")[0],
        "shown": _shown(real),
        "projects": _projects(real),
        "ranking": _ranking(sets),
        "injected": _injected(sets, measured["threshold"]),
        "kinds": _kinds(sets),
    }
    page.put(file, "report", tables)
    print(f"wrote {file}")
    return 0


def _shown(real: dict[str, Any]) -> str:
    limits = f"a rule from a probability of {real['threshold']}, a pointer from {real['pointer']}"
    return f"{life.table(real['variants'])}\n\nMeasured on {real['date']}; {limits}."


def _projects(real: dict[str, Any]) -> str:
    variants = ("none", "lean", "full")
    rows = [
        [name.replace("life-", ""), *(_against_bm25(listed[variant]) for variant in variants)]
        for name, listed in real["projects"].items()
    ]
    return page.table(["project", "no triggers", "three", "ten"], rows)


def _against_bm25(figures: dict[str, Any]) -> str:
    ours, theirs = ((figures[f"{name}hit 1"], figures[f"{name}hit 3"]) for name in ("", "bm25 "))
    return f"{ours[0]:.2f} / {ours[1]:.2f} ({theirs[0]:.2f} / {theirs[1]:.2f})"


def _draw_ranking(sets: dict[str, Any], folder: Path) -> None:
    chart = {name: {one: figures["systems"][one]["ndcg@10"] for one in _SYSTEMS} for name, figures in sets.items()}
    (folder / "benchmarks-ranking.svg").write_text(plot.bars("nDCG@10", chart, 1.0), encoding="utf-8")


def _ranking(sets: dict[str, Any]) -> str:
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
    return page.table(head, rows)


def _injected(sets: dict[str, Any], threshold: float) -> str:
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
    means = f"Onrecord, mean over the sets of other people: {line}."
    return f"The threshold is P ≥ {threshold}.\n\n{page.table(head, rows)}\n\n{means}"


def _kinds(sets: dict[str, Any]) -> str:
    names = [name for name in sets if sets[name]["kinds"]]
    kinds = sorted({kind for name in names for kind in sets[name]["kinds"]})
    rows = [[kind, *(_kind(sets[name]["kinds"].get(kind)) for name in names)] for kind in kinds]
    return page.table(["kind", *names], rows)


def _kind(one: dict[str, float] | None) -> str:
    return f"{_dot(one['served'])} / {_dot(one['hit@3'])} / {one['wrong']:g} of {one['prompts']:g}" if one else ""


def _draw_curve(fitted: dict[str, Any], folder: Path) -> None:
    rows = fitted["curve"]
    series = {key: [row[key] for row in rows] for key in rows[0] if key != "threshold"}
    chart = plot.lines("Effect of the threshold", [row["threshold"] for row in rows], series, fitted["threshold"])
    (folder / "benchmarks-threshold.svg").write_text(chart, encoding="utf-8")


def _span(bounds: Sequence[float]) -> str:
    return f"{_dot(bounds[0])}, {_dot(bounds[1])}"


def _dot(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)

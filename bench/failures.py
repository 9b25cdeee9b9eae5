"""Failure-time recall: of command failures, how many bring up a runbook, and is it the right one?

The thresholds were chosen on harbor, lumen, mill and pier; `runbooks` (other people's pages), quarry and weir are
reported. weir, mill and pier hold runbooks as the skill says to write them. Their failures are long or not in English,
name an error by its code, have other paths and numbers than the runbook, or only look like its error.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench import data, metrics, results
from bench.stage import Stage
from onrecord.recall import for_failure
from onrecord.settings import load_settings

FAILURES = Path(__file__).parent / "sets" / "failures.jsonl"
STORES = ("runbooks", "quarry", "weir", "harbor", "lumen", "mill", "pier")


class Case(NamedTuple):
    """One failure: whether a runbook is about it, and whether one was shown, and was right."""

    answerable: bool
    shown: bool
    right: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=data.SHARED, help="the folder with other people's sets")


def run(options: argparse.Namespace) -> int:
    rows = [json.loads(line) for line in FAILURES.read_text(encoding="utf-8").splitlines()]
    cases: dict[str, list[Case]] = {}
    for name in STORES:
        if name == "runbooks" and not (options.data / name).is_dir():
            print(f"{name}: not in {options.data}, left out")
            continue
        cases[name] = list(measure(name, options.data, [row for row in rows if row["store"] == name]))
    print("set        failures shown  right  precision            served")
    cases["all"] = [case for own in cases.values() for case in own]
    for name, own in cases.items():
        print(_line(name, own))
    if "runbooks" in cases:
        results.save("failures", {"sets": {name: counts(own) for name, own in cases.items()}})
    return 0


def measure(name: str, folder: Path, rows: list[dict[str, Any]]) -> list[Case]:
    """Ask the whole of one store about each of its failures."""
    records = data.load(name, folder=folder).records
    names = _names(name, folder)
    settings = load_settings("", "")
    with Stage(records) as stage:
        cases = []
        for row in rows:
            relevant = {names.get(key, key) for key in row["relevant"]}
            is_noise = for_failure.is_noise(row["command"], row["error"])
            lines = "" if is_noise else for_failure.error_lines(row["error"])
            runbook = for_failure.best(stage.stores, lines, settings) if lines else None
            is_right = runbook is not None and runbook.match.id in relevant
            cases.append(Case(bool(relevant), runbook is not None, is_right))
    return cases


def _names(name: str, folder: Path) -> dict[str, str]:
    """Return the ids that the set's loader gives to the documents of an outside corpus."""
    if name != "runbooks":
        return {}
    lines = (folder / name / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    return {json.loads(line)["id"]: f"r{number:05}" for number, line in enumerate(lines, 1)}


def counts(cases: list[Case]) -> dict[str, int]:
    """Count the failures, those that a runbook is about, those that were shown one, and those shown the right one."""
    return {
        "failures": len(cases),
        "answerable": sum(case.answerable for case in cases),
        "shown": sum(case.shown for case in cases),
        "right": sum(case.right for case in cases),
    }


def _line(name: str, cases: list[Case]) -> str:
    shown = [case for case in cases if case.shown]
    right = sum(case.right for case in shown)
    answerable = sum(case.answerable for case in cases)
    low, high = metrics.interval([float(case.right) for case in shown], np.mean) if shown else (0.0, 1.0)
    precision = f"{right / len(shown):.2f} [{low:.2f}, {high:.2f}]" if shown else "-"
    served = f"{right / max(answerable, 1):.2f} of {answerable}"
    return f"{name:10} {len(cases):8} {len(shown):5} {right:6}  {precision:20} {served}"

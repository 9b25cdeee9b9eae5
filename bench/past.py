"""`python -m bench past`: what questions about the past are shown, where nothing was fitted or chosen."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from typing import NamedTuple

from bench import data, life_sets, results
from bench.data import Prompt
from bench.stage import Stage
from onrecord.recall import for_prompt
from onrecord.recall.candidate import NOTHING_ON_FILE
from onrecord.recall.for_prompt import Request
from onrecord.settings import load_settings

_SAMPLES = 1_000
"""Draws of as many questions as there are, for the intervals."""


class Answered(NamedTuple):
    """What one question was shown."""

    is_detected: bool
    in_first_three: bool
    is_shown: bool
    is_rule: bool
    rules: int
    right_rules: int
    is_denied: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sets", nargs="+", default=list(life_sets.REPORT), help="names of life sets")


def run(options: argparse.Namespace) -> int:
    missing = [name for name in options.sets if not ((data.OWN / name).is_dir() or (data.SHARED / name).is_dir())]
    if missing:
        print(f"not there: {', '.join(missing)}", file=sys.stderr)
        return 1
    figures = {}
    for variant in ("none", "lean", "full"):
        answered = [each for name in options.sets for each in _of_set(name, variant)]
        figures[variant] = summary(answered)
    print(json.dumps(figures, indent=2))
    if options.sets == list(life_sets.REPORT):
        results.save("past", {"sets": options.sets, "variants": figures})
    return 0


def _of_set(name: str, variant: str) -> list[Answered]:
    own = life_sets.load(name, variant)
    with Stage(own.records) as stage:
        return [_answered(stage, prompt) for prompt in own.prompts if prompt.kind == "past"]


def _answered(stage: Stage, prompt: Prompt) -> Answered:
    decision = for_prompt.decide(stage.stores, Request(prompt.text), load_settings("", ""))
    ranked = sorted(decision.candidates, key=lambda each: -each.match.score)
    rules = {each.match.id for each in decision.rules}
    return Answered(
        decision.is_past,
        bool(prompt.relevant.intersection(each.match.id for each in ranked[:3])),
        bool(prompt.relevant.intersection(each.match.id for each in decision.shown_candidates)),
        bool(prompt.relevant & rules),
        len(rules),
        len(prompt.relevant & rules),
        decision.text == NOTHING_ON_FILE,
    )


def summary(answered: Sequence[Answered]) -> dict[str, object]:
    """Each share with its interval of 95 %."""
    rng = random.Random(1)
    draws = [_shares(rng.choices(answered, k=len(answered))) for _ in range(_SAMPLES)]
    figures: dict[str, object] = {"questions": len(answered)}
    for name, value in _shares(answered).items():
        ordered = sorted(draw[name] for draw in draws)
        low, high = ordered[_SAMPLES // 40], ordered[-_SAMPLES // 40]
        figures[name] = {"share": round(value, 3), "low": round(low, 3), "high": round(high, 3)}
    return figures


def _shares(answered: Sequence[Answered]) -> dict[str, float]:
    count, rules = len(answered), sum(each.rules for each in answered)
    return {
        "recognised": sum(each.is_detected for each in answered) / count,
        "in the first three": sum(each.in_first_three for each in answered) / count,
        "shown": sum(each.is_shown for each in answered) / count,
        "shown as a rule": sum(each.is_rule for each in answered) / count,
        "rules that are right": sum(each.right_rules for each in answered) / max(rules, 1),
        "denied falsely": sum(each.is_denied for each in answered) / count,
    }

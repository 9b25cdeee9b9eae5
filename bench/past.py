"""`python -m bench past`: what questions about the past are shown, where nothing was fitted or chosen.

Each question is asked twice: of the whole store, and of the store without the records that answer it.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench import coefficients_file, data, life_sets, past_fit, past_sets, results
from bench.data import Prompt
from bench.stage import Stage
from onrecord.recall import for_prompt, past_question
from onrecord.recall.candidate import NOTHING_ON_FILE
from onrecord.recall.for_prompt import Request
from onrecord.settings import load_settings

_SAMPLES = 1_000
"""Draws of as many questions as there are, for the intervals."""

_VARIANTS = ("none", "lean", "full")
_SETTINGS = load_settings("", "")


class Answered(NamedTuple):
    """What one question was shown."""

    kind: str
    """`past`, `removed` for the same without the records that answer it, or `absent`."""
    is_english: bool
    is_detected: bool
    in_first_three: bool
    is_shown: bool
    is_rule: bool
    rules: int
    right_rules: int
    pointers: int
    is_denied: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sets", nargs="+", default=list(past_sets.REPORT), help="names of projects")
    parser.add_argument("--fit", action="store_true", help="fit the weights and thresholds, and write them")
    parser.add_argument("--shared", type=Path, default=data.SHARED, help="the folder of the shared evaluation data")


def run(options: argparse.Namespace) -> int:
    missing = [name for name in options.sets if not _is_there(name)]
    if missing:
        print(f"not there: {', '.join(missing)}", file=sys.stderr)
        return 1
    if options.fit:
        return _fit(options.shared)
    figures, english = {}, {}
    for variant in _VARIANTS:
        answered = [each for name in options.sets for each in _of_set(name, variant)]
        figures[variant] = summary(answered)
        english[variant] = summary([each for each in answered if each.is_english])
    print(json.dumps(figures, indent=2))
    if options.sets == list(past_sets.REPORT):
        before = (results.load("past") or {}).get("before", figures)
        results.save("past", {"sets": options.sets, "variants": figures, "english": english, "before": before})
    return 0


def _fit(shared: Path) -> int:
    """Write weights and thresholds; a process of its own measures them, as this one has the old ones."""
    missing = [name for name in life_sets.FIT if not (shared / name).is_dir()]
    if missing:
        print(f"not there: {', '.join(missing)}; the weights are left alone", file=sys.stderr)
        return 1
    model, words, marks = past_fit.fit_all(past_fit.gather(shared))
    past_fit.write((model, words), marks)
    print(f"wrote {coefficients_file.FILE}: {marks}; now measure with python -m bench past")
    return 0


def _is_there(name: str) -> bool:
    return any((folder / name).is_dir() for folder in (data.OWN, data.OWN / "commands", data.SHARED))


def _of_set(name: str, variant: str) -> Iterator[Answered]:
    own = past_sets.load(name, variant)
    with Stage(own.records) as stage:
        for prompt in own.prompts:
            yield _answered(stage, prompt, prompt.kind)
            if prompt.relevant:
                with stage.without(prompt.relevant):
                    yield _answered(stage, prompt._replace(relevant=frozenset()), "removed")


def _answered(stage: Stage, prompt: Prompt, kind: str) -> Answered:
    decision = for_prompt.decide(stage.stores, Request(prompt.text), _SETTINGS)
    ranked = sorted(decision.candidates, key=lambda each: -each.match.score)
    rules = {each.match.id for each in decision.rules}
    question = past_question.parse(prompt.text)
    return Answered(
        kind,
        question is None or question.is_english,
        decision.is_past,
        bool(prompt.relevant.intersection(each.match.id for each in ranked[:3])),
        bool(prompt.relevant.intersection(each.match.id for each in decision.shown_candidates)),
        bool(prompt.relevant & rules),
        len(rules),
        len(prompt.relevant & rules),
        len(decision.pointers),
        decision.text == NOTHING_ON_FILE,
    )


def summary(answered: Sequence[Answered]) -> dict[str, object]:
    """Return each share with its interval of 95 %."""
    figures: dict[str, object] = {}
    for kind in ("past", "removed", "absent"):
        figures.update(_of_kind(kind, [each for each in answered if each.kind == kind]))
    return figures


def _of_kind(kind: str, answered: Sequence[Answered]) -> Iterator[tuple[str, object]]:
    if not answered:
        return
    rng = random.Random(1)
    shares = _with_answer if kind == "past" else _without_answer
    draws = [shares(rng.choices(answered, k=len(answered))) for _ in range(_SAMPLES)]
    for name, value in shares(answered).items():
        ordered = sorted(draw[name] for draw in draws)
        low, high = ordered[_SAMPLES // 40], ordered[-_SAMPLES // 40]
        figure = {"share": round(value, 3), "low": round(low, 3), "high": round(high, 3), "of": len(answered)}
        yield (name if kind == "past" else f"{kind}: {name}"), figure


def _with_answer(answered: Sequence[Answered]) -> dict[str, float]:
    count, rules = len(answered), sum(each.rules for each in answered)
    return {
        "recognised": sum(each.is_detected for each in answered) / count,
        "in the first three": sum(each.in_first_three for each in answered) / count,
        "shown": sum(each.is_shown for each in answered) / count,
        "shown as a rule": sum(each.is_rule for each in answered) / count,
        "rules that are right": sum(each.right_rules for each in answered) / max(rules, 1),
        "denied falsely": sum(each.is_denied for each in answered) / count,
    }


def _without_answer(answered: Sequence[Answered]) -> dict[str, float]:
    count = len(answered)
    return {
        "a rule": sum(each.rules > 0 for each in answered) / count,
        "a pointer": sum(each.pointers > 0 for each in answered) / count,
        "nothing on file": sum(each.is_denied for each in answered) / count,
    }

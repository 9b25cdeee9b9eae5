"""`python -m bench languages`: what questions in other languages find among English records, and what they are shown.

`bench/sets/languages.jsonl` has our translations of prompts of the life sets into nine languages: those of projects on
which nothing was fitted or chosen are reported, the others are for choosing.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from typing import NamedTuple

from bench import data, life_sets, results
from bench.data import Prompt, Set
from bench.stage import Stage
from onrecord.recall import for_prompt
from onrecord.recall.for_prompt import Request
from onrecord.settings import load_settings

FILE = data.OWN / "languages.jsonl"
ENGLISH = "en"
_SAMPLES = 1_000
"""Draws of as many questions as there are, for the intervals."""


class Asked(NamedTuple):
    """What one prompt found and was shown."""

    language: str
    id: str
    is_idle: bool
    in_first_three: bool
    is_shown: bool
    is_rule: bool
    rules: int
    right_rules: int
    pointers: int


class Translation(NamedTuple):
    """A prompt of a life set in another language."""

    project: str
    id: str
    language: str
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--use", choices=("report", "choose"), default="report", help="which translations are asked")
    parser.add_argument("--triggers", choices=tuple(life_sets.VARIANTS), default="lean", help="triggers of the records")
    parser.add_argument("--each", action="store_true", help="print what became of every question")


def run(options: argparse.Namespace) -> int:
    outcomes = ask(options.use, options.triggers)
    if options.each:
        for each in outcomes:
            print(*each, sep="\t")
    groups = {
        "english": [each for each in outcomes if each.language == ENGLISH],
        "translated": [each for each in outcomes if each.language != ENGLISH],
    }
    languages = sorted({each.language for each in outcomes} - {ENGLISH})
    groups.update({language: [each for each in outcomes if each.language == language] for language in languages})
    figures = {name: summary(group) for name, group in groups.items()}
    print(json.dumps(figures, indent=2))
    if options.use == "report" and options.triggers == "lean":
        results.save("languages", figures)
    return 0


def translations(use: str) -> list[Translation]:
    """Return the translations for one use."""
    raw = (each for each in data.lines(FILE) if each["use"] == use)
    return [Translation(each["project"], each["id"], each["language"], each["text"]) for each in raw]


def translated(own: Set) -> Set:
    """Return the prompts of a set that are translated for choosing."""
    prompts = {prompt.id: prompt for prompt in own.prompts}
    return own._replace(
        name=f"{own.name}-translated",
        prompts=tuple(
            prompts[raw["id"]]._replace(id=f"{raw['id']}-{raw['language']}", text=raw["text"])
            for raw in data.lines(FILE)
            if raw["use"] == "choose" and raw["project"] == own.name
        ),
    )


def ask(use: str, variant: str) -> list[Asked]:
    """Return what all translations and, once each, their English originals were shown."""
    outcomes: list[Asked] = []
    of_use = translations(use)
    for name in sorted({each.project for each in of_use}):
        own = life_sets.load(name, variant)
        originals = {prompt.id: prompt for prompt in own.prompts}
        with Stage(own.records) as stage:
            here = [each for each in of_use if each.project == name]
            outcomes += [_asked(stage, originals[id], ENGLISH) for id in dict.fromkeys(each.id for each in here)]
            outcomes += [_asked(stage, originals[each.id]._replace(text=each.text), each.language) for each in here]
    return outcomes


def _asked(stage: Stage, prompt: Prompt, language: str) -> Asked:
    decision = for_prompt.decide(stage.stores, Request(prompt.text), load_settings("", ""))
    ranked = sorted(decision.candidates, key=lambda each: -each.match.score)
    rules = {each.match.id for each in decision.rules}
    shown = {each.match.id for each in decision.shown_candidates}
    return Asked(
        language,
        prompt.id,
        not prompt.relevant,
        bool(prompt.relevant.intersection(each.match.id for each in ranked[:3])),
        bool(prompt.relevant & shown),
        bool(prompt.relevant & rules),
        len(rules),
        len((prompt.relevant | prompt.maybe) & rules),
        len(shown - rules),
    )


def summary(outcomes: Sequence[Asked]) -> dict[str, object]:
    """Return each share with its interval of 95 %."""
    rng = random.Random(1)
    draws = [_shares(rng.choices(outcomes, k=len(outcomes))) for _ in range(_SAMPLES)]
    figures: dict[str, object] = {
        "questions": sum(not each.is_idle for each in outcomes),
        "idle": sum(each.is_idle for each in outcomes),
    }
    for name, share in _shares(outcomes).items():
        values = sorted(draw[name] for draw in draws)
        figures[name] = [round(share, 3), round(values[_SAMPLES // 40], 3), round(values[-_SAMPLES // 40], 3)]
    return figures


def _shares(outcomes: Sequence[Asked]) -> dict[str, float]:
    questions = [each for each in outcomes if not each.is_idle]
    idle = [each for each in outcomes if each.is_idle]
    rules = sum(each.rules for each in outcomes)
    return {
        "in_first_three": sum(each.in_first_three for each in questions) / max(len(questions), 1),
        "shown": sum(each.is_shown for each in questions) / max(len(questions), 1),
        "rule": sum(each.is_rule for each in questions) / max(len(questions), 1),
        "rules_right": sum(each.right_rules for each in outcomes) / max(rules, 1),
        "idle_with_rule": sum(each.rules > 0 for each in idle) / max(len(idle), 1),
        "idle_with_pointer": sum(each.rules + each.pointers > 0 for each in idle) / max(len(idle), 1),
    }

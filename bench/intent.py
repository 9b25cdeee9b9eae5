"""`python -m bench intent`: whether words of intent ("crash", "why", "left off") put the right record first.

Of the prompts that have such a word: with the bonus of the source, and with others, as chosen on one half of the
projects. The prompts are written ones of the life sets, and typed ones where the shared data is there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from typing import Any

from bench import life_sets, results, word_sets
from bench.data import Set
from bench.shares import wilson
from bench.stage import Stage
from onrecord.recall import for_prompt
from onrecord.recall.for_prompt import Request
from onrecord.search import query, rank
from onrecord.search.candidates import Filter
from onrecord.settings import load_settings

_MAX_MATCHES = 12
_TIES_ONLY = 0.05
"""The bonus of earlier versions, which settled ties and little more."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--choose", action="store_true", help="measure the projects that settings were chosen on")
    parser.add_argument("--bonus", type=float, nargs="*", default=[_TIES_ONLY, rank.INTENT_BONUS], metavar="LOGITS")


def run(options: argparse.Namespace) -> int:
    measured = {
        kind: {str(bonus): measure(sets, bonus) for bonus in options.bonus}
        for kind, sets in {
            "written": list(_written(options.choose)),
            "typed": list(_typed(options.choose)),
        }.items()
    }
    print(json.dumps(measured, indent=1))
    if not options.choose:
        results.save("intent", measured)
    return 0


def _written(is_choice: bool) -> Iterator[Set]:
    for name in (*life_sets.FIT, *life_sets.CHOOSE) if is_choice else life_sets.REPORT:
        yield life_sets.load(name, "lean")


def _typed(is_choice: bool) -> Iterator[Set]:
    for name in word_sets.CHOOSE if is_choice else word_sets.REPORT:
        word_set = word_sets.load(name, None)
        if word_set:
            yield word_sets.as_set(name, word_set)


def measure(sets: Iterable[Set], bonus: float) -> dict[str, Any]:
    """Count the prompts with a word of intent, those whose first result is right, and what prompts would show."""
    counts = dict.fromkeys(("prompts", "answered", "first", "shown", "right", "served", "silent", "false"), 0)
    before, rank.INTENT_BONUS = rank.INTENT_BONUS, bonus
    try:
        for own in sets:
            _count(own, counts)
    finally:
        rank.INTENT_BONUS = before
    shares = {"first": "answered", "right": "shown", "served": "answered", "false": "silent"}
    intervals = {name: [round(end, 3) for end in wilson(counts[name], counts[of])] for name, of in shares.items()}
    return {**counts, "intervals": intervals}


def _count(own: Set, counts: dict[str, int]) -> None:
    settings = load_settings("", "")
    with Stage(own.records) as stage:
        for prompt in own.prompts:
            parsed = query.parse_prompt(prompt.text)
            if not parsed.intent or prompt.kind == life_sets.COMMIT:
                continue
            decision = for_prompt.decide(stage.stores, Request(prompt.text), settings)
            shown = {candidate.match.id for candidate in decision.rules}
            counts["prompts"] += 1
            counts["shown"] += len(shown)
            counts["right"] += len(shown & (prompt.relevant | prompt.maybe))
            if prompt.relevant:
                matches = rank.find(stage.index, parsed, Filter("auto"), _MAX_MATCHES)
                counts["answered"] += 1
                counts["first"] += bool(matches) and matches[0].id in prompt.relevant
                counts["served"] += bool(shown & prompt.relevant)
            elif not prompt.maybe:
                counts["silent"] += 1
                counts["false"] += bool(shown)

"""`python -m bench words`: what the hook shows for words that people really typed, in projects left out of everything.

Every prompt is asked alone, and in its session: with the map at its beginning and with what was shown before.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench import data, examples, life, life_sets, results, word_sets
from bench.data import Prompt, Set
from bench.life import Count
from bench.shares import wilson
from bench.stage import Stage
from bench.systems import Systems
from bench.word_sets import TypedPrompt, WordSet
from onrecord import paths
from onrecord.digest import digest
from onrecord.recall import for_prompt
from onrecord.recall.for_prompt import Request
from onrecord.search import index
from onrecord.session.ledger import Ledger
from onrecord.settings import Settings, load_settings

BEFORE = data.OWN / "words" / "before.json"
"""What the same prompts got before anything was learnt from such words."""

VARIANTS = {"none": 0, "three": word_sets.TRIGGERS}
_MAP_CHARACTERS = 10_000
_LONG, _SHORT = 40, 4

KINDS: dict[str, Callable[[TypedPrompt], bool]] = {
    "all": lambda prompt: True,
    "first of a session": lambda prompt: prompt.is_first,
    "up to 4 words": lambda prompt: _words(prompt) <= _SHORT,
    "5 to 40 words": lambda prompt: _SHORT < _words(prompt) <= _LONG,
    "longer": lambda prompt: _words(prompt) > _LONG,
    "pasted": lambda prompt: prompt.shape == "pasted",
    "several requests": lambda prompt: prompt.shape == "joined",
    "about the past": lambda prompt: prompt.shape == "past",
    "corrections": lambda prompt: prompt.label == "correction",
    "other languages": lambda prompt: prompt.language not in ("", "en", "und"),
}
"""The rows of the report, and the prompts in each."""


class Turn(NamedTuple):
    """What a prompt of a session got, as numbers that are added up."""

    relevant: int
    """Records that it needs; then those of them that are shown now, or before by prompts, or are in the map as well."""
    by_prompts: int
    with_map: int
    corrected: int
    """Rules that it corrects the agent with; then those shown before by prompts, or named in the map as well."""
    corrected_by_prompts: int
    corrected_with_map: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clones", type=Path, help="a folder with clones, each named OWNER+NAME, to read prompts from")
    parser.add_argument("--choose", action="store_true", help="measure the projects that settings were chosen on")


def run(options: argparse.Namespace) -> int:
    names = word_sets.CHOOSE if options.choose else word_sets.REPORT
    sets = {name: word_set for name in names if (word_set := word_sets.load(name, options.clones))}
    missing = [name for name in names if name not in sets]
    if missing:
        print(f"not measured, no prompts of: {', '.join(missing)} (--clones reads them)", file=sys.stderr)
    measured = measure(sets)
    print(table(measured))
    if not options.choose and not missing:
        print(f"wrote {results.save('words', measured)}")
    return 0


def measure(sets: dict[str, WordSet]) -> dict[str, Any]:
    """Return all figures: by variant and kind, by project, in sessions, of joined prompts, and of two labellers."""
    counted = {(name, variant): count(name, sets[name], variant) for name in sets for variant in VARIANTS}
    variants = {
        variant: {
            kind: life.summary([_of_kind(sets[name], counted[name, variant], fits) for name in sets], [kind])
            for kind, fits in KINDS.items()
        }
        for variant in VARIANTS
    }
    projects = {
        name: life.summary([{"all": counted[name, "three"]}], ["all"])
        | {"prompts": len(sets[name].prompts), "records": len(sets[name].records)}
        for name in sets
    }
    turns = [turn for name in sets for turn in replay(name, sets[name])]
    return {
        "variants": variants,
        "projects": projects,
        "sessions": sessions(turns),
        "joined": {
            "typed": _joined(word_sets.as_set(name, each) for name, each in sets.items()),
            "written": _joined(life_sets.load(name, "lean") for name in life_sets.REPORT),
        },
        "agreement": agreement(sets),
        "before": json.loads(BEFORE.read_text(encoding="utf-8")),
    }


def count(name: str, word_set: WordSet, variant: str) -> list[Count]:
    """Count what each prompt of a project gets, asked alone."""
    own = word_sets.as_set(name, word_set, VARIANTS[variant])
    settings = load_settings("", "")
    counts: list[Count] = []
    with Stage(own.records) as stage:
        systems = Systems(stage)
        for prompt in own.prompts:
            decision = for_prompt.decide(stage.stores, Request(prompt.text), settings)
            counts.append(life.count_prompt(prompt, decision, [hit.id for hit in systems.porter(prompt)]))
    return counts


def _of_kind(word_set: WordSet, counts: Sequence[Count], fits: Callable[[TypedPrompt], bool]) -> life.Counts:
    kind = next(kind for kind, test in KINDS.items() if test is fits)
    return {kind: [one for prompt, one in zip(word_set.prompts, counts) if fits(prompt)]}


def _words(prompt: TypedPrompt) -> int:
    return len(prompt.text.split())


def replay(name: str, word_set: WordSet) -> list[Turn]:
    """Replay every session of a project: the map at its beginning, then each prompt with what was shown before."""
    own = word_sets.as_set(name, word_set)
    by_session: dict[str, list[TypedPrompt]] = {}
    for prompt in word_set.prompts:
        by_session.setdefault(prompt.session, []).append(prompt)
    turns: list[Turn] = []
    with Stage(own.records) as stage:
        settings = load_settings(stage.root)
        mapped, is_whole = _map(stage, settings)
        for prompts in by_session.values():
            turns += _session(stage, settings, sorted(prompts, key=lambda prompt: prompt.turn), mapped, is_whole)
    return turns


def _map(stage: Stage, settings: Settings) -> tuple[frozenset[str], bool]:
    """Return the records that the map of a session names, and True if these are all."""
    # A session that starts before all records are indexed gets a part of the map.
    index.open(stage.root).close()
    page = digest.make(stage.root, paths.store_refs(stage.root), settings).render(_MAP_CHARACTERS)
    ids_by_path = {path: id for id, path in stage.paths.items()}
    entries = (*page.entries, *(pick.candidate for pick in page.above))
    named = (os.path.relpath(entry.key, stage.root) for entry in entries)
    return frozenset(ids_by_path[path] for path in named), page.is_whole


def _session(
    stage: Stage, settings: Settings, prompts: Iterable[TypedPrompt], mapped: frozenset[str], is_whole: bool
) -> Iterable[Turn]:
    shown: set[str] = set()
    with Ledger("") as ledger:
        ledger.add_map([], is_whole=is_whole)
        for prompt in prompts:
            rules = prompt.rules if prompt.label == "correction" else frozenset()
            before = frozenset(shown)
            decision = for_prompt.decide(
                stage.stores, Request(prompt.text, is_first=prompt.is_first), settings, ledger=ledger
            )
            ledger.count_prompt()
            shown |= {candidate.match.id for candidate in decision.shown_candidates}
            yield Turn(
                len(prompt.relevant),
                len(prompt.relevant & shown),
                len(prompt.relevant & (shown | mapped)),
                len(rules),
                len(rules & before),
                len(rules & (before | mapped)),
            )


def sessions(turns: Sequence[Turn]) -> dict[str, Any]:
    """Return each share of whole sessions, as a part and what it is of, with its interval."""
    total = Turn(*np.array(turns, dtype=int).sum(0))
    parts = {
        "relevant, by prompts": (total.by_prompts, total.relevant),
        "relevant, with the map": (total.with_map, total.relevant),
        "corrected, by prompts": (total.corrected_by_prompts, total.corrected),
        "corrected, with the map": (total.corrected_with_map, total.corrected),
    }
    return {name: [int(part), int(of), *wilson(int(part), int(of))] for name, (part, of) in parts.items()}


def _joined(sets: Iterable[Set]) -> list[float]:
    kept, of = (sum(part) for part in zip(*map(joined, sets)))
    return [kept, of, *wilson(kept, of)]


def joined(own: Set) -> tuple[int, int]:
    """Count the relevant rules that pairs of prompts keep when they are joined, and those that they get alone."""
    still_shown = of = 0
    with Stage(own.records) as stage:
        settings = load_settings("", "")
        single = {prompt.id: _right(stage, prompt, settings) for prompt in own.answerable}
        for pair in examples.joined(own).prompts:
            first, _, second = pair.id.partition("+")
            if single[first] and single[second]:
                wanted = single[first] | single[second]
                still_shown += len(wanted & _right(stage, pair, settings))
                of += len(wanted)
    return still_shown, of


def _right(stage: Stage, prompt: Prompt, settings: Settings) -> frozenset[str]:
    decision = for_prompt.decide(stage.stores, Request(prompt.text), settings)
    return prompt.relevant.intersection(candidate.match.id for candidate in decision.rules)


def agreement(sets: dict[str, WordSet]) -> dict[str, Any]:
    """Return Cohen's kappa of two labellers over all pairs of prompt and record that both have labelled."""
    strict, lenient, corrections = list[tuple[bool, bool]](), list[tuple[bool, bool]](), list[tuple[bool, bool]]()
    prompts = 0
    for name, word_set in sets.items():
        file = data.OWN / "words" / f"{name}.second.jsonl"
        second = {raw["id"]: raw for raw in data.lines(file)} if file.exists() else {}
        for prompt in word_set.prompts:
            if prompt.id not in second:
                continue
            other = second[prompt.id]
            prompts += 1
            corrections.append((prompt.label == "correction", other["correction"]))
            for record in word_set.records:
                key = record["key"]
                strict.append((key in prompt.relevant, key in other["relevant"]))
                either = key in prompt.relevant or key in prompt.maybe
                lenient.append((either, key in other["relevant"] or key in other["maybe"]))
    if not prompts:
        return {}
    kappas = {"relevant": kappa(strict), "relevant or defensible": kappa(lenient), "corrections": kappa(corrections)}
    return {"prompts": prompts, **{name: round(value, 2) for name, value in kappas.items()}}


def kappa(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Return the agreement beyond chance."""
    same = sum(first == second for first, second in pairs) / len(pairs)
    one, other = (sum(pair[place] for pair in pairs) / len(pairs) for place in (0, 1))
    chance = one * other + (1 - one) * (1 - other)
    return (same - chance) / (1 - chance) if chance < 1 else 1.0


_HEAD = (
    "triggers", "prompts", "number", "shown", "right, strictly", "right or defensible", "served", "idle disturbed",
    "idle pointed", "hit@1 / hit@3", "BM25",
)  # fmt: skip


def table(measured: dict[str, Any]) -> str:
    """Return the report as tables in Markdown."""
    rows = [
        [variant, kind, *_cells(figures)]
        for variant, kinds in measured["variants"].items()
        for kind, figures in kinds.items()
        if figures
    ]
    lines = [_HEAD, ["---"] * len(_HEAD), *rows]
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    parts = [
        f"{name}: {part} of {of} [{low:.2f}, {high:.2f}]"
        for name, (part, of, low, high) in measured["sessions"].items()
    ]
    parts += [
        f"joined, {name}: {kept} of {of} [{low:.2f}, {high:.2f}]"
        for name, (kept, of, low, high) in measured["joined"].items()
    ]
    parts.append(f"labellers: {measured['agreement']}")
    return "\n".join([text, "", *parts])


def _cells(figures: dict[str, Any]) -> list[str]:
    spans = figures["intervals"]

    def cell(key: str, of: str) -> str:
        return f"{figures[key]:.2f} [{spans[key][0]:.2f}, {spans[key][1]:.2f}]" if figures[of] else ""

    ranked = [f"{figures[f'{name}hit 1']:.2f} / {figures[f'{name}hit 3']:.2f}" for name in ("", "bm25 ")]
    return [
        str(figures["prompts"]),
        str(figures["rules"]),
        cell("precision", "rules"),
        cell("precision with maybe", "rules"),
        cell("served", "answerable"),
        cell("disturbed", "idle"),
        cell("pointed idle", "idle"),
        *ranked,
    ]


def headline(typed: dict[str, Any], written: dict[str, Any]) -> list[str]:
    """Return the rows of the README: what people typed, and written prompts, with three triggers a record."""
    figures = (typed["variants"]["three"]["all"], written["variants"]["lean"][life.WRITTEN])
    rows = [[text, *(_percent(each[key], *each["intervals"][key]) for each in figures)] for text, key in _HEADLINE]
    part, of, low, high = typed["sessions"]["relevant, with the map"]
    rows.insert(3, [_WITH_MAP, _percent(part / of, low, high), ""])
    return [f"| {' | '.join(row)} |" for row in rows]


_HEADLINE = (
    ("rules that are shown: relevant", "precision"),
    ("rules that are shown: relevant or defensible", "precision with maybe"),
    ("prompts that need a record: its rule is shown", "served"),
    ("prompts that no record is about: a rule is shown all the same", "disturbed"),
    ("prompts that no record is about: a pointer is shown all the same", "pointed idle"),
)
_WITH_MAP = "records that prompts need: shown now or before, or named in the map"


def _percent(share: float, low: float, high: float) -> str:
    return f"{100 * share:.0f} [{100 * low:.0f}–{100 * high:.0f}]"

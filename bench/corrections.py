"""`python -m bench corrections`: whether a prompt that corrects the agent is known as one, and brings the broken rule.

A prompt corrects if it says that something the agent did, said or plans is wrong or not wanted; a report of a failure
does not. Phrases were chosen on the two sets of real words in the shared data, and on two of those whose prompts are
read from clones (`--clones`); the report is on two others. Sessions are replayed with their ledger. The prompts of the
life sets, none of which corrects anybody, are taken as later prompts of a session.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench import data, results, word_sets
from bench.life_sets import record_of
from bench.shares import wilson
from bench.stage import Stage
from bench.word_sets import TypedPrompt, WordSet
from onrecord.recall import for_correction, for_prompt
from onrecord.recall.for_correction import Correction
from onrecord.session import correction
from onrecord.session.ledger import Ledger
from onrecord.settings import Settings, load_settings

CHOSEN_ON = ("specstory", "polychrome", "entire", "chkit")
REPORT = ("cipherbox", "ohmyposh")
"""Projects on which nothing was chosen."""

TRIGGERS = 3
_NOT_TYPED = "none"
"""The kind of prompts in life sets that some authors wrote as corrections."""


class Outcome(NamedTuple):
    """What became of one prompt."""

    id: str
    label: str
    """`correction`, `unclear`, or empty for any other prompt."""
    is_known: bool
    """Whether it counts as a correction."""
    broken: frozenset[str]
    """The records shown as broken just now."""
    ordinary: frozenset[str]
    """The rules that the prompt hook shows without looking for corrections, once a session."""
    shown: frozenset[str]
    """The rules that the prompt shows, as broken or not."""
    rules: frozenset[str]
    """The records that state the rule of a correction."""
    fitting: frozenset[str]
    """The records that are relevant or defensible."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, default=data.SHARED, help="the folder with words-NAME")
    parser.add_argument("--clones", type=Path, help="a folder with clones, each named OWNER+NAME")
    parser.add_argument("--details", action="store_true", help="print the ids of what went wrong")


def run(options: argparse.Namespace) -> int:
    sets: dict[str, WordSet] = {}
    for name in (*CHOSEN_ON, *REPORT):
        folder = options.folder / f"words-{name}"
        if folder.is_dir():
            sets[name] = word_sets.shared(folder)
        elif options.clones and name in word_sets.REPOSITORIES:
            sets[name] = word_sets.of_clone(name, options.clones)
    outcomes = {name: replay(word_set) for name, word_set in sets.items()}
    measured = {
        title: figures([outcome for name in names for outcome in outcomes.get(name, ())])
        for title, names in (("chosen on", CHOSEN_ON), ("others", REPORT))
    }
    measured["written prompts"] = {"other": _written(options.folder)}
    for name, figure in measured.items():
        for key, (part, of) in figure.items():
            low, high = wilson(part, of)
            print(f"{name}: {key} {part} of {of} [{low:.2f}, {high:.2f}]")
    if options.details:
        for name in CHOSEN_ON:
            print("\n".join(details(outcomes.get(name, ()))))
    results.save("corrections", {"chosen_on": list(CHOSEN_ON), "projects": measured})
    return 0


def replay(word_set: WordSet) -> list[Outcome]:
    """Return the outcome of each prompt of a set, in the order of its session."""
    records = word_set.records
    successor = {raw["supersedes"]: raw["key"] for raw in records if raw["supersedes"]}
    sessions: dict[str, list[TypedPrompt]] = {}
    for prompt in word_set.prompts:
        sessions.setdefault(prompt.session, []).append(prompt)
    outcomes: list[Outcome] = []
    with Stage(record_of(raw, successor, TRIGGERS) for raw in records) as stage:
        settings = load_settings(stage.root)
        for prompts in sessions.values():
            outcomes += _session(stage, sorted(prompts, key=lambda prompt: prompt.turn), settings)
    return outcomes


def _session(stage: Stage, prompts: Iterable[TypedPrompt], settings: Settings) -> Iterable[Outcome]:
    with Ledger("") as ledger, Ledger("") as plain:
        for prompt in prompts:
            level = correction.strength(prompt.text)
            is_known = level >= (correction.REPROACH if prompt.is_first else correction.FAULT)
            typed = Correction(prompt.text, level)
            broken = for_correction.find(stage.stores, typed, settings, ledger) if is_known else []
            for rule in broken:
                ledger.add_shown(rule.candidate.record, rule.candidate.text_hash)
                ledger.add_broken(rule.candidate.record)
            records = frozenset(rule.candidate.match.id for rule in broken)
            shown = records | _rules(stage, prompt, settings, ledger)
            yield Outcome(
                prompt.id,
                prompt.label,
                is_known,
                records,
                _rules(stage, prompt, settings, plain),
                shown,
                prompt.rules if prompt.label else frozenset(),
                prompt.relevant | prompt.maybe | prompt.rules,
            )


def _rules(stage: Stage, prompt: TypedPrompt, settings: Settings, ledger: Ledger) -> frozenset[str]:
    """Return the rules that the prompt hook shows, and note them in the ledger."""
    request = for_prompt.Request(prompt.text, is_first=prompt.is_first)
    ledger.count_prompt()
    decision = for_prompt.decide(stage.stores, request, settings, ledger=ledger)
    return frozenset(candidate.match.id for candidate in decision.rules)


def figures(outcomes: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    """Return each figure as a part and the whole that it is of."""
    corrections = [outcome for outcome in outcomes if outcome.label == "correction"]
    on_file = [outcome for outcome in corrections if outcome.rules]
    others = [outcome for outcome in outcomes if not outcome.label]
    shown = [outcome for outcome in outcomes if outcome.broken]
    return {
        "brought": (sum(bool(outcome.shown & outcome.rules) for outcome in on_file), len(on_file)),
        "by the prompt hook alone": (
            sum(bool(outcome.ordinary & outcome.rules) for outcome in on_file),
            len(on_file),
        ),
        "known": (sum(outcome.is_known for outcome in corrections), len(corrections)),
        "other": (sum(outcome.is_known for outcome in others), len(others)),
        "right": (sum(bool(outcome.broken & outcome.fitting) for outcome in shown), len(shown)),
    }


def _written(folder: Path) -> tuple[int, int]:
    """Count the written prompts of the life sets, and those that count as corrections in the middle of a session."""
    folders = sorted([*data.OWN.glob("life-*"), *folder.glob("life-*")])
    prompts = [raw for folder in folders for raw in data.lines(folder / "prompts.jsonl") if raw["kind"] != _NOT_TYPED]
    return sum(correction.strength(prompt["text"]) > correction.NONE for prompt in prompts), len(prompts)


def details(outcomes: Iterable[Outcome]) -> Iterable[str]:
    for outcome in outcomes:
        is_correction = outcome.label == "correction"
        if outcome.label != "unclear" and (outcome.is_known != is_correction or outcome.broken - outcome.fitting):
            verdict = "known" if outcome.is_known else "not known"
            yield f"{outcome.id} {outcome.label or 'other'}: {verdict}, shown {sorted(outcome.broken)}"
        elif outcome.rules and not outcome.broken & outcome.rules:
            yield f"{outcome.id}: missed {sorted(outcome.rules)}"

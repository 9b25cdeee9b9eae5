"""`python -m bench corrections`: whether a prompt that corrects the agent is known as one, and brings the broken rule.

The sets of real words (`words-NAME` in the shared data) have prompts by session and turn. Which of them correct the
agent is in `sets/correction-labels.jsonl`: by their ids, `correction` or `unclear`, which counts neither way. A prompt
corrects if it says that something the agent did, said or plans is wrong or not wanted; a report of a failure does not.
It has a rule on file if a record is relevant to it. Sessions are replayed with their ledger. The prompts of the life
sets, none of which corrects anybody, are taken as later prompts of a session.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench import data, results
from bench.life_sets import record_of
from bench.shares import wilson
from bench.stage import Stage
from onrecord.recall import for_correction, for_prompt
from onrecord.recall.for_correction import Correction
from onrecord.session import correction
from onrecord.session.ledger import Ledger
from onrecord.settings import Settings, load_settings

LABELS = data.OWN / "correction-labels.jsonl"
PROJECTS = ("specstory", "polychrome")
CHOSEN_ON = "specstory"
"""The project on which the first phrases were chosen; the other was read after they were measured on it."""

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
    relevant: frozenset[str]
    maybe: frozenset[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, default=data.SHARED, help="the folder with words-NAME")
    parser.add_argument("--details", action="store_true", help="print the ids of what went wrong")


def run(options: argparse.Namespace) -> int:
    names = [name for name in PROJECTS if (options.folder / f"words-{name}").is_dir()]
    if not names:
        print(f"no sets of real words in {options.folder}")
        return 0
    labels = {raw["id"]: str(raw["label"]) for raw in data.lines(LABELS)}
    outcomes = {name: replay(options.folder / f"words-{name}", labels) for name in names}
    measured = {name: figures(outcomes[name]) for name in names}
    measured["written prompts"] = {"other": _written(options.folder)}
    for name, figure in measured.items():
        for key, (part, of) in figure.items():
            low, high = wilson(part, of)
            print(f"{name}: {key} {part} of {of} [{low:.2f}, {high:.2f}]")
    if options.details:
        for name in names:
            print("\n".join(details(outcomes[name])))
    results.save("corrections", {"chosen_on": CHOSEN_ON, "projects": measured})
    return 0


def replay(folder: Path, labels: dict[str, str]) -> list[Outcome]:
    """Each prompt of a set, in the order of its session."""
    raw = list(data.lines(folder / "records.jsonl"))
    successor = {each["supersedes"]: each["key"] for each in raw if each["supersedes"]}
    sessions: dict[str, list[dict[str, Any]]] = {}
    for prompt in data.lines(folder / "prompts.jsonl"):
        sessions.setdefault(prompt["session"], []).append(prompt)
    outcomes = []
    with Stage(record_of(each, successor, TRIGGERS) for each in raw) as stage:
        settings = load_settings(stage.root)
        for prompts in sessions.values():
            ordered = sorted(prompts, key=lambda prompt: int(prompt["turn"]))
            outcomes += _session(stage, ordered, settings, labels)
    return outcomes


def _session(
    stage: Stage, prompts: Iterable[dict[str, Any]], settings: Settings, labels: dict[str, str]
) -> Iterable[Outcome]:
    with Ledger("") as ledger, Ledger("") as plain:
        for prompt in prompts:
            level = correction.strength(prompt["text"])
            is_known = level >= (correction.REPROACH if prompt["opening"] else correction.FAULT)
            broken = (
                for_correction.find(stage.stores, Correction(prompt["text"], level), settings, ledger)
                if is_known
                else []
            )
            for rule in broken:
                ledger.add_shown(rule.candidate.record, rule.candidate.text_hash)
            _rules(stage, prompt, settings, ledger)
            yield Outcome(
                prompt["id"],
                labels.get(prompt["id"], ""),
                is_known,
                frozenset(rule.candidate.match.id for rule in broken),
                _rules(stage, prompt, settings, plain),
                frozenset(prompt["relevant"]),
                frozenset(prompt["maybe"]),
            )


def _rules(stage: Stage, prompt: dict[str, Any], settings: Settings, ledger: Ledger) -> frozenset[str]:
    """The rules that the prompt hook shows; they are noted in the ledger."""
    request = for_prompt.Request(prompt["text"], is_first=bool(prompt["opening"]))
    ledger.count_prompt()
    decision = for_prompt.decide(stage.stores, request, settings, ledger=ledger)
    return frozenset(candidate.match.id for candidate in decision.rules)


def figures(outcomes: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    """Each figure as a part and the whole that it is of."""
    corrections = [outcome for outcome in outcomes if outcome.label == "correction"]
    on_file = [outcome for outcome in corrections if outcome.relevant]
    others = [outcome for outcome in outcomes if not outcome.label]
    shown = [outcome for outcome in outcomes if outcome.broken]
    return {
        "brought": (sum(bool(outcome.broken & outcome.relevant) for outcome in on_file), len(on_file)),
        "by the prompt hook alone": (
            sum(bool(outcome.ordinary & outcome.relevant) for outcome in on_file),
            len(on_file),
        ),
        "known": (sum(outcome.is_known for outcome in corrections), len(corrections)),
        "other": (sum(outcome.is_known for outcome in others), len(others)),
        "right": (sum(bool(outcome.broken & (outcome.relevant | outcome.maybe)) for outcome in shown), len(shown)),
    }


def _written(folder: Path) -> tuple[int, int]:
    """How many written prompts of the life sets count as corrections in the middle of a session, and of how many."""
    folders = sorted([*data.OWN.glob("life-*"), *folder.glob("life-*")])
    prompts = [raw for folder in folders for raw in data.lines(folder / "prompts.jsonl") if raw["kind"] != _NOT_TYPED]
    return sum(correction.strength(prompt["text"]) > correction.NONE for prompt in prompts), len(prompts)


def details(outcomes: Iterable[Outcome]) -> Iterable[str]:
    for outcome in outcomes:
        is_correction = outcome.label == "correction"
        if outcome.label != "unclear" and (outcome.is_known != is_correction or outcome.broken - outcome.relevant):
            wanted = f"{sorted(outcome.relevant)}, maybe {sorted(outcome.maybe)}"
            known = "known" if outcome.is_known else "not known"
            yield f"{outcome.id} {outcome.label or 'other'}: {known}, shown {sorted(outcome.broken)} for {wanted}"
        elif is_correction and outcome.relevant and not outcome.broken & outcome.relevant:
            yield f"{outcome.id}: missed {sorted(outcome.relevant)}"

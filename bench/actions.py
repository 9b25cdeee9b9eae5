"""`python -m bench actions`: whether the record that governs a command is shown before the command is run.

`bench/sets/commands` has records and labels, which are ours, for commands that coding agents ran in public projects.
The commands are read from clones (`--clones`), by session and place, and compared with a hash. One project is read with
the records of a set of real words. With `--fit` the model is fitted on half of the projects and written; what is
reported are the others.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench import coefficients_file, data, repositories, results, transcripts
from bench.life_sets import record_of
from bench.stage import Stage
from onrecord.search import coefficients, command_match, command_terms
from onrecord.search.candidates import Filter
from onrecord.session import commands

FIT = ("specstory", "cipherbox", "cybervpn")
REPORT = ("entire", "ohmyposh", "chkit")
"""Projects on which nothing was fitted and nothing chosen."""

REPOSITORIES = {
    "specstory": "specstoryai/getspecstory",
    "cipherbox": "FSM1/cipher-box",
    "cybervpn": "Beep206/CyberVPN",
    "entire": "entireio/cli",
    "ohmyposh": "JanDeDobbeleer/oh-my-posh",
    "chkit": "obsessiondb/chkit",
}
AIM_RIGHT, AIM_DISTURBED = 0.85, 0.02
TRIGGERS = 16
_DECAY = 40.0
"""How strongly weights are held to those that were set by hand: the projects differ, and there are few of them. Chosen
among 1 to 80 by leaving out one of the projects for fitting in turn."""

_POSITIVES, _MIN_POSITIVES = 10.0, 5
"""Pairs of a command and a record that governs it that each project counts as: one has ten times as many as another."""

_ROUNDS = 2_000


class Command(NamedTuple):
    """A command that an agent ran, and the records that govern it."""

    project: str
    text: str
    is_random: bool
    """False if it was picked because a record might govern it: such commands are not ordinary."""
    relevant: frozenset[str]
    maybe: frozenset[str]


class Scored(NamedTuple):
    """A command, and its candidates with their features."""

    command: Command
    ids: tuple[str, ...]
    features: np.ndarray


class Outcome(NamedTuple):
    """What one command was shown."""

    command: Command
    shown: str
    """The id of the record; empty if nothing was shown."""

    @property
    def is_right(self) -> bool:
        return self.shown in self.command.relevant

    @property
    def is_wrong(self) -> bool:
        """Whether something was shown that does not govern the command; what might is not counted either way."""
        return bool(self.shown) and self.shown not in self.command.relevant | self.command.maybe

    @property
    def is_ordinary(self) -> bool:
        return self.command.is_random and not self.command.relevant and not self.command.maybe


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clones", type=Path, help="a folder with clones, each named OWNER+NAME")
    parser.add_argument("--fit", action="store_true", help="fit the model on the projects for fitting and write it")
    parser.add_argument("--misses", action="store_true", help="print what went wrong in the projects for fitting")


def run(options: argparse.Namespace) -> int:
    if options.clones is None:
        print("name the folder of the clones: --clones DIR")
        return 0
    fitting = [scored for name in FIT for scored in score(name, options.clones)]
    if options.fit:
        weights = fit(fitting)
        threshold = choose_threshold(left_out(fitting))
        write(FIT, weights, threshold)
        print(f"threshold {threshold}; left out in turn: {figures(decided(left_out(fitting), threshold))}")
    else:
        weights, threshold = current(), coefficients.COMMAND_THRESHOLD
    outcomes = decided(probabilities(fitting, weights), threshold)
    print(f"fitted on: {figures(outcomes)}")
    if options.misses:
        print_misses(outcomes)
    reported = [scored for name in REPORT for scored in score(name, options.clones)]
    outcomes = decided(probabilities(reported, weights), threshold)
    by_name = {own[0].command.project: figures(own) for own in by_project(outcomes)}
    measured = {**figures(outcomes), "intervals": intervals(outcomes), "by_project": by_name, "threshold": threshold}
    projects = {"fit": list(FIT), "report": list(REPORT)}
    results.save("actions", {**measured, "projects": projects, "fitting_commands": len(fitting)})
    print(measured)
    return 0


def score(name: str, clones: Path) -> list[Scored]:
    """Return the commands of a project with the features of their candidates."""
    own = data.OWN / "commands" / name / "records.jsonl"
    raw = list(data.lines(own if own.exists() else data.SHARED / f"words-{name}" / "records.jsonl"))
    successor = {each["supersedes"]: each["key"] for each in raw if each["supersedes"]}
    with Stage(record_of(each, successor, TRIGGERS) for each in raw) as stage:
        return [_score(stage, command) for command in labelled(name, clones)]


def labelled(name: str, clones: Path) -> list[Command]:
    """Return the commands of a project, with their labels. Raises SystemExit if the clone has others."""
    texts = transcripts.commands(repositories.find(clones, REPOSITORIES[name]))
    labels = list(data.lines(data.OWN / "commands" / name / "labels.jsonl"))
    missing = [label["id"] for label in labels if transcripts.hash_of(texts.get(label["id"], "")) != label["hash"]]
    if missing:
        raise SystemExit(f"{name}: the clone lacks {len(missing)} of {len(labels)} commands, such as {missing[0]}")
    return [_command(name, texts[label["id"]], label) for label in labels]


def _command(project: str, text: str, label: dict[str, Any]) -> Command:
    is_random = label["sample"] == "random"
    return Command(project, text, is_random, frozenset(label["relevant"]), frozenset(label["maybe"]))


def _score(stage: Stage, command: Command) -> Scored:
    calls = command_terms.of_calls(commands.parse(command.text))
    hits = command_match.find(stage.index, calls, Filter("auto"), limit=command_match.MAX_COMPARED)
    rows = [[hit.match.features[name] for name in command_match.NAMES] for hit in hits]
    ids = tuple(hit.match.id for hit in hits)
    return Scored(command, ids, np.array(rows, dtype=float).reshape(-1, len(command_match.NAMES)))


def current() -> np.ndarray:
    """Return the weights in use, the constant last."""
    return as_row(coefficients.COMMAND_WEIGHTS)


def as_row(weights: Mapping[str, float]) -> np.ndarray:
    """Return weights in the order of the features, the constant last."""
    return np.array([weights.get(name, 0.0) for name in (*command_match.NAMES, "base")])


PRIOR = {
    "base": -6.0,
    "family_in_trigger": 3.0,
    "family_in_title": 2.5,
    "family_in_body": 1.0,
    "other_option": -2.0,
    "unnamed": -3.0,
    "run_in_trigger": 0.4,
    "run_in_title": 0.4,
    "run_in_body": 0.2,
    "head_named": 0.5,
    "head_in_body": 0.1,
    "concept_named": 0.3,
    "concept_in_body": 0.1,
    "trigger_cover": 2.0,
    "title_cover": 1.5,
    "option": 0.5,
    "arguments": 0.2,
    "lead": 0.3,
    "alone": 0.5,
    "rivals": -0.3,
    "ordinary": -1.0,
    "inspection": -2.0,
    "delivery": 0.7,
    "directive": 0.1,
    "is_rule": 0.5,
    "is_decision": -0.5,
}
"""The weights that the fit is held to, set by hand while looking at the projects for fitting; 0 for all others."""


def fit(examples: Sequence[Scored]) -> np.ndarray:
    """Fit a logistic regression held to `PRIOR`, by Newton's method; what might govern a command is left out."""
    rows, labels, importance = [], [], []
    for name in {scored.command.project for scored in examples}:
        own = [scored for scored in examples if scored.command.project == name]
        governed = sum(record in scored.command.relevant for scored in own for record in scored.ids)
        for scored in own:
            for record, features in zip(scored.ids, scored.features):
                if record not in scored.command.maybe:
                    rows.append([*features, 1.0])
                    labels.append(record in scored.command.relevant)
                    importance.append(_POSITIVES / max(governed, _MIN_POSITIVES))
    x, y, each = np.array(rows), np.array(labels, dtype=float), np.array(importance)
    prior = weights = as_row(PRIOR)
    decay = np.diag([_DECAY] * (x.shape[1] - 1) + [1e-3])
    for _ in range(60):
        guess = 1 / (1 + np.exp(-np.clip(x @ weights, -50, 50)))
        slope = x.T @ (each * (guess - y)) + decay @ (weights - prior)
        curve = (x * (each * guess * (1 - guess) + 1e-9)[:, None]).T @ x + decay
        step = np.linalg.solve(curve, slope)
        weights = weights - step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def probabilities(examples: Iterable[Scored], weights: np.ndarray) -> list[tuple[Scored, np.ndarray]]:
    return [(scored, 1 / (1 + np.exp(-(scored.features @ weights[:-1] + weights[-1])))) for scored in examples]


def left_out(examples: Sequence[Scored]) -> list[tuple[Scored, np.ndarray]]:
    """Return the probabilities of each project by a model that was fitted on the others."""
    judged: list[tuple[Scored, np.ndarray]] = []
    for name in sorted({scored.command.project for scored in examples}):
        others = [scored for scored in examples if scored.command.project != name]
        own = [scored for scored in examples if scored.command.project == name]
        judged += probabilities(own, fit(others or examples))
    return judged


def decided(judged: Iterable[tuple[Scored, np.ndarray]], threshold: float) -> list[Outcome]:
    """Return what each command is shown: the most probable record, if it reaches the threshold."""
    outcomes = []
    for scored, chances in judged:
        best = int(np.argmax(chances)) if len(chances) else -1
        shown = scored.ids[best] if best >= 0 and chances[best] >= threshold else ""
        outcomes.append(Outcome(scored.command, shown))
    return outcomes


def choose_threshold(judged: Sequence[tuple[Scored, np.ndarray]]) -> float:
    """Return the threshold that reaches the aims and serves most; if none does, the one that comes closest.

    The share that is right is the mean of the projects': in one of them nearly every command is governed.
    """

    def merit(threshold: float) -> tuple[float, float]:
        outcomes = decided(judged, threshold)
        shares = figures(outcomes)
        right = float(np.mean([figures(own)["right"] for own in by_project(outcomes)]))
        missed = max(0.0, AIM_RIGHT - right) + 5 * max(0.0, shares["disturbed"] - AIM_DISTURBED)
        return -missed, shares["served"]

    candidates = [round(0.2 + 0.02 * step, 2) for step in range(38)]
    return max(candidates, key=lambda threshold: (merit(threshold), threshold))


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return the shares of shown records that are right, of governed commands served, of ordinary ones disturbed."""
    shown = [outcome for outcome in outcomes if outcome.is_right or outcome.is_wrong]
    governed = [outcome for outcome in outcomes if outcome.command.relevant]
    ordinary = [outcome for outcome in outcomes if outcome.is_ordinary]
    return {
        "commands": len(outcomes),
        "governed": len(governed),
        "ordinary": len(ordinary),
        "shown": len(shown),
        "right": _share(shown, lambda outcome: outcome.is_right),
        "served": _share(governed, lambda outcome: outcome.is_right),
        "disturbed": _share(ordinary, lambda outcome: outcome.is_wrong),
    }


def _share(outcomes: Sequence[Outcome], is_so: Callable[[Outcome], bool]) -> float:
    return round(sum(map(is_so, outcomes)) / len(outcomes), 4) if outcomes else 0.0


def by_project(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    names = sorted({outcome.command.project for outcome in outcomes})
    return [[outcome for outcome in outcomes if outcome.command.project == name] for name in names]


def intervals(outcomes: Sequence[Outcome]) -> dict[str, list[float]]:
    """Return intervals of 95 %, by drawing commands with replacement within each project."""
    rng = random.Random(0)
    projects = by_project(outcomes)
    drawn = [
        figures([outcome for project in projects for outcome in rng.choices(project, k=len(project))])
        for _ in range(_ROUNDS)
    ]
    return {
        name: [round(float(np.quantile([each[name] for each in drawn], share)), 3) for share in (0.025, 0.975)]
        for name in ("right", "served", "disturbed")
    }


def print_misses(outcomes: Iterable[Outcome]) -> None:
    for outcome in outcomes:
        command = outcome.command
        if outcome.is_wrong or (command.relevant and not outcome.is_right):
            kind = "wrong" if outcome.is_wrong else "missed"
            print(f"{kind} {outcome.shown or '-'} for {sorted(command.relevant)}: {command.text[:200]!r}")


def write(fitted_on: Sequence[str], weights: np.ndarray, threshold: float) -> None:
    """Write the coefficients into the module that hooks load."""
    table = [f'    "base": {weights[-1]:.4f},']
    table += [f'    "{name}": {weight:.4f},' for name, weight in zip(command_match.NAMES, weights)]
    lines = [f"COMMAND_THRESHOLD = {threshold}", "", "COMMAND_WEIGHTS = {", *table, "}"]
    coefficients_file.write(coefficients_file.COMMANDS, lines, fitted_on)

"""`onrecord why`: list the candidates for a prompt, whether an agent would be shown them, and the reasons."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from onrecord import paths, timestamps
from onrecord.cli import arguments, recall, record_table
from onrecord.cli.output import CommandResult, Screen, clean, wrap
from onrecord.cli.record_table import ListedPath
from onrecord.cli.terminal import Progress
from onrecord.project import Project
from onrecord.recall import explanation, judge
from onrecord.recall.explanation import Explained
from onrecord.recall.for_prompt import Decision
from onrecord.search.rank import Match
from onrecord.settings import Settings


class _Judge:
    """A judge for recall that asks the configured model, and keeps its verdicts and errors."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.verdicts: dict[int, str] = {}
        self.failures: list[str] = []

    def __call__(self, prompt: str, matches: list[Match], turns: Sequence[str]) -> Sequence[bool | None]:
        opinion = judge.form_opinion(prompt, matches, turns, self._settings)
        self.verdicts = {id(match): verdict for match, verdict in zip(matches, opinion.outcomes)}
        self.failures = [failure.message for failure in opinion.failures]
        return opinion.verdicts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    recall.add_prompt(parser)
    parser.add_argument("--judge", action="store_true", help="ask the configured model too, and show its verdicts")


def run(args: argparse.Namespace) -> CommandResult:
    project = Project(args.project)
    only, warning = arguments.only_store(args, project)
    prompt = recall.to_preview(" ".join(args.prompt), args.shell)
    prompt = prompt._replace(is_first=args.first, transcript=args.transcript)
    model = _Judge(project.settings) if args.judge else None
    with Progress("asking the model" if model else "searching"):
        decision = recall.decide(project, only, prompt, model)
        if not only:
            candidates = (*decision.candidates, *recall.out_of_scope(project, prompt))
            decision = decision._replace(candidates=candidates)
        explained = explanation.explained(decision, model.verdicts if model else {})
    data = {
        "command" if prompt.is_command else "prompt": prompt.text,
        "threshold": round(decision.thresholds.rule, 4),
        "pointer_threshold": round(decision.thresholds.pointer, 4) if decision.thresholds.has_pointers else None,
        "about_the_past": decision.is_past,
        "about_the_work": decision.work,
        "borrowed": decision.borrowed,
        "candidates": [_to_json(candidate) for candidate in explained],
    }
    silence = recall.silence_of(prompt, project.settings)
    if not args.json:
        record_table.save_listing(_listed(explained))
    result = CommandResult(data, lambda screen: _text(screen, decision, explained, is_silent=bool(silence)))
    return result.warned(silence, *(model.failures if model else ()), warning)


def _listed(explained: Sequence[Explained]) -> list[ListedPath]:
    return [ListedPath(paths.working_root(item.candidate.match.root), item.candidate.match.path) for item in explained]


def _to_json(explained: Explained) -> dict[str, Any]:
    candidate, match = explained.candidate, explained.candidate.match
    return {
        "id": match.id,
        "category": match.category,
        "source": paths.store_name(candidate.prefix),
        "path": candidate.prefix + match.path,
        "probability": round(match.probability, 4),
        "score": round(match.score, 4),
        "confidence": match.confidence,
        "shown": candidate.shown_form,
        "verdict": f"{candidate.outcome}; judge: {explained.verdict}" if explained.verdict else candidate.outcome,
        "reasons": explained.reasons,
        "caution": candidate.caution,
        "replaces": match.via[0] if match.via else None,
        "features": {name: round(value, 4) for name, value in match.features.items()},
    }


def _text(screen: Screen, decision: Decision, explained: Sequence[Explained], *, is_silent: bool) -> str:
    lines = [wrap(clean(explanation.thresholds(decision)), screen.width)]
    if decision.borrowed:
        lines.append(wrap(clean(explanation.borrowed_words(decision)), screen.width))
    if not explained and not decision.work:
        lines.append("No record matches this prompt, by its words or by its meaning.")
    names = record_table.names(_listed(explained)) if screen.is_terminal else []
    for number, item in enumerate(explained, 1):
        lines += ["", *(_head(screen, item, decision, number, names[number - 1]) if names else _row(item, decision))]
        lines += _reasons(screen, item)
    return "\n".join([*lines, "", explanation.conclusion(decision, is_silent=is_silent)])


def _row(explained: Explained, decision: Decision) -> list[str]:
    match = explained.candidate.match
    outcome = explanation.outcome(explained.candidate, decision)
    source = explained.candidate.prefix if paths.is_shared(explained.candidate.prefix) else ""
    return [f"{match.probability:.2f}  {outcome}  {match.category}  {source}{clean(match.id)}"]


def _head(screen: Screen, explained: Explained, decision: Decision, number: int, name: str) -> list[str]:
    candidate, match = explained.candidate, explained.candidate.match
    outcome = f"{match.probability:.2f} {explanation.outcome(candidate, decision)}"
    painted = screen.paint(outcome, "green" if candidate.shown_form else "dim")
    return [
        record_table.head(screen, number, match.title),
        record_table.facts(match.category, timestamps.age(match.updated_at), name, painted),
    ]


def _reasons(screen: Screen, explained: Explained) -> list[str]:
    candidate = explained.candidate
    lines: list[str] = []
    verdict = [f"judge: {explained.verdict}"] if explained.verdict else []
    for reason in (*verdict, *explained.reasons, *([candidate.caution] if candidate.caution else [])):
        first, *rest = wrap(clean(reason), screen.width - 8).split("\n")
        lines += [f"      - {first}", *(f"        {line}" for line in rest)]
    return lines

"""`recollect why`: every candidate for a prompt, whether the agent would be shown it, and the reasons in words."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from recollect.cli import recall
from recollect.cli.output import Answer, Screen, clean, fit, wrap
from recollect.judge import judge
from recollect.project import Project
from recollect.recall import explanation
from recollect.recall.explanation import Explained
from recollect.recall.for_prompt import Decision
from recollect.search.rank import Match
from recollect.settings import Settings
from recollect.terminal.progress import Progress


class _Judge:
    """The configured model in recall's place for a judge, its verdicts noted."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.verdicts: dict[int, str] = {}
        self.failures: list[str] = []

    def __call__(self, prompt: str, matches: list[Match], turns: Sequence[str], bar: float) -> list[Match]:
        opinion = judge.verdicts(prompt, matches, turns, self._settings)
        self.verdicts = {id(match): verdict for match, verdict in zip(matches, opinion.outcomes)}
        self.failures = [failure.message for failure in opinion.failures]
        return opinion.kept(bar)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    recall.add_prompt(parser)
    parser.add_argument("--judge", action="store_true", help="ask the configured model too, and show its verdicts")


def run(args: argparse.Namespace) -> Answer:
    project = Project(args.project)
    args.warnings = [project.require_a_store()]
    model = _Judge(project.settings) if args.judge else None
    with Progress("asking the model" if model else "searching"):
        decision = recall.decide(args, project, model)
        explained = explanation.explained(decision, model.verdicts if model else {})
    data = {
        "prompt": " ".join(args.prompt),
        "threshold": round(decision.bars.rule, 4),
        "pointer_threshold": round(decision.bars.pointer, 4) if decision.bars.has_pointers else None,
        "about_the_past": decision.is_past,
        "borrowed": decision.borrowed,
        "candidates": [_to_json(each) for each in explained],
    }
    silence = explanation.silence(" ".join(args.prompt), project.settings)
    warning = "; ".join(filter(None, (silence, *(model.failures if model else ()))))
    return Answer(data, lambda screen: _text(screen, decision, explained, is_silent=bool(silence)), warning=warning)


def _to_json(explained: Explained) -> dict[str, Any]:
    candidate, match = explained.candidate, explained.candidate.match
    return {
        "id": match.id,
        "category": match.category,
        "path": candidate.source + match.path,
        "probability": round(match.probability, 4),
        "score": round(match.score, 4),
        "confidence": match.confidence,
        "shown": candidate.shown,
        "verdict": f"{candidate.outcome}; judge: {explained.verdict}" if explained.verdict else candidate.outcome,
        "reasons": explained.reasons,
        "caution": candidate.caution,
        "replaces": match.via[0] if match.via else None,
        "features": {name: round(value, 4) for name, value in match.features.items()},
    }


def _text(screen: Screen, decision: Decision, explained: Sequence[Explained], *, is_silent: bool) -> str:
    lines = [wrap(explanation.bars(decision), screen.width)]
    if decision.borrowed:
        lines.append(wrap(clean(explanation.borrowed(decision)), screen.width))
    if not explained:
        lines.append("No record matches this prompt, by its words or by its meaning.")
    for each in explained:
        lines += _lines(screen, each, decision)
    return "\n".join([*lines, "", explanation.conclusion(decision, is_silent=is_silent)])


def _lines(screen: Screen, explained: Explained, decision: Decision) -> list[str]:
    candidate, match = explained.candidate, explained.candidate.match
    style = "green" if candidate.shown else "dim"
    head = f"{match.probability:.2f}  {explanation.outcome(candidate, decision)}  {match.category}  "
    lines = ["", screen.paint(head, style) + fit(clean(match.id), max(screen.width - len(head), 20))]
    judged = [f"judge: {explained.verdict}"] if explained.verdict else []
    for reason in (*judged, *explained.reasons, *([candidate.caution] if candidate.caution else [])):
        first, *rest = wrap(clean(reason), screen.width - 8).split("\n")
        lines += [f"      - {first}", *(f"        {line}" for line in rest)]
    return lines

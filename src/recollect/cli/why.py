"""`recollect why`: every candidate for a prompt, its features, its score, and why it is shown or not."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from recollect.cli.output import Answer
from recollect.cli.terminal import Screen, clean, table
from recollect.judge import judge
from recollect.project import Project
from recollect.recall import for_prompt
from recollect.recall.context_block import Candidate
from recollect.recall.for_prompt import Decision
from recollect.search.rank import Match
from recollect.settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="+", metavar="PROMPT", help="the prompt as it would be typed to the agent")
    parser.add_argument("--judge", action="store_true", help="ask the configured model too, and show its verdicts")
    parser.add_argument("--first", action="store_true", help="as the first prompt of a session, whose bar is lower")
    parser.add_argument(
        "--transcript", metavar="FILE", default="", help="the session so far, for a prompt that refers to it"
    )


class _Judge:
    """The configured model in recall's place for a judge, its verdicts kept."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.verdicts: dict[int, str] = {}
        self.failures: list[str] = []

    def __call__(self, prompt: str, matches: list[Match], turns: Sequence[str], bar: float) -> list[Match]:
        opinion = judge.verdicts(prompt, matches, turns, self._settings)
        self.verdicts = {id(match): verdict for match, verdict in zip(matches, opinion.outcomes)}
        self.failures = [failure.message for failure in opinion.failures]
        return opinion.kept(bar)


def run(args: argparse.Namespace) -> Answer:
    project = Project(args.project)
    prompt = " ".join(args.prompt)
    asked = _Judge(project.settings) if args.judge else None
    decision = for_prompt.preview(
        project.stores, prompt, project.settings, first=args.first, transcript_path=args.transcript, judge=asked
    )
    ranked = sorted(decision.candidates, key=lambda candidate: -candidate.match.probability)
    verdicts = asked.verdicts if asked else {}
    explained = [(candidate, _outcome(candidate, verdicts)) for candidate in ranked]
    data = {
        "prompt": prompt,
        "threshold": round(decision.bar, 4),
        "borrowed": decision.borrowed,
        "candidates": [_to_json(candidate, outcome) for candidate, outcome in explained],
    }
    warning = "; ".join(asked.failures) if asked else ""
    return Answer(data, lambda screen: _text(screen, decision, explained), warning=warning)


def _outcome(candidate: Candidate, verdicts: Mapping[int, str]) -> str:
    verdict = verdicts.get(id(candidate.match))
    return f"{candidate.outcome}; judge: {verdict}" if verdict else candidate.outcome


def _to_json(candidate: Candidate, outcome: str) -> dict[str, Any]:
    match = candidate.match
    return {
        "id": match.id,
        "category": match.category,
        "path": candidate.source + match.path,
        "probability": round(match.probability, 4),
        "score": round(match.score, 4),
        "confidence": match.confidence,
        "verdict": outcome,
        "caution": candidate.caution,
        "replaces": match.via[0] if match.via else None,
        "features": {name: round(value, 4) for name, value in match.features.items()},
    }


def _text(screen: Screen, decision: Decision, explained: Sequence[tuple[Candidate, str]]) -> str:
    lines = [f"Shown to the agent when the score is {decision.bar:.2f} or higher."]
    if decision.borrowed:
        lines.append(f"The prompt refers back; terms were borrowed from: {clean(decision.borrowed)[:200]}")
    if not explained:
        return "\n".join([*lines, "No record matches any distinctive word of this prompt."])
    rows = [
        (f"{each.match.probability:.2f}", outcome, each.match.category, each.match.id, _strongest(each.match.features))
        for each, outcome in explained
    ]
    return "\n".join([*lines, table(screen, ("score", "outcome", "category", "id", "features"), rows)])


def _strongest(features: Mapping[str, float]) -> str:
    shown = ("coverage", "window", "title_asked", "adjacent", "rarest", "trigger_asked", "share", "keywords")
    return " ".join(f"{name}={features[name]:.2f}" for name in shown if features.get(name))

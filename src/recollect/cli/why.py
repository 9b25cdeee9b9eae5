"""`recollect why`: every candidate for a prompt, whether the agent would be shown it, and the reasons in words."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from recollect.cli import recall
from recollect.cli.output import Answer, Screen, clean, fit, wrap
from recollect.coldstart import NamedTuple
from recollect.judge import judge
from recollect.project import Project
from recollect.recall.context_block import NOTHING_ON_FILE, Candidate
from recollect.recall.for_prompt import BELOW_BAR, Decision
from recollect.search import explain
from recollect.search.rank import Match
from recollect.settings import Settings
from recollect.terminal.progress import Progress
from recollect.text import many

_MOST_EXPLAINED = 5
"""Candidates whose reasons are printed, beside those that are shown: further down they are all alike."""

_LONGEST_BORROWED = 200


class _Explained(NamedTuple):
    """A candidate, what the model says of it, and the reasons for its score."""

    candidate: Candidate
    verdict: str
    reasons: list[str]


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
        explained = _explained(decision, model.verdicts if model else {})
    data = {
        "prompt": " ".join(args.prompt),
        "threshold": round(decision.bars.rule, 4),
        "pointer_threshold": round(decision.bars.pointer, 4) if decision.bars.has_pointers else None,
        "about_the_past": decision.is_past,
        "borrowed": decision.borrowed,
        "candidates": [_to_json(each) for each in explained],
    }
    silence = recall.why_silent(" ".join(args.prompt), project.settings)
    warning = "; ".join(filter(None, (silence, *(model.failures if model else ()))))
    return Answer(data, lambda screen: _text(screen, decision, explained, is_silent=bool(silence)), warning=warning)


def _explained(decision: Decision, verdicts: dict[int, str]) -> list[_Explained]:
    """The candidates, most probable first; reasons for the first few and for all that are shown."""
    ranked = sorted(decision.candidates, key=lambda each: (-each.match.probability, each.match.path))
    explained = []
    for place, each in enumerate(ranked):
        others = [other.match for other in ranked if other is not each and other.match.root == each.match.root]
        wanted = place < _MOST_EXPLAINED or each.shown
        explained.append(
            _Explained(each, verdicts.get(id(each.match), ""), explain.reasons(each.match, others) if wanted else [])
        )
    return explained


def _to_json(explained: _Explained) -> dict[str, Any]:
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


def _text(screen: Screen, decision: Decision, explained: Sequence[_Explained], *, is_silent: bool) -> str:
    lines = [wrap(_bars(decision), screen.width)]
    if decision.borrowed:
        borrowed = clean(decision.borrowed)[:_LONGEST_BORROWED]
        lines.append(wrap(f"The prompt refers back; terms were borrowed from: {borrowed}", screen.width))
    if not explained:
        lines.append("No record matches this prompt, by its words or by its meaning.")
    for each in explained:
        lines += _lines(screen, each, decision)
    return "\n".join([*lines, "", _conclusion(decision, is_silent=is_silent)])


def _bars(decision: Decision) -> str:
    rule, pointer = decision.bars
    pointed = f", as a pointer from {pointer:.2f} on" if decision.bars.has_pointers else ""
    asked = "A question about the past, answered like a search. " if decision.is_past else ""
    return f"{asked}Shown as a rule from a score of {rule:.2f} on{pointed}."


def _lines(screen: Screen, explained: _Explained, decision: Decision) -> list[str]:
    candidate, match = explained.candidate, explained.candidate.match
    style = "green" if candidate.shown else "dim"
    head = f"{match.probability:.2f}  {_outcome(candidate, decision)}  {match.category}  "
    lines = ["", screen.paint(head, style) + fit(clean(match.id), max(screen.width - len(head), 20))]
    judged = [f"judge: {explained.verdict}"] if explained.verdict else []
    for reason in (*judged, *explained.reasons, *([candidate.caution] if candidate.caution else [])):
        first, *rest = wrap(clean(reason), screen.width - 8).split("\n")
        lines += [f"      - {first}", *(f"        {line}" for line in rest)]
    return lines


def _outcome(candidate: Candidate, decision: Decision) -> str:
    if candidate.shown:
        return f"shown as a {candidate.shown}"
    if candidate.outcome != BELOW_BAR:
        return f"not shown: {candidate.outcome}"
    return f"not shown: below {min(decision.bars):.2f}"


def _conclusion(decision: Decision, *, is_silent: bool) -> str:
    """What the agent is shown, in one sentence."""
    if is_silent:
        return "The agent is shown nothing."
    if decision.text == NOTHING_ON_FILE:
        return "The agent is shown that nothing is on file."
    parts = [many(len(part), name) for part, name in ((decision.rules, "rule"), (decision.pointers, "pointer")) if part]
    return f"The agent is shown {' and '.join(parts) or 'nothing'}."

"""`recollect why`: every candidate for a prompt, what was seen of it, its probability, the bar and the verdict."""

from __future__ import annotations

import argparse
from typing import Any

from recollect.cli.output import Answer
from recollect.cli.terminal import Screen, clean, table
from recollect.judge import judge
from recollect.judge.judge import Opinion
from recollect.project import Project
from recollect.recall import for_prompt
from recollect.recall.for_prompt import Found
from recollect.session import transcript


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="+", metavar="PROMPT", help="the prompt as it would be typed to the agent")
    parser.add_argument("--judge", action="store_true", help="ask the configured model too, and show its verdicts")
    parser.add_argument("--first", action="store_true", help="as the first prompt of a session, whose bar is lower")
    parser.add_argument(
        "--transcript", metavar="FILE", default="", help="the session so far, for a prompt that refers to it"
    )


def run(args: argparse.Namespace) -> Answer:
    project = Project(args.project)
    prompt = " ".join(args.prompt)
    borrowed = for_prompt.borrowed(prompt, args.transcript)
    found = project.stores.find(prompt, project.settings, borrowed, hook=False)
    bar = for_prompt.threshold(project.settings, first=args.first)
    _, told = for_prompt.rendered(
        for_prompt.passing(found, project.settings, first=args.first), project.settings, first=args.first
    )
    off = for_prompt.turned_off(project.settings)
    verdicts = [(one, off or _verdict(one, bar, told)) for one in found]
    opinion = _opinion(found, prompt, project, args.transcript) if args.judge else None
    if opinion:
        verdicts = [(one, f"{verdict}; judge: {said}") for (one, verdict), said in zip(verdicts, opinion.outcomes)]
    data = {
        "prompt": prompt,
        "threshold": round(bar, 4),
        "borrowed": borrowed,
        "candidates": [_brief(one, verdict) for one, verdict in verdicts],
    }
    warning = "; ".join(failure.message for failure in opinion.failures) if opinion else ""
    return Answer(data, lambda screen: _text(screen, verdicts, bar, borrowed), warning=warning)


def _opinion(found: list[Found], prompt: str, project: Project, transcript_path: str) -> Opinion:
    """What a model says of the candidates; NoModel if none is configured."""
    turns = transcript.last_prompts(transcript_path, 5)
    return judge.verdicts(prompt, [one.match for one in found], turns, project.settings)


def _verdict(one: Found, bar: float, told: list[Found]) -> str:
    if one in told:
        return "told"
    return "below the bar" if one.match.probability < bar else "no room"


def _brief(one: Found, verdict: str) -> dict[str, Any]:
    match = one.match
    return {
        "id": match.id,
        "category": match.category,
        "path": one.source + match.path,
        "probability": round(match.probability, 4),
        "score": round(match.score, 4),
        "confidence": match.confidence,
        "verdict": verdict,
        "replaces": match.via[0] if match.via else None,
        "features": {name: round(value, 4) for name, value in match.features.items()},
    }


def _text(screen: Screen, verdicts: list[tuple[Found, str]], bar: float, borrowed: str) -> str:
    lines = [f"A memory is told from a probability of {bar:.2f} on."]
    if borrowed:
        lines.append(f"The prompt refers back; terms were borrowed from: {clean(borrowed)[:200]}")
    if not verdicts:
        return "\n".join([*lines, "No record shares a telling word with the prompt."])
    rows = [
        (f"{one.match.probability:.2f}", verdict, one.match.category, one.match.id, _strongest(one.match.features))
        for one, verdict in verdicts
    ]
    return "\n".join([*lines, table(screen, ("P", "verdict", "category", "id", "what was seen"), rows)])


def _strongest(features: dict[str, float]) -> str:
    shown = ("coverage", "window", "title_asked", "adjacent", "rarest", "trigger_asked", "share")
    return " ".join(f"{name}={features[name]:.2f}" for name in shown if features.get(name))

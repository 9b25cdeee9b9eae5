"""`recollect search`, `recall` and `why`: the records that answer a question, or that a prompt would bring up."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from recollect import switches
from recollect.cli import arguments
from recollect.cli.output import Answer, Screen, clean, table, wrap
from recollect.errors import BadInput
from recollect.judge import judge
from recollect.project import Hit, Project
from recollect.recall import for_prompt
from recollect.recall.context_block import Candidate
from recollect.recall.for_prompt import Decision
from recollect.record import compose
from recollect.search.rank import Match
from recollect.session import transcript
from recollect.settings import Settings
from recollect.text import tokens

_STYLES = {"high": "green", "medium": "yellow", "low": "dim"}
_FEATURES = ("coverage", "window", "title_asked", "adjacent", "rarest", "trigger_asked", "share", "keywords")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    command = parser.get_default("command")
    if command == "search":
        parser.add_argument("text", nargs="+", metavar="TEXT", help="what to look for, in your own words")
        parser.add_argument("--limit", type=int, default=10, metavar="N", help="at most N results (default: 10)")
        arguments.add(parser, "--category", "--tag")
        parser.add_argument("--include-retired", action="store_true", help="retired and archived records too")
        return
    parser.add_argument("prompt", nargs="+", metavar="PROMPT", help="the prompt as it would be typed to the agent")
    if command == "why":
        parser.add_argument("--judge", action="store_true", help="ask the configured model too, and show its verdicts")
    parser.add_argument("--first", action="store_true", help="as the first prompt of a session, which is shown more")
    meaning = "the session so far, for a prompt that refers to it"
    parser.add_argument("--transcript", metavar="FILE", default="", help=meaning)


def run(args: argparse.Namespace) -> Answer:
    project = Project(args.project)
    args.warnings = [project.require_a_store()]
    return {"search": _search, "recall": _recall, "why": _why}[args.command](args, project)


def _search(args: argparse.Namespace, project: Project) -> Answer:
    if args.limit < 1:
        raise BadInput(f"--limit {args.limit} asks for nothing", fix="give a number from 1 on")
    text = " ".join(args.text)
    hits = project.search(
        text,
        args.limit,
        categories=[compose.category_of(name) for name in args.category],
        tags=[tag.lower() for tag in args.tag],
        include_retired=args.include_retired,
    )
    nothing = "Nothing found. Other words may help, or --include-retired."

    def lines(screen: Screen) -> str:
        return "\n".join(_hit_lines(screen, hit) for hit in hits) or (nothing if screen.is_terminal else "")

    return Answer({"query": text, "results": [_hit_data(hit) for hit in hits]}, lines)


def _hit_data(hit: Hit) -> dict[str, Any]:
    return {
        **{name: getattr(hit, name) for name in ("id", "category", "title", "path")},
        "tags": list(hit.tags),
        "score": round(hit.score, 4),
        "probability": round(hit.probability, 4),
        "confidence": hit.confidence,
        "snippet": hit.snippet(),
        "updated_at": hit.updated_at,
        "status": hit.status,
    }


def _hit_lines(screen: Screen, hit: Hit) -> str:
    status = "" if hit.status == "active" else f" [{clean(hit.status)}]"
    via = f" (replaces {clean(hit.via[1])})" if hit.via else ""
    score = screen.paint(f"{hit.confidence} {hit.probability:.2f}", _STYLES[hit.confidence])
    snippet = _coloured(screen, hit) if screen.has_colour else clean(hit.snippet())
    return (
        f"{screen.paint(clean(hit.title), 'bold')}{status}{via}\n"
        f"  {hit.category}  {score}  {clean(hit.path)}\n{wrap(snippet, screen.width, '    ')}"
    )


def _coloured(screen: Screen, hit: Hit) -> str:
    """The snippet with its matches highlighted; each word is cleaned by itself, so no record can set a colour."""
    start, end = "\x02", "\x03"
    words = []
    for word in hit.snippet((start, end)).split():
        plain = clean(word.strip(start + end))
        words.append(screen.paint(plain, "bold", "cyan") if word.startswith(start) else plain)
    return " ".join(words)


def _recall(args: argparse.Namespace, project: Project) -> Answer:
    """Byte for byte what a prompt would bring up, and what that costs."""
    prompt, decision = " ".join(args.prompt), _decision(args, project)
    silence = _silence(prompt, project.settings)
    text = "" if silence else decision.text
    cost = tokens(text)
    data = {
        "prompt": prompt,
        "context": text,
        "tokens": cost,
        "memories": [
            {**_candidate(candidate, "id", "path", "probability"), "shown": candidate.shown}
            for candidate in decision.shown
            if text
        ],
    }
    note = f"about {cost} tokens" if text else silence or "nothing is relevant enough to be shown"
    return Answer(data, lambda _: text, note=f"({note})")


def _silence(prompt: str, settings: Settings) -> str:
    """Why the hook would show nothing for a prompt, whatever is on file; empty if it would look."""
    if transcript.wants_silence(prompt):
        return "a prompt like this one is left alone"
    return "; ".join(map(str, switches.off(settings, *switches.PROMPTS)))


def _decision(args: argparse.Namespace, project: Project, judge: _Judge | None = None) -> Decision:
    prompt, session = " ".join(args.prompt), {"first": args.first, "transcript_path": args.transcript}
    return for_prompt.preview(project.stores, prompt, project.settings, judge=judge, **session)


def _candidate(candidate: Candidate, *names: str) -> dict[str, Any]:
    """Some facts about a candidate, under the names they have in JSON."""
    match = candidate.match
    facts = {
        "id": match.id,
        "category": match.category,
        "path": candidate.source + match.path,
        "probability": round(match.probability, 4),
        "score": round(match.score, 4),
        "confidence": match.confidence,
        "caution": candidate.caution,
        "replaces": match.via[0] if match.via else None,
        "features": {name: round(value, 4) for name, value in match.features.items()},
    }
    return {name: facts[name] for name in names or facts}


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


def _why(args: argparse.Namespace, project: Project) -> Answer:
    """Every candidate for a prompt, its features, its score, and why it is shown or not."""
    model = _Judge(project.settings) if args.judge else None
    decision = _decision(args, project, model)
    ranked = sorted(decision.candidates, key=lambda candidate: -candidate.match.probability)
    explained = [(candidate, _outcome(candidate, model.verdicts if model else {})) for candidate in ranked]
    data = {
        "prompt": " ".join(args.prompt),
        "threshold": round(decision.bar, 4),
        "borrowed": decision.borrowed,
        "candidates": [{**_candidate(candidate), "verdict": outcome} for candidate, outcome in explained],
    }
    failures = model.failures if model else ()
    warning = "; ".join(filter(None, (_silence(" ".join(args.prompt), project.settings), *failures)))
    return Answer(data, lambda screen: _explanation(screen, decision, explained), warning=warning)


def _outcome(candidate: Candidate, verdicts: Mapping[int, str]) -> str:
    verdict = verdicts.get(id(candidate.match))
    return f"{candidate.outcome}; judge: {verdict}" if verdict else candidate.outcome


def _explanation(screen: Screen, decision: Decision, explained: Sequence[tuple[Candidate, str]]) -> str:
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
    return " ".join(f"{name}={features[name]:.2f}" for name in _FEATURES if features.get(name))

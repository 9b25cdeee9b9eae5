"""`recollect search` and `recall`: the records that answer a question, or that a prompt would bring up."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from recollect.cli import arguments
from recollect.cli.output import Answer, Screen, clean, wrap
from recollect.errors import BadInput
from recollect.hosts import table
from recollect.project import Hit, Project
from recollect.recall import explanation, for_prompt
from recollect.recall.for_prompt import Decision
from recollect.record import compose
from recollect.terminal.progress import Progress
from recollect.text import tokens

if TYPE_CHECKING:
    from recollect.recall.for_prompt import Judge

_STYLES = {"high": "green", "medium": "yellow", "low": "dim"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("command") == "search":
        parser.add_argument("text", nargs="+", metavar="TEXT", help="what to look for, in your own words")
        parser.add_argument("--limit", type=int, default=10, metavar="N", help="at most N results (default: 10)")
        arguments.add(parser, "--category", "--tag")
        parser.add_argument("--include-retired", action="store_true", help="retired and archived records too")
        return
    add_prompt(parser)


def add_prompt(parser: argparse.ArgumentParser) -> None:
    """The options that describe a prompt."""
    parser.add_argument("prompt", nargs="+", metavar="PROMPT", help="the prompt as it would be typed to the agent")
    parser.add_argument("--first", action="store_true", help="as the first prompt of a session, which is shown more")
    meaning = "the session so far, for a prompt that refers to it"
    parser.add_argument("--transcript", metavar="FILE", default="", help=meaning)


def run(args: argparse.Namespace) -> Answer:
    project = Project(args.project)
    args.warnings = [project.require_a_store()]
    with Progress("searching"):
        return _search(args, project) if args.command == "search" else _recall(args, project)


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
        "via": dict(zip(("id", "title", "since"), hit.via)) if hit.via else None,
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
    prompt, decision = " ".join(args.prompt), decide(args, project)
    silence = explanation.silence(prompt, project.settings)
    text = "" if silence else decision.text
    cost = tokens(text)
    data = {
        "prompt": prompt,
        "context": text,
        "tokens": cost,
        "memories": [
            {
                "id": each.match.id,
                "path": each.source + each.match.path,
                "probability": round(each.match.probability, 4),
                "shown": each.shown,
            }
            for each in decision.shown
            if text
        ],
    }
    note = f"about {cost} tokens" if text else silence or "nothing is relevant enough to be shown"
    return Answer(data, lambda _: text, note=f"({note})")


def decide(args: argparse.Namespace, project: Project, judge: Judge | None = None) -> Decision:
    """What the hook would decide for the prompt of a command."""
    prompt, session = " ".join(args.prompt), table.transcript_at(args.transcript)
    return for_prompt.preview(
        project.stores, prompt, project.settings, first=args.first, transcript=session, judge=judge
    )

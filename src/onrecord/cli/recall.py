"""`onrecord search` and `recall`: the records that answer a question, or that an agent would be shown."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from onrecord import paths, timestamps
from onrecord.cli import arguments, last_listing, record_table, server_search
from onrecord.cli.last_listing import ListedPath
from onrecord.cli.output import CommandResult, Screen, clean, wrap
from onrecord.cli.progress import Progress
from onrecord.errors import BadInput
from onrecord.hosts import table
from onrecord.paths import StorePlace
from onrecord.project import Hit, Project
from onrecord.recall import explanation, for_prompt
from onrecord.recall.for_prompt import Decision
from onrecord.record import compose
from onrecord.text import tokens

if TYPE_CHECKING:
    from onrecord.recall.for_prompt import Judge

_STYLES = {"high": "green", "medium": "yellow", "low": "dim"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("command") == "search":
        parser.add_argument("text", nargs="+", metavar="TEXT", help="what to look for, in your own words")
        parser.add_argument(
            "--limit", type=arguments.count(1), default=10, metavar="N", help="at most N results (default: 10)"
        )
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


def run(args: argparse.Namespace) -> CommandResult:
    project = Project(args.project)
    only = arguments.only(args, project)
    with Progress("searching"):
        return _search(args, project, only) if args.command == "search" else _recall(args, project, only)


def _search(args: argparse.Namespace, project: Project, only: StorePlace | None) -> CommandResult:
    if not " ".join(args.text).strip():
        raise BadInput("the text to search for is empty", fix="give a word or a question: onrecord search TEXT")
    if args.remote and (answer := server_search.answer(args)):
        return answer
    text = " ".join(args.text)
    hits = project.search(
        text,
        args.limit,
        categories=[compose.category_of(name) for name in args.category],
        tags=[tag.lower() for tag in args.tag],
        include_retired=args.include_retired,
        only=only,
    )
    listed = [ListedPath(*hit.place) for hit in hits]

    def lines(screen: Screen) -> str:
        if not screen.is_terminal:
            return "\n".join(_hit_lines(hit) for hit in hits)
        return "\n".join(_numbered_lines(screen, hits, record_table.names(listed))) or record_table.NOTHING

    if not args.json:
        last_listing.note(listed)
    return CommandResult({"query": text, "results": [_hit_data(hit) for hit in hits]}, lines)


def _hit_data(hit: Hit) -> dict[str, Any]:
    return {
        **{name: getattr(hit, name) for name in ("id", "category", "title", "source", "path")},
        "tags": list(hit.tags),
        "score": round(hit.score, 4),
        "probability": round(hit.probability, 4),
        "confidence": hit.confidence,
        "snippet": hit.snippet(),
        "updated_at": hit.updated_at,
        "status": hit.status,
        "hidden_by": hit.hidden_by,
        "via": dict(zip(("id", "title", "since"), hit.via)) if hit.via else None,
    }


def _hit_lines(hit: Hit) -> str:
    return (
        f"{clean(hit.title)}{_standing(hit)}\n"
        f"  {hit.category}  {hit.confidence} {hit.probability:.2f}  {clean(hit.path)}\n    {clean(hit.snippet())}"
    )


def _numbered_lines(screen: Screen, hits: list[Hit], names: list[str]) -> Iterator[str]:
    for number, (hit, name) in enumerate(zip(hits, names), 1):
        score = screen.paint(f"{hit.confidence} {hit.probability:.2f}", _STYLES[hit.confidence])
        snippet = record_table.coloured(screen, hit.snippet(record_table.MARKS))
        yield record_table.head(screen, number, hit.title) + _standing(hit)
        yield record_table.facts(hit.category, timestamps.age(hit.updated_at), name, score)
        yield wrap(snippet, screen.width, record_table.INDENT)


def _standing(hit: Hit) -> str:
    status = "" if hit.status == "active" else f" [{clean(hit.status)}]"
    status += f" [hidden here by {clean(hit.hidden_by)}]" if hit.hidden_by else ""
    return status + (f" (replaces {clean(hit.via[1])})" if hit.via else "")


def _recall(args: argparse.Namespace, project: Project, only: StorePlace | None) -> CommandResult:
    """Byte for byte what an agent would be shown for a prompt, and what that costs."""
    prompt, decision = " ".join(args.prompt), decide(args, project, only)
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
                "source": paths.store_name(each.source),
                "path": each.source + each.match.path,
                "probability": round(each.match.probability, 4),
                "shown": each.shown,
            }
            for each in decision.shown
            if text
        ],
    }
    note = f"about {cost} tokens" if text else silence or "nothing is relevant enough to be shown"
    return CommandResult(data, lambda _: text, note=f"({note})")


def decide(args: argparse.Namespace, project: Project, only: StorePlace | None, judge: Judge | None = None) -> Decision:
    """What the hook would decide for the prompt of a command; with `only`, if it had that store alone."""
    prompt, session = " ".join(args.prompt), table.transcript_at(args.transcript)
    stores = project.stores_for(only)
    return for_prompt.preview(stores, prompt, project.settings, first=args.first, transcript=session, judge=judge)

"""`onrecord search` and `recall`: the records that answer a question, or that an agent would be shown."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from onrecord import paths, timestamps
from onrecord.cli import arguments, record_table, server_search
from onrecord.cli.output import CommandResult, Screen, clean, wrap
from onrecord.cli.progress import Progress
from onrecord.cli.record_table import ListedPath
from onrecord.cli.server_search import Wanted
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, Offline
from onrecord.hosts import table
from onrecord.paths import StoreRef
from onrecord.project import Hit, Project
from onrecord.recall import explanation, for_prompt
from onrecord.recall.for_prompt import Decision
from onrecord.record import compose
from onrecord.text import count_tokens

if TYPE_CHECKING:
    from onrecord.recall.for_prompt import Judge

_STYLES = {"high": "green", "medium": "yellow", "low": "dim"}


class PromptToPreview(NamedTuple):
    """A prompt, whether it is the first of its session, and the file of the session so far."""

    text: str
    is_first: bool
    transcript: str


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
    only, warning = arguments.only(args, project)
    with Progress("searching"):
        if args.command == "recall":
            return _recall(project, only, PromptToPreview(" ".join(args.prompt), args.first, args.transcript)).warned(
                warning
            )
        categories = [compose.category_of(name) for name in args.category]
        wanted = Wanted(" ".join(args.text), args.limit, categories, args.tag, args.include_retired)
        if not wanted.text.strip():
            raise BadInput("the text to search for is empty", fix="give a word or a question: onrecord search TEXT")
        try:
            result = server_search.answer(args.remote, wanted, project) if args.remote else None
        except Offline as error:
            result, warning = None, f"{error.message}; searched the replica of {args.remote} instead"
        return (result or _search(project, only, wanted, is_json=args.json)).warned(warning)


def _search(project: Project, only: StoreRef | None, wanted: Wanted, *, is_json: bool) -> CommandResult:
    hits = project.search(
        wanted.text,
        wanted.limit,
        categories=wanted.categories,
        tags=[tag.lower() for tag in wanted.tags],
        include_retired=wanted.include_retired,
        only=only,
    )
    listed = [ListedPath(*hit.place) for hit in hits]

    def lines(screen: Screen) -> str:
        if not screen.is_terminal:
            return "\n".join(_hit_lines(hit) for hit in hits)
        return "\n".join(_numbered_lines(screen, hits, record_table.names(listed))) or record_table.NOTHING

    if not is_json:
        record_table.note(listed)
    return CommandResult({"query": wanted.text, "results": [_hit_data(hit) for hit in hits]}, lines)


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


def _recall(project: Project, only: StoreRef | None, prompt: PromptToPreview) -> CommandResult:
    """Return byte for byte what an agent would be shown for a prompt, and what that costs."""
    decision = decide(project, only, prompt)
    silence = explanation.silence(prompt.text, project.settings)
    text = "" if silence else decision.text
    cost = count_tokens(text)
    data = {
        "prompt": prompt.text,
        "context": text,
        "tokens": cost,
        "memories": [
            {
                "id": each.match.id,
                "source": paths.store_name(each.prefix),
                "path": each.prefix + each.match.path,
                "probability": round(each.match.probability, 4),
                "shown": each.shown,
            }
            for each in decision.shown
            if text
        ],
    }
    note = f"about {cost} tokens" if text else silence or "nothing is relevant enough to be shown"
    return CommandResult(data, lambda _: text, note=f"({note})")


def decide(project: Project, only: StoreRef | None, prompt: PromptToPreview, judge: Judge | None = None) -> Decision:
    """Return what the hook would decide for a prompt; with `only`, if it had that store alone."""
    session, stores = table.transcript_at(prompt.transcript), project.stores_for(only)
    first, settings = prompt.is_first, project.settings
    return for_prompt.preview(stores, prompt.text, settings, first=first, transcript=session, judge=judge)

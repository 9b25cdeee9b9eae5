"""`recollect search`: what answers a question, best first, with the passage that does."""

from __future__ import annotations

import argparse
from typing import Any

from recollect.cli.output import Answer
from recollect.cli.terminal import Screen, clean, wrap
from recollect.errors import BadInput
from recollect.project import Hit, Project
from recollect.record import compose


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what to look for, in your own words")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="at most N results (default: 10)")
    parser.add_argument(
        "--category", action="append", default=[], metavar="NAME", help="only this category (repeatable)"
    )
    parser.add_argument("--tag", action="append", default=[], metavar="TAG", help="only with this tag (repeatable)")
    parser.add_argument("--include-retired", action="store_true", help="retired and archived records too")


def run(args: argparse.Namespace) -> Answer:
    if args.limit < 1:
        raise BadInput(f"--limit {args.limit} asks for nothing", fix="give a number from 1 on")
    text = " ".join(args.text)
    hits = Project(args.project).search(
        text,
        args.limit,
        categories=[compose.category_of(name) for name in args.category],
        tags=[tag.lower() for tag in args.tag],
        include_retired=args.include_retired,
    )
    data = {"query": text, "results": [_brief(hit) for hit in hits]}
    return Answer(data, lambda screen: _text(screen, hits))


def _brief(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "category": hit.category,
        "title": hit.title,
        "path": hit.path,
        "tags": list(hit.tags),
        "score": round(hit.score, 4),
        "probability": round(hit.probability, 4),
        "confidence": hit.confidence,
        "snippet": hit.snippet(),
        "updated_at": hit.updated_at,
        "status": hit.status,
    }


def _text(screen: Screen, hits: list[Hit]) -> str:
    if not hits:
        return "Nothing found. Other words may help, or --include-retired." if screen.is_terminal else ""
    return "\n".join(_hit_text(screen, hit) for hit in hits)


def _hit_text(screen: Screen, hit: Hit) -> str:
    styles = {"high": ("green",), "medium": ("yellow",), "low": ("dim",)}
    status = "" if hit.status == "active" else f" [{hit.status}]"
    via = f" (replaces {clean(hit.via[1])})" if hit.via else ""
    head = (
        f"{screen.paint(clean(hit.title), 'bold')}{status}{via}\n"
        f"  {hit.category}  {screen.paint(f'{hit.confidence} {hit.probability:.2f}', *styles[hit.confidence])}"
        f"  {clean(hit.path)}"
    )
    snippet = _coloured(hit) if screen.has_colour else clean(hit.snippet())
    return f"{head}\n{wrap(snippet, screen.width, '    ')}"


def _coloured(hit: Hit) -> str:
    """The snippet with its matches highlighted; each word is cleaned by itself, so no record can set a colour."""
    start, end = "\x02", "\x03"
    words = []
    for word in hit.snippet((start, end)).split():
        asked = word.startswith(start)
        plain = clean(word.strip(start + end))
        words.append(f"\033[1;36m{plain}\033[0m" if asked else plain)
    return " ".join(words)

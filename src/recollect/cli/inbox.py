"""`recollect inbox`: the drafts that wait for review."""

from __future__ import annotations

import argparse
from typing import Any, Union

from recollect.capture.inbox import BrokenDraft, Draft, Inbox
from recollect.cli import store_args
from recollect.cli.output import Answer
from recollect.cli.terminal import Screen, table
from recollect.record import memory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="only this draft")


def run(args: argparse.Namespace) -> Answer:
    box = Inbox(store_args.store_of(args).root)
    found: list[Union[Draft, BrokenDraft]] = [box.get(args.name)] if args.name else list(box.scan())
    return Answer({"drafts": [brief(one) for one in found]}, lambda screen: _text(screen, found))


def brief(one: Union[Draft, BrokenDraft]) -> dict[str, Any]:
    """A draft for programs: the record it proposes and what it rests on."""
    if isinstance(one, BrokenDraft):
        return {"name": one.name, "error": {"code": one.error.code, "message": one.error.message, "fix": one.error.fix}}
    return {
        "name": one.name,
        "category": one.record.category,
        "title": one.record.title,
        "made_at": one.made_at,
        "session": one.session,
        "machine_made": one.is_machine_made,
        "evidence": list(one.evidence),
        "updates": one.updates,
        "supersedes": one.supersedes,
        "record": memory.to_json(one.record),
    }


def _text(screen: Screen, found: list[Union[Draft, BrokenDraft]]) -> str:
    rows = [
        (one.name, one.record.category, one.made_at[:10], one.record.title)
        if isinstance(one, Draft)
        else (one.name, "unreadable", "", one.error.message)
        for one in found
    ]
    if not rows:
        return "The inbox is empty." if screen.is_terminal else ""
    lines = [table(screen, ("draft", "category", "made", "title"), rows)]
    if screen.is_terminal:
        lines.append(screen.paint(f"{len(rows)} waiting: recollect review", "dim"))
    return "\n".join(lines)

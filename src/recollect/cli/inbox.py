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
    store = store_args.store_of(args)
    store.recover()
    box = Inbox(store.root)
    drafts: list[Union[Draft, BrokenDraft]] = [box.get(args.name)] if args.name else list(box.scan())
    return Answer({"drafts": [brief(draft) for draft in drafts]}, lambda screen: _text(screen, drafts))


def brief(draft: Union[Draft, BrokenDraft]) -> dict[str, Any]:
    """A draft for programs: the record it proposes and what it rests on."""
    if isinstance(draft, BrokenDraft):
        return {
            "name": draft.name,
            "error": {"code": draft.error.code, "message": draft.error.message, "fix": draft.error.fix},
        }
    return {
        "name": draft.name,
        "category": draft.record.category,
        "title": draft.record.title,
        "made_at": draft.made_at,
        "session": draft.session,
        "machine_made": draft.is_machine_made,
        "evidence": list(draft.evidence),
        "updates": draft.updates,
        "supersedes": draft.supersedes,
        "record": memory.to_json(draft.record),
    }


def _text(screen: Screen, drafts: list[Union[Draft, BrokenDraft]]) -> str:
    rows = [
        (draft.name, draft.record.category, draft.made_at[:10], draft.record.title)
        if isinstance(draft, Draft)
        else (draft.name, "unreadable", "", draft.error.message)
        for draft in drafts
    ]
    if not rows:
        return "The inbox is empty." if screen.is_terminal else ""
    lines = [table(screen, ("draft", "category", "made", "title"), rows)]
    if screen.is_terminal:
        lines.append(screen.paint(f"{len(rows)} waiting: recollect review", "dim"))
    return "\n".join(lines)

"""`onrecord inbox`: list the drafts that wait for review."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from onrecord import paths
from onrecord.cli import arguments, record_table, resolve
from onrecord.cli.output import CommandResult, Screen, table
from onrecord.cli.record_table import ListedPath, TableRow
from onrecord.cli.review import Reviewer
from onrecord.project import Project
from onrecord.record.drafts import Draft
from onrecord.settings import CAPTURE_SWITCH, off_switches
from onrecord.store import reference, waiting
from onrecord.store.inbox import BrokenDraft

_HEADS = ("", "title", "category", "age", "draft")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="only this draft")
    parser.add_argument("--brief", action="store_true", help="print only the number of drafts, for a status line")


def run(args: argparse.Namespace) -> CommandResult:
    arguments.exclude("--brief", args.brief, {"NAME": args.name})
    if args.brief:
        # A status line is no place for errors, so a missing store counts as an empty inbox.
        root = arguments.store_of(args).root
        return CommandResult({"drafts": waiting.count(root)}, lambda screen: waiting.line(root, "/memory:review"))
    reviewer = Reviewer(arguments.existing_writer(args), Project(args.project).root, arguments.asker(args))
    box = reviewer.box
    drafts = [box.get(resolve.draft(reviewer.asker, box, args.name))] if args.name else list(box.scan())
    data = {"drafts": [reviewer.brief(draft) for draft in drafts]}
    if not args.json:
        record_table.save_listing(ListedPath(box.root, _path(draft)) for draft in drafts)
    off = "; ".join(map(str, off_switches(reviewer.writer.settings, CAPTURE_SWITCH)))
    result = CommandResult(data, lambda screen: _text(screen, drafts, arguments.store_flags(args)), note=off)
    return result.warned(*reviewer.writer.store.warnings)


def _text(screen: Screen, drafts: Sequence[Draft | BrokenDraft], where: str) -> str:
    names = reference.shortest_names(map(_path, drafts), list(map(_path, drafts)))
    lines = [_line(draft, names[_path(draft)]) for draft in drafts]
    if not screen.is_terminal:
        rows = [(draft.name, line.category, line.moment[:10], line.title) for draft, line in zip(drafts, lines)]
        return table(screen, (), rows)
    if not lines:
        return "The inbox is empty."
    count = screen.paint(f"{len(lines)} waiting: onrecord review{where}", "dim")
    return "\n".join((record_table.render(screen, lines, _HEADS), count))


def _line(draft: Draft | BrokenDraft, name: str) -> TableRow:
    if isinstance(draft, BrokenDraft):
        return TableRow(draft.error.message, "unreadable", "", name)
    return TableRow(draft.record.title, draft.record.category, draft.made_at, name)


def _path(draft: Draft | BrokenDraft) -> str:
    return f"{paths.INBOX}/{draft.name}.json"

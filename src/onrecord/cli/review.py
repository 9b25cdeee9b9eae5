"""`onrecord review`: accept, edit, merge, reject or skip each draft that waits."""

from __future__ import annotations

import argparse
from typing import Any

from onrecord.capture import review
from onrecord.cli import arguments, chosen, draft_page
from onrecord.cli.output import CommandResult, Screen, clean
from onrecord.cli.review_walk import Walk
from onrecord.errors import BadInput
from onrecord.project import Project
from onrecord.record import memory
from onrecord.record.drafts import Draft
from onrecord.store.inbox import BrokenDraft, Inbox
from onrecord.store.store import Entry
from onrecord.store.writer import Writer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    decision, target = parser.add_mutually_exclusive_group(), parser.add_mutually_exclusive_group()
    decision.add_argument("--accept", metavar="NAME", help="make this draft a record, without asking")
    decision.add_argument("--merge", metavar="NAME", help="put this draft into an existing record (with --into)")
    parser.add_argument("--into", metavar="ID", default="", help="the record to merge into")
    decision.add_argument("--reject", metavar="NAME", help="throw this draft away and never suggest it again")
    target.add_argument("--update", metavar="ID", default="", help="with --accept: it changes this record")
    target.add_argument("--supersedes", metavar="ID", default="", help="with --accept: it replaces this record")
    parser.add_argument("--force", action="store_true", help="accept it although a record says nearly the same")


def run(args: argparse.Namespace) -> CommandResult:
    arguments.require("--into", args.into, "--merge", args.merge)
    arguments.require("--update", args.update, "--accept", args.accept)
    arguments.require("--supersedes", args.supersedes, "--accept", args.accept)
    desk = Desk(args)
    for verb in ("accept", "merge", "reject"):
        if getattr(args, verb):
            return desk.decide(verb, getattr(args, verb))
    if args.json:
        fix = "onrecord inbox --json; then name the draft, with --accept, --merge or --reject"
        raise BadInput("a review needs somebody to answer", fix=fix)
    return Walk(args, desk.writer, desk.box).run()


class Desk:
    """Where drafts are decided on."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.writer: Writer = arguments.existing_writer(args)
        self.writer.store.recover()
        self.box = Inbox(self.writer.store.root)
        self.project = Project(args.project).root

    def brief(self, draft: Draft | BrokenDraft) -> dict[str, Any]:
        """A draft for programs: the record it proposes, what it rests on, and what it changes in which record."""
        if isinstance(draft, BrokenDraft):
            error = draft.error
            return {"name": draft.name, "error": {"code": error.code, "message": error.message, "fix": error.fix}}
        return {
            "name": draft.name,
            "category": draft.record.category,
            "title": draft.record.title,
            **{name: getattr(draft, name) for name in ("made_at", "session", "updates", "summary", "supersedes")},
            "machine_made": draft.is_machine_made,
            "evidence": list(draft.evidence),
            "record": memory.to_json(draft.record),
            "diff": draft_page.difference(self.writer, draft, Screen()).split("\n") if draft.updates else [],
        }

    def decide(self, verb: str, name: str) -> CommandResult:
        """Carry one decision out that was made on the command line."""
        name = chosen.draft(self.args, self.box, name, changes=True)
        draft = self.box.find(name)
        if verb == "reject":
            review.reject(self.writer, draft, project=self.project)
            return _answer("rejected", name)
        if isinstance(draft, BrokenDraft):
            raise draft.error
        if verb == "merge":
            into = chosen.flag(self.args, self.writer.store, self.args.into) or draft.updates
            if not into:
                raise BadInput("--merge needs the record to merge into", fix=f"--merge {name} --into ID")
            return self._done("merged", name, review.merge(self.writer, draft, into, project=self.project))
        return self._done("accepted", name, self._accept(draft))

    def _accept(self, draft: Draft) -> Entry:
        args = self.args
        updates, supersedes = (chosen.flag(args, self.writer.store, typed) for typed in (args.update, args.supersedes))
        draft = draft._replace(updates=updates or draft.updates, supersedes=supersedes or draft.supersedes)
        return review.accept(self.writer, draft, project=self.project, force=args.force)

    def _done(self, verb: str, name: str, entry: Entry) -> CommandResult:
        return _answer(verb, name, arguments.handle(self.writer.store, entry))


def _answer(verb: str, name: str, handle: dict[str, Any] | None = None) -> CommandResult:
    data = {"draft": name, "outcome": verb, **(handle or {})}
    where = f" as {handle['path']}" if handle else ""
    return CommandResult(data, lambda screen: f"{screen.paint(verb, 'green')} {clean(name)}{where}")

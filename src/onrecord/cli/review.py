"""`onrecord review`: accept, edit, merge, reject or skip each draft that waits."""

from __future__ import annotations

import argparse
from typing import Any

from onrecord.capture import review
from onrecord.cli import arguments, resolve, review_walk
from onrecord.cli.output import CommandResult, Screen, clean
from onrecord.cli.questions import Asker
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
    desk = Desk(arguments.existing_writer(args), Project(args.project).root, arguments.asker(args))
    if args.accept:
        result = desk.accept(args.accept, updates=args.update, supersedes=args.supersedes, force=args.force)
    elif args.merge:
        result = desk.merge(args.merge, args.into)
    elif args.reject:
        result = desk.reject(args.reject)
    elif args.json:
        fix = "onrecord inbox --json; then name the draft, with --accept, --merge or --reject"
        raise BadInput("a review needs somebody to answer", fix=fix)
    else:
        result = Walk(desk.writer, desk.box, desk.project, desk.asker).run()
    return result.warned(*desk.writer.store.warnings)


class Desk:
    """Where drafts are decided on."""

    def __init__(self, writer: Writer, project: str, asker: Asker) -> None:
        self.asker = asker
        self.writer = writer
        self.writer.store.recover()
        self.box = Inbox(self.writer.store.root)
        self.project = project

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
            "diff": review_walk.difference(self.writer, draft, Screen()).split("\n") if draft.updates else [],
        }

    def reject(self, typed: str) -> CommandResult:
        """Reject a draft, which may be one that cannot be read."""
        name = self._name(typed)
        review.reject(self.writer, self.box.find(name), project=self.project)
        return _answer("rejected", name)

    def merge(self, typed: str, into: str) -> CommandResult:
        """Put a draft into a record; without `into`, into the one that it updates."""
        draft = self._draft(typed)
        target = resolve.flag_id(self.asker, self.writer.store, into) or draft.updates
        if not target:
            raise BadInput("--merge needs the record to merge into", fix=f"--merge {draft.name} --into ID")
        return self._done("merged", draft.name, review.merge(self.writer, draft, target, project=self.project))

    def accept(self, typed: str, *, updates: str, supersedes: str, force: bool) -> CommandResult:
        """Make a draft a record, or let it change or replace one."""
        draft = self._draft(typed)
        updates, supersedes = (resolve.flag_id(self.asker, self.writer.store, each) for each in (updates, supersedes))
        draft = draft._replace(updates=updates or draft.updates, supersedes=supersedes or draft.supersedes)
        entry = review.accept(self.writer, draft, project=self.project, force=force)
        return self._done("accepted", draft.name, entry)

    def _name(self, typed: str) -> str:
        return resolve.draft(self.asker, self.box, typed, changes=True)

    def _draft(self, typed: str) -> Draft:
        draft = self.box.find(self._name(typed))
        if isinstance(draft, BrokenDraft):
            raise draft.error
        return draft

    def _done(self, verb: str, name: str, entry: Entry) -> CommandResult:
        return _answer(verb, name, arguments.record_data(self.writer.store, entry))


def _answer(verb: str, name: str, handle: dict[str, Any] | None = None) -> CommandResult:
    data = {"draft": name, "outcome": verb, **(handle or {})}
    where = f" as {handle['path']}" if handle else ""
    return CommandResult(data, lambda screen: f"{screen.paint(verb, 'green')} {clean(name)}{where}")

"""`recollect inbox`: the drafts that wait; `recollect review`: accept, edit, merge, reject or skip each of them."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from recollect import switches
from recollect.capture import review, similar, waiting
from recollect.capture.inbox import BrokenDraft, Inbox
from recollect.cli import arguments, chosen
from recollect.cli.form_file import FormFile
from recollect.cli.output import Answer, Screen, clean, say, table
from recollect.cli.show import page
from recollect.errors import BadInput, RecollectError
from recollect.project import Project
from recollect.record import compose, form, memory, naming, revision
from recollect.record.draft import Draft
from recollect.record.memory import Memory
from recollect.store.store import Entry
from recollect.store.writer import Writer

_QUESTION = "[a]ccept  [e]dit  [m]erge  [r]eject  [s]kip  [q]uit  [?] help: "
_WORDS = {"a": "accept", "e": "edit", "m": "merge", "r": "reject", "s": "skip", "q": "quit"}
_HELP = """a  accept: it becomes a record
e  edit: change it first, in your editor
m  merge: put it into a record that exists
r  reject: delete it; the same words are not suggested again
s  skip: leave it for later
q  quit: leave this and all others for later"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("command") == "inbox":
        parser.add_argument("name", metavar="NAME", nargs="?", default="", help="only this draft")
        parser.add_argument("--brief", action="store_true", help="only how many wait, in a line; for a status line")
        return
    parser.add_argument("--accept", metavar="NAME", help="make this draft a record, without asking")
    parser.add_argument("--merge", metavar="NAME", help="put this draft into an existing record (with --into)")
    parser.add_argument("--into", metavar="ID", default="", help="the record to merge into")
    parser.add_argument("--reject", metavar="NAME", help="throw this draft away and never suggest it again")
    parser.add_argument("--update", metavar="ID", default="", help="with --accept: it changes this record")
    parser.add_argument("--supersedes", metavar="ID", default="", help="with --accept: it replaces this record")
    parser.add_argument("--force", action="store_true", help="accept it although a record says nearly the same")


def run(args: argparse.Namespace) -> Answer:
    if args.command == "inbox" and args.brief:
        # For a status line, which is no place for errors: nothing waits where there is no store.
        root = arguments.store_of(args).root
        return Answer({"drafts": waiting.count(root)}, lambda screen: waiting.line(root))
    desk = Desk(args)
    if args.command == "inbox":
        drafts = [desk.box.get(chosen.draft(args, desk.box, args.name))] if args.name else list(desk.box.scan())
        data = {"drafts": [desk.brief(draft) for draft in drafts]}
        return Answer(data, lambda screen: _rows(screen, drafts), note=_off(desk))
    for verb in ("accept", "merge", "reject"):
        if getattr(args, verb):
            return desk.decide(verb, getattr(args, verb))
    if args.json:
        fix = "recollect inbox --json; then name the draft, with --accept, --merge or --reject"
        raise BadInput("a review needs somebody to answer", fix=fix)
    return desk.walk()


def _off(desk: Desk) -> str:
    return "; ".join(map(str, switches.off(desk.writer.settings, switches.CAPTURE)))


def _rows(screen: Screen, drafts: Sequence[Draft | BrokenDraft]) -> str:
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


class Desk:
    """Where drafts are decided on."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.writer: Writer = arguments.existing_writer(args)
        self.writer.store.recover()
        self.box = Inbox(self.writer.store.root)
        self.project = Project(args.project).root
        self.screen = Screen.of(sys.stdout)

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
            "diff": self._difference(draft, Screen()).split("\n") if draft.updates else [],
        }

    def decide(self, verb: str, name: str) -> Answer:
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

    def _done(self, verb: str, name: str, entry: Entry) -> Answer:
        return _answer(verb, name, arguments.handle(self.writer.store, entry))

    def walk(self) -> Answer:
        """Show every draft and ask what shall become of it."""
        waiting = list(self.box.scan())
        counts = dict.fromkeys(("accepted", "merged", "rejected", "skipped"), 0)
        for number, draft in enumerate(waiting, 1):
            self._say(f"\n{number} of {len(waiting)}: {self.screen.paint(clean(draft.name), 'bold')}")
            outcome = self._ask_about(draft)
            if outcome == "quit":
                break
            counts[outcome] += 1
        outcomes = ", ".join(f"{count} {verb}" for verb, count in counts.items() if count) or "nothing to decide"
        return Answer(counts, lambda screen: outcomes if waiting else "The inbox is empty.")

    def _ask_about(self, draft: Draft | BrokenDraft) -> str:
        if isinstance(draft, BrokenDraft):
            self._say(f"cannot be read: {clean(draft.error.message)}")
        else:
            self._show(draft)
        while True:
            verb = _WORDS.get(self._ask(_QUESTION).lower()[:1], "")
            if not verb:
                self._say(_HELP)
                continue
            try:
                outcome, draft = self._carry_out(verb, draft)
            except RecollectError as error:
                self._say(f"{error.code}: {clean(error.message)}\nfix: {clean(error.fix)}")
                continue
            if outcome:
                return outcome

    def _carry_out(self, verb: str, draft: Draft | BrokenDraft) -> tuple[str, Draft | BrokenDraft]:
        if verb in ("quit", "skip"):
            return ("quit" if verb == "quit" else "skipped"), draft
        if verb == "reject":
            review.reject(self.writer, draft, project=self.project)
            return "rejected", draft
        if isinstance(draft, BrokenDraft):
            raise BadInput("an unreadable draft can only be rejected or skipped", fix="answer r or s")
        if verb == "edit":
            edited = self._edit(draft)
            self._show(edited)
            return "", edited
        if verb == "merge":
            return self._merge(draft), draft
        entry = review.accept(self.writer, draft, project=self.project, force=self._insists(draft))
        self._say(f"{self.screen.paint('saved', 'green')} {entry.path}")
        return "accepted", draft

    def _insists(self, draft: Draft) -> bool:
        """Whether a draft is to be saved beside the record that says the same."""
        near = [] if draft.updates or draft.supersedes else similar.find(self.writer.store, draft.record)
        same = next((each for each in near if each.is_same), None)
        return same is not None and self._agrees(f"{same.entry.path} says nearly the same. Save it all the same?")

    def _merge(self, draft: Draft) -> str:
        near = similar.find(self.writer.store, draft.record)
        likely = draft.updates or (near[0].memory.id if near else "")
        into = self._ask(f"into which record? [{clean(likely)}] ") or likely
        if not into:
            return ""
        self._say(difference(*review.preview(self.writer, draft, into), self.screen))
        if not self._agrees("merge?"):
            return ""
        review.merge(self.writer, draft, into, project=self.project)
        return "merged"

    def _edit(self, draft: Draft) -> Draft:
        """The draft after its record went through a form; kept in the inbox as it is now."""
        record = draft.record
        text = form.render(record.category, memory.to_json(record), f"A draft: {record.title}")
        shown = form.parse(record.category, text).fields
        file = FormFile(record.category, text, name=draft.name, resume=lambda name: f"the form {name}")
        edited = draft._replace(record=file.fill(lambda fields: _revised(record, revision.difference(shown, fields))))
        review.put(self.writer, [edited], "edit draft")
        file.drop()
        return edited

    def _show(self, draft: Draft) -> None:
        if draft.revises and self.writer.store.has(draft.updates):
            self._show_change(draft)
            return
        # The quotations follow the page, and the source repeats them.
        record = draft.record._replace(source="") if draft.evidence else draft.record
        self._say(page(Entry(record, f"inbox/{draft.name}.json", ""), self.screen, status="draft"))
        for quote in draft.evidence:
            self._say(f"{self.screen.paint('said', 'cyan')}: {clean(quote)}")
        if draft.is_machine_made:
            self._say(self.screen.paint("made by recollect from the transcript, not by an agent", "yellow"))
        for near in similar.find(self.writer.store, draft.record):
            word = "says nearly the same" if near.is_same else "similar"
            self._say(f"{self.screen.paint(word, 'yellow')}: {near.entry.path} ({clean(near.memory.title)})")
        if changes := self._difference(draft, self.screen):
            self._say(changes)

    def _show_change(self, draft: Draft) -> None:
        """Only what a draft changes in the record it revises."""
        entry = self.writer.store.get(draft.updates)
        self._say(f"changes {entry.path} ({clean(entry.memory.title)})")
        if entry.hash != draft.revises:
            self._say(self.screen.paint("the record was changed since; this draft can only be rejected", "yellow"))
        if draft.summary:
            self._say(f"{self.screen.paint('why', 'cyan')}: {clean(draft.summary)}")
        self._say(self._difference(draft, self.screen))

    def _difference(self, draft: Draft, screen: Screen) -> str:
        """What a draft changes in the record that it updates; empty if there is no such record."""
        if not draft.updates or not self.writer.store.has(draft.updates):
            return ""
        try:
            return difference(*review.preview(self.writer, draft, draft.updates), screen)
        except RecollectError as error:
            return f"cannot be applied: {clean(error.message)}"

    def _say(self, text: str) -> None:
        say(text, self.screen)

    def _agrees(self, question: str) -> bool:
        return self._ask(f"{question} [y/N] ").lower()[:1] == "y"

    def _ask(self, question: str) -> str:
        say(question, self.screen, end="")
        line = sys.stdin.readline()
        if not line:
            fix = "run it in a terminal, or use --accept NAME, --merge NAME or --reject NAME"
            raise BadInput("nobody answered", fix=fix)
        return line.strip()


def _revised(record: Memory, patch: Mapping[str, Any]) -> Memory:
    """The record of a draft with a patch of its form; its id follows the title."""
    raw = revision.applied(memory.to_json(record), patch)
    if "tags" in patch:
        raw["tags"] = list(naming.tags(raw.get("tags", [])))
    if "title" in raw:
        raw["title"] = naming.title(raw["title"])
    changed = compose.checked(raw)
    if changed.title == record.title:
        return changed
    return changed._replace(id=naming.slug(changed.title, [*changed.tags, changed.category.replace("_", " ")]))


def difference(before: Memory, after: Memory, screen: Screen) -> str:
    """What would change in a record, line by line."""
    old, new = (_plain(record) for record in (before, after))
    lines = []
    for line in difflib.unified_diff(old, new, before.path, f"{after.path} with the draft", lineterm="", n=1):
        colour = {"+": "green", "-": "red"}.get(line[:1], "dim")
        lines.append(screen.paint(clean(line), colour))
    return "\n".join(lines) or "The record says all of it already."


def _plain(record: Memory) -> list[str]:
    derived = ("changes", "times_updated", "updated_at")
    fields = {key: value for key, value in memory.to_json(record).items() if key not in derived}
    return json.dumps(fields, ensure_ascii=False, indent=2).split("\n")


def _answer(verb: str, name: str, handle: dict[str, Any] | None = None) -> Answer:
    data = {"draft": name, "outcome": verb, **(handle or {})}
    where = f" as {handle['path']}" if handle else ""
    return Answer(data, lambda screen: f"{screen.paint(verb, 'green')} {clean(name)}{where}")

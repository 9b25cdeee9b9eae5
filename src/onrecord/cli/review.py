"""`onrecord review`: decide on the drafts in the inbox, by name, or one after the other with a key each.

`onrecord inbox` lists them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from onrecord import attention, paths
from onrecord.capture import review, similar
from onrecord.cli import arguments, draft_page, questions, record_table, resolve, terminal
from onrecord.cli.draft_page import difference
from onrecord.cli.form_file import FormFile
from onrecord.cli.output import CommandResult, Screen, clean, error_data, say, say_paged, table
from onrecord.cli.questions import Asker, Option
from onrecord.cli.record_table import ListedPath, TableRow
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, CannotUndo, Changed, NotFound, OnrecordError
from onrecord.project import Project
from onrecord.record import drafts as revision
from onrecord.record import form, memory
from onrecord.record.drafts import Draft
from onrecord.settings import CAPTURE_SWITCH, off_switches
from onrecord.store import history, record_names, reference
from onrecord.store.inbox import BrokenDraft, Inbox
from onrecord.store.writer import Writer
from onrecord.text import plural

_OUTCOMES = ("accepted", "merged", "rejected", "skipped")
_ACCEPT = Option("a", "accept", "accept: make it a record", is_exact=True)
_EDIT = Option("e", "edit", "edit: change it first, in a form in your editor")
_MERGE = Option("m", "merge", "merge: put it into an existing record")
_REJECT = Option("r", "reject", "reject: delete it; the same words are not suggested again")
_SOURCE = Option("o", "source", "source: the passage or the words that it was made from")
_VIEW = Option("v", "", "view: the whole draft, where it does not fit on the screen")
_SKIP = Option("s", "skip", "skip: leave it for later")
_UNDO = Option("u", "undo", "undo: take your last answer back, and decide again")
_QUIT = Option("q", "quit", "quit: leave this and all others for later")
_DECISIONS = {"accept": "accepted", "import": "accepted", "merge": "merged", "reject": "rejected"}
"""What happened to a draft, by the change that took it out of the inbox."""

_MAX_GONE = 3
"""Drafts that are named when somebody else has decided on several."""

_MAX_TITLES = 10
"""Titles listed in a question about several drafts; more would not fit on a screen."""

_INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""

_HEADS = ("", "title", "category", "age", "draft")


class _Decision(NamedTuple):
    """A person's answer: the position of the draft, the outcome, and the change that `undo` reverts."""

    position: int
    outcome: str
    drafts: tuple[Draft | BrokenDraft, ...]
    """Several if a group was accepted at once."""
    change: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("command") == "inbox":
        parser.add_argument("name", metavar="NAME", nargs="?", default="", help="only this draft")
        meaning = "print only the number of drafts, for a status line"
        parser.add_argument("--brief", action="store_true", help=meaning)
        return
    decision, target = parser.add_mutually_exclusive_group(), parser.add_mutually_exclusive_group()
    decision.add_argument("--accept", metavar="NAME", help="make this draft a record, without asking")
    decision.add_argument("--merge", metavar="NAME", help="put this draft into an existing record (with --into)")
    parser.add_argument("--into", metavar="ID", default="", help="the record to merge into")
    decision.add_argument("--reject", metavar="NAME", help="delete this draft and never suggest it again")
    target.add_argument("--update", metavar="ID", default="", help="with --accept: update this record with it")
    target.add_argument("--supersedes", metavar="ID", default="", help="with --accept: it replaces this record")
    parser.add_argument("--force", action="store_true", help="accept it although a record says nearly the same")


def run(args: argparse.Namespace) -> CommandResult:
    if args.command == "inbox":
        arguments.exclude("--brief", args.brief, {"NAME": args.name})
        if args.brief:
            return _count_drafts(arguments.store_of(args).root)
        reviewer = Reviewer(arguments.existing_writer(args), Project(args.project).root, arguments.asker(args))
        return _list_drafts(reviewer, args.name, arguments.store_flags(args), saves_listing=not args.json)
    arguments.require("--into", args.into, "--merge", args.merge)
    arguments.require("--update", args.update, "--accept", args.accept)
    arguments.require("--supersedes", args.supersedes, "--accept", args.accept)
    reviewer = Reviewer(arguments.existing_writer(args), Project(args.project).root, arguments.asker(args))
    if args.accept:
        result = reviewer.accept(args.accept, updates=args.update, supersedes=args.supersedes, force=args.force)
    elif args.merge:
        result = reviewer.merge(args.merge, args.into)
    elif args.reject:
        result = reviewer.reject(args.reject)
    elif args.json:
        fix = "onrecord inbox --json; then name the draft, with --accept, --merge or --reject"
        raise BadInput("an interactive review cannot print JSON", fix=fix)
    else:
        result = _InteractiveReview(reviewer).run()
    return result.warned(*reviewer.writer.store.warnings)


class Reviewer:
    """Accepts, merges and rejects drafts of a store by name."""

    def __init__(self, writer: Writer, project: str, asker: Asker) -> None:
        self.asker = asker
        self.writer = writer
        self.writer.store.recover()
        self.box = Inbox(self.writer.store.root)
        self.project = project

    def brief(self, draft: Draft | BrokenDraft) -> dict[str, Any]:
        """Return a draft for programs: the record, its evidence, and the changes to the record it updates."""
        if isinstance(draft, BrokenDraft):
            error = draft.error
            return {"name": draft.name, "error": error_data(error.code, error.message, error.fix)}
        return {
            "name": draft.name,
            "category": draft.record.category,
            "title": draft.record.title,
            **{name: getattr(draft, name) for name in ("made_at", "session", "updates", "summary")},
            "supersedes": draft.replaces,
            "machine_made": draft.is_machine_made,
            "note": draft.note,
            "evidence": list(draft.evidence),
            "record": memory.to_json(draft.record),
            "diff": difference(self.writer, draft, Screen()).split("\n") if draft.updates else [],
        }

    def reject(self, reference: str) -> CommandResult:
        """Reject a draft, also one that cannot be read."""
        name = self._name(reference)
        review.reject(self.writer, self.box.find(name), project=self.project)
        return _result("rejected", name)

    def merge(self, reference: str, into: str) -> CommandResult:
        """Merge a draft into the record `into`, by default the one that it updates. Raises BadInput."""
        draft = self._draft(reference)
        target = resolve.flag_id(self.asker, self.writer.store, into) or draft.updates
        if not target:
            raise BadInput("--merge needs the record to merge into", fix=f"--merge {draft.name} --into ID")
        entry = review.merge(self.writer, draft, target, project=self.project)
        return _result("merged", draft.name, arguments.record_data(self.writer.store, entry))

    def accept(self, reference: str, *, updates: str, supersedes: str, force: bool) -> CommandResult:
        """Make a draft a record, or let it update or replace one."""
        draft = self._draft(reference)
        draft = draft._replace(
            updates=resolve.flag_id(self.asker, self.writer.store, updates) or draft.updates,
            supersedes=resolve.flag_id(self.asker, self.writer.store, supersedes) or draft.supersedes,
        )
        entry = review.accept(self.writer, draft, project=self.project, force=force)
        handle = arguments.record_data(self.writer.store, entry)
        return _result("accepted", draft.name, handle, draft.replaces)

    def _name(self, reference: str) -> str:
        return resolve.draft(self.asker, self.box, reference, changes=True)

    def _draft(self, reference: str) -> Draft:
        draft = self.box.find(self._name(reference))
        if isinstance(draft, BrokenDraft):
            raise draft.error
        return draft


def _result(verb: str, name: str, handle: dict[str, Any] | None = None, replaced: str = "") -> CommandResult:
    data = {"draft": name, "outcome": verb, **(handle or {}), **({"supersedes": replaced} if replaced else {})}
    where = f" as {handle['path']}" if handle else ""
    where += f"; it replaces {clean(replaced)}" if replaced else ""
    return CommandResult(data, lambda screen: f"{screen.paint(verb, 'green')} {clean(name)}{where}")


class _InteractiveReview:
    """A review of all drafts in turn: one key decides on each, or one line where there is no terminal."""

    def __init__(self, reviewer: Reviewer) -> None:
        self.asker = reviewer.asker
        self.writer = reviewer.writer
        self.project = reviewer.project
        self.screen = Screen.for_stream(sys.stdout)
        self.box = reviewer.box
        self.drafts: list[Draft | BrokenDraft] = list(self.box.scan())
        self.gone: set[str] = set()
        """Names of the drafts that somebody else decided on."""
        self.decisions: list[_Decision] = []

    def run(self) -> CommandResult:
        """Ask about each draft until all are decided on, or the person stops. Raises BadInput without an answer."""
        status = 0
        try:
            while (position := self._next_position()) < len(self.drafts) and self._decide(position):
                pass
        except KeyboardInterrupt:
            say("", self.screen)
            status = _INTERRUPTED
        except EOFError:
            if not terminal.at_terminal() and not self.decisions:
                fix = "run it in a terminal, or use --accept NAME, --merge NAME or --reject NAME"
                raise BadInput("no answer: standard input is at its end", fix=fix) from None
            say("", self.screen)
        counts = self._counts()
        return CommandResult(counts, lambda screen: self._summary(counts), status=status)

    def _counts(self) -> dict[str, int]:
        """Count the drafts by outcome; the last decision on a draft counts."""
        outcomes = {draft.name: decision.outcome for decision in self.decisions for draft in decision.drafts}
        return {**dict.fromkeys(_OUTCOMES, 0), **Counter(outcomes.values())}

    def _summary(self, counts: Mapping[str, int]) -> str:
        if not self.drafts:
            return "The inbox is empty."
        outcomes = [f"{counts[name]} {name}" for name in _OUTCOMES if counts[name]] or ["nothing decided"]
        outcomes += [f"{len(self.gone)} decided on by somebody else"] if self.gone else []
        rest = len(self.box.names())
        return ", ".join(outcomes) + (f"; {plural(rest, 'draft')} left" if rest else "")

    def _next_position(self) -> int:
        """Return the position of the first undecided draft after the last decision."""
        settled = self.gone | {draft.name for decision in self.decisions for draft in decision.drafts}
        position = self.decisions[-1].position + 1 if self.decisions else 0
        while position < len(self.drafts) and self.drafts[position].name in settled:
            position += 1
        return position

    def _decide(self, position: int) -> bool:
        """Show a draft and carry out answers until it is decided on. Return False if the person quits."""
        self._pass_over_gone()
        if self.drafts[position].name in self.gone:
            return True
        self.drafts[position] = self.box.find(self.drafts[position].name)
        name = self.screen.paint(clean(self.drafts[position].name), "bold")
        say(f"\n{position + 1} of {len(self.drafts)}: {name}", self.screen)
        self._show(position)
        before = len(self.decisions)
        while len(self.decisions) == before and self.drafts[position].name not in self.gone:
            group = self._group(self.drafts[position])
            answer = questions.read_choice("", self._options(self.drafts[position], group), self.screen)
            if answer == "q":
                return False
            try:
                self._carry_out(answer, position)
            except (Changed, NotFound) as error:
                # Not an error for whoever reviews: somebody else was quicker.
                if not self._pass_over_gone():
                    self._report(error)
                    self._show_again(position)
            except OnrecordError as error:
                self._report(error)
        return True

    def _show(self, position: int) -> None:
        say(draft_page.draft_page(self.writer, self.drafts[position], self.screen).fitted, self.screen)

    def _report(self, error: OnrecordError) -> None:
        fix = f"\nfix: {clean(error.fix)}" if error.fix else ""
        say(f"{error.code}: {clean(error.message)}{fix}", self.screen)

    def _pass_over_gone(self) -> bool:
        """Leave out the drafts that somebody else has decided on, and say so. Return True if there are new ones."""
        waiting_names, decided = set(self.box.names()), self._decided_names()
        undecided = [draft.name for draft in self.drafts if draft.name not in decided | self.gone]
        new = [name for name in undecided if name not in waiting_names]
        if not new:
            return False
        self.gone.update(new)
        outcomes = _outcomes_by_others(self.writer.store.root)
        for name in new[:_MAX_GONE]:
            say(f"passed over: somebody {outcomes.get(name, 'took away')} {clean(name)} meanwhile", self.screen)
        if len(new) > _MAX_GONE:
            say(f"passed over: {plural(len(new) - _MAX_GONE, 'more draft')}, also decided on meanwhile", self.screen)
        return True

    def _decided_names(self) -> set[str]:
        """Return the names of the drafts that this review has decided on; a skipped one still waits."""
        return {draft.name for past in self.decisions if past.outcome != "skipped" for draft in past.drafts}

    def _show_again(self, position: int) -> None:
        """Read the drafts again, because another process changed one, and show the one at `position`."""
        names = set(self.box.names())
        self.drafts = [self.box.find(draft.name) if draft.name in names else draft for draft in self.drafts]
        self._show(position)

    def _options(self, draft: Draft | BrokenDraft, group: Sequence[Draft]) -> list[Option]:
        undo = [_UNDO] if self.decisions else []
        if isinstance(draft, BrokenDraft):
            return [_REJECT, _SKIP, *undo, _QUIT]
        meaning = f"All: accept all {len(group)} drafts from {clean(_source(draft, group))}, after a question"
        accept_all = [Option("A", "All", meaning, is_exact=True)] if group else []
        source = [_SOURCE] if draft.record.source else []
        return [_ACCEPT, *accept_all, _EDIT, _MERGE, _REJECT, _SKIP, *source, *undo, _QUIT, _VIEW]

    def _carry_out(self, answer: str, position: int) -> None:
        draft = self.drafts[position]
        self.writer.store.last_change = ""
        if answer == "u":
            self._undo()
        elif answer == "s":
            self._add_decision(position, "skipped", (draft,))
        elif answer == "r":
            review.reject(self.writer, draft, project=self.project)
            self._add_decision(position, "rejected", (draft,))
        elif answer == "v":
            say_paged(draft_page.draft_page(self.writer, draft, self.screen).whole, self.screen)
        elif answer == "o" and isinstance(draft, Draft):
            say_paged(draft_page.source_text(draft, self.project, self.screen), self.screen)
        elif isinstance(draft, Draft):
            {"a": self._accept, "e": self._edit, "m": self._merge}.get(answer, self._accept_group)(position, draft)

    def _add_decision(self, position: int, verb: str, drafts: tuple[Draft | BrokenDraft, ...]) -> None:
        self.decisions.append(_Decision(position, verb, drafts, self.writer.store.last_change))

    def _accept(self, position: int, draft: Draft) -> None:
        near = [] if draft.updates or draft.replaces else similar.find(self.writer.store, draft.record)
        same = next((match for match in near if match.is_same), None)
        question = f"{same.entry.path} says nearly the same. Save it anyway?" if same else ""
        force = same is not None and questions.confirm(question, self.screen)
        entry = review.accept(self.writer, draft, project=self.project, force=force)
        say(f"{self.screen.paint('saved', 'green')} {entry.path}", self.screen)
        self._add_decision(position, "accepted", (draft,))

    def _group(self, draft: Draft | BrokenDraft) -> list[Draft]:
        """Return the drafts from the same session, file or folder as `draft` that were neither decided on nor skipped.

        None if it is the only one.
        """
        if isinstance(draft, BrokenDraft):
            return []
        settled = self.gone | {member.name for past in self.decisions for member in past.drafts}
        undecided = [other for other in self.drafts if isinstance(other, Draft) and other.name not in settled]
        for source_of in (_session, _file, _folder):
            source = source_of(draft)
            group = [other for other in undecided if source and source_of(other) == source]
            if len(group) > 1:
                return group
        return []

    def _accept_group(self, position: int, draft: Draft) -> None:
        group = self._group(draft)
        alone = [member for member in group if review.needs_own_decision(self.writer, member)]
        together = [member for member in group if member not in alone]
        if alone:
            count = plural(len(alone), "draft")
            say(f"decide separately: {count} from there would change, replace or repeat a record", self.screen)
        if not together:
            return
        titles = [f"  {clean(member.record.title)}" for member in together[:_MAX_TITLES]]
        more = [f"  and {len(together) - _MAX_TITLES} more"] if len(together) > _MAX_TITLES else []
        say("\n".join([*titles, *more]), self.screen)
        count = plural(len(together), "draft")
        if questions.confirm(f"Accept {count} from {clean(_source(draft, group))}?", self.screen):
            review.accept_group(self.writer, together, project=self.project)
            say(f"{self.screen.paint('saved', 'green')} {plural(len(together), 'record')}", self.screen)
            # A draft that needs its own decision is asked about next, so this decision gets the position before it.
            self._add_decision(position - 1 if draft in alone else position, "accepted", tuple(together))

    def _merge(self, position: int, draft: Draft) -> None:
        near = similar.find(self.writer.store, draft.record)
        likely = draft.updates or (near[0].memory.id if near else "")
        reference = terminal.read_line(f"Into which record? [{clean(likely)}] ").strip() or likely
        if not reference:
            return
        into = resolve.flag_id(self.asker, self.writer.store, reference)
        say(difference(self.writer, draft, self.screen, into), self.screen)
        if questions.confirm("Merge it?", self.screen):
            review.merge(self.writer, draft, into, project=self.project)
            self._add_decision(position, "merged", (draft,))

    def _edit(self, position: int, draft: Draft) -> None:
        """Open a draft as a form, and put the edited draft into the inbox."""
        record = draft.record
        text = form.render(record.category, memory.to_json(record), f"A draft: {record.title}")
        before = form.parse(record.category, text).fields
        file = FormFile(record.category, text, name=draft.name, resume=lambda path: f"in the file {path}")
        edited = file.fill(lambda fields: review.edited(draft, revision.difference(before, fields)))
        if edited != draft:
            review.put(self.writer, [edited], "edit draft")
            edited = Inbox(self.writer.store.root).get(draft.name)
        file.delete()
        self.drafts[position] = edited
        self._show(position)

    def _undo(self) -> None:
        """Undo the last decision; its draft is asked about next. Raises CannotUndo."""
        last = self.decisions[-1]
        if not last.change and last.outcome != "skipped":
            raise CannotUndo("the rejected draft was not a file, and cannot be restored", fix="go on with the others")
        if last.change:
            drafts = [draft for draft in last.drafts if isinstance(draft, Draft)]
            review.undo_decision(self.writer, last.change, drafts, project=self.project)
        self.decisions.pop()
        say(f"undone: {last.outcome} {plural(len(last.drafts), 'draft')}", self.screen)


def _outcomes_by_others(store_root: str) -> dict[str, str]:
    """Return what happened last to each draft that is no longer in the inbox, by its name, as far as the log says."""
    folder, ending = f"{paths.INBOX}/", ".json"
    return {
        file.path[len(folder) : -len(ending)]: _DECISIONS[change.action]
        for change in history.read(store_root)
        for file in change.files
        if file.path.startswith(folder) and not file.after and change.action in _DECISIONS
    }


def _session(draft: Draft) -> str:
    return draft.session


def _file(draft: Draft) -> str:
    """Return the path of the file that a draft was imported from, or an empty string."""
    return draft.record.source.rpartition(":")[0] if draft.record.origin == "import" else ""


def _folder(draft: Draft) -> str:
    return os.path.dirname(_file(draft))


def _source(draft: Draft, group: Sequence[Draft]) -> str:
    """Return the session, file or folder that all drafts of `group` come from, for people."""
    if draft.session and all(member.session == draft.session for member in group):
        return f"session {draft.session}"
    is_file = all(_file(member) == _file(draft) for member in group)
    return _file(draft) if is_file else f"{_folder(draft)}/"


def _count_drafts(store_root: str) -> CommandResult:
    """Return the number of drafts. A status line is no place for errors: a missing store counts as an empty inbox."""
    data = {"drafts": len(record_names.drafts(store_root))}
    lines = [need.line for need in attention.queues(store_root, paths.prefix_of(store_root))]
    return CommandResult(data, lambda screen: "; ".join(lines))


def _list_drafts(reviewer: Reviewer, name: str, where: str, *, saves_listing: bool) -> CommandResult:
    """Return the drafts in the inbox, or the one called `name`."""
    box = reviewer.box
    drafts = [box.get(resolve.draft(reviewer.asker, box, name))] if name else list(box.scan())
    data = {"drafts": [reviewer.brief(draft) for draft in drafts]}
    if saves_listing:
        record_table.save_listing(ListedPath(box.root, _path(draft)) for draft in drafts)
    off = "; ".join(map(str, off_switches(reviewer.writer.settings, CAPTURE_SWITCH)))
    result = CommandResult(data, lambda screen: _text(screen, drafts, where), note=off)
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

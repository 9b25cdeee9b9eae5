"""The walk through the inbox: each draft is shown, and one key decides on it; a line where there is no terminal."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Union

from onrecord.capture import review, similar
from onrecord.cli import form_file, questions, resolve, terminal
from onrecord.cli.form_file import FormFile
from onrecord.cli.output import CommandResult, Screen, clean, say
from onrecord.cli.questions import Asker, Option
from onrecord.cli.show import page
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, CannotUndo, Changed, OnrecordError
from onrecord.record import drafts as revision
from onrecord.record import form, memory
from onrecord.record.drafts import Draft
from onrecord.store.inbox import BrokenDraft, Inbox
from onrecord.store.store import Entry
from onrecord.store.writer import Writer
from onrecord.text import plural

AnyDraft = Union[Draft, BrokenDraft]

_OUTCOMES = ("accepted", "merged", "rejected", "skipped")
_ACCEPT = Option("a", "accept", "accept: it becomes a record")
_EDIT = Option("e", "edit", "edit: change it first, in a form in your editor")
_MERGE = Option("m", "merge", "merge: put it into a record that is there")
_REJECT = Option("r", "reject", "reject: delete it; the same words are not suggested again")
_SKIP = Option("s", "skip", "skip: leave it for later")
_UNDO = Option("u", "undo", "undo: take your last answer back, and decide again")
_QUIT = Option("q", "quit", "quit: leave this and all others for later")
_MOST_NAMED = 10
"""Titles that a question about several drafts names; more would not fit on a screen."""

_INTERRUPTED = 130


class _Step(NamedTuple):
    """An answer: to which draft, what it did, and the change by which it can be taken back."""

    position: int
    outcome: str
    drafts: tuple[AnyDraft, ...]
    change: str = ""


class Walk:
    """One review of all drafts that wait."""

    def __init__(self, writer: Writer, box: Inbox, project: str, asker: Asker) -> None:
        self.asker = asker
        self.writer = writer
        self.project = project
        self.screen = Screen.of(sys.stdout)
        self.waiting: list[AnyDraft] = list(box.scan())
        self.steps: list[_Step] = []

    def run(self) -> CommandResult:
        """Ask about each draft until all are decided on, or somebody stops."""
        status = 0
        try:
            while (position := self._next()) < len(self.waiting) and self._decide(position):
                pass
        except KeyboardInterrupt:
            say("", self.screen)
            status = _INTERRUPTED
        except EOFError:
            if not terminal.at_terminal() and not self.steps:
                fix = "run it in a terminal, or use --accept NAME, --merge NAME or --reject NAME"
                raise BadInput("nobody answered", fix=fix) from None
            say("", self.screen)
        counts = self._counts()
        return CommandResult(counts, lambda screen: self._summary(counts), status=status)

    def _counts(self) -> dict[str, int]:
        """How many drafts had which outcome; of several answers to one, such as to skip it first, the last counts."""
        outcomes = {draft.name: step.outcome for step in self.steps for draft in step.drafts}
        return {**dict.fromkeys(_OUTCOMES, 0), **Counter(outcomes.values())}

    def _summary(self, counts: Mapping[str, int]) -> str:
        if not self.waiting:
            return "The inbox is empty."
        outcomes = ", ".join(f"{counts[name]} {name}" for name in _OUTCOMES if counts[name]) or "nothing decided"
        left = len(self.waiting) - sum(counts[name] for name in _OUTCOMES if name != "skipped")
        return f"{outcomes}; {plural(left, 'draft')} left" if left else outcomes

    def _next(self) -> int:
        """The position of the first draft behind the last answer that no answer has covered."""
        covered = {draft.name for step in self.steps for draft in step.drafts}
        position = self.steps[-1].position + 1 if self.steps else 0
        while position < len(self.waiting) and self.waiting[position].name in covered:
            position += 1
        return position

    def _decide(self, position: int) -> bool:
        """Show a draft and do what is answered until it is decided on; False if somebody quits."""
        draft = self.waiting[position]
        name = self.screen.paint(clean(draft.name), "bold")
        say(f"\n{position + 1} of {len(self.waiting)}: {name}", self.screen)
        say(draft_lines(self.writer, draft, self.screen), self.screen)
        before = len(self.steps)
        while True:
            group = self._group(self.waiting[position])
            answer = questions.read_choice("", self._options(self.waiting[position], group), self.screen)
            if answer == "q":
                return False
            try:
                self._carry_out(answer, position)
            except OnrecordError as error:
                fix = f"\nfix: {clean(error.fix)}" if error.fix else ""
                say(f"{error.code}: {clean(error.message)}{fix}", self.screen)
                if isinstance(error, Changed):
                    self._show_again(position)
            if len(self.steps) != before:
                return True

    def _show_again(self, position: int) -> None:
        """Go on with the drafts as they are now: another took the place of one that was shown."""
        box = Inbox(self.writer.store.root)
        there = set(box.names())
        self.waiting = [box.find(each.name) if each.name in there else each for each in self.waiting]
        say(draft_lines(self.writer, self.waiting[position], self.screen), self.screen)

    def _options(self, draft: AnyDraft, group: Sequence[Draft]) -> list[Option]:
        undo = [_UNDO] if self.steps else []
        if isinstance(draft, BrokenDraft):
            return [_REJECT, _SKIP, *undo, _QUIT]
        meaning = f"all: accept all {len(group)} drafts from {clean(_source(draft, group))}, after a question"
        together = [Option("A", "All like it", meaning)] if group else []
        return [_ACCEPT, *together, _EDIT, _MERGE, _REJECT, _SKIP, *undo, _QUIT]

    def _carry_out(self, answer: str, position: int) -> None:
        draft = self.waiting[position]
        self.writer.store.last_change = ""
        if answer == "u":
            self._undo()
        elif answer == "s":
            self.steps.append(_Step(position, "skipped", (draft,)))
        elif answer == "r":
            review.reject(self.writer, draft, project=self.project)
            self._done(position, "rejected", (draft,))
        elif isinstance(draft, Draft):
            {"a": self._accept, "e": self._edit, "m": self._merge}.get(answer, self._accept_group)(position, draft)

    def _done(self, position: int, outcome: str, drafts: tuple[AnyDraft, ...]) -> None:
        self.steps.append(_Step(position, outcome, drafts, self.writer.store.last_change))

    def _accept(self, position: int, draft: Draft) -> None:
        near = [] if draft.updates or draft.supersedes else similar.find(self.writer.store, draft.record)
        same = next((each for each in near if each.is_same), None)
        question = f"{same.entry.path} says nearly the same. Save it all the same?" if same else ""
        force = same is not None and questions.confirm(question, self.screen)
        entry = review.accept(self.writer, draft, project=self.project, force=force)
        say(f"{self.screen.paint('saved', 'green')} {entry.path}", self.screen)
        self._done(position, "accepted", (draft,))

    def _group(self, draft: AnyDraft) -> list[Draft]:
        """The drafts that wait and come from the same source, if there are several: session, file or its folder."""
        covered = {each.name for step in self.steps for each in step.drafts if step.outcome != "skipped"}
        open_drafts = [each for each in self.waiting if isinstance(each, Draft) and each.name not in covered]
        for of in (_session, _file, _folder):
            source = of(draft) if isinstance(draft, Draft) else ""
            group = [each for each in open_drafts if source and of(each) == source]
            if len(group) > 1:
                return group
        return []

    def _accept_group(self, position: int, draft: Draft) -> None:
        group = self._group(draft)
        alone = [each for each in group if review.needs_own_decision(self.writer, each)]
        together = [each for each in group if each not in alone]
        if alone:
            rest = (
                f"{plural(len(alone), 'draft')} from there would change, replace or repeat a record: asked about alone"
            )
            say(rest, self.screen)
        if not together:
            return
        titles = [f"  {clean(each.record.title)}" for each in together[:_MOST_NAMED]]
        more = [f"  and {len(together) - _MOST_NAMED} more"] if len(together) > _MOST_NAMED else []
        say("\n".join([*titles, *more]), self.screen)
        count = plural(len(together), "draft")
        if questions.confirm(f"Accept {count} from {clean(_source(draft, group))}?", self.screen):
            review.accept_group(self.writer, together, project=self.project)
            say(f"{self.screen.paint('saved', 'green')} {plural(len(together), 'record')}", self.screen)
            # A draft that stays for itself is asked about next, so the answer stands before it.
            self._done(position - 1 if draft in alone else position, "accepted", tuple(together))

    def _merge(self, position: int, draft: Draft) -> None:
        near = similar.find(self.writer.store, draft.record)
        likely = draft.updates or (near[0].memory.id if near else "")
        typed = terminal.read_line(f"Into which record? [{clean(likely)}] ").strip() or likely
        if not typed:
            return
        into = resolve.flag_id(self.asker, self.writer.store, typed)
        say(difference(self.writer, draft, self.screen, into), self.screen)
        if questions.confirm("Merge it?", self.screen):
            review.merge(self.writer, draft, into, project=self.project)
            self._done(position, "merged", (draft,))

    def _edit(self, position: int, draft: Draft) -> None:
        """Let a draft go through a form, and put it back into the inbox as it is then."""
        record = draft.record
        text = form.render(record.category, memory.to_json(record), f"A draft: {record.title}")
        shown = form.parse(record.category, text).fields
        file = FormFile(record.category, text, name=draft.name, resume=lambda path: f"in the file {path}")
        edited = draft._replace(
            record=file.fill(lambda fields: review.revised(record, revision.difference(shown, fields)))
        )
        if edited != draft:
            review.put(self.writer, [edited], "edit draft")
            edited = Inbox(self.writer.store.root).get(draft.name)
        file.delete()
        self.waiting[position] = edited
        say(draft_lines(self.writer, edited, self.screen), self.screen)

    def _undo(self) -> None:
        """Take the last answer back; its draft is asked about next."""
        step = self.steps[-1]
        if not step.change and step.outcome != "skipped":
            raise CannotUndo("what was thrown away was no file, and cannot be brought back")
        if step.change:
            drafts = [draft for draft in step.drafts if isinstance(draft, Draft)]
            review.undo_decision(self.writer, step.change, drafts, project=self.project)
        self.steps.pop()
        say(f"taken back: {step.outcome} {plural(len(step.drafts), 'draft')}", self.screen)


def _session(draft: Draft) -> str:
    return draft.session


def _file(draft: Draft) -> str:
    """The file that a draft was imported from."""
    return draft.record.source.rpartition(":")[0] if draft.record.origin == "import" else ""


def _folder(draft: Draft) -> str:
    return os.path.dirname(_file(draft))


def _source(draft: Draft, group: Sequence[Draft]) -> str:
    """What all of a group come from, in words."""
    if draft.session and all(each.session == draft.session for each in group):
        return f"session {draft.session}"
    is_file = all(_file(each) == _file(draft) for each in group)
    return _file(draft) if is_file else f"{_folder(draft)}/"


def draft_lines(writer: Writer, draft: Draft | BrokenDraft, screen: Screen) -> str:
    """All that somebody needs to decide on a draft."""
    if isinstance(draft, BrokenDraft):
        return f"cannot be read: {clean(draft.error.message)}"
    is_revision = bool(draft.revises) and writer.store.has(draft.updates)
    return "\n".join(_change(writer, draft, screen) if is_revision else _record(writer, draft, screen))


def _record(writer: Writer, draft: Draft, screen: Screen) -> Iterator[str]:
    # The quotations follow the page, and the source repeats them.
    record = draft.record._replace(source="") if draft.evidence else draft.record
    yield page(Entry(record, f"inbox/{draft.name}.json", ""), screen, status="draft")
    for quote in draft.evidence:
        yield f"{screen.paint('said', 'cyan')}: {clean(quote)}"
    if draft.is_machine_made:
        yield screen.paint("made by onrecord from the transcript, not by an agent", "yellow")
    for near in similar.find(writer.store, draft.record):
        word = "says nearly the same" if near.is_same else "similar"
        yield f"{screen.paint(word, 'yellow')}: {near.entry.path} ({clean(near.memory.title)})"
    if changes := difference(writer, draft, screen):
        yield f"changes {clean(draft.updates)}:"
        yield changes


def _change(writer: Writer, draft: Draft, screen: Screen) -> Iterator[str]:
    """Only what a draft changes in the record it revises."""
    entry = writer.store.get(draft.updates)
    yield f"a draft that changes {entry.path} ({clean(entry.memory.title)})"
    if entry.hash != draft.revises:
        yield screen.paint("the record was changed since: merge puts the draft into it, accept is refused", "yellow")
    if draft.summary:
        yield f"{screen.paint('why', 'cyan')}: {clean(draft.summary)}"
    yield difference(writer, draft, screen)


def difference(writer: Writer, draft: Draft, screen: Screen, into: str = "") -> str:
    """What a draft changes in the record that it updates, or is put into; empty if there is no such record."""
    target = into or draft.updates
    if not target or not writer.store.has(target):
        return ""
    try:
        before, after = review.preview(writer, draft, into)
    except OnrecordError as error:
        return f"cannot be applied: {clean(error.message)}"
    return form_file.render_difference(before, after, screen) or "The record says all of it already."

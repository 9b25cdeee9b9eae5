"""`onrecord edit ID`: change a record in a form in your editor; the changes are shown before they are written."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from onrecord.cli import arguments, form_file, questions, resolve
from onrecord.cli.form_file import FormFile
from onrecord.cli.output import CommandResult, Screen, say
from onrecord.cli.questions import Asker, Option
from onrecord.cli.update import update_result
from onrecord.coldstart import NamedTuple
from onrecord.errors import Changed, OnrecordError, Stopped
from onrecord.record import compose, drafts, form, lifecycle, memory
from onrecord.record.form import FieldProblem
from onrecord.record.memory import Memory
from onrecord.store.store import Entry
from onrecord.store.writer import Writer

_ANSWERS = (
    Option("y", "yes", "yes: write it"),
    Option("e", "edit", "edit: open the form again"),
    Option("n", "no", "no: leave the record as it is"),
)
_WITHOUT_ASKING = "--yes writes without asking"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add(parser, "id")
    parser.add_argument("--yes", action="store_true", help="write the change without asking")
    parser.add_argument("--from", dest="text", metavar="FILE", help="resume from a form that was kept")
    parser.add_argument("--force", action="store_true", help="accept related files that do not exist yet")
    arguments.add(parser, "--summary", "--allow-secret", "--dry-run")


def run(args: argparse.Namespace) -> CommandResult:
    writer = arguments.existing_writer(args)
    asker = arguments.asker(args)
    entry = resolve.record(asker, writer.store, args.id, changes=True)
    options = _Options(args.yes, args.force, args.summary, args.allow_secret, arguments.store_flags(args))
    return _Edit(writer, entry, asker, options, form_file.read(args.text) if args.text else None).run()


class _Options(NamedTuple):
    """Options of the command, and the flags that name the store."""

    yes: bool
    force: bool
    summary: str
    allow_secret: bool
    where: str


class _Revision(NamedTuple):
    """A change of a record: the fields changed in its form, and the resulting record."""

    patch: Mapping[str, Any]
    record: Memory


class _Edit:
    """One record, while it is edited in its form."""

    def __init__(self, writer: Writer, before: Entry, asker: Asker, options: _Options, begun: str | None) -> None:
        self.asker = asker
        self.options = options
        self.writer = writer
        self.before = before
        self.screen = Screen.for_stream(sys.stdout)
        text = self._rendered(memory.to_json(before.memory))
        self.shown = self._parsed(text)
        self.file = FormFile(
            before.memory.category, text if begun is None else begun, name=before.memory.id, resume=self._resume
        )

    def run(self) -> CommandResult:
        """Open the form, ask whether to write the change, and write it."""
        while True:
            change = self.file.fill(self._revise)
            if change.record is self.before.memory:
                self.file.delete()
                return self._updated(self.before)
            if self.options.yes or self.asker.is_dry_run or self._read_answer(change) == "y":
                return self._write(change)

    def _read_answer(self, change: _Revision) -> str:
        """Ask whether to write: `y`, or `e` to edit again. Raises Stopped on no."""
        if self.asker.is_json:
            raise self.file.add_resume_fix(Stopped("nothing was changed", fix=_WITHOUT_ASKING))
        say(form_file.render_difference(self.before.memory, change.record, self.screen), self.screen)
        answer, hint = "n", ""
        try:
            answer = questions.read_choice("Write it?", _ANSWERS, self.screen)
        except KeyboardInterrupt:
            say("", self.screen)
        except EOFError:
            say("", self.screen)
            hint = _WITHOUT_ASKING
        if answer == "n":
            raise self.file.add_resume_fix(Stopped("nothing was changed", fix=hint))
        return answer

    def _write(self, change: _Revision) -> CommandResult:
        summary, allow_secret = self.options.summary, self.options.allow_secret
        try:
            after = self.writer.update(
                self.before.path,
                change.patch,
                self.before.hash,
                may_shrink=True,
                summary=summary,
                allow_secret=allow_secret,
            )
        except Changed as error:
            self._keep_both(change.patch)
            error.fix = "the form has your text, and theirs as comments"
            raise self.file.add_resume_fix(error) from error
        except OnrecordError as error:
            raise self.file.add_resume_fix(error) from error
        self.file.delete()
        return self._updated(after)

    def _updated(self, after: Entry) -> CommandResult:
        return update_result(self.writer.store, self.before, after, dry_run=self.asker.is_dry_run)

    def _keep_both(self, patch: Mapping[str, Any]) -> None:
        """Write a form of the current record with the change, and with their text where both changed a field."""
        now = memory.to_json(self.writer.store.get(self.before.path).memory)
        theirs = _flat(drafts.difference(self.shown, self._parsed(self._rendered(now))))
        both = [name for name in _flat(patch) if name in theirs]
        problems = [FieldProblem(name, f"it was changed meanwhile, to: {_words(theirs[name])}") for name in both]
        self.file.write(form.insert_problems(self._rendered(drafts.apply(now, patch)), problems))

    def _revise(self, fields: Mapping[str, Any]) -> _Revision:
        """Return the change that the fields of the form make. Raises OnrecordError with the problems of the fields."""
        patch = drafts.difference(self.shown, fields)
        record = self.before.memory
        files, force = patch.get("related_files"), self.options.force
        arguments.refuse_lost_files(self.writer.store, files, record.related_files, force=force)
        if not self.options.allow_secret:
            compose.refuse_secrets(patch)
        return _Revision(patch, lifecycle.revise(record, patch, now=self.writer.now, may_shrink=True))

    def _rendered(self, raw: Mapping[str, Any]) -> str:
        record = self.before.memory
        return form.render(record.category, raw, f"The {form.field_label(record.category)} {record.id}.")

    def _parsed(self, text: str) -> Mapping[str, Any]:
        return form.parse(self.before.memory.category, text).fields

    def _resume(self, file: str) -> str:
        return f"onrecord edit {self.before.memory.id} --from {file}{self.options.where}"


def _flat(patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a patch and of its content in one mapping."""
    return {**{key: value for key, value in patch.items() if key != "content"}, **patch.get("content", {})}


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{form.field_label(key)}: {_words(part)}" for key, part in value.items())
    return "; ".join(map(_words, value)) if isinstance(value, list) else "nothing" if value is None else str(value)

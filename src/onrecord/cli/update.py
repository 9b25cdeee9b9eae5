"""`onrecord update ID`: change fields of the version that was read, or only add to it.

With `--draft` the update waits in the inbox, and is refused if the record was changed in the meantime. `onrecord edit
ID` changes a record in a form in your editor; the changes are shown before they are written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from onrecord.capture import review
from onrecord.cli import arguments, form_file, questions, resolve
from onrecord.cli.arguments import RecordFlags
from onrecord.cli.check import parsed_checks, proposal_note, trial_note
from onrecord.cli.form_file import FormFile
from onrecord.cli.output import CommandResult, Screen, clean, say
from onrecord.cli.questions import Asker, Option
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput, Changed, OnrecordError, Stopped
from onrecord.freshness import anchors
from onrecord.project import Project
from onrecord.record import check, compose, drafts, form, lifecycle, memory, naming
from onrecord.record.check import Check
from onrecord.record.drafts import Draft
from onrecord.record.form import FieldProblem
from onrecord.record.memory import Memory
from onrecord.store.inbox import Inbox
from onrecord.store.store import Entry, Store
from onrecord.store.writer import Writer

_HASH_HELP = (
    "hash of the version you read, from `onrecord show`; not needed in a terminal, or to add tags, triggers, files or "
    "checks"
)

_DRAFT_HELP = "put the change in the inbox, to be reviewed first"
_ANSWERS = (
    Option("y", "yes", "yes: write it"),
    Option("e", "edit", "edit: open the form again"),
    Option("n", "no", "no: leave the record as it is"),
)
_WITHOUT_ASKING = "--yes writes without asking"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("command") == "edit":
        arguments.add(parser, "id")
        parser.add_argument("--yes", action="store_true", help="write the change without asking")
        parser.add_argument(
            "--from", dest="text", type=arguments.file, metavar="FILE", help="resume from a form that was kept"
        )
        parser.add_argument("--force", action="store_true", help="accept related files that do not exist yet")
        arguments.add(parser, "--summary", "--allow-secret", "--dry-run")
        return
    arguments.add(parser, "id")
    parser.add_argument("--hash", metavar="H", help=_HASH_HELP)
    arguments.add_record(parser)
    parser.add_argument("--draft", action="store_true", help=_DRAFT_HELP)
    parser.add_argument("--force", action="store_true", help="allow related files that do not exist yet")
    arguments.add(parser, "--summary", "--allow-secret", "--dry-run")


def run(args: argparse.Namespace) -> CommandResult:
    writer, asker = arguments.existing_writer(args), arguments.asker(args)
    before = resolve.record(asker, writer.store, args.id, changes=True)
    if args.command == "edit":
        options = _Options(args.yes, args.force, args.summary, args.allow_secret, arguments.store_flags(args))
        return _Edit(writer, before, asker, options, form_file.read(args.text) if args.text else None).run()
    flags = arguments.record_flags(args)
    patch = _patch(flags, before, needs_hash=not args.hash and not asker.can_ask)
    files = patch.get("related_files")
    arguments.refuse_lost_files(writer.store, files, before.memory.related_files, force=args.force)
    change = {"summary": args.summary, "allow_secret": args.allow_secret}
    tried = trial_note(_new_checks(before, patch), Project(args.project).root, force=args.force)
    note = "; ".join(filter(None, (tried, _generic_note(before, patch))))
    if not args.draft:
        after = writer.update(before.path, patch, args.hash or before.hash, **change)
        return _with_note(update_result(writer.store, before, after, dry_run=args.dry_run), note)
    writer.store.expect(before.path, args.hash or before.hash)
    # Flags only add. With the hash, a whole list may be shorter: its author read the old one, and a reviewer sees both.
    may_shrink = bool(args.hash) and not flags.tags and not flags.related_files
    draft = _draft(writer, before, patch, may_shrink=may_shrink, **change)
    if draft is None:
        return update_result(writer.store, before, before, dry_run=args.dry_run)
    return _with_note(put_draft(writer, draft, dry_run=args.dry_run, where=arguments.store_flags(args)), note)


def _generic_note(before: Entry, patch: Mapping[str, Any]) -> str:
    """Return the note on triggers that a patch adds and that fit any prompt."""
    return naming.generic_note([text for text in patch.get("triggers") or () if text not in before.memory.triggers])


def _new_checks(before: Entry, patch: Mapping[str, Any]) -> tuple[Check, ...]:
    """Return the checks that a patch adds to a record. Raises Invalid."""
    checks = parsed_checks(patch["checks"]) if patch.get("checks") else ()
    return tuple(one for one in checks if one not in before.memory.checks)


def _with_note(command_result: CommandResult, note: str) -> CommandResult:
    return command_result._replace(note=note, data={**command_result.data, "note": note}) if note else command_result


def _patch(flags: RecordFlags, before: Entry, *, needs_hash: bool) -> dict[str, Any]:
    """Return the fields to change. Raises BadInput if `needs_hash` and the update does more than add.

    Without the hash of the version that was read, it could undo a change that its author has not seen.
    """
    patch = arguments.update_patch(flags, before.memory.category)
    only_adds = bool(patch) and patch == flags.added
    if needs_hash and not only_adds:
        raise BadInput(
            "update needs the hash of the version that was read, so that no other change is lost",
            fix=f"onrecord show {before.memory.id}; then the same command with --hash and the hash it prints",
        )
    if flags.triggers and patch["triggers"] == flags.triggers:
        patch["triggers"] = list(dict.fromkeys([*before.memory.triggers, *flags.triggers]))
    if flags.checks and patch["checks"] == flags.checks:
        old = [check.to_json(one) for one in before.memory.checks]
        patch["checks"] = [*old, *(raw for raw in flags.checks if raw not in old)]
    return patch


def _draft(
    writer: Writer, before: Entry, patch: dict[str, Any], *, may_shrink: bool, summary: str, allow_secret: bool
) -> Draft | None:
    """Return a draft that changes the version `before`; None if it would change nothing."""
    if not allow_secret:
        compose.refuse_secrets({**patch, "summary": summary})
    return review.draft_update(writer, before, patch, summary, may_shrink=may_shrink)


def put_draft(writer: Writer, draft: Draft, *, dry_run: bool, where: str) -> CommandResult:
    """Put a draft into the inbox, and return its name and file. Raises AlreadyExists."""
    box = Inbox(writer.store.root)
    box.refuse_taken(draft)
    review.put(writer, [draft])
    file = f"{box.folder}/{draft.name}.json"
    data = {
        "draft": draft.name,
        "category": draft.record.category,
        "title": draft.record.title,
        "updates": draft.updates,
        "supersedes": draft.supersedes,
        "file": file,
        "dry_run": dry_run,
    }

    def text(screen: Screen) -> str:
        verb = "would draft" if dry_run else screen.paint("drafted", "green")
        return f"{verb} {clean(file)}; `onrecord review{where}` decides on it"

    return CommandResult(data, text).warned(*writer.store.warnings)


def update_result(store: Store, before: Entry, after: Entry, *, dry_run: bool) -> CommandResult:
    """Return the changed record, with the lines added to its history."""
    new_changes = [change for change in after.memory.changes if change not in before.memory.changes]
    data = {
        **arguments.record_data(store, after),
        "changed": after.hash != before.hash,
        "changes": memory.to_json(after.memory._replace(changes=tuple(new_changes))).get("changes", []),
        "dry_run": dry_run,
    }

    def text(screen: Screen) -> str:
        if after.hash == before.hash:
            return f"{after.path} already says that; nothing changed"
        verb = "would update" if dry_run else screen.paint("updated", "green")
        return "\n".join([f"{verb} {after.path}", *(f"  {clean(change.summary)}" for change in new_changes)])

    return CommandResult(data, text).warned(*store.warnings)


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

    def __init__(self, writer: Writer, before: Entry, asker: Asker, edit_options: _Options, begun: str | None) -> None:
        self.asker = asker
        self.options = edit_options
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
        new_checks = [one for one in change.record.checks if one not in self.before.memory.checks]
        root = anchors.project_root(self.writer.store.root)
        note = trial_note(new_checks, root, force=True) if root else ""
        note = note or proposal_note(change.record, self.options.where)
        if note:
            say(note, self.screen)
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
        note = _generic_note(self.before, {"triggers": after.memory.triggers})
        return _with_note(update_result(self.writer.store, self.before, after, dry_run=self.asker.is_dry_run), note)

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

"""`onrecord save CATEGORY`: save a record from flags, JSON, questions or a form, unless one says nearly the same."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from onrecord import paths, project
from onrecord.capture import advice, review, similar, suggestions
from onrecord.capture.similar import Similar
from onrecord.capture.suggestions import Suggestion
from onrecord.categories import CATEGORIES
from onrecord.cli import arguments, form_file, output, questions, resolve
from onrecord.cli.arguments import RecordFlags
from onrecord.cli.check import proposal_note, trial_note
from onrecord.cli.form_file import FormFile
from onrecord.cli.output import CommandResult, Screen, clean, say, to_json
from onrecord.cli.questions import Asker, Option
from onrecord.cli.show import page
from onrecord.cli.update import put_draft, update_result
from onrecord.coldstart import NamedTuple
from onrecord.errors import AlreadyExists, BadInput, OnrecordError, Stopped
from onrecord.freshness import anchors, related_files
from onrecord.git import git_files
from onrecord.project import Project
from onrecord.record import author, compose, drafts, form, memory, naming, schema
from onrecord.record.author import RecordAuthor
from onrecord.record.memory import Memory
from onrecord.record.schema import Field, ListOf
from onrecord.shared import replicas
from onrecord.store import inbox
from onrecord.store.store import Entry
from onrecord.store.writer import Writer

_FORCE_HELP = "save it although a record says nearly the same, or a related file does not exist yet"
_CATEGORIES = tuple(Option(name[0], name, category.meaning) for name, category in CATEGORIES.items())
_TRIGGERS = "What would you ask to find it, in other words than the title? Questions, symptoms, error messages."
_FILES = "Which files is it about? Paths in the project; for a part of a file: src/auth.py#login."
_YES = Option("y", "yes", "yes: save it")
_EDIT = Option("e", "edit", "edit: change it first, in your editor")
_NO = Option("n", "no", "no: save nothing")
_MIN_KEPT_CHARACTERS = 40
"""When a person stops, at least this much text is kept in a form."""


class _SaveOptions(NamedTuple):
    """Options of a save, apart from the fields of the record."""

    project: str
    update: str
    supersedes: str
    force: bool
    draft: bool
    suggested: bool
    allow_secret: bool
    where: str
    """The flags that select the store, for commands in messages."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "category", type=arguments.category, metavar="CATEGORY", nargs="?", help=f"one of {', '.join(schema.FOLDERS)}"
    )
    parser.add_argument("title", metavar="TITLE", nargs="?", help="the rule in one line: what to do, or what holds")
    arguments.add_record(parser)
    parser.add_argument(
        "--from", dest="text", type=arguments.file, metavar="FILE", help="open a form that was kept, in your editor"
    )
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--update", metavar="ID", default="", help="update this record instead of creating one")
    target.add_argument("--supersedes", metavar="ID", default="", help="it replaces this record")
    parser.add_argument("--force", action="store_true", help=_FORCE_HELP)
    parser.add_argument("--draft", action="store_true", help="put it in the inbox, to be reviewed first")
    parser.add_argument("--suggested", action="store_true", help="it was suggested in this session")
    arguments.add(parser, "--allow-secret", "--dry-run")


def run(args: argparse.Namespace) -> CommandResult:
    flags, asker, writer = arguments.record_flags(args), arguments.asker(args), arguments.writer_of(args)
    flag_values = {
        "--file": args.file,
        "--tag": args.tag,
        "--trigger": args.trigger,
        "--related": args.related,
        "--check": args.check,
    }
    arguments.exclude("--from", args.text, {"TITLE": args.title, **flag_values, "--set": args.set})
    options = _SaveOptions(
        args.project, args.update, args.supersedes, args.force, args.draft, args.suggested, args.allow_secret,
        arguments.store_flags(args),
    )  # fmt: skip
    if not (args.category or args.title or args.file or args.text or args.suggested or asker.can_ask):
        flags = flags._replace(file="-")
    json_fields = arguments.read_json(flags.file) if flags.file else {}
    name = json_fields.get("category")
    category = args.category or (compose.category_of(name) if isinstance(name, str) and name else "")
    may_ask = not (args.file or args.suggested) and asker.can_ask
    if args.text or (may_ask and _has_gaps(flags, category)):
        form_text = form_file.read(args.text) if args.text else None
        category = _required(category) if args.text else category
        return _ByHand(asker, writer, options, category, flags=flags, form_text=form_text).run()
    category = _required(category)
    fields = arguments.record_fields(flags, category, json_fields)
    return _save_fields(options, asker, writer, category, fields, has_seen_similar=False)


def _required(category: str) -> str:
    if not category:
        fix = f"onrecord save --help; then name one of {', '.join(schema.FOLDERS)}"
        raise BadInput("save needs the category of the record", fix=fix)
    return category


def _has_gaps(flags: RecordFlags, category: str) -> bool:
    """True if a part of the record is missing that a person can be asked for."""
    if not category:
        return True
    fields = flags.fields(category)
    return "title" not in fields or bool(_missing(category, fields))


def _missing(category: str, fields: Mapping[str, Any]) -> list[Field]:
    """Return the required fields that have neither a value nor a default."""
    content = {**CATEGORIES[category].defaults, **fields.get("content", {})}
    return [field for field in schema.content_fields(category) if field.required and field.name not in content]


def _save_fields(
    options: _SaveOptions,
    asker: Asker,
    writer: Writer,
    category: str,
    fields: Mapping[str, Any],
    *,
    has_seen_similar: bool,
) -> CommandResult:
    """Save the fields as a record, draft them, or update another record with them, as `options` say."""
    suggestion = _suggestion(options.project) if options.suggested else None
    written_by = _author(is_by_agent=bool(suggestion) or (options.draft and not asker.can_ask))
    source = {"source": review.source(suggestion.session, suggestion.evidence)} if suggestion else {}
    partial = {**source, **fields}
    record = compose.compose(
        category, partial, now=writer.now, allow_secret=options.allow_secret, written_by=written_by
    )
    arguments.refuse_lost_files(writer.store, record.related_files, force=options.force)
    tried = trial_note(record.checks, Project(options.project).root, force=options.force)
    options = options._replace(
        update=resolve.flag_id(asker, writer.store, options.update),
        supersedes=resolve.flag_id(asker, writer.store, options.supersedes),
    )
    near = [] if has_seen_similar else _similar_records(options, writer, record)
    is_draft = options.draft or (suggestion is not None and writer.settings.text("capture.mode") != "auto")
    is_draft = is_draft or replicas.takes_drafts(writer.store.root)
    if is_draft:
        result = _save_draft(options, writer, record, suggestion, near, dry_run=asker.is_dry_run)
    elif options.update:
        result = _update_record(options, writer, record, dry_run=asker.is_dry_run)
    else:
        result = _save_record(options, writer, record, near, dry_run=asker.is_dry_run)
    if suggestion and not asker.is_dry_run:
        state = "drafted" if is_draft else "saved"
        suggestions.add(Project(options.project).root, state, category, suggestion.session, suggestion.evidence)
    return _with_notes(result, options, writer, record, tried)


def _with_notes(
    command_result: CommandResult, options: _SaveOptions, writer: Writer, record: Memory, tried: str
) -> CommandResult:
    """Return `command_result` with notes: advice, each with its command, and what keeps others from getting it."""
    record_id = command_result.data.get("id")
    notes = [tried, *_advice(options, writer, record, record_id)]
    if record_id and not options.update:
        notes.append(proposal_note(record._replace(id=record_id), options.where))
    notes.append(git_files.ignored_note(writer.store.root))
    prefix = paths.prefix_of(writer.store.root)
    if paths.is_shared(prefix):
        name = paths.store_name(prefix)
        notes.append(f"it waits here, and no agent is shown it, until {name} has it: onrecord sync {name}")
    note = "; ".join(filter(None, notes))
    return command_result._replace(note=note, data={**command_result.data, "note": note}) if note else command_result


def _advice(options: _SaveOptions, writer: Writer, record: Memory, record_id: str | None) -> Iterator[str]:
    """Yield the advice on a record that was saved, each with the command to follow it."""
    updated = writer.store.get(options.update).memory.triggers if options.update else ()
    whole = record._replace(triggers=(*record.triggers, *updated))
    commands = {advice.NO_TRIGGERS: f"onrecord update {record_id} --trigger 'how you would ask'"}
    if whole.triggers:
        commands[advice.LANGUAGES] = f"onrecord update {record_id} --trigger '…'"
    if not options.update:
        commands[advice.TITLE] = f"onrecord edit {record_id}"
    in_review = {advice.TITLE: "change it in the review"}
    for item in advice.on(whole, Project(options.project).root, earlier_triggers=updated):
        fix = commands.get(item.about, "") if record_id else in_review.get(item.about, "add some in the review")
        if item.about in commands:
            yield f"{item.text}: {output.add_store_flags(fix, options.where)}"
        elif item.about in (advice.LANGUAGES, advice.GENERIC):
            yield item.text


def _suggestion(project: str) -> Suggestion:
    """Return the newest suggestion of this session that nothing was saved for yet. Raises BadInput."""
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    suggestion = suggestions.newest_open(Project(project).root, session)
    if suggestion is None:
        raise BadInput("there is no open suggestion in this session", fix="leave out --suggested")
    return suggestion


def _author(*, is_by_agent: bool) -> RecordAuthor:
    """Return who has the record written: only agents answer suggestions, and draft without a terminal."""
    detected = author.detect()
    return detected._replace(origin=author.AGENT) if is_by_agent else detected


def _similar_records(options: _SaveOptions, writer: Writer, record: Memory) -> list[Similar]:
    """Return similar records. Raises NearDuplicate if one says nearly the same, unless an option allows it."""
    if writer.store.has(record.path):
        return []
    near = similar.find(writer.store, record)
    if not (options.force or options.update or options.supersedes):
        similar.refuse(near, similar.command_fix("the same command with"))
    return near if not (options.update or options.supersedes) else []


def _save_draft(
    options: _SaveOptions,
    writer: Writer,
    record: Memory,
    suggestion: Suggestion | None,
    near: list[Similar],
    *,
    dry_run: bool,
) -> CommandResult:
    if not options.update:
        writer.store.refuse_existing(record.id)
    origin = {"session": suggestion.session, "evidence": suggestion.evidence} if suggestion else {}
    draft = inbox.new_draft(record, updates=options.update, supersedes=options.supersedes, **origin)
    result = put_draft(writer, draft, dry_run=dry_run, where=options.where)
    data = {**result.data, "similar": [_brief(match) for match in near]}
    replaces = f"onrecord review --accept {draft.name} --supersedes {{0}}{options.where}"
    text = result.text
    return result._replace(data=data, text=lambda screen: "\n".join([*_similar_lines(near, replaces), text(screen)]))


def _update_record(options: _SaveOptions, writer: Writer, record: Memory, *, dry_run: bool) -> CommandResult:
    before = writer.store.get(options.update)
    patch = drafts.additions(before.memory, record)
    summary = f"Updated from: {record.title}"
    after = writer.update(before.path, patch, before.hash, summary=summary, allow_secret=options.allow_secret)
    return update_result(writer.store, before, after, dry_run=dry_run)


def _save_record(
    options: _SaveOptions, writer: Writer, record: Memory, near: list[Similar], *, dry_run: bool
) -> CommandResult:
    entry = project.save_record(writer, record, supersedes=options.supersedes)
    data: dict[str, Any] = {
        **arguments.record_data(writer.store, entry),
        "similar": [_brief(match) for match in near],
        "dry_run": dry_run,
    }
    if dry_run:
        data["record"] = memory.to_json(entry.memory)

    replaces = f"onrecord supersede {{0}} {entry.memory.id}{options.where}"

    def text(screen: Screen) -> str:
        if dry_run:
            return "\n".join([*_similar_lines(near, replaces), f"would save {entry.path}", to_json(data["record"])])
        return "\n".join([*_similar_lines(near, replaces), f"{screen.paint('saved', 'green')} {clean(data['file'])}"])

    return CommandResult(data, text).warned(*writer.store.warnings)


def _brief(similar_record: Similar) -> dict[str, Any]:
    return {
        **{name: getattr(similar_record.memory, name) for name in ("id", "category", "title")},
        **{name: getattr(similar_record.entry, name) for name in ("path", "hash")},
        **{name: round(getattr(similar_record, name), 3) for name in ("closeness", "wording")},
        "same": similar_record.is_same,
    }


def _similar_lines(near: list[Similar], replaces: str) -> list[str]:
    """Return a line for each similar record, with the command `replaces` for superseding it."""
    hint = "If the new record replaces it"
    return [
        f"similar: {match.entry.path} ({clean(match.memory.title)}). {hint}: {replaces.format(match.memory.id)}"
        for match in near
    ]


class _ByHand:
    """One record that a person writes by answering questions or in a form."""

    def __init__(
        self,
        asker: Asker,
        writer: Writer,
        options: _SaveOptions,
        category: str,
        *,
        flags: RecordFlags,
        form_text: str | None,
    ) -> None:
        self.asker = asker
        self.options = options
        self.form_text = form_text
        self.writer = writer
        self.screen = Screen.for_stream(sys.stdout)
        self.category = category
        self.fields: dict[str, Any] = flags.fields(category) if category else {}
        self.file: FormFile | None = None

    def run(self) -> CommandResult:
        """Ask for the fields or open the form, then save. Raises Stopped."""
        try:
            if self.form_text is not None or "title" in self.fields:
                return self._save_from_form()
            return self._save_from_answers()
        except (KeyboardInterrupt, EOFError):
            say("", self.screen)
            raise self._stopped_error() from None

    def _stopped_error(self) -> Stopped:
        """Return an error that says that nothing was saved, and where the text is kept if there is enough of it."""
        error = Stopped("nothing was saved")
        if self.file is None and self.category and sum(map(len, _texts(self.fields))) >= _MIN_KEPT_CHARACTERS:
            self.file = self._form(self._render_form())
        return error if self.file is None else self.file.add_resume_fix(error)

    def _save_from_answers(self) -> CommandResult:
        if not self.category:
            key = questions.read_list_choice("What is it?", _CATEGORIES, self.screen)
            self.category = next(option.word for option in _CATEGORIES if option.key == key)
        self.fields["title"] = questions.read_text(
            "title", "One line that states the rule: what to do, or what holds.", self.screen
        )
        content = self.fields.setdefault("content", {})
        for field in _missing(self.category, self.fields):
            self._ask_for(field, content)
        if "triggers" not in self.fields:
            self.fields["triggers"] = []
            questions.read_items(self.fields["triggers"], "triggers", _TRIGGERS, self.screen)
        if "related_files" not in self.fields:
            self.fields["related_files"] = []
            files = self.fields["related_files"]
            questions.read_items(files, "related files", _FILES, self.screen, flaw_of=self._file_flaw)
        try:
            record = self._check(self.fields)
        except OnrecordError as error:
            say(f"\n{clean(error.message)}", self.screen)
            return self._save_from_form(error, asks=True)
        return self._confirm_and_save(record, asks=True)

    def _ask_for(self, field: Field, content: dict[str, Any]) -> None:
        name = form.field_label(field.name)
        if isinstance(field.kind, ListOf):
            content[field.name] = []
            questions.read_items(content[field.name], name, field.doc, self.screen, min_items=field.kind.min_items)
        else:
            content[field.name] = questions.read_text(name, field.doc, self.screen)

    def _file_flaw(self, line: str) -> str:
        """Return the problem with a related file; empty if there is none."""
        root = anchors.project_root(self.writer.store.root)
        if not root or self.options.force:
            return ""
        flaw = next(related_files.problems(root, [line]), None)
        guess = f" Did you mean {flaw.nearest}?" if flaw and flaw.nearest else ""
        return f"{clean(flaw.text)} {flaw.what}.{clean(guess)}" if flaw else ""

    def _save_from_form(self, error: OnrecordError | None = None, *, asks: bool = False) -> CommandResult:
        """Open a form with the fields so far, and with `error` in it; save what the person fills in."""
        fresh = self._render_form()
        text = self.form_text if self.form_text is not None and self.file is None else fresh
        begun = form.insert_problems(text, form.error_problems(error)) if error else text
        is_fresh = text == fresh and not asks and error is None
        if self.file:
            self.file.delete()
        self.file = self._form(begun)
        return self._confirm_and_save(self.file.fill(self._check, untouched=fresh if is_fresh else None), asks=asks)

    def _form(self, text: str) -> FormFile:
        name = naming.slug(str(self.fields.get("title") or self.category))
        return FormFile(self.category, text, name=name, resume=self._resume)

    def _resume(self, file: str) -> str:
        return f"onrecord save {self.category} --from {file}{self.options.where}"

    def _render_form(self) -> str:
        content = {**CATEGORIES[self.category].defaults, **self.fields.get("content", {})}
        return form.render(self.category, {**self.fields, "content": content}, self._form_heading())

    def _form_heading(self) -> str:
        return f"A new {form.field_label(self.category)}: {CATEGORIES[self.category].meaning}."

    def _check(self, fields: Mapping[str, Any]) -> Memory:
        """Return the record made of `fields`. Raises OnrecordError, with the fields that are wrong."""
        self.fields = dict(fields)
        record = compose.compose(self.category, fields, now=self.writer.now, allow_secret=self.options.allow_secret)
        arguments.refuse_lost_files(self.writer.store, record.related_files, force=self.options.force)
        if not self.options.update:
            self._refuse_taken(record)
        return record

    def _refuse_taken(self, record: Memory) -> None:
        try:
            self.writer.store.refuse_existing(record.id)
        except AlreadyExists as error:
            error.field_errors = (("title", f"{error.message}; {error.fix}"),)
            raise

    def _confirm_and_save(self, record: Memory, *, asks: bool) -> CommandResult:
        """Save a record. Show it first and ask if `asks`, or if another record says nearly the same."""
        is_settled = self.options.update or self.options.supersedes or self.options.force
        near = [] if is_settled else similar.find(self.writer.store, record)
        is_asking = asks or any(match.is_same for match in near)
        if asks:
            say(f"\n{page(Entry(record, record.path, ''), self.screen, status='not saved yet')}\n", self.screen)
        for match in near if is_asking else ():
            word = "says nearly the same" if match.is_same else "similar"
            say(f"{self.screen.paint(word, 'yellow')}: {match.entry.path} ({clean(match.memory.title)})", self.screen)
        if is_asking:
            answer = questions.read_choice("Save it?", _answers(near), self.screen)
            if answer == "n":
                raise self._stopped_error()
            if answer == "e":
                return self._save_from_form(asks=True)
            self._settle(answer, near)
        return self._save(has_seen_similar=is_asking)

    def _settle(self, answer: str, near: list[Similar]) -> None:
        """Set the options to what the person chose to do about similar records."""
        if answer == "u":
            self.options = self.options._replace(update=near[0].memory.id)
        elif answer == "r":
            self.options = self.options._replace(supersedes=near[0].memory.id)
        else:
            self.options = self.options._replace(force=True)

    def _save(self, *, has_seen_similar: bool) -> CommandResult:
        try:
            result = _save_fields(
                self.options, self.asker, self.writer, self.category, self.fields, has_seen_similar=has_seen_similar
            )
        except OnrecordError as error:
            self.file = self.file or self._form(self._render_form())
            raise self.file.add_resume_fix(error) from error
        if self.file:
            self.file.delete()
        return result


def _answers(near: list[Similar]) -> list[Option]:
    if not near:
        return [_YES, _EDIT, _NO]
    path = near[0].entry.path
    update = Option("u", "update", f"update: put it into {path} instead")
    replace = Option("r", "replace", f"replace: save it; {path} is no longer valid")
    return [_YES._replace(meaning="yes: save it as a new record"), update, replace, _EDIT, _NO]


def _texts(value: Any) -> Iterator[str]:
    """Yield every string in the fields of a record."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)

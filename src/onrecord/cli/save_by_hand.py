"""Saving by hand: questions where no title was given, a form in the editor where required fields are missing.

Nothing is lost in silence: whoever stops, or is stopped, is told that nothing was saved and where the text is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from onrecord.capture import similar
from onrecord.capture.similar import Similar
from onrecord.categories import CATEGORIES
from onrecord.cli import arguments, questions
from onrecord.cli.arguments import RecordFlags
from onrecord.cli.form_file import FormFile
from onrecord.cli.output import CommandResult, Screen, clean, say
from onrecord.cli.questions import Option
from onrecord.cli.show import page
from onrecord.coldstart import NamedTuple
from onrecord.errors import AlreadyExists, OnrecordError, Stopped
from onrecord.freshness import anchors, related_files
from onrecord.record import compose, form, naming, schema
from onrecord.record.memory import Memory
from onrecord.record.schema import Field, ListOf
from onrecord.store.store import Entry
from onrecord.store.writer import Writer

Save = Callable[["SaveOptions", str, Mapping[str, Any], bool], CommandResult]
"""What saves the fields of a category; the last argument is whether similar records were shown."""

_CATEGORIES = tuple(Option(name[0], name, category.meaning) for name, category in CATEGORIES.items())
_TRIGGERS = "How will somebody ask for it, in other words than the title? Questions, symptoms, error texts."
_FILES = "Which files is it about? Relative to the project; a part of one is src/auth.py#login."
_YES = Option("y", "yes", "yes: save it")
_EDIT = Option("e", "edit", "edit: change it first, in your editor")
_NO = Option("n", "no", "no: save nothing")
_WORTH_KEEPING = 40
"""Characters typed from which on a text is kept when somebody stops."""


class SaveOptions(NamedTuple):
    """How a record is saved, beside its fields."""

    project: str
    update: str
    supersedes: str
    force: bool
    draft: bool
    suggested: bool
    allow_secret: bool
    where: str
    """The flags that name the store, for a command that is printed."""


def is_wanted(flags: RecordFlags, category: str) -> bool:
    """True if something is missing that the person who runs this save can be asked for."""
    if not category:
        return True
    fields = flags.fields(category)
    return "title" not in fields or bool(_missing(category, fields))


def _missing(category: str, fields: Mapping[str, Any]) -> list[Field]:
    """The fields that only the author can fill in, and has not."""
    there = {**CATEGORIES[category].defaults, **fields.get("content", {})}
    return [field for field in schema.content_fields(category) if field.required and field.name not in there]


class ByHand:
    """One record that is being written by hand."""

    def __init__(
        self,
        writer: Writer,
        options: SaveOptions,
        category: str,
        *,
        flags: RecordFlags,
        begun: str | None,
        save: Save,
    ) -> None:
        self.options = options
        self.begun = begun
        self.writer = writer
        self.save = save
        self.screen = Screen.of(sys.stdout)
        self.category = category
        self.fields: dict[str, Any] = flags.fields(category) if category else {}
        self.file: FormFile | None = None

    def run(self) -> CommandResult:
        """Ask, or open the form; then save."""
        try:
            return self._with_form() if self.begun is not None or "title" in self.fields else self._with_questions()
        except (KeyboardInterrupt, EOFError):
            say("", self.screen)
            raise self._stopped() from None

    def _stopped(self) -> Stopped:
        """Says that nothing was saved, and where the text is if there is much of it."""
        error = Stopped("nothing was saved")
        if self.file is None and self.category and sum(map(len, _texts(self.fields))) >= _WORTH_KEEPING:
            self.file = self._form(self._rendered())
        return error if self.file is None else self.file.kept(error)

    def _with_questions(self) -> CommandResult:
        if not self.category:
            key = questions.choose("What is it?", _CATEGORIES, self.screen)
            self.category = next(option.word for option in _CATEGORIES if option.key == key)
        self.fields["title"] = questions.text("title", "One line that says what it is about.", self.screen)
        content = self.fields.setdefault("content", {})
        for field in _missing(self.category, self.fields):
            self._ask_for(field, content)
        if "triggers" not in self.fields:
            self.fields["triggers"] = []
            questions.items(self.fields["triggers"], "triggers", _TRIGGERS, self.screen)
        if "related_files" not in self.fields:
            self.fields["related_files"] = []
            files = self.fields["related_files"]
            questions.items(files, "related files", _FILES, self.screen, flaw_of=self._file_flaw)
        try:
            record = self._checked(self.fields)
        except OnrecordError as error:
            say(f"\n{clean(error.message)}", self.screen)
            return self._with_form(error, asks=True)
        return self._confirmed(record, asks=True)

    def _ask_for(self, field: Field, content: dict[str, Any]) -> None:
        name = form.field_label(field.name)
        if isinstance(field.kind, ListOf):
            content[field.name] = []
            questions.items(content[field.name], name, field.doc, self.screen, least=field.kind.least)
        else:
            content[field.name] = questions.text(name, field.doc, self.screen)

    def _file_flaw(self, line: str) -> str:
        """What is wrong with a file that the record shall be about; empty if it is there."""
        root = anchors.project_root(self.writer.store.root)
        if not root or self.options.force:
            return ""
        flaw = next(related_files.problems(root, [line]), None)
        guess = f" Did you mean {flaw.nearest}?" if flaw and flaw.nearest else ""
        return f"{clean(flaw.text)} {flaw.what}.{clean(guess)}" if flaw else ""

    def _with_form(self, error: OnrecordError | None = None, *, asks: bool = False) -> CommandResult:
        """Save what is filled into the form, which begins with what there is, and with an error in it."""
        fresh = self._rendered()
        text = self.begun if self.begun is not None and self.file is None else fresh
        begun = form.insert_problems(text, form.error_problems(error)) if error else text
        is_fresh = text == fresh and not asks and error is None
        if self.file:
            self.file.drop()
        self.file = self._form(begun)
        return self._confirmed(self.file.fill(self._checked, untouched=fresh if is_fresh else None), asks=asks)

    def _form(self, text: str) -> FormFile:
        name = naming.slug(str(self.fields.get("title") or self.category))
        return FormFile(self.category, text, name=name, resume=self._resume)

    def _resume(self, file: str) -> str:
        return f"onrecord save {self.category} --from {file}{self.options.where}"

    def _rendered(self) -> str:
        content = {**CATEGORIES[self.category].defaults, **self.fields.get("content", {})}
        return form.render(self.category, {**self.fields, "content": content}, self._what())

    def _what(self) -> str:
        return f"A new {form.field_label(self.category)}: {CATEGORIES[self.category].meaning}."

    def _checked(self, fields: Mapping[str, Any]) -> Memory:
        """The record that the fields make; an error says what is wrong with which of them."""
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

    def _confirmed(self, record: Memory, *, asks: bool) -> CommandResult:
        """Save a record; before that show it if it was asked for in questions, and ask if another says the same."""
        is_settled = self.options.update or self.options.supersedes or self.options.force
        near = [] if is_settled else similar.find(self.writer.store, record)
        is_asking = asks or any(each.is_same for each in near)
        if asks:
            say(f"\n{page(Entry(record, record.path, ''), self.screen, status='not saved yet')}\n", self.screen)
        for each in near if is_asking else ():
            word = "says nearly the same" if each.is_same else "similar"
            say(f"{self.screen.paint(word, 'yellow')}: {each.entry.path} ({clean(each.memory.title)})", self.screen)
        if is_asking:
            answer = questions.ask("Save it?", _answers(near), self.screen)
            if answer == "n":
                raise self._stopped()
            if answer == "e":
                return self._with_form(asks=True)
            self._settle(answer, near)
        return self._saved(is_asking)

    def _settle(self, answer: str, near: list[Similar]) -> None:
        """Save it as the person chose to, where there are similar records."""
        if answer == "u":
            self.options = self.options._replace(update=near[0].memory.id)
        elif answer == "r":
            self.options = self.options._replace(supersedes=near[0].memory.id)
        else:
            self.options = self.options._replace(force=True)

    def _saved(self, was_asked: bool) -> CommandResult:
        try:
            answer = self.save(self.options, self.category, self.fields, was_asked)
        except OnrecordError as error:
            self.file = self.file or self._form(self._rendered())
            raise self.file.kept(error) from error
        if self.file:
            self.file.drop()
        return answer


def _answers(near: list[Similar]) -> list[Option]:
    if not near:
        return [_YES, _EDIT, _NO]
    path = near[0].entry.path
    update = Option("u", "update", f"update: put it into {path} instead")
    replace = Option("r", "replace", f"replace: save it; {path} no longer holds")
    return [_YES._replace(meaning="yes: save it as a record of its own"), update, replace, _EDIT, _NO]


def _texts(value: Any) -> Iterator[str]:
    """Every text in the fields of a record."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)

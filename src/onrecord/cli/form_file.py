"""A form in the user's editor: opened again, with what is wrong at its place, until it can be saved.

The file stays until the record is written. Whatever goes wrong before that, the error says how to go on from it. It is
in the user's state folder, where it is deleted after some weeks if nobody goes on from it.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from onrecord import files, paths
from onrecord.cli import terminal
from onrecord.cli.output import Screen, clean, say
from onrecord.errors import BadInput, OnrecordError, Stopped, Unwritable
from onrecord.record import form, memory, schema
from onrecord.record.form import FieldProblem, field_label
from onrecord.record.memory import Memory
from onrecord.record.schema import ListOf
from onrecord.text import plural

FOLDER = "forms"
_CORRECT = "correct it there"
_MOST_FORMS = 50
_MOST_TIMES = 20
"""How often a form is opened again: a program in the place of an editor may never get it right."""

_DERIVED = ("changes", "times_updated", "updated_at", "anchors", "id")
_KINDS = {field.name: field.kind for field in schema.RECORD}
_MARK = re.compile(r"^(?:-|[0-9]+\.) ")
Result = TypeVar("Result")
Failure = TypeVar("Failure", bound=OnrecordError)


class FormFile:
    """The file of a form; `resume` gives the command that goes on from a file, whose quoted name it gets."""

    def __init__(self, category: str, text: str, *, name: str, resume: Callable[[str], str]) -> None:
        self._category = category
        self._resume = resume
        self.path = _new_file(name)
        self.write(text)

    def write(self, text: str) -> None:
        with open(self.path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)

    def fill(self, check: Callable[[Mapping[str, Any]], Result], *, untouched: str | None = None) -> Result:
        """Have the form filled in until `check` takes what it says; Stopped if it is left empty or `untouched`."""
        error: OnrecordError | None = None
        before = untouched
        for _ in range(_MOST_TIMES):
            text = form.insert_problems(self._edited(), ())
            if before is not None and text.strip() == before.strip():
                raise error or self._nothing("the form was left as it is")
            filled = form.parse(self._category, text)
            wrong = filled.problems
            if not wrong and filled.fields == {"content": {}}:
                raise self._nothing("the form is empty")
            try:
                if not wrong:
                    return check(filled.fields)
                error = self._unread(wrong)
            except OnrecordError as refusal:
                wrong = form.error_problems(refusal)
                refusal.fix = _CORRECT if wrong else refusal.fix
                error = self.add_resume_fix(refusal)
                if not wrong:
                    raise
            before = text
            self.write(form.insert_problems(text, wrong))
            say(f"{plural(len(wrong), 'field')} to correct; the form is open again", Screen.of(sys.stdout))
        raise error or self._nothing("the form was never right")

    def _edited(self) -> str:
        """What is in the file after the editor was closed."""
        try:
            terminal.open_editor(self.path)
            return read(self.path)
        except OnrecordError as error:
            raise self.add_resume_fix(error) from error

    def add_resume_fix(self, error: Failure) -> Failure:
        """The error with a fix that goes on from this file, if the editor has left it there."""
        if os.path.exists(self.path):
            error.fix = f"your text is kept: {self._resume(shlex.quote(self.path))}; {error.fix}".rstrip("; ")
        return error

    def delete(self) -> None:
        """Delete the file, and what the editor left beside it: what it says is saved, or was never anything."""
        folder, name = os.path.split(self.path)
        with suppress(OSError):
            for each in os.listdir(folder):
                if name in each:
                    os.unlink(os.path.join(folder, each))

    def _unread(self, wrong: tuple[FieldProblem, ...]) -> OnrecordError:
        first = wrong[0]
        name = f"{first.field}: " if first.field else ""
        return self.add_resume_fix(BadInput(f"{name}{first.message}", fix=_CORRECT))

    def _nothing(self, why: str) -> Stopped:
        self.delete()
        return Stopped(f"nothing was saved: {why}")


def _new_file(name: str) -> str:
    """An empty file for a form, in a folder that holds no more than the newest of them."""
    folder = os.path.join(paths.state_dir(), FOLDER)
    try:
        files.make_folder(folder, is_private=True)
        handle, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".md", dir=folder)
        os.close(handle)
        oldest_first = sorted(os.scandir(folder), key=lambda entry: entry.stat(follow_symlinks=False).st_mtime)
        for entry in oldest_first[:-_MOST_FORMS]:
            files.remove(entry.path)
    except OSError as error:
        raise Unwritable(
            f"cannot write to {folder}: {error}", fix="set ONRECORD_STATE_DIR to a folder of yours"
        ) from error
    return path


def read(path: str) -> str:
    """The text of a form's file; BadInput if there is none."""
    try:
        with open(path, "rb") as file:
            data = file.read(2 * memory.MAX_FILE_BYTES)
        return data.decode("utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read the form {path}: {error}", fix="name the file of a form, in UTF-8") from error


def render_difference(before: Memory, after: Memory, screen: Screen) -> str:
    """The fields that differ, each with the lines that go and those that come; empty if none does."""
    old, new = (_fields(record) for record in (before, after))
    lines: list[str] = []
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            lines.append(screen.paint(clean(field_label(name)), "cyan"))
            lines += _changed(_lines(before.category, name, old), _lines(before.category, name, new), screen)
    return "\n".join(lines)


def _fields(record: Memory) -> dict[str, Any]:
    """The fields of a record and of its content side by side, without what is computed."""
    raw = memory.to_json(record)
    return {**{key: value for key, value in raw.items() if key not in (*_DERIVED, "content")}, **raw["content"]}


def _lines(category: str, name: str, fields: Mapping[str, Any]) -> list[str]:
    """A value in the lines of its form, without the marks of items; as JSON where a form does not show it."""
    if fields.get(name) is None:
        return []
    kind = {**_KINDS, **{field.name: field.kind for field in schema.content_fields(category)}}.get(name)
    if kind is None or name in ("content", "changes", "anchors") or not form.can_show(kind, fields[name]):
        return [json.dumps(fields[name], ensure_ascii=False)]
    lines = form.value_lines(kind, fields[name])
    return [_MARK.sub("", line) for line in lines] if isinstance(kind, ListOf) else lines


def _changed(old: list[str], new: list[str], screen: Screen) -> Iterator[str]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for action, a, b, c, d in matcher.get_opcodes():
        if action != "equal":
            yield from (screen.paint(f"  - {clean(line)}", "red") for line in old[a:b])
            yield from (screen.paint(f"  + {clean(line)}", "green") for line in new[c:d])

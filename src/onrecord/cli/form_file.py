"""A form in the user's editor, opened again with its problems marked until it can be saved.

The file stays until the record is written; the fix of any error before that says how to resume from it. It is in the
user's state folder, where it is deleted after some weeks.
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
_MAX_FORMS = 50
_MAX_BYTES = 2 * memory.MAX_FILE_BYTES
"""Bytes of a form that are read: those of a record, and as many for headings, comments and problems."""

_MAX_OPENINGS = 20
"""Times that a form is opened: a program used as an editor may never get it right."""

_DERIVED = ("changes", "times_updated", "updated_at", "anchors", "id")
_KINDS = {field.name: field.kind for field in schema.RECORD}
_MARK = re.compile(r"^(?:-|[0-9]+\.) ")
Result = TypeVar("Result")
Failure = TypeVar("Failure", bound=OnrecordError)


class FormFile:
    """The file of a form; `resume` returns the command that continues with a file, from its quoted name."""

    def __init__(self, category: str, text: str, *, name: str, resume: Callable[[str], str]) -> None:
        self._category = category
        self._resume = resume
        self.path = _new_file(name)
        self.write(text)

    def write(self, text: str) -> None:
        with open(self.path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)

    def fill(self, check: Callable[[Mapping[str, Any]], Result], *, untouched: str | None = None) -> Result:
        """Open the form until `check` accepts its fields. Raises Stopped if it is empty or still `untouched`."""
        error: OnrecordError | None = None
        before = untouched
        for _ in range(_MAX_OPENINGS):
            text = form.insert_problems(self._edited(), ())
            if before is not None and text.strip() == before.strip():
                break
            parsed = form.parse(self._category, text)
            problems = parsed.problems
            if not problems and parsed.fields == {"content": {}}:
                raise self._nothing("the form is empty")
            try:
                if not problems:
                    return check(parsed.fields)
                error = self._bad_field(problems)
            except OnrecordError as refusal:
                problems = form.error_problems(refusal)
                refusal.fix = _CORRECT if problems else refusal.fix
                error = self.add_resume_fix(refusal)
                if not problems:
                    raise
            before = text
            self.write(form.insert_problems(text, problems))
            say(f"{plural(len(problems), 'field')} to correct; the form is open again", Screen.for_stream(sys.stdout))
        raise error or self._nothing("the form was not changed")

    def _edited(self) -> str:
        """Open the editor, and return the text of the file afterwards."""
        try:
            terminal.open_editor(self.path)
            return read(self.path)
        except OnrecordError as error:
            raise self.add_resume_fix(error) from error

    def add_resume_fix(self, failure: Failure) -> Failure:
        """Return the error, its fix saying how to resume from this file if it still exists."""
        if os.path.exists(self.path):
            failure.fix = f"your text is kept: {self._resume(shlex.quote(self.path))}; {failure.fix}".rstrip("; ")
        return failure

    def delete(self) -> None:
        """Delete the file, and what the editor left beside it."""
        folder, name = os.path.split(self.path)
        with suppress(OSError):
            for file in os.listdir(folder):
                if name in file:
                    os.unlink(os.path.join(folder, file))

    def _bad_field(self, problems: tuple[FieldProblem, ...]) -> OnrecordError:
        first = problems[0]
        name = f"{first.field}: " if first.field else ""
        return self.add_resume_fix(BadInput(f"{name}{first.message}", fix=_CORRECT))

    def _nothing(self, why: str) -> Stopped:
        self.delete()
        return Stopped(f"nothing was saved: {why}")


def _new_file(name: str) -> str:
    """Return an empty file for a form; only the newest forms are kept."""
    folder = os.path.join(paths.state_dir(), FOLDER)
    try:
        files.make_folder(folder, is_private=True)
        handle, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".md", dir=folder)
        os.close(handle)
        oldest_first = sorted(os.scandir(folder), key=lambda entry: entry.stat(follow_symlinks=False).st_mtime)
        for entry in oldest_first[:-_MAX_FORMS]:
            files.remove(entry.path)
    except OSError as error:
        raise Unwritable(
            f"cannot write to {folder}: {error}", fix="set ONRECORD_STATE_DIR to a folder of yours"
        ) from error
    return path


def read(path: str) -> str:
    """Return the text of a form's file. Raises BadInput."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_BYTES + 1)
        # A text that is cut may end within a character.
        text = "" if len(data) > _MAX_BYTES else data.decode("utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read the form {path}: {error}", fix="name the file of a form, in UTF-8") from error
    if len(data) > _MAX_BYTES:
        raise BadInput(f"the form {path} has more than {_MAX_BYTES:,} bytes", fix="shorten it; nothing was saved")
    return text


def render_difference(before: Memory, after: Memory, screen: Screen) -> str:
    """Return the fields that differ, each with its removed and added lines; empty if none does."""
    old, new = (_fields(record) for record in (before, after))
    lines: list[str] = []
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            lines.append(screen.paint(clean(field_label(name)), "cyan"))
            lines += _diff(_lines(before.category, name, old), _lines(before.category, name, new), screen)
    return "\n".join(lines)


def _fields(record: Memory) -> dict[str, Any]:
    """Return the fields of a record and of its content in one mapping, without computed ones."""
    raw = memory.to_json(record)
    return {**{key: value for key, value in raw.items() if key not in (*_DERIVED, "content")}, **raw["content"]}


def _lines(category: str, name: str, fields: Mapping[str, Any]) -> list[str]:
    """Return a value as lines of its form, without list marks; as JSON if a form does not show it."""
    if fields.get(name) is None:
        return []
    kind = {**_KINDS, **{field.name: field.kind for field in schema.content_fields(category)}}.get(name)
    if kind is None or name in ("content", "changes", "anchors") or not form.can_show(kind, fields[name]):
        return [json.dumps(fields[name], ensure_ascii=False)]
    lines = form.value_lines(kind, fields[name])
    # A form has a line for each part of a check, to fill in; a difference has those that say something.
    return [_MARK.sub("", line) for line in lines if not line.endswith(": ")] if isinstance(kind, ListOf) else lines


def _diff(old_lines: list[str], new_lines: list[str], screen: Screen) -> Iterator[str]:
    matcher = difflib.SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    for action, a, b, c, d in matcher.get_opcodes():
        if action != "equal":
            yield from (screen.paint(f"  - {clean(line)}", "red") for line in old_lines[a:b])
            yield from (screen.paint(f"  + {clean(line)}", "green") for line in new_lines[c:d])

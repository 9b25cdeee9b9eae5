"""A record as a Markdown form that a person fills in: fields are headings, hints are comments that are dropped.

# Use uv

## decision
<!-- required: What was decided, with its literal values. -->
uv installs everything.

## alternatives
- option: Poetry
  rejected reason: slow
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onrecord import categories
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.record import form_value, memory, schema
from onrecord.record.fields import Choice, Field, Flag, ListOf
from onrecord.record.form_value import Unreadable, label_of, name_in

_ALWAYS = ("tags", "triggers", "related_files")
_IF_PRESENT = ("scope", "confidence", "source")
_RECORD = {field.name: field for field in schema.RECORD if field.name in (*_ALWAYS, *_IF_PRESENT)}
_HEADING = re.compile(r"##(?!#)(.*)")
_TITLE = re.compile(r"#(?!#)(.*)")
_ERROR = "<!-- ERROR "
_TITLE_FIELD = "title"
_WIDTH = 80
_HOW = """<!-- {what} Write below the headings. Comments like this one are dropped.
     Save the file and close the editor to go on. A form left empty or as it is saves nothing. -->"""


class Problem(NamedTuple):
    """What is wrong with a form: the field, or empty for the whole form, and how."""

    field: str
    message: str


class Filled(NamedTuple):
    """What a form says: the fields as a partial record, and what of it cannot be read."""

    fields: Mapping[str, Any]
    problems: tuple[Problem, ...] = ()


class _Section(NamedTuple):
    """The lines below a heading without comments; `is_open` if a comment in it has no end."""

    name: str
    lines: list[str]
    is_open: bool = False


def render(category: str, fields: Mapping[str, Any], what: str = "") -> str:
    """The form of a partial record; `what` tells in a sentence what it is for, to somebody who gets it in an editor."""
    title = fields.get(_TITLE_FIELD, "")
    parts = [*((_HOW.format(what=_comment(what)), "") if what else ()), f"# {form_value.one_line(title)}"]
    content = fields.get("content", {})
    for field in _offered(category, fields):
        value = (content if field.name not in _RECORD else fields).get(field.name)
        parts += ["", f"## {label_of(field.name)}", *_hint(field)]
        parts += form_value.lines_of(field.kind, value)
    return "\n".join(parts) + "\n"


def _offered(category: str, fields: Mapping[str, Any]) -> Iterator[Field]:
    """The fields of a form: what must be written first, then what may be, then what has a usual value."""
    content = fields.get("content", {})
    defaults = categories.BY_NAME[category].defaults
    for field in sorted(schema.content_fields(category), key=lambda each: (each.name in defaults, not each.required)):
        if form_value.fits(field.kind, content.get(field.name)):
            yield field
    for name in (*_ALWAYS, *(name for name in _IF_PRESENT if fields.get(name) is not None)):
        if form_value.fits(_RECORD[name].kind, fields.get(name)):
            yield _RECORD[name]


def _hint(field: Field) -> list[str]:
    is_needed = field.required and field.name not in _RECORD
    hints = [("required: " if is_needed else "optional: ") + field.doc]
    kind = field.kind.item if isinstance(field.kind, ListOf) else field.kind
    if isinstance(kind, Choice):
        hints.append(f"One of: {', '.join(kind.values)}.")
    elif isinstance(kind, Flag):
        hints.append("true or false.")
    return textwrap.wrap(f"<!-- {' '.join(hints)} -->", _WIDTH, subsequent_indent="     ", break_long_words=False)


def _comment(text: str) -> str:
    """Text that cannot end the comment it stands in."""
    return " ".join(text.replace("-->", "→").replace("<!--", "‹!").split())


def parse(category: str, text: str) -> Filled:
    """What a form says; a field without text is left out, except a list that a record must have."""
    preamble, *sections = _sections(text)
    kinds = {field.name: field for field in (*schema.content_fields(category), *_RECORD.values())}
    fields: dict[str, Any] = {"content": {}}
    problems = list(_title(preamble, fields))
    for section in sections:
        problem = _wrong_heading(section, kinds, fields)
        try:
            value = form_value.value_of(kinds[section.name].kind, section.lines) if not problem else None
        except Unreadable as error:
            value, problem = None, str(error)
        if problem:
            problems.append(Problem(section.name, problem))
            continue
        field = kinds[section.name]
        if value is None and isinstance(field.kind, ListOf) and field.required and not field.kind.least:
            value = []
        into = fields if section.name in _RECORD else fields["content"]
        into[section.name] = value
    return Filled(_present(fields), tuple(problems))


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    content = {key: value for key, value in fields["content"].items() if value is not None}
    return {**{key: value for key, value in fields.items() if value is not None}, "content": content}


def _wrong_heading(section: _Section, kinds: Mapping[str, Field], fields: Mapping[str, Any]) -> str:
    """Why the text below a heading belongs to no field; empty if it does."""
    if section.name not in kinds:
        names = ", ".join(label_of(name) for name in kinds)
        return f"is no field of this form ({names}); to write a line that begins with ## put a backslash before it"
    if section.name in fields or section.name in fields["content"]:
        return "stands here twice"
    return "has a comment without an end: add --> to it" if section.is_open else ""


def _title(preamble: _Section, fields: dict[str, Any]) -> Iterator[Problem]:
    lines = [line for line in preamble.lines if line.strip()]
    if preamble.is_open:
        yield Problem("", "a comment above the first heading has no end: add --> to it")
    elif len(lines) > 1:
        yield Problem("", "above the first ## heading stands only the title, in one line")
    elif lines:
        heading = _TITLE.fullmatch(lines[0])
        title = form_value.from_line(heading[1] if heading else lines[0])
        if title:
            fields[_TITLE_FIELD] = title


def _sections(text: str) -> list[_Section]:
    """What stands above the first heading, and below each."""
    bodies: list[tuple[str, list[str]]] = [("", [])]
    for line in text.lstrip("\ufeff").replace("\r\n", "\n").split("\n"):
        heading = _HEADING.fullmatch(line)
        if heading:
            bodies.append((name_in(heading[1]), []))
        else:
            bodies[-1][1].append(line)
    return [_Section(name, *_without_comments(lines)) for name, lines in bodies]


def _without_comments(lines: Sequence[str]) -> tuple[list[str], bool]:
    """The lines without comments and without those that held nothing else; whether the last comment has no end."""
    result: list[str] = []
    is_open = False
    for line in lines:
        was_open = is_open
        text, is_open = _outside(line, was_open)
        is_whole = not was_open and len(text) == len(line)
        if is_whole or text.strip():
            result.append(text if is_whole else text.rstrip())
    return result, is_open


def _outside(line: str, is_open: bool) -> tuple[str, bool]:
    """What of a line stands in no comment, and whether one is open at its end."""
    text, at = "", 0
    while True:
        mark = "-->" if is_open else "<!--"
        end = line.find(mark, at)
        if not is_open:
            text += line[at:] if end < 0 else line[at:end]
        if end < 0:
            return text, is_open
        at, is_open = end + len(mark), not is_open


def problems_of(error: OnrecordError) -> tuple[Problem, ...]:
    """What an error says of the fields of a form."""
    return tuple(Problem(_field(where), message) for where, message in error.places)


def _field(where: str) -> str:
    """The field of a form that a place in a record belongs to: `alternatives` for `content.alternatives[0].option`."""
    return memory.without_positions(where).removeprefix("content.").partition(".")[0]


def with_problems(text: str, problems: Sequence[Problem]) -> str:
    """The form as it was written, with what is wrong as comments below the headings; earlier ones are gone."""
    lines = [line for line in text.split("\n") if not line.startswith(_ERROR)]
    places = {name_in(match[1]): at for at, line in enumerate(lines) if (match := _HEADING.fullmatch(line))}
    titles = [at for at, line in enumerate(lines) if _TITLE.fullmatch(line)]
    if titles:
        places.setdefault(_TITLE_FIELD, titles[0])
    for problem in sorted(problems, key=lambda each: places.get(each.field, -1), reverse=True):
        name = label_of(problem.field) + ": " if problem.field else ""
        comment = f"{_ERROR}{_comment(name + problem.message)} -->"
        lines.insert(places.get(problem.field, -1) + 1, comment)
    return "\n".join(lines)

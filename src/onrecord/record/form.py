"""A record as a Markdown form for a text editor: fields are headings, hints are comments that are dropped.

# Use uv

## decision
<!-- required: What was decided, with its literal values. -->
uv installs everything.

## alternatives
- option: Poetry
  rejected reason: slow
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onrecord import categories
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.record import memory, naming, schema
from onrecord.record.schema import Choice, Choices, Field, Flag, Kind, ListOf, Number, Object

_ALWAYS = ("tags", "triggers", "related_files")
_IF_PRESENT = ("checks", "scope", "confidence", "source")
_RECORD = {field.name: field for field in schema.RECORD if field.name in (*_ALWAYS, *_IF_PRESENT)}
_TITLE_FIELD = "title"
_WIDTH = 80
_INTRODUCTION = """<!-- {purpose} Write below the headings. Comments like this one are dropped.
     Save the file and close the editor to go on. A form left empty or as it is saves nothing. -->"""

_ERROR = "<!-- ERROR "
_HEADING = re.compile(r"##(?!#)(.*)")
_TITLE = re.compile(r"#(?!#)(.*)")
_SUBHEADING = re.compile(r"###(?!#)\s*(.*)")
_ITEM = re.compile(r"(?:[-*]|[0-9]{1,3}[.)])(?:[ \t]+|$)")
_WORDS = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}
_COMMENT = re.compile(r"<(?=\\*!--)")
_ESCAPED_COMMENT = re.compile(r"<\\(?=\\*!--)")
_NEEDS_MARK = re.compile(r"\\*(?:##(?!#)|\s|$)")
_MARKED = re.compile(r"\\+(?:##(?!#)|\s|$)")


class FieldProblem(NamedTuple):
    """A problem with a form: the field, empty for the whole form, and a message."""

    field: str
    message: str


class FilledForm(NamedTuple):
    """The content of a form: the fields as a partial record, and the problems."""

    fields: Mapping[str, Any]
    problems: tuple[FieldProblem, ...] = ()


class Unreadable(ValueError):
    """The error for text that cannot be the value of its field."""


class _Section(NamedTuple):
    """The lines below a heading without comments; `is_open` if a comment has no end."""

    name: str
    lines: list[str]
    is_open: bool = False


def field_name(label: str) -> str:
    """Return the field of a heading or label: `root_cause` for `Root cause`."""
    return "_".join(label.strip().rstrip(":").lower().replace("-", " ").split())


def field_label(name: str) -> str:
    """Return the name of a field in a form."""
    return name.replace("_", " ")


def render(category: str, fields: Mapping[str, Any], purpose: str = "") -> str:
    """Return the form of a partial record; `purpose` is a sentence that explains it to the user in an editor."""
    title = fields.get(_TITLE_FIELD, "")
    parts = [*((_INTRODUCTION.format(purpose=_comment(purpose)), "") if purpose else ()), f"# {escape_line(title)}"]
    content = fields.get("content", {})
    for field in _form_fields(category, fields):
        value = (content if field.name not in _RECORD else fields).get(field.name)
        parts += ["", f"## {field_label(field.name)}", *_hint(field)]
        parts += value_lines(field.kind, value)
    return "\n".join(parts) + "\n"


def _form_fields(category: str, fields: Mapping[str, Any]) -> Iterator[Field]:
    """Yield the fields of a form: required ones first, then optional ones, then those with a default."""
    content = fields.get("content", {})
    defaults = categories.CATEGORIES[category].defaults
    by_need = sorted(schema.content_fields(category), key=lambda field: (field.name in defaults, not field.required))
    for field in by_need:
        if can_show(field.kind, content.get(field.name)):
            yield field
    for name in (*_ALWAYS, *(name for name in _IF_PRESENT if fields.get(name) is not None)):
        if can_show(_RECORD[name].kind, fields.get(name)):
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
    """Return `text` for a comment, which it cannot end."""
    return " ".join(text.replace("-->", "→").replace("<!--", "‹!").split())


def can_show(kind: Kind, value: Any) -> bool:
    """True if a form can show `value`: it has no keys that the schema does not have."""
    if value is None:
        return True
    if isinstance(kind, ListOf):
        return all(can_show(kind.item, item) for item in value)
    if isinstance(kind, Object):
        kinds = {field.name: field.kind for field in kind.fields}
        return all(name in kinds and can_show(kinds[name], part) for name, part in value.items())
    return True


def value_lines(kind: Kind, value: Any) -> list[str]:
    """Return a value as the lines below its heading; for a missing value the empty form of it."""
    if isinstance(kind, ListOf):
        items = list(value or ())
        return [line for number, item in enumerate(items or [None], 1) for line in _item_lines(kind, item, number)]
    if isinstance(kind, Object):
        return _subsections(kind, value or {})
    if value is None:
        return [""]
    if isinstance(kind, (Flag, Number)):
        return [json.dumps(value)]
    return _text_lines(value)


def _item_lines(list_kind: ListOf, item: Any, number: int) -> list[str]:
    mark = f"{number}. " if list_kind.is_ordered else "- "
    if isinstance(list_kind.item, Object):
        lines = _labelled(list_kind.item, item or {})
    else:
        lines = [""] if item is None else _text_lines(item, is_inside=True)
    return [mark + lines[0], *(" " * len(mark) + line if line else "" for line in lines[1:])]


def _labelled(object_kind: Object, fields: Mapping[str, Any]) -> list[str]:
    """Return an object as lines `name: text`; further lines of a text, and the texts of a list, are indented."""
    result = []
    for name, kind, where in _labels(object_kind):
        holder = fields if len(where) == 1 else fields.get(where[0]) or {}
        first, *rest = _labelled_lines(kind, holder.get(where[-1]))
        result += [f"{field_label(name)}: {first}", *(f"  {line}" if line else "" for line in rest)]
    return result


def _labels(object_kind: Object) -> Iterator[tuple[str, Kind, tuple[str, ...]]]:
    """Yield the name, the kind and the place of each field of an object; those of an object in it are its own."""
    for field in object_kind.fields:
        if isinstance(field.kind, Object):
            for part in field.kind.fields:
                yield f"{field.name}_{part.name}", part.kind, (field.name, part.name)
        else:
            yield field.name, field.kind, (field.name,)


def _labelled_lines(kind: Kind, value: Any) -> list[str]:
    if value is None:
        return [""]
    if isinstance(kind, Choices):
        return [value if isinstance(value, str) else ", ".join(value)]
    if not isinstance(kind, ListOf):
        return _text_lines(value, is_inside=True)
    lines = [_quoted(text) for text in value]
    return lines if len(lines) == 1 else ["", *lines]


def _quoted(text: str) -> str:
    """Return a text of a list in one line: as it is, or as JSON after a backslash where spaces would be lost."""
    is_plain = text.isprintable() and text == text.strip() and text[:1] not in ("", "\\", "#") and "<!" not in text
    return text if is_plain else "\\" + json.dumps(text).replace("<", "\\u003c")


def _unquoted(line: str) -> str:
    if line.startswith('\\"'):
        try:
            return str(json.loads(line[1:]))
        except ValueError as error:
            raise Unreadable(f"has a line that begins with a backslash and is not JSON: {line[:60]}") from error
    return line


def _subsections(object_kind: Object, fields: Mapping[str, Any]) -> list[str]:
    result = []
    for field in object_kind.fields:
        result += [f"### {field_label(field.name)}", *value_lines(field.kind, fields.get(field.name))]
    return result


def parse(category: str, text: str) -> FilledForm:
    """Parse a form. A field without text is left out, except a required list that may be empty."""
    preamble, *sections = _sections(text)
    kinds = {field.name: field for field in (*schema.content_fields(category), *_RECORD.values())}
    fields: dict[str, Any] = {"content": {}}
    problems = list(_set_title(fields, preamble))
    for section in sections:
        problem = _wrong_heading(section, kinds, fields)
        try:
            value = parse_value(kinds[section.name].kind, section.lines) if not problem else None
        except Unreadable as error:
            value, problem = None, str(error)
        if problem:
            problems.append(FieldProblem(section.name, problem))
            continue
        field = kinds[section.name]
        if value is None and isinstance(field.kind, ListOf) and field.required and not field.kind.min_items:
            value = []
        target = fields if section.name in _RECORD else fields["content"]
        target[section.name] = value
    return FilledForm(_present(fields), tuple(problems))


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    content = {key: value for key, value in fields["content"].items() if value is not None}
    return {**{key: value for key, value in fields.items() if value is not None}, "content": content}


def _wrong_heading(form_section: _Section, kinds: Mapping[str, Field], fields: Mapping[str, Any]) -> str:
    """Return what is wrong with a heading, or nothing."""
    if form_section.name not in kinds:
        names = ", ".join(field_label(name) for name in kinds)
        return f"is no field of this form ({names}); to write a line that begins with ## put a backslash before it"
    if form_section.name in fields or form_section.name in fields["content"]:
        return "is here twice"
    return "has a comment without an end: add --> to it" if form_section.is_open else ""


def _set_title(target: dict[str, Any], preamble: _Section) -> Iterator[FieldProblem]:
    lines = [line for line in preamble.lines if line.strip()]
    if preamble.is_open:
        yield FieldProblem("", "a comment above the first heading has no end: add --> to it")
    elif len(lines) > 1:
        yield FieldProblem("", "above the first ## heading there may be only the title, in one line")
    elif lines:
        heading = _TITLE.fullmatch(lines[0])
        title = parse_line(heading[1] if heading else lines[0])
        if title:
            target[_TITLE_FIELD] = title


def _sections(text: str) -> list[_Section]:
    """Return the section above the first heading, and those below each heading."""
    bodies: list[tuple[str, list[str]]] = [("", [])]
    for line in text.lstrip("\ufeff").replace("\r\n", "\n").split("\n"):
        heading = _HEADING.fullmatch(line)
        if heading:
            bodies.append((field_name(heading[1]), []))
        else:
            bodies[-1][1].append(line)
    return [_Section(name, *_without_comments(lines)) for name, lines in bodies]


def _without_comments(lines: Sequence[str]) -> tuple[list[str], bool]:
    """Return the lines without comments, and without lines of comments only; and whether the last one has no end."""
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
    """Return the part of a line outside of comments, and whether a comment is open at its end."""
    text, start = "", 0
    while True:
        mark = "-->" if is_open else "<!--"
        end = line.find(mark, start)
        if not is_open:
            text += line[start:] if end < 0 else line[start:end]
        if end < 0:
            return text, is_open
        start, is_open = end + len(mark), not is_open


def parse_value(kind: Kind, lines: Sequence[str]) -> Any:
    """Return the value of the lines below a heading; None if they are blank. Raises Unreadable."""
    if isinstance(kind, ListOf):
        items = [_item(kind.item, item) for item in _items(lines)]
        return [item for item in items if item is not None] or None
    if isinstance(kind, Object):
        return _object(kind, lines)
    text = _text(lines)
    if text is None or not isinstance(kind, (Flag, Number, Choice)):
        return text
    return _word(kind, text.strip())


def _word(kind: Kind, text: str) -> Any:
    if isinstance(kind, Choice):
        return text.lower() if text.lower() in kind.values else text
    if isinstance(kind, Flag):
        if text.lower() not in _WORDS:
            raise Unreadable("must be true or false")
        return _WORDS[text.lower()]
    if not re.fullmatch(r"-?[0-9]{1,9}(?:\.[0-9]{1,20})?(?:e-?[0-9]{1,3})?", text):
        raise Unreadable("must be a number")
    return int(text) if text.isdigit() else float(text)


def _text(lines: Sequence[str]) -> str | None:
    """Return the text of lines without blank ones around it; None if all are blank."""
    numbers = [number for number, line in enumerate(lines) if line.strip()]
    if not numbers:
        return None
    return "\n".join(_unescaped(_unmarked(line)) for line in lines[numbers[0] : numbers[-1] + 1])


def _items(lines: Sequence[str]) -> list[list[str]]:
    """Return the lines of each item of a list: a mark starts one, and so does an unindented line after a blank one."""
    items: list[list[str]] = []
    indent, is_after_blank = 0, True
    for line in lines:
        mark = _ITEM.match(line)
        if mark:
            indent = len(mark[0].rstrip()) + 1
            items.append([line[mark.end() :]])
        elif not line.strip():
            if items:
                items[-1].append("")
        elif not items or (is_after_blank and not line[0].isspace()):
            indent = 0
            items.append([line])
        else:
            items[-1].append(_dedent(line, indent))
        is_after_blank = not line.strip()
    return items


def _dedent(line: str, limit: int) -> str:
    width = len(line) - len(line.lstrip(" "))
    return line[min(width, limit) :]


def _item(kind: Kind, lines: list[str]) -> Any:
    return _from_labels(kind, lines) if isinstance(kind, Object) else _text(lines)


def _from_labels(object_kind: Object, lines: list[str]) -> Any:
    """Return an object from lines `name: text`; None if every text is empty."""
    labels = {name: (kind, where) for name, kind, where in _labels(object_kind)}
    texts: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        label, colon, rest = line.partition(":")
        name = field_name(label) if colon and not line[0].isspace() else ""
        if name in labels and name not in texts:
            current = texts[name] = [rest.lstrip(" \t")]
        elif current is not None:
            current.append(_dedent(line, 2))
        elif line.strip():
            example = ", ".join(f"'{field_label(name)}: …'" for name in labels)
            raise Unreadable(f"each item needs the lines {example}")
    values: dict[str, Any] = {}
    for name, body in texts.items():
        kind, where = labels[name]
        value = _labelled_value(kind, body)
        if value is not None:
            target = values if len(where) == 1 else values.setdefault(where[0], {})
            target[where[-1]] = value
    return values or None


def _labelled_value(kind: Kind, lines: list[str]) -> Any:
    if isinstance(kind, ListOf):
        return [_unquoted(line.strip()) for line in lines if line.strip()] or None
    if isinstance(kind, Choices):
        words = " ".join(lines).replace(",", " ").lower().split()
        return (words[0] if len(words) == 1 else words) if words else None
    return _text(lines)


def _object(object_kind: Object, lines: Sequence[str]) -> Any:
    kinds = {field.name: field.kind for field in object_kind.fields}
    headings = ", ".join(f"### {field_label(name)}" for name in kinds)
    bodies: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        heading = _SUBHEADING.fullmatch(line)
        if heading:
            name = field_name(heading[1])
            if name not in kinds or name in bodies:
                raise Unreadable(f"needs the headings {headings}, each once")
            current = bodies[name] = []
        elif current is not None:
            current.append(line)
        elif line.strip():
            raise Unreadable(f"write below one of the headings {headings}")
    values = {name: parse_value(kinds[name], body) for name, body in bodies.items()}
    return {name: value for name, value in values.items() if value is not None} or None


def error_problems(error: OnrecordError) -> tuple[FieldProblem, ...]:
    """Return the problems of an error for a form."""
    return tuple(FieldProblem(_field(where), message) for where, message in error.field_errors)


def _field(where: str) -> str:
    """Return the field of a path in a record: `alternatives` for `content.alternatives[0].option`."""
    return memory.without_positions(where).removeprefix("content.").partition(".")[0]


def insert_problems(text: str, problems: Sequence[FieldProblem]) -> str:
    """Return a filled form with the problems as comments below the headings, in place of earlier ones."""
    lines = [line for line in text.split("\n") if not line.startswith(_ERROR)]
    headings = {field_name(match[1]): n for n, line in enumerate(lines) if (match := _HEADING.fullmatch(line))}
    titles = [n for n, line in enumerate(lines) if _TITLE.fullmatch(line)]
    if titles:
        headings.setdefault(_TITLE_FIELD, titles[0])
    for problem in sorted(problems, key=lambda problem: headings.get(problem.field, -1), reverse=True):
        name = field_label(problem.field) + ": " if problem.field else ""
        comment = f"{_ERROR}{_comment(name + problem.message)} -->"
        lines.insert(headings.get(problem.field, -1) + 1, comment)
    return "\n".join(lines)


def escape_line(text: str) -> str:
    """Return `text` escaped for a single line of a form."""
    return _escaped(text).strip()


def parse_line(line: str) -> str:
    """Return the text of a single line of a form."""
    return _unescaped(line.strip())


def _text_lines(text: str, *, is_inside: bool = False) -> list[str]:
    """Return the lines of a text; `is_inside` an item, spaces before the first line need a mark."""
    lines = [_escaped(line) for line in text.split("\n")]
    last = len(lines) - 1
    return [_marked(line, n in (0, last), is_inside and n == 0) for n, line in enumerate(lines)]


def _marked(line: str, is_edge: bool, is_first_inside: bool) -> str:
    """Return a line with a backslash before it if it would be parsed as something else."""
    is_blank = not line.strip() and (is_edge or bool(line))
    is_special = line[:1] == "\\" or line[:2] == "##" or is_blank or (is_first_inside and line[:1].isspace())
    return "\\" + line if is_special and _NEEDS_MARK.match(line) else line


def _unmarked(line: str) -> str:
    return line[1:] if _MARKED.match(line) else line


def _escaped(text: str) -> str:
    return naming.show_invisible(_COMMENT.sub(r"<\\", text))


def _unescaped(text: str) -> str:
    return naming.read_invisible(_ESCAPED_COMMENT.sub("<", text))

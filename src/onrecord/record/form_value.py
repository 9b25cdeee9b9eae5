"""The value of one field as lines of a form, and back: texts, lists with `- `, objects as `name: text`.

What would be read as something else gets a backslash: a line that begins with `##`, a comment, an empty line at an
edge. Characters that an editor does not show are written as `\\u{200b}`.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from onrecord.record.fields import Choice, Flag, Kind, ListOf, Number, Object

_INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp")
_JOINERS = "\u200c\u200d"
"""Part of how Persian and Indic words, and many emoji, are spelt."""

_CODE = re.compile(r"(?<!\\)(\\+)u\{([0-9a-f]{1,6})\}")
_BEFORE_CODE = re.compile(r"(\\*)(\W)")
_COMMENT = re.compile(r"<(?=\\*!--)")
_ESCAPED_COMMENT = re.compile(r"<\\(?=\\*!--)")
_NEEDS_MARK = re.compile(r"\\*(?:##(?!#)|\s|$)")
_MARKED = re.compile(r"\\+(?:##(?!#)|\s|$)")
_ITEM = re.compile(r"(?:[-*]|[0-9]{1,3}[.)])(?:[ \t]+|$)")
_SUBHEADING = re.compile(r"###(?!#)\s*(.*)")
_WORDS = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}


class Unreadable(ValueError):
    """What somebody wrote cannot be the value of its field; the message says why."""


def name_in(label: str) -> str:
    """The field that a heading or label means: `Root cause` is `root_cause`."""
    return "_".join(label.strip().rstrip(":").lower().replace("-", " ").split())


def label_of(name: str) -> str:
    """How a field is called in a form."""
    return name.replace("_", " ")


def fits(kind: Kind, value: Any) -> bool:
    """Whether a form can show a value: it has no keys that its field does not have."""
    if value is None:
        return True
    if isinstance(kind, ListOf):
        return all(fits(kind.item, item) for item in value)
    if isinstance(kind, Object):
        kinds = {field.name: field.kind for field in kind.fields}
        return all(name in kinds and fits(kinds[name], part) for name, part in value.items())
    return True


def lines_of(kind: Kind, value: Any) -> list[str]:
    """A value as the lines below its heading; for a missing value what somebody begins with."""
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


def _item_lines(kind: ListOf, item: Any, number: int) -> list[str]:
    mark = f"{number}. " if kind.in_order else "- "
    if isinstance(kind.item, Object):
        lines = _labelled(kind.item, item or {})
    else:
        lines = [""] if item is None else _text_lines(item, is_inside=True)
    return [mark + lines[0], *(" " * len(mark) + line if line else "" for line in lines[1:])]


def _labelled(kind: Object, value: Mapping[str, Any]) -> list[str]:
    """An object of texts: `name: text`, further lines of a text moved in."""
    result = []
    for field in kind.fields:
        text = value.get(field.name)
        first, *rest = [""] if text is None else _text_lines(text, is_inside=True)
        result += [f"{label_of(field.name)}: {first}", *(f"  {line}" if line else "" for line in rest)]
    return result


def _subsections(kind: Object, value: Mapping[str, Any]) -> list[str]:
    result = []
    for field in kind.fields:
        result += [f"### {label_of(field.name)}", *lines_of(field.kind, value.get(field.name))]
    return result


def _text_lines(text: str, *, is_inside: bool = False) -> list[str]:
    """The lines of a text; `is_inside` an item, the spaces before the first line would be lost."""
    lines = [_escaped(line) for line in text.split("\n")]
    last = len(lines) - 1
    return [_marked(line, at in (0, last), is_inside and at == 0) for at, line in enumerate(lines)]


def _marked(line: str, is_edge: bool, is_first_inside: bool) -> str:
    """A line with a backslash before it if it would otherwise be read as something else."""
    is_blank = not line.strip() and (is_edge or bool(line))
    is_special = line[:1] == "\\" or line[:2] == "##" or is_blank or (is_first_inside and line[:1].isspace())
    return "\\" + line if is_special and _NEEDS_MARK.match(line) else line


def _unmarked(line: str) -> str:
    return line[1:] if _MARKED.match(line) else line


def _escaped(text: str) -> str:
    """A text with codes for what is hidden in it; backslashes before a code, or what looks like one, are doubled."""
    text = _CODE.sub(lambda match: match[1] + match[0], _COMMENT.sub(r"<\\", text))
    return text if text.isprintable() else _BEFORE_CODE.sub(_coded, text)


def _coded(match: re.Match[str]) -> str:
    char = match[2]
    is_hidden = unicodedata.category(char) in _INVISIBLE and char not in _JOINERS and char != "\t"
    return f"{match[1]}{match[1]}\\u{{{ord(char):x}}}" if is_hidden else match[0]


def _unescaped(text: str) -> str:
    return _CODE.sub(_meant, _ESCAPED_COMMENT.sub("<", text))


def _meant(match: re.Match[str]) -> str:
    count, code = len(match[1]), int(match[2], 16)
    if count % 2 == 0:
        return match[0][count // 2 :]
    return match[1][: count // 2] + chr(code) if code <= sys.maxunicode else match[0]


def one_line(text: str) -> str:
    """A text for a single line of a form."""
    return _escaped(text).strip()


def from_line(line: str) -> str:
    """The text of a single line."""
    return _unescaped(line.strip())


def value_of(kind: Kind, lines: Sequence[str]) -> Any:
    """The value that the lines below a heading mean, None if there is none; Unreadable if they cannot mean any."""
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
    """The text of some lines, None if all are blank; blank lines around it are not part of it."""
    filled = [at for at, line in enumerate(lines) if line.strip()]
    if not filled:
        return None
    return "\n".join(_unescaped(_unmarked(line)) for line in lines[filled[0] : filled[-1] + 1])


def _items(lines: Sequence[str]) -> list[list[str]]:
    """The lines of each item of a list: a mark begins one, and so does a line behind a blank one, if not moved in."""
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
            items[-1].append(_moved_out(line, indent))
        is_after_blank = not line.strip()
    return items


def _moved_out(line: str, most: int) -> str:
    width = len(line) - len(line.lstrip(" "))
    return line[min(width, most) :]


def _item(kind: Any, lines: list[str]) -> Any:
    return _from_labels(kind, lines) if isinstance(kind, Object) else _text(lines)


def _from_labels(kind: Object, lines: list[str]) -> Any:
    """An object from lines of the form `name: text`; None if every text is empty."""
    names = [field.name for field in kind.fields]
    texts: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        label, colon, rest = line.partition(":")
        name = name_in(label) if colon and not line[0].isspace() else ""
        if name in names and name not in texts:
            current = texts[name] = [rest.lstrip(" \t")]
        elif current is not None:
            current.append(_moved_out(line, 2))
        elif line.strip():
            example = ", ".join(f"'{label_of(each)}: …'" for each in names)
            raise Unreadable(f"each item needs the lines {example}")
    values = {name: text for name, body in texts.items() if (text := _text(body)) is not None}
    return values or None


def _object(kind: Object, lines: Sequence[str]) -> Any:
    kinds = {field.name: field.kind for field in kind.fields}
    bodies: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        heading = _SUBHEADING.fullmatch(line)
        if heading:
            name = name_in(heading[1])
            if name not in kinds or name in bodies:
                raise Unreadable(
                    f"needs the headings {', '.join(f'### {label_of(each)}' for each in kinds)}, each once"
                )
            current = bodies[name] = []
        elif current is not None:
            current.append(line)
        elif line.strip():
            raise Unreadable(f"write below one of the headings {', '.join(f'### {label_of(each)}' for each in kinds)}")
    values = {name: value_of(kinds[name], body) for name, body in bodies.items()}
    return {name: value for name, value in values.items() if value is not None} or None

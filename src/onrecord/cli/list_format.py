"""`onrecord list --format`: the records as JSON, as lines of JSON, as cells between tabs, or by a template."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onrecord.cli.output import clean, to_json
from onrecord.errors import BadInput

FIELDS = ("id", "title", "category", "status", "updated", "created", "tags", "files", "path", "hidden_by", "group")
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|\\(.)|[{}]")
_ESCAPES = {"t": "\t", "n": "\n", "\\": "\\"}

Values = Mapping[str, Any]
"""What the fields of one record hold: texts, and lists of texts."""


def render(form: str, records: Sequence[Values]) -> str:
    """The records in some form; BadInput for a template with a field that there is not."""
    if form == "json":
        return to_json(list(records))
    line = {"jsonl": _json_line, "tsv": _cells}.get(form) or template(form)
    return "\n".join(line(values) for values in records)


def _json_line(values: Values) -> str:
    return to_json(values, indent=None)


def _cells(values: Values) -> str:
    day = {**values, "updated": values["updated"][:10]}
    names = [name for name in ("group", "id", "category", "status", "updated", "title") if name in values]
    return "\t".join(_text(day[name]) for name in names)


def template(text: str) -> Callable[[Values], str]:
    """What fills a template such as `{id}\\t{title}`; `{{` and `}}` stand for braces."""
    check(text)

    def fill(values: Values) -> str:
        return _PIECE.sub(lambda piece: _piece(piece, values), text)

    return fill


def check(text: str) -> None:
    """BadInput if a template is no template."""
    fix = f"use {', '.join('{' + name + '}' for name in FIELDS)}; or one of json, jsonl, tsv"
    pieces = list(_PIECE.finditer(text))
    for piece in pieces:
        if piece[1] is not None and piece[1] not in FIELDS:
            raise BadInput(f"--format: a record has no field {piece[0]!r}", fix=fix)
        if piece[0] in "{}":
            raise BadInput(f"--format: a brace stands alone in {text!r}", fix=f"write it twice; {fix}")
    if not any(piece[1] for piece in pieces):
        raise BadInput(f"--format: {text!r} names no field", fix=fix)


def _piece(piece: re.Match[str], values: Values) -> str:
    if piece[1] is not None:
        return _text(values.get(piece[1], ""))
    if piece[2] is not None:
        return _ESCAPES.get(piece[2], piece[0])
    return piece[0][0]


def _text(value: Any) -> str:
    return clean(", ".join(value) if isinstance(value, list) else value)

"""`onrecord list`: the records of a store, chosen, sorted and grouped."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onrecord.cli import arguments, record_table
from onrecord.cli.output import CommandResult, Screen, clean, to_json
from onrecord.cli.progress import watched
from onrecord.cli.record_table import ListedPath, TableRow
from onrecord.coldstart import NamedTuple
from onrecord.errors import BadInput
from onrecord.project import Project
from onrecord.record import compose, schema
from onrecord.search import index, listing
from onrecord.search.listing import Listed, ListingFilter
from onrecord.store import record_names, waiting
from onrecord.store.store import Store
from onrecord.text import plural

STATUSES = ("active", "superseded", "retired", "archived", "all")
FIELDS = ("id", "title", "category", "status", "updated", "created", "tags", "files", "path", "hidden_by", "group")
_NO_GROUP = {"tag": "no tag", "file": "no file"}
_GROUPS: dict[str, Callable[[Listed], Sequence[str]]] = {
    "category": lambda record: [record.category],
    "tag": lambda record: record.tags,
    "file": lambda record: record.files,
}
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|\\(.)|[{}]")
_ESCAPES = {"t": "\t", "n": "\n", "\\": "\\"}
Values = Mapping[str, Any]
"""What the fields of one record hold: texts, and lists of texts."""


class _Row(NamedTuple):
    """A record in a list, and the group it stands in; with several tags it stands in several."""

    group: str
    record: Listed
    hidden_by: str
    """The path of the record that counts here in place of it; empty for one that counts itself."""

    @property
    def status(self) -> str:
        return "hidden" if self.hidden_by and self.record.status == "active" else self.record.status


class _Page(NamedTuple):
    """The records to list, of how many, grouped by what, and in which form."""

    store: Store
    rows: list[_Row]
    total: int
    by: str | None
    form: str | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--category", metavar="NAME", help=f"only this category: {', '.join(schema.FOLDERS)}")
    arguments.add(parser, "--tag")
    parser.add_argument("--status", choices=STATUSES, default="active", help="only this status (default: active)")
    arguments.add(parser, "--since")
    parser.add_argument("--limit", type=arguments.count(), metavar="N", help="only the first N")
    meaning = "in this order (default: updated, the newest first)"
    parser.add_argument("--sort", choices=tuple(listing.ORDERS), default="updated", help=meaning)
    parser.add_argument("--by", choices=tuple(_GROUPS), help="in groups: what has several tags or files is in several")
    meaning = "json, jsonl, tsv, or a template such as '{id}\\t{title}'; fields: " + ", ".join(FIELDS)
    parser.add_argument("--format", metavar="FORM", help=meaning)


def run(args: argparse.Namespace) -> CommandResult:
    store = arguments.existing_store(args)
    choice = ListingFilter(
        compose.category_of(args.category) if args.category else "",
        frozenset(tag.lower() for tag in args.tag),
        "" if args.status == "all" else args.status,
        arguments.since(args.since),
        args.sort,
    )
    if args.format and args.format not in ("json", "jsonl", "tsv"):
        check(args.format)
    opened = index.open(store.root, watch=lambda paths: watched(paths, "reading records"))
    shown, total = listing.read(opened, choice, args.limit)
    hidden = Project(args.project).hidden(store, [record.id for record in shown])
    rows = _rows(shown, args.by, hidden)
    if not args.json and not args.format:
        record_table.save_listing(ListedPath(store.root, row.record.path) for row in rows)
    page = _Page(store, rows, total, args.by, args.format)
    return _answer(page, listing.broken(opened))


def _rows(shown: list[Listed], by: str | None, hidden: Mapping[str, str]) -> list[_Row]:
    if not by:
        return [_Row("", record, hidden.get(record.id, "")) for record in shown]
    grouped = [(record, _GROUPS[by](record) or [_NO_GROUP.get(by, "")]) for record in shown]
    rows = [_Row(group, record, hidden.get(record.id, "")) for record, groups in grouped for group in groups]
    # What belongs to no group comes last; within a group the order stays.
    return sorted(rows, key=lambda row: (row.group == _NO_GROUP.get(by), row.group))


def _answer(page: _Page, broken: list[str]) -> CommandResult:
    store, rows, total, by, form = page
    data = {
        "records": [_brief(store, row, by) for row in rows],
        "total": total,
        "unreadable": broken,
        "drafts": waiting.count(store.root),
    }
    warning = f"{plural(len(broken), 'file')} cannot be read; to see why: onrecord doctor" if broken else ""
    empty = "" if rows else _nothing(store)
    note = "; ".join(filter(None, (empty, waiting.line(store.root))))

    def text(screen: Screen) -> str:
        if form or not screen.is_terminal:
            return render(form or "tsv", [_values(store, row, by) for row in rows])
        return _text(screen, store, rows, total) if rows else ""

    return CommandResult(data, text, warning=warning, note=note)


def _nothing(store: Store) -> str:
    if next(record_names.paths(store.root), ""):
        return "no record matches these options"
    return "there are no records yet; `onrecord save` makes one"


def _brief(store: Store, row: _Row, by: str | None) -> dict[str, Any]:
    record = row.record
    return {
        "id": record.id,
        "category": record.category,
        "title": record.title,
        "status": row.status,
        "hidden_by": row.hidden_by,
        "updated_at": record.updated_at,
        "created_at": record.created_at,
        "tags": list(record.tags),
        "path": arguments.display_path(store, record.path),
        **({"group": row.group} if by else {}),
    }


def _values(store: Store, row: _Row, by: str | None) -> dict[str, Any]:
    """The fields that `--format` names."""
    brief = _brief(store, row, by)
    dates = {"updated": brief.pop("updated_at"), "created": brief.pop("created_at")}
    return {**brief, **dates, "files": row.record.files}


def _text(screen: Screen, store: Store, rows: list[_Row], total: int) -> str:
    names = record_table.names_in(store.root, [row.record.path for row in rows])
    lines = [
        TableRow(row.record.title, _category(row), row.record.updated_at, name, row.group)
        for row, name in zip(rows, names)
    ]
    shown = len({row.record.path for row in rows})
    count = f"{shown:,} of {plural(total, 'record')}" if total > shown else plural(total, "record")
    return "\n".join((record_table.render(screen, lines), screen.paint(count, "dim")))


def _category(row: _Row) -> str:
    return row.record.category if row.status == "active" else f"{row.record.category}, {row.status}"


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
    return "\t".join(_field_text(day[name]) for name in names)


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
        return _field_text(values.get(piece[1], ""))
    if piece[2] is not None:
        return _ESCAPES.get(piece[2], piece[0])
    return piece[0][0]


def _field_text(value: Any) -> str:
    return clean(", ".join(value) if isinstance(value, list) else value)

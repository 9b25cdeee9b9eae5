"""`onrecord list`: filter, sort and group the records of a store, and print them as a table or in another format."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onrecord import attention, paths
from onrecord.cli import arguments, record_table
from onrecord.cli.output import CommandResult, Screen, clean, to_json
from onrecord.cli.record_table import ListedPath, TableRow
from onrecord.coldstart import NamedTuple
from onrecord.project import Project
from onrecord.record import schema
from onrecord.record.schema import shorten
from onrecord.search import index, listing
from onrecord.search.listing import Listed, ListingFilter
from onrecord.store import record_names, rights
from onrecord.store.store import Store
from onrecord.text import plural

FORMATS = ("json", "jsonl", "tsv")
STATUSES = ("active", "superseded", "outdated", "retired", "archived", "all")
FIELDS = ("id", "title", "category", "status", "updated", "created", "tags", "files", "path", "hidden_by", "group")
"""Names for a template of `--format`."""

_NO_GROUP = {"tag": "no tag", "file": "no file"}
_GROUPS: dict[str, Callable[[Listed], Sequence[str]]] = {
    "category": lambda record: [record.category],
    "tag": lambda record: record.tags,
    "file": lambda record: record.files,
}
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|\\(.)|[{}]")
"""A brace written twice, a field, an escape, or a single brace in a template."""

_ESCAPES = {"t": "\t", "n": "\n", "\\": "\\"}
Values = Mapping[str, Any]
"""Values of the `FIELDS` of one record: strings, and lists of strings."""


class _ListItem(NamedTuple):
    """A record in the list and its group; a record with several tags has an item for each."""

    group: str
    record: Listed
    hidden_by: str
    """Path of the record that is used here instead of this one; may be empty."""
    misfit: str = ""
    """What keeps it from applying here; may be empty."""
    is_waiting: bool = False
    """True if it is in the replica of a shared store that does not have it as it is there."""

    @property
    def status(self) -> str:
        if self.is_waiting:
            return "waiting"
        if self.record.status != "active" or not (self.hidden_by or self.misfit):
            return self.record.status
        return "hidden" if self.hidden_by else "out of scope"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--category", type=arguments.category, metavar="NAME", help=f"only this category: {', '.join(schema.FOLDERS)}"
    )
    arguments.add(parser, "--tag")
    parser.add_argument("--status", choices=STATUSES, default="active", help="only this status (default: active)")
    arguments.add(parser, "--since")
    parser.add_argument("--limit", type=arguments.count(), metavar="N", help="only the first N")
    meaning = "sort by this (default: updated, newest first)"
    parser.add_argument("--sort", choices=tuple(listing.ORDERS), default="updated", help=meaning)
    parser.add_argument("--by", choices=tuple(_GROUPS), help="group by this; a record can be in several groups")
    meaning = "json, jsonl, tsv, or a template such as '{id}\\t{title}'; fields: " + ", ".join(FIELDS)
    parser.add_argument("--format", type=output_format, metavar="FORMAT", help=meaning)


def run(args: argparse.Namespace) -> CommandResult:
    store = arguments.existing_store(args)
    listing_filter = ListingFilter(
        args.category or "",
        frozenset(tag.lower() for tag in args.tag),
        "" if args.status == "all" else args.status,
        args.since or "",
        args.sort,
    )
    store_index = index.open(store.root)
    records, total = listing.read(store_index, listing_filter, args.limit)
    broken = listing.broken(store_index)
    project = Project(args.project)
    hidden = project.hidden(store, [record.id for record in records])
    items = [
        item._replace(misfit=project.misfit(store, item.record.scope)) for item in _items(records, args.by, hidden)
    ]
    unaccepted = rights.unaccepted_paths(store.root, [record.path for record in records])
    items = [item._replace(is_waiting=item.record.path in unaccepted) for item in items]
    if not args.json and not args.format:
        record_table.save_listing(ListedPath(store.root, item.record.path) for item in items)
    data = {
        "records": [_brief(store, item, args.by) for item in items],
        "total": total,
        "unreadable": broken,
        "waiting": sorted(unaccepted),
        "drafts": len(record_names.drafts(store.root)),
    }
    warning = f"{plural(len(broken), 'file')} cannot be read; to see why: onrecord doctor" if broken else ""
    queues = [need.line for need in attention.queues(store.root, paths.prefix_of(store.root))]
    note = "; ".join(filter(None, ("" if total else _empty_note(store), *queues)))

    def text(screen: Screen) -> str:
        if args.format or not screen.is_terminal:
            return render(args.format or "tsv", [_values(store, item, args.by) for item in items])
        return _table(screen, store, items, total) if items else ""

    return CommandResult(data, text, warning=warning, note=note)


def _items(listed_records: list[Listed], by: str | None, hidden: Mapping[str, str]) -> list[_ListItem]:
    if not by:
        return [_ListItem("", record, hidden.get(record.id, "")) for record in listed_records]
    grouped = [(record, _GROUPS[by](record) or [_NO_GROUP[by]]) for record in listed_records]
    items = [_ListItem(group, record, hidden.get(record.id, "")) for record, groups in grouped for group in groups]
    # Records without a group come last; the order within a group stays.
    return sorted(items, key=lambda item: (item.group == _NO_GROUP.get(by), item.group))


def _empty_note(store: Store) -> str:
    if next(record_names.paths(store.root), ""):
        return "no record matches these options"
    where = paths.store_flag(paths.prefix_of(store.root))
    return f"no records yet; `onrecord save {where}".rstrip() + "` creates one"


def _brief(store: Store, list_item: _ListItem, by: str | None) -> dict[str, Any]:
    record = list_item.record
    return {
        "id": record.id,
        "category": record.category,
        "title": record.title,
        "status": list_item.status,
        "hidden_by": list_item.hidden_by,
        "out_of_scope": list_item.misfit,
        "updated_at": record.updated_at,
        "created_at": record.created_at,
        "tags": list(record.tags),
        "path": arguments.display_path(store, record.path),
        **({"group": list_item.group} if by else {}),
    }


def _values(store: Store, list_item: _ListItem, by: str | None) -> dict[str, Any]:
    """Return the values of the `FIELDS`."""
    brief = _brief(store, list_item, by)
    dates = {"updated": brief.pop("updated_at"), "created": brief.pop("created_at")}
    return {**brief, **dates, "files": list_item.record.files}


def _table(screen: Screen, store: Store, list_items: list[_ListItem], total: int) -> str:
    names = record_table.names_in(store.root, [item.record.path for item in list_items])
    lines = [
        TableRow(item.record.title, _category(item), item.record.updated_at, name, item.group)
        for item, name in zip(list_items, names)
    ]
    records = len({item.record.path for item in list_items})
    count = f"{records:,} of {plural(total, 'record')}" if total > records else plural(total, "record")
    return "\n".join((record_table.render(screen, lines), screen.paint(count, "dim")))


def _category(list_item: _ListItem) -> str:
    category, status = list_item.record.category, list_item.status
    return category if status == "active" else f"{category}, {status}"


def render(output_format: str, field_values: Sequence[Values]) -> str:
    """Return the values in one of the `FORMATS`, or in a template."""
    if output_format == "json":
        return to_json(list(field_values))
    line = {"jsonl": _json_line, "tsv": _cells}.get(output_format) or template(output_format)
    return "\n".join(line(values) for values in field_values)


def _json_line(values: Values) -> str:
    return to_json(values, indent=None)


def _cells(values: Values) -> str:
    day = {**values, "updated": values["updated"][:10]}
    names = [name for name in ("group", "id", "category", "status", "updated", "title") if name in values]
    return "\t".join(_field_text(day[name]) for name in names)


def template(text: str) -> Callable[[Values], str]:
    """Return a function that fills a template such as `{id}\\t{title}`.

    `{{` and `}}` are braces.
    """

    def fill(values: Values) -> str:
        return _PIECE.sub(lambda piece: _piece(piece, values), text)

    return fill


def output_format(text: str) -> str:
    """Return a format or a template: a `type=`. A template names fields, and a single brace is written twice."""
    pieces = list(_PIECE.finditer(text))
    is_known = all(piece[1] is None or piece[1] in FIELDS for piece in pieces)
    if text in FORMATS or (is_known and any(piece[1] for piece in pieces) and not any(p[0] in "{}" for p in pieces)):
        return text
    fields = ", ".join(f"{{{name}}}" for name in FIELDS)
    raise argparse.ArgumentTypeError(f"must be json, jsonl, tsv or a text with {fields}, not {shorten(text)}")


def _piece(piece: re.Match[str], values: Values) -> str:
    if piece[1] is not None:
        return _field_text(values.get(piece[1], ""))
    if piece[2] is not None:
        return _ESCAPES.get(piece[2], piece[0])
    return piece[0][0]


def _field_text(value: Any) -> str:
    return clean(", ".join(value) if isinstance(value, list) else value)

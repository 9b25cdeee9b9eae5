"""`recollect show ID`: one record, readable; `recollect list`: the records of a store, newest change first."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from recollect.capture import waiting
from recollect.cli import arguments, chosen
from recollect.cli.output import Answer, Screen, clean, clean_lines, many, table, watched, wrap
from recollect.record import compose, memory, schema
from recollect.record.memory import Memory
from recollect.search import index, listing
from recollect.search.listing import Choice, Listed
from recollect.store.store import Entry, Store

STATUSES = ("active", "superseded", "retired", "archived", "all")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("command") == "show":
        arguments.add(parser, "id")
        parser.add_argument("--history", action="store_true", help="every change on file, not only how many there were")
        return
    parser.add_argument("--category", metavar="NAME", help=f"only this category: {', '.join(schema.FOLDERS)}")
    arguments.add(parser, "--tag")
    parser.add_argument("--status", choices=STATUSES, default="active", help="only this status (default: active)")
    arguments.add(parser, "--since")
    parser.add_argument("--limit", type=int, metavar="N", help="only the newest N")


def run(args: argparse.Namespace) -> Answer:
    store = arguments.existing(args)
    if args.command == "list":
        return _list(store, args)
    entry = chosen.record(args, store, args.id)
    data = {**arguments.handle(store, entry), "record": memory.to_json(entry.memory)}
    return Answer(data, lambda screen: page(entry, screen, history=args.history))


def _list(store: Store, args: argparse.Namespace) -> Answer:
    choice = Choice(
        compose.category_of(args.category) if args.category else "",
        frozenset(tag.lower() for tag in args.tag),
        "" if args.status == "all" else args.status,
        arguments.since(args.since),
    )
    opened = index.open(store.root, watch=lambda paths: watched(paths, "reading records"))
    shown, total = listing.read(opened, choice, args.limit)
    broken = listing.broken(opened)
    data = {
        "records": [_brief(store, record) for record in shown],
        "total": total,
        "unreadable": broken,
        "drafts": waiting.count(store.root),
    }
    warning = f"{many(len(broken), 'file')} cannot be read; to see why: recollect doctor" if broken else ""
    return Answer(data, lambda screen: _rows(screen, shown, total), warning=warning, note=waiting.line(store.root))


def _brief(store: Store, record: Listed) -> dict[str, Any]:
    return {
        "id": record.id,
        "category": record.category,
        "title": record.title,
        "status": record.status,
        "updated_at": record.updated_at,
        "tags": list(record.tags),
        "path": arguments.shown(store, record.path),
    }


def _rows(screen: Screen, shown: list[Listed], total: int) -> str:
    heads = ("id", "category", "status", "updated", "title")
    rows = [(r.id, r.category, r.status, r.updated_at[:10], r.title) for r in shown]
    lines = [table(screen, heads, rows)] if rows else []
    if screen.is_terminal:
        count = f"{len(shown):,} of {many(total, 'record')}" if total > len(shown) else many(total, "record")
        lines.append(screen.paint(count, "dim"))
    return "\n".join(lines)


def page(entry: Entry, screen: Screen, *, history: bool = False, status: str = "") -> str:
    """A record as a person reads it; `status` stands in the place of its own."""
    record = entry.memory
    lines = [screen.paint(clean(record.title), "bold"), screen.paint(_facts(record, status), "dim"), ""]
    names = [field.name for field in schema.content_fields(record.category)]
    for name in dict.fromkeys((*names, *sorted(record.content))):
        if name in record.content:
            lines += _field(name, record.content[name], screen)
    lines += ["", *_about(entry, screen)]
    if history:
        lines += ["", screen.paint("history", "cyan")]
        lines += [f"  {clean(change.date)}  {clean(change.summary)}" for change in record.changes]
    return "\n".join(lines)


def _facts(record: Memory, status: str) -> str:
    status = status or (f"superseded by {record.superseded_by}" if record.superseded_by else record.record_status)
    reason = record.retired_reason or record.archived_reason
    why = f" ({reason})" if reason else ""
    return clean(f"{record.category} · {status}{why} · updated {record.updated_at[:10]}")


def _field(name: str, value: Any, screen: Screen) -> list[str]:
    label = screen.paint(clean(name), "cyan")
    texts = list(_texts(value))
    if len(texts) == 1 and not isinstance(value, (list, dict)):
        return [f"{label}: {texts[0]}"] if len(texts[0]) < screen.width - 20 else [label, _wrapped(texts[0], screen)]
    return [label, *(_wrapped(text, screen, mark="- ") for text in texts)]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield " — ".join(_texts(item))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{clean(str(key))}: {'; '.join(_texts(item))}"
    else:
        text = ("true" if value else "false") if isinstance(value, bool) else str(value)
        yield " ".join(clean_lines(text))


def _wrapped(text: str, screen: Screen, mark: str = "") -> str:
    if not screen.is_terminal:
        return f"  {mark}{text}"
    body = wrap(text, screen.width, "  " + " " * len(mark))
    return f"  {mark}{body[2 + len(mark) :]}"


def _about(entry: Entry, screen: Screen) -> Iterator[str]:
    record = entry.memory
    facts = {
        "tags": ", ".join(record.tags),
        "triggers": "; ".join(record.triggers),
        "files": ", ".join(record.related_files),
        "applies to": ", ".join((*record.scope.paths, *record.scope.branches)),
        "supersedes": ", ".join(record.supersedes),
        "confidence": "" if record.confidence is None else f"{record.confidence:g}",
        "from": ", ".join(filter(None, (record.origin, record.source))),
        "changed": many(record.times_updated, "time") if record.times_updated else "",
        "path": entry.path,
        "hash": entry.hash,
    }
    for label, value in facts.items():
        if value:
            yield f"{screen.paint(label, 'dim')}: {clean(value)}"

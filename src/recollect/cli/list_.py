"""`recollect list`: the records of a store, newest change first, with filters."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from recollect import timestamps
from recollect.cli import store_args
from recollect.cli.output import Answer
from recollect.cli.progress import watched
from recollect.cli.terminal import Screen, table
from recollect.errors import BadInput, Locked, Unwritable
from recollect.record import compose, schema
from recollect.record.memory import Memory
from recollect.store.store import Broken, Entry, Store, index_md_problems

STATUSES = ("active", "superseded", "retired", "archived", "all")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--category", metavar="NAME", help=f"only this category: {', '.join(schema.FOLDERS)}")
    parser.add_argument("--tag", action="append", default=[], metavar="TAG", help="only with this tag (repeatable)")
    parser.add_argument("--status", choices=STATUSES, default="active", help="only this status (default: active)")
    parser.add_argument("--since", metavar="WHEN", help="only changed since a day (2026-03-01) or an age (30d)")
    parser.add_argument("--limit", type=int, metavar="N", help="only the newest N")


def run(args: argparse.Namespace) -> Answer:
    store = store_args.existing(args)
    wanted = _filter(args)
    scanned = list(watched(store.scan(), "reading records"))
    entries = [found for found in scanned if isinstance(found, Entry)]
    broken = [found.path for found in scanned if isinstance(found, Broken)]
    _heal(store, entries)
    chosen = [entry for entry in entries if wanted(entry.memory)]
    chosen.sort(key=lambda entry: entry.memory.id)
    chosen.sort(key=lambda entry: entry.memory.updated_at, reverse=True)
    shown = chosen if args.limit is None else chosen[: max(0, args.limit)]
    data = {"records": [_brief(store, entry) for entry in shown], "total": len(chosen), "unreadable": broken}
    files = f"{len(broken):,} file{'' if len(broken) == 1 else 's'}"
    warning = f"{files} cannot be read; recollect doctor says why" if broken else ""
    return Answer(data, lambda screen: _text(screen, shown, len(chosen)), warning=warning)


def _heal(store: Store, entries: list[Entry]) -> None:
    """Make index.md again where it disagrees with the records, as after a merge."""
    if not index_md_problems(store, entries):
        return
    try:
        with store.writing():
            store.rebuild_index_md()
    except (Unwritable, Locked):
        # A list can be read where nothing can be written; `doctor` tells of both.
        return


def status_of(record: Memory) -> str:
    """The status a person thinks of: an active record that was replaced is superseded."""
    return "superseded" if record.record_status == "active" and record.superseded_by else record.record_status


def _filter(args: argparse.Namespace) -> Callable[[Memory], bool]:
    category = compose.category_of(args.category) if args.category else ""
    tags = {tag.lower() for tag in args.tag}
    since = _moment(args.since) if args.since else ""

    def wanted(record: Memory) -> bool:
        return (
            (not category or record.category == category)
            and tags <= set(record.tags)
            and args.status in ("all", status_of(record))
            and record.updated_at >= since
        )

    return wanted


def _moment(text: str) -> str:
    if text[-1] in "dD" and text[:-1].isascii() and text[:-1].isdigit():
        return timestamps.days_before(timestamps.now(), min(int(text[:-1]), 100_000))
    if not timestamps.is_day(text):
        raise BadInput(f"--since {text!r} is neither a day nor an age", fix="write --since 2026-03-01 or --since 30d")
    return text


def _brief(store: Store, entry: Entry) -> dict[str, Any]:
    record = entry.memory
    return {
        "id": record.id,
        "category": record.category,
        "title": record.title,
        "status": status_of(record),
        "updated_at": record.updated_at,
        "tags": list(record.tags),
        "path": store_args.shown(store, entry.path),
    }


def _text(screen: Screen, shown: list[Entry], total: int) -> str:
    heads = ("id", "category", "status", "updated", "title")
    rows = [(r.id, r.category, status_of(r), r.updated_at[:10], r.title) for r in (entry.memory for entry in shown)]
    lines = [table(screen, heads, rows)] if rows else []
    if screen.is_terminal:
        more = f" of {total:,}" if total > len(shown) else ""
        lines.append(screen.paint(f"{len(shown):,}{more} record{'' if len(shown) == 1 else 's'}", "dim"))
    return "\n".join(lines)

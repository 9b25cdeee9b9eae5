"""`recollect show ID`: one record, readable; with `--json` what an update needs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from recollect.cli import store_args
from recollect.cli.output import Answer
from recollect.cli.terminal import Screen, clean, clean_lines, wrap
from recollect.record import memory, schema
from recollect.record.memory import Memory
from recollect.store.store import Entry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="an id, category/id or path")
    parser.add_argument("--history", action="store_true", help="every change on file, not only how many there were")


def run(args: argparse.Namespace) -> Answer:
    store = store_args.existing(args)
    entry = store.get(args.id)
    data = {**store_args.handle(store, entry), "record": memory.to_json(entry.memory)}
    return Answer(data, lambda screen: page(entry, screen, history=args.history))


def page(entry: Entry, screen: Screen, *, history: bool = False) -> str:
    """A record as a person reads it."""
    record = entry.memory
    lines = [screen.paint(clean(record.title), "bold"), screen.paint(_facts(record), "dim"), ""]
    for field in schema.content_fields(record.category):
        if field.name in record.content:
            lines += _field(field.name, record.content[field.name], screen)
    for key in sorted(set(record.content) - {field.name for field in schema.content_fields(record.category)}):
        lines += _field(key, record.content[key], screen)
    lines += ["", *_about(entry, screen)]
    if history:
        lines += ["", screen.paint("history", "cyan")]
        lines += [f"  {change.date}  {clean(change.summary)}" for change in record.changes]
    return "\n".join(lines)


def _facts(record: Memory) -> str:
    status = f"superseded by {record.superseded_by}" if record.superseded_by else record.record_status
    reason = record.retired_reason or record.archived_reason
    told = f" ({reason})" if reason else ""
    return clean(f"{record.category} · {status}{told} · updated {record.updated_at[:10]}")


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
    facts = (
        ("tags", ", ".join(record.tags)),
        ("triggers", "; ".join(record.triggers)),
        ("files", ", ".join(record.related_files)),
        ("applies to", ", ".join((*record.scope.paths, *record.scope.branches))),
        ("supersedes", ", ".join(record.supersedes)),
        ("confidence", "" if record.confidence is None else f"{record.confidence:g}"),
        ("from", ", ".join(filter(None, (record.origin, record.source)))),
        ("changed", f"{record.times_updated} times" if record.times_updated else ""),
        ("path", entry.path),
        ("hash", entry.hash),
    )
    for label, value in facts:
        if value:
            yield f"{screen.paint(label, 'dim')}: {clean(value)}"

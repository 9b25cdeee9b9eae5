"""`onrecord show ID`: print one record for people."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from onrecord import timestamps
from onrecord.cli import arguments, resolve
from onrecord.cli.output import CommandResult, Screen, clean, clean_lines, wrap
from onrecord.project import Project
from onrecord.record import memory, schema
from onrecord.record.memory import Memory
from onrecord.shared import remotes
from onrecord.store.store import Entry
from onrecord.text import plural


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add(parser, "id")
    parser.add_argument("--history", action="store_true", help="list every change, not only their number")


def run(args: argparse.Namespace) -> CommandResult:
    args.remote, name = _split(args.id) if not (args.user or args.remote) else (args.remote, args.id)
    asker = arguments.asker(args)
    store = resolve.listed_store(asker, arguments.existing_store(args), name)
    entry = resolve.record(asker, store, name)
    hidden_by = Project(args.project).hidden(store, [entry.memory.id]).get(entry.memory.id, "")
    data = {**arguments.record_data(store, entry), "hidden_by": hidden_by, "record": memory.to_json(entry.memory)}
    status = f"hidden here by {hidden_by}" if hidden_by and entry.memory.is_current else ""
    entry = entry._replace(path=data["path"])
    return CommandResult(data, lambda screen: page(entry, screen, history=args.history, status=status))


def _split(reference: str) -> tuple[str, str]:
    """Return the remote and the id in a reference such as `platform:ID`; the remote is empty if none is named."""
    name, colon, rest = reference.partition(":")
    return (name, rest) if colon and rest and remotes.is_name(name) else ("", reference)


def page(entry: Entry, screen: Screen, *, history: bool = False, status: str = "") -> str:
    """Return a record for people; `status` replaces its own status."""
    record = entry.memory
    lines = [screen.paint(clean(record.title), "bold"), screen.paint(_facts(record, status, screen), "dim"), ""]
    names = [field.name for field in schema.content_fields(record.category)]
    for name in dict.fromkeys((*names, *sorted(record.content))):
        if name in record.content:
            lines += _field(name, record.content[name], screen)
    lines += ["", *_about(entry, screen)]
    if history:
        lines += ["", screen.paint("history", "cyan")]
        lines += [f"  {clean(change.date)}  {clean(change.summary)}" for change in record.changes]
    return "\n".join(lines)


def _facts(record: Memory, status: str, screen: Screen) -> str:
    status = status or (f"superseded by {record.superseded_by}" if record.superseded_by else record.record_status)
    when = timestamps.ago(record.updated_at) if screen.is_terminal else record.updated_at[:10]
    reason = record.retired_reason or record.archived_reason
    why = f" ({reason})" if reason else ""
    return clean(f"{record.category} · {status}{why} · updated {when}")


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
        "applies to": ", ".join(
            (*record.scope.paths, *record.scope.branches, *record.scope.repositories, *record.scope.languages)
        ),
        "supersedes": ", ".join(record.supersedes),
        "confidence": "" if record.confidence is None else f"{record.confidence:g}",
        "from": ", ".join(filter(None, (record.origin, record.source))),
        "changed": plural(record.times_updated, "time") if record.times_updated else "",
        "path": entry.path,
        "hash": entry.hash,
    }
    for label, value in facts.items():
        if value:
            yield f"{screen.paint(label, 'dim')}: {clean(value)}"

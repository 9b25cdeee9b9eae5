"""`recollect import`: records from CLAUDE.md, AGENTS.md, decision records and Claude Code's notes."""

from __future__ import annotations

import argparse
from typing import Any

from recollect.cli import store_args
from recollect.cli.output import Answer
from recollect.cli.terminal import Screen, clean
from recollect.errors import BadInput
from recollect.importers import discover
from recollect.project import Project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files, or folders of Markdown (default: CLAUDE.md, AGENTS.md, rules and decision records of the project)",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would happen and write nothing")


def run(args: argparse.Namespace) -> Answer:
    root = Project(args.project).root
    chosen = discover.named(root, args.paths) if args.paths else discover.discover(root)
    if not chosen:
        raise BadInput(
            f"nothing to import was found in {root}", fix="name files or folders of Markdown: recollect import PATH"
        )
    writer = store_args.writer_of(args)
    existing = [entry.memory for entry in writer.store.entries()] if writer.store.exists else []
    result = discover.gather(root, chosen, writer.now, existing)
    saved, not_saved = discover.save(writer, result.records)
    refused = [*result.refused, *not_saved]
    data: dict[str, Any] = {
        "dry_run": args.dry_run,
        "files": [source.path for source in chosen],
        "saved": [{**store_args.handle(writer.store, entry), "source": entry.memory.source} for entry in saved],
        "skipped": [duplicate._asdict() for duplicate in result.duplicates],
        "refused": [refusal._asdict() for refusal in refused],
    }
    return Answer(data, lambda screen: _text(screen, data), status=1 if refused else 0)


def _text(screen: Screen, data: dict[str, Any]) -> str:
    verb = "would save" if data["dry_run"] else "saved"
    lines = [
        f"{screen.paint(verb, 'green')} {clean(each['path'])}  ({clean(each['source'])})" for each in data["saved"]
    ]
    for name, style in (("skipped", "dim"), ("refused", "red")):
        lines += [
            f"{screen.paint(name, style)} {clean(each['source'])}: {clean(each['reason'])}" for each in data[name]
        ]
    counts = ", ".join(f"{len(data[name]):,} {name}" for name in ("skipped", "refused"))
    summary = f"{verb} {_count(data['saved'], 'record')} from {_count(data['files'], 'file')}; {counts}"
    return "\n".join([*lines, summary])


def _count(items: list[Any], noun: str) -> str:
    return f"{len(items):,} {noun}{'' if len(items) == 1 else 's'}"

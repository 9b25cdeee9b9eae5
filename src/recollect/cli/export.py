"""`recollect export`: the records as Markdown, JSON Lines, or a section of AGENTS.md."""

from __future__ import annotations

import argparse
import os

from recollect import files
from recollect.cli import arguments
from recollect.cli.output import Answer, clean
from recollect.errors import BadInput
from recollect.record import compose, export, memory
from recollect.record.memory import Memory
from recollect.store.store import Store
from recollect.text import many

_FORMATS = {"markdown": export.markdown, "jsonl": export.json_lines, "agents": export.agents_section}
_LARGEST = 2_000_000
"""Bytes of a page that a section is put into; an AGENTS.md of more helps no agent."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=tuple(_FORMATS), default="markdown", help="default: markdown")
    parser.add_argument("--category", metavar="NAME", help="only this category")
    arguments.add(parser, "--tag")
    parser.add_argument("--all", action="store_true", help="retired, archived and superseded records too")
    into = "put the agents section into FILE, in the place of the one it put there before; all else stays"
    parser.add_argument("--into", metavar="FILE", default="", help=into)


def run(args: argparse.Namespace) -> Answer:
    if args.into and args.format != "agents":
        raise BadInput("--into is for the agents section", fix="add --format agents, or redirect the output to a file")
    records = _records(arguments.existing(args), args)
    text = _FORMATS[args.format](records)
    data = {"format": args.format, "count": len(records), "records": [memory.to_json(record) for record in records]}
    if not args.into:
        return Answer(data, lambda screen: text.rstrip("\n"))
    _put(args.into, text)
    line = f"wrote {many(len(records), 'record')} into {clean(args.into)}"
    return Answer({"format": args.format, "count": len(records), "file": args.into}, lambda screen: line)


def _records(store: Store, args: argparse.Namespace) -> list[Memory]:
    category = compose.category_of(args.category) if args.category else ""
    tags = {tag.lower() for tag in args.tag}
    records = [entry.memory for entry in store.entries(category)]
    return [record for record in records if (args.all or record.is_current) and tags <= set(record.tags)]


def _put(name: str, section: str) -> None:
    """Put the section into a file; nothing outside its marks changes."""
    try:
        page = files.read(name, _LARGEST + 1).decode("utf-8") if os.path.lexists(name) else ""
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read {name!r}: {error}", fix="name a text file in UTF-8") from error
    renewed = export.renewed(page, section)
    if renewed is None:
        marks = f"{export.BEGIN} and {export.END}"
        raise BadInput(f"{name!r} has more or less than one pair of marks", fix=f"leave one pair of {marks}, or none")
    if len(page.encode("utf-8")) > _LARGEST:
        raise BadInput(f"{name!r} is larger than {_LARGEST:,} bytes", fix="name another file")
    files.write(os.path.abspath(name), renewed.encode("utf-8"))

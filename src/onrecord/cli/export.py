"""`onrecord export`: the records as Markdown, JSON Lines, or a section of a file that agents read."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import Any

from onrecord import paths
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, clean
from onrecord.cli.progress import watched
from onrecord.errors import BadInput
from onrecord.freshness import anchors
from onrecord.record import compose, export, memory, naming
from onrecord.record.export import SectionFilter
from onrecord.settings import load_settings
from onrecord.store import generated_page
from onrecord.store.generated_page import GeneratedPage
from onrecord.store.store import Store
from onrecord.text import count_tokens, plural

_FORMATS = {"markdown": export.markdown, "jsonl": export.json_lines, "agents": export.agents_section}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    default = "default: markdown; agents for a file"
    parser.add_argument("--format", choices=tuple(_FORMATS), help=default)
    arguments.add(parser, "--category", "--tag")
    parser.add_argument("--all", action="store_true", help="retired, archived and superseded records too")
    target = parser.add_mutually_exclusive_group()
    file = "make FILE of a line for each record, or renew it; a file of somebody else is refused"
    target.add_argument("--file", metavar="FILE", default="", help=file)
    into = "put the same lines into FILE, in the place of those it put there before; all else stays"
    target.add_argument("--into", metavar="FILE", default="", help=into)
    check = "write nothing, exit with 1 if FILE, or the file of the setting export.file, is out of date"
    parser.add_argument("--check", action="store_true", help=check)


def run(args: argparse.Namespace) -> CommandResult:
    store = arguments.existing_store(args)
    only = SectionFilter(tuple(map(compose.category_of, args.category)), naming.clean_tags(args.tag))
    if args.file or args.into or args.check:
        for name, value in (("--file", args.file), ("--into", args.into), ("--check", args.check)):
            is_for_agents = args.format in (None, "agents")
            arguments.exclude(name, value, {"--all": args.all, f"--format {args.format}": not is_for_agents})
        file = args.file or args.into or _named(store)
        read = (entry.memory for entry in watched(store.entries(), "reading records"))
        page = generated_page.plan(file, read, only, may_add=bool(args.into))
        return _checked(page, arguments.store_flags(args)) if args.check else _written(page, store)
    every = [entry.memory for entry in watched(store.entries(), "reading records")]
    records = [record for record in every if (args.all or record.is_current) and only.accepts(record)]
    form = args.format or "markdown"
    text = _FORMATS[form](records)
    data = {"format": form, "count": len(records), "records": [memory.to_json(record) for record in records]}
    return CommandResult(data, lambda screen: text.rstrip("\n"))


def _named(store: Store) -> str:
    name, root = load_settings(store.root).text("export.file"), anchors.project_root(store.root)
    if not name or not root:
        raise BadInput("--check needs to know which file", fix="add --file FILE, or set export.file")
    return generated_page.resolve(root, name)


def _how_to_keep(store: Store, file: str) -> str:
    """How a file of the project is renewed by itself; empty where a setting names one already."""
    root = os.path.realpath(anchors.project_root(store.root) or os.devnull)
    if load_settings(store.root).text("export.file") or not paths.is_within(root, file):
        return ""
    name = shlex.quote(os.path.relpath(os.path.realpath(file), root).replace(os.sep, "/"))
    return clean(f"to have it renewed after every change: onrecord config set export.file {name}")


def _written(page: GeneratedPage, store: Store) -> CommandResult:
    """Make or renew a file."""
    page.write()
    shown, cost = (
        clean(os.path.relpath(page.file)),
        f"{plural(page.lines, 'record')}, about {count_tokens(page.section):,} tokens",
    )
    line = f"{shown} is up to date ({cost})" if page.is_fresh else f"wrote {shown} ({cost})"
    return CommandResult(_data(page), lambda screen: line, note=_how_to_keep(store, page.file))


def _checked(page: GeneratedPage, where: str) -> CommandResult:
    """Return whether a file is up to date, and the command that renews it."""
    shown = clean(os.path.relpath(page.file))
    fix = clean(f"to renew it: onrecord export --file {shlex.quote(page.file)}{where}")
    line = f"{shown} is up to date" if page.is_fresh else f"{shown} is out of date; {fix}"
    return CommandResult(_data(page), lambda screen: line, status=0 if page.is_fresh else 1)


def _data(page: GeneratedPage) -> dict[str, Any]:
    return {"file": page.file, "count": page.lines, "tokens": count_tokens(page.section), "was_fresh": page.is_fresh}

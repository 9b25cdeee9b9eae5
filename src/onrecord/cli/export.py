"""`onrecord export`: the records as Markdown, JSON Lines, or a section of a file that agents read."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import Any

from onrecord import paths
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, clean
from onrecord.cli.terminal import watched
from onrecord.errors import BadInput
from onrecord.freshness import anchors
from onrecord.record import export, memory, naming, validity
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
    parser.add_argument("--all", action="store_true", help="include retired, archived and superseded records")
    target = parser.add_mutually_exclusive_group()
    file = "write or update FILE, one line per record; refuses a file that onrecord did not create"
    target.add_argument("--file", metavar="FILE", default="", help=file)
    into = "write the same lines into a section of FILE, or update it; the rest of FILE is not changed"
    target.add_argument("--into", metavar="FILE", default="", help=into)
    check = "write nothing; exit with 1 if FILE, or the file in the setting export.file, is out of date"
    parser.add_argument("--check", action="store_true", help=check)


def run(args: argparse.Namespace) -> CommandResult:
    store = arguments.existing_store(args)
    only = SectionFilter(tuple(args.category), naming.clean_tags(args.tag))
    if args.file or args.into or args.check:
        for name, value in (("--file", args.file), ("--into", args.into), ("--check", args.check)):
            is_for_agents = args.format in (None, "agents")
            arguments.exclude(name, value, {"--all": args.all, f"--format {args.format}": not is_for_agents})
        file = args.file or args.into or _configured_file(store)
        records = (entry.memory for entry in watched(store.entries(), "reading records"))
        page = generated_page.plan(file, records, only, may_add=bool(args.into))
        return _check(page, arguments.store_flags(args)) if args.check else _write(page, store)
    everything = [entry.memory for entry in watched(store.entries(), "reading records")]
    exported = [record for record in (everything if args.all else validity.current(everything)) if only.accepts(record)]
    name = args.format or "markdown"
    # Of 50,000 records only what is asked for is made.
    whole = [memory.to_json(record) for record in exported] if args.json else []
    data = {"format": name, "count": len(exported), "records": whole}
    return CommandResult(data, lambda screen: _FORMATS[name](exported).rstrip("\n"))


def _configured_file(store: Store) -> str:
    name, root = load_settings(store.root).text("export.file"), anchors.project_root(store.root)
    if not name or not root:
        raise BadInput("--check needs a file", fix="add --file FILE, or set export.file")
    return generated_page.resolve(root, name)


def _how_to_keep(store: Store, file: str) -> str:
    """Return how to keep a file of the project up to date; empty if the setting names one already."""
    root = os.path.realpath(anchors.project_root(store.root) or os.devnull)
    if load_settings(store.root).text("export.file") or not paths.is_within(root, file):
        return ""
    name = shlex.quote(os.path.relpath(os.path.realpath(file), root).replace(os.sep, "/"))
    return clean(f"to update it after every change: onrecord config set export.file {name}")


def _write(page: GeneratedPage, store: Store) -> CommandResult:
    page.write()
    name = clean(os.path.relpath(page.file))
    size = f"{plural(page.lines, 'record')}, about {count_tokens(page.section):,} tokens"
    line = f"{name} is up to date ({size})" if page.is_fresh else f"wrote {name} ({size})"
    return CommandResult(_data(page), lambda screen: line, note=_how_to_keep(store, page.file))


def _check(page: GeneratedPage, where: str) -> CommandResult:
    """Return whether a file is up to date, and the command that updates it."""
    name = clean(os.path.relpath(page.file))
    fix = clean(f"to update it: onrecord export --file {shlex.quote(page.file)}{where}")
    line = f"{name} is up to date" if page.is_fresh else f"{name} is out of date; {fix}"
    return CommandResult(_data(page), lambda screen: line, status=0 if page.is_fresh else 1)


def _data(page: GeneratedPage) -> dict[str, Any]:
    return {"file": page.file, "count": page.lines, "tokens": count_tokens(page.section), "was_fresh": page.is_fresh}

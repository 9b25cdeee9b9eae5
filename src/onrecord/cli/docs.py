"""`onrecord docs`: print a page of the documentation, or the passages that have some words."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from onrecord.cli import manual
from onrecord.cli.manual import ManualPassage
from onrecord.cli.output import CommandResult, Screen, table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        metavar="WORD",
        nargs="*",
        help="a page, a heading, a command, a setting, an error's code, or words to look for; without one, all pages",
    )


def run(args: argparse.Namespace) -> CommandResult:
    passages = manual.find(args.words or [manual.INDEX])
    if len(passages) == 1:
        return CommandResult(_data(passages[0]), lambda screen: manual.rendered(passages[0], screen))
    listed = [{"name": passage.name, "title": passage.title, "heading": passage.heading} for passage in passages]
    note = "print one: onrecord docs NAME"
    return CommandResult({"matches": listed}, lambda screen: _list(screen, passages), note=note)


def _data(passage: ManualPassage) -> dict[str, Any]:
    return {
        "name": passage.name,
        "title": passage.title,
        "heading": passage.heading,
        "text": passage.source.strip(),
    }


def _list(screen: Screen, passages: Sequence[ManualPassage]) -> str:
    rows = [(passage.name, passage.heading or passage.title) for passage in passages]
    return table(screen, ("name", "heading"), rows, gives_way=1)

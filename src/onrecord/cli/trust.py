"""`onrecord trust`: accept the records of a repository, once, where the setting `trust.clones` is `ask`."""

from __future__ import annotations

import argparse

from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean
from onrecord.errors import BadInput
from onrecord.project import Project
from onrecord.recall import trust
from onrecord.record import author
from onrecord.search import index, listing
from onrecord.settings import load_settings
from onrecord.text import plural


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--revoke", action="store_true", help="take the acceptance back")
    parser.add_argument("--list", action="store_true", help="list the accepted repositories")


def run(args: argparse.Namespace) -> CommandResult:
    arguments.exclude("--list", args.list, {"--revoke": args.revoke})
    if args.list:
        return _list()
    if author.detect().origin == author.AGENT:
        raise BadInput("only a person may accept a repository's records", fix="ask the user to run: onrecord trust")
    project = Project(args.project)
    project.require_a_store()
    return _revoke(project) if args.revoke else _accept(project)


def _list() -> CommandResult:
    repositories = trust.accepted()
    lines = [f"{at[:10]}  {clean(name)}" for name, at in sorted(repositories.items())]
    data = {"repositories": repositories}
    return CommandResult(data, lambda screen: "\n".join(lines) or "no repository is accepted yet")


def _accept(project: Project) -> CommandResult:
    count = sum(count for (_, status), count in listing.counts(index.open(project.store.root)).items() if status)
    name = trust.accept(project.root)
    is_asked = trust.is_asked(load_settings(project.store.root))
    note = "" if is_asked else f"the setting {trust.SETTING} is not {trust.ASK}, so the records were in use before"

    def text(screen: Screen) -> str:
        return f"{screen.paint('accepted', 'green')} {clean(name)}: {plural(count, 'record')}"

    return CommandResult({"repository": name, "records": count, "accepted": True}, text, note=note)


def _revoke(project: Project) -> CommandResult:
    name, was_accepted = trust.identity(project.root), trust.revoke(project.root)
    verb = "no longer accepted:" if was_accepted else "was not accepted:"
    return CommandResult({"repository": name, "accepted": False}, lambda screen: f"{verb} {clean(name)}")

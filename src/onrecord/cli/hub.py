"""`onrecord hub`: make the database of a hub, say who belongs to which team, and see what it holds."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

from onrecord.cli import actions, questions
from onrecord.cli.output import CommandResult, Screen, clean, table
from onrecord.errors import BadInput, NotFound
from onrecord.shared import remotes
from onrecord.text import many

if TYPE_CHECKING:
    from onrecord.shared.hub_connection import Session, TeamAddress
    from onrecord.shared.hub_teams import Team

VARIABLE = "ONRECORD_HUB_URL"
_USAGES = {
    "init": "[URL] [--review|--no-review]",
    "grant": "LOGIN ROLE [--create]",
    "revoke": "LOGIN",
    "forget": "PATH",
    "status": "",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=tuple(_USAGES), help="make the tables, manage members, delete history, look")
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="init: URL; grant: LOGIN ROLE; revoke: LOGIN; forget: PATH"
    )
    parser.add_argument("--url", default="", help=f"address of the database, or a remote (default: ${VARIABLE})")
    parser.add_argument("--team", metavar="NAME", default="", help="the team (default: what follows # in the URL)")
    review = parser.add_mutually_exclusive_group()
    review.add_argument("--review", action="store_const", const=True, help="init: writers of the team only send drafts")
    review.add_argument("--no-review", dest="review", action="store_const", const=False, help="init: no longer")
    parser.add_argument(
        "--create", action="store_true", default=None, help="grant: make the login, with a password you type"
    )


def run(args: argparse.Namespace) -> CommandResult:
    actions.check(args, _USAGES, args.action, args.words)
    from onrecord.shared import hub_connection

    where = hub_connection.parse(_url(args))
    if args.team:
        where = where._replace(team=hub_connection.checked_team(args.team))
    # `init` is for tables of any version, and the others ask for what every version has.
    hub = hub_connection.Hub(where, lambda session: None)
    with closing(hub), hub.explained():
        return _ACTIONS[args.action](args, hub.session(), where)


def _url(args: argparse.Namespace) -> str:
    """The address that was typed, that of a remote, or that of the environment; never one of a project."""
    typed = args.url or (args.words[0] if args.action == "init" and args.words else os.environ.get(VARIABLE, ""))
    if not typed:
        raise BadInput("no hub is named", fix=f"add --url postgresql://HOST/DATABASE, or set {VARIABLE}")
    return typed if "://" in typed else remotes.get(typed).url


def _init(args: argparse.Namespace, session: Session, where: TeamAddress) -> CommandResult:
    from onrecord.shared import hub_schema, hub_teams

    before, after = hub_schema.migrate(session)
    is_new = hub_teams.make(session, where.team, args.review)
    data = {"schema_before": before, "schema": after, "team": where.team, "is_new": is_new}
    tables = f"updated from schema {before} to {after}" if before < after else f"up to date: schema {after}"
    lines = [f"tables {tables if before else 'made'}", f"team {where.team} {'made' if is_new else 'is there'}"]
    return CommandResult(
        data, lambda screen: "\n".join(lines), note="next: `onrecord hub grant LOGIN ROLE`" if is_new else ""
    )


def _grant(args: argparse.Namespace, session: Session, where: TeamAddress) -> CommandResult:
    from onrecord.shared import hub_teams

    login, role = args.words
    with session.transaction():
        if args.create:
            hub_teams.create_login(session, login, _password(args))
        hub_teams.grant(session, where.team, login, role)
    data = {"team": where.team, "login": login, "role": role}
    return CommandResult(data, lambda screen: f"{clean(login)} is a {role} of the team {where.team}")


def _password(args: argparse.Namespace) -> str:
    """A password typed unseen, or the first line of standard input; others can see the words of a command."""
    if not questions.can_ask(args):
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        import getpass

        password = getpass.getpass("password of the new login: ")
        if password != getpass.getpass("again: "):
            raise BadInput("the two passwords differ", fix="type the same one twice")
    if not password:
        raise BadInput("a login needs a password", fix="type one, or put it on standard input")
    return password


def _revoke(args: argparse.Namespace, session: Session, where: TeamAddress) -> CommandResult:
    from onrecord.shared import hub_teams

    login = args.words[0]
    hub_teams.revoke(session, where.team, login)
    data = {"team": where.team, "login": login}
    return CommandResult(data, lambda screen: f"{clean(login)} is no longer a member of the team {where.team}")


def _forget(args: argparse.Namespace, session: Session, where: TeamAddress) -> CommandResult:
    from onrecord.shared import hub_teams

    path = args.words[0]
    count = hub_teams.forget(session, where.team, path)
    if not count:
        raise NotFound(f"the hub has no earlier version of {path!r}", fix="give a path such as decisions/use-uv.json")
    data = {"team": where.team, "path": path, "versions": count}
    note = "replicas and backups may still hold them"
    return CommandResult(data, lambda screen: f"deleted {many(count, 'earlier version')} of {clean(path)}", note=note)


def _status(args: argparse.Namespace, session: Session, where: TeamAddress) -> CommandResult:
    from onrecord.shared import hub_schema, hub_teams

    hub_schema.check(session)
    listed = [team for team in hub_teams.listed(session) if not args.team or team.name == args.team]
    data = {
        "server": session.info.server_version,
        "schema": hub_schema.version(session),
        "teams": [{**team._asdict(), "members": [each._asdict() for each in team.members]} for team in listed],
    }
    return CommandResult(data, lambda screen: _text(screen, data, listed))


def _text(screen: Screen, data: dict[str, Any], listed: list[Team]) -> str:
    lines = [f"PostgreSQL {data['server'] // 10_000}, schema {data['schema']}, {many(len(listed), 'team')}"]
    for team in listed:
        review = ", writers send drafts" if team.asks_for_review else ""
        held = f"{many(team.records, 'record')}, {many(team.drafts, 'draft')}, {many(team.deleted, 'deleted record')}"
        lines += [
            "",
            f"{screen.paint(clean(team.name), 'bold')}: {held}, {many(team.replaced, 'earlier version')}{review}",
        ]
        lines += [table(screen, ("login", "role"), team.members)] if team.members else ["no members"]
    return "\n".join(lines)


_ACTIONS: dict[str, Callable[[argparse.Namespace, Any, Any], CommandResult]] = {
    "init": _init,
    "grant": _grant,
    "revoke": _revoke,
    "forget": _forget,
    "status": _status,
}

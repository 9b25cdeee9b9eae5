"""`onrecord hub`: make the database of a hub, say who belongs to which team, and see what it holds."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean, table
from onrecord.errors import BadInput, NotFound
from onrecord.shared import remotes
from onrecord.text import plural

if TYPE_CHECKING:
    from onrecord.shared.hub_connection import HubSession
    from onrecord.shared.hub_teams import Team

VARIABLE = "ONRECORD_HUB_URL"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    database = argparse.ArgumentParser(add_help=False)
    database.add_argument("--url", default="", help=f"address of the database, or a remote (default: ${VARIABLE})")
    database.add_argument("--team", metavar="NAME", default="", help="the team (default: what follows # in the URL)")
    actions = parser.add_subparsers(prog=parser.prog, dest="action", metavar="ACTION", required=True, help="what to do")
    init = actions.add_parser("init", parents=[database], help="make or update the tables, and a team")
    init.add_argument("address", nargs="?", metavar="URL", default="", help="the same as --url")
    review = init.add_mutually_exclusive_group()
    review.add_argument("--review", action="store_const", const=True, help="writers of the team only send drafts")
    review.add_argument("--no-review", dest="review", action="store_const", const=False, help="no longer")
    grant = actions.add_parser("grant", parents=[database], help="make a login a member of the team")
    grant.add_argument("login", metavar="LOGIN", help="a login of the database")
    grant.add_argument("role", metavar="ROLE", help="reader, writer or reviewer")
    grant.add_argument("--create", action="store_true", help="make the login, with a password you type")
    revoke = actions.add_parser("revoke", parents=[database], help="take a member off the team")
    revoke.add_argument("login", metavar="LOGIN", help="a login of the database")
    forget = actions.add_parser("forget", parents=[database], help="delete the earlier versions of a record")
    forget.add_argument("path", metavar="PATH", help="the record, such as decisions/use-uv.json")
    actions.add_parser("status", parents=[database], help="list the teams, their members, and what is there")


def run(args: argparse.Namespace) -> CommandResult:
    from onrecord.shared import hub_connection

    address = getattr(args, "address", "")
    arguments.exclude("--url", args.url, {"URL": address})
    where = remotes.parse_team_address(_url(args.url or address))
    if args.team:
        remotes.refuse_team(args.team)
        where = where._replace(team=args.team)
    # `init` is for tables of any version, and the others ask for what every version has.
    hub = hub_connection.Hub(where, lambda session: None)
    with closing(hub), hub.translating_errors():
        session, team = hub.session(), where.team
        if args.action == "init":
            return _init(session, team, args.review)
        if args.action == "grant":
            password = _password(arguments.asker(args).can_ask) if args.create else None
            return _grant(session, team, args.login, args.role, password)
        if args.action == "revoke":
            return _revoke(session, team, args.login)
        return _forget(session, team, args.path) if args.action == "forget" else _status(session, args.team)


def _url(typed: str) -> str:
    """Return the address that was typed, that of a remote, or that of the environment; never one of a project."""
    typed = typed or os.environ.get(VARIABLE, "")
    if not typed:
        raise BadInput("no hub is named", fix=f"add --url postgresql://HOST/DATABASE, or set {VARIABLE}")
    return typed if "://" in typed else remotes.get(typed).url


def _init(session: HubSession, team: str, review: bool | None) -> CommandResult:
    from onrecord.shared import hub_schema, hub_teams

    before, after = hub_schema.migrate(session)
    is_new = hub_teams.make_team(session, team, review)
    data = {"schema_before": before, "schema": after, "team": team, "is_new": is_new}
    tables = f"updated from schema {before} to {after}" if before < after else f"up to date: schema {after}"
    lines = [f"tables {tables if before else 'made'}", f"team {team} {'made' if is_new else 'is there'}"]
    return CommandResult(
        data, lambda screen: "\n".join(lines), note="next: `onrecord hub grant LOGIN ROLE`" if is_new else ""
    )


def _grant(session: HubSession, team: str, login: str, role: str, password: str | None) -> CommandResult:
    """Make a login a member of the team; with a password, make the login first."""
    from onrecord.shared import hub_teams

    with session.transaction():
        if password is not None:
            hub_teams.create_login(session, login, password)
        hub_teams.grant(session, team, login, role)
    data = {"team": team, "login": login, "role": role}
    return CommandResult(data, lambda screen: f"{clean(login)} is a {role} of the team {team}")


def _password(can_ask: bool) -> str:
    """A password typed unseen, or the first line of standard input; others can see the words of a command."""
    if not can_ask:
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        import getpass

        password = getpass.getpass("password of the new login: ")
        if password != getpass.getpass("again: "):
            raise BadInput("the two passwords differ", fix="type the same one twice")
    if not password:
        raise BadInput("a login needs a password", fix="type one, or put it on standard input")
    return password


def _revoke(session: HubSession, team: str, login: str) -> CommandResult:
    from onrecord.shared import hub_teams

    hub_teams.revoke(session, team, login)
    data = {"team": team, "login": login}
    return CommandResult(data, lambda screen: f"{clean(login)} is no longer a member of the team {team}")


def _forget(session: HubSession, team: str, path: str) -> CommandResult:
    from onrecord.shared import hub_teams

    count = hub_teams.forget_history(session, team, path)
    if not count:
        raise NotFound(f"the hub has no earlier version of {path!r}", fix="give a path such as decisions/use-uv.json")
    data = {"team": team, "path": path, "versions": count}
    note = "replicas and backups may still hold them"
    return CommandResult(data, lambda screen: f"deleted {plural(count, 'earlier version')} of {clean(path)}", note=note)


def _status(session: HubSession, team: str) -> CommandResult:
    """Return what the hub has; only of `team` unless that is empty."""
    from onrecord.shared import hub_schema, hub_teams

    hub_schema.check(session)
    listed = [each for each in hub_teams.list_teams(session) if not team or each.name == team]
    data = {
        "server": session.info.server_version,
        "schema": hub_schema.version(session),
        "teams": [{**team._asdict(), "members": [each._asdict() for each in team.members]} for team in listed],
    }
    return CommandResult(data, lambda screen: _text(screen, data, listed))


def _text(screen: Screen, data: dict[str, Any], listed: list[Team]) -> str:
    lines = [f"PostgreSQL {data['server'] // 10_000}, schema {data['schema']}, {plural(len(listed), 'team')}"]
    for team in listed:
        review = ", writers send drafts" if team.asks_for_review else ""
        counts = (team.records, "record"), (team.drafts, "draft"), (team.deleted, "deleted record")
        held = ", ".join(plural(count, noun) for count, noun in counts)
        lines += [
            "",
            f"{screen.paint(clean(team.name), 'bold')}: {held}, {plural(team.replaced, 'earlier version')}{review}",
        ]
        lines += [table(screen, ("login", "role"), team.members)] if team.members else ["no members"]
    return "\n".join(lines)

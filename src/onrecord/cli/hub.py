"""`onrecord hub`: set up the database of a hub, manage the members of teams, and show what is in it."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import closing
from shlex import quote
from typing import TYPE_CHECKING, Any

from onrecord import extras
from onrecord.cli import arguments
from onrecord.cli.output import CommandResult, Screen, clean, table
from onrecord.errors import BadInput, NotFound
from onrecord.shared import remotes
from onrecord.text import plural

if TYPE_CHECKING:
    from onrecord.shared.hub_connection import HubSession
    from onrecord.shared.hub_teams import Team

VARIABLE = "ONRECORD_HUB_URL"
ROLES = ("reader", "writer", "reviewer")
_THEN = "Then, with Onrecord installed (if a package is missing, the first line prints how to install it for you):"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    database = argparse.ArgumentParser(add_help=False)
    database.add_argument("--url", default="", help=f"address of the database, or a remote (default: ${VARIABLE})")
    database.add_argument("--team", metavar="NAME", default="", help="the team (default: the part after # in the URL)")
    actions = parser.add_subparsers(prog=parser.prog, dest="action", metavar="ACTION", required=True, help="what to do")
    init = actions.add_parser("init", parents=[database], help="create or update the tables, and a team")
    init.add_argument("address", nargs="?", metavar="URL", default="", help="the same as --url")
    review = init.add_mutually_exclusive_group()
    review.add_argument("--review", action="store_const", const=True, help="writers of the team can only send drafts")
    review.add_argument(
        "--no-review",
        dest="review",
        action="store_const",
        const=False,
        help="writers of the team can change records again",
    )
    grant = actions.add_parser("grant", parents=[database], help="add a login to the team")
    grant.add_argument("login", metavar="LOGIN", help="a login of the database")
    grant.add_argument("role", metavar="ROLE", choices=ROLES, help="reader, writer or reviewer")
    grant.add_argument("--create", action="store_true", help="create the login, with a password that you type")
    invite = actions.add_parser("invite", parents=[database], help="print the lines to send to a new colleague")
    invite.add_argument("login", metavar="LOGIN", help="their login of the database; it need not exist yet")
    invite.add_argument("--role", choices=ROLES, default="writer", help="their role (default: writer)")
    revoke = actions.add_parser("revoke", parents=[database], help="remove a member from the team")
    revoke.add_argument("login", metavar="LOGIN", help="a login of the database")
    forget = actions.add_parser("forget", parents=[database], help="delete the earlier versions of a record")
    forget.add_argument("path", metavar="PATH", help="the record, such as decisions/use-uv.json")
    actions.add_parser("status", parents=[database], help="list the teams, their members and records")


def run(args: argparse.Namespace) -> CommandResult:
    from onrecord.shared import hub_connection

    address = getattr(args, "address", "")
    arguments.exclude("--url", args.url, {"URL": address})
    team_address = remotes.parse_team_address(_url(args.url or address))
    if args.team:
        remotes.refuse_team(args.team)
        team_address = team_address._replace(team=args.team)
    # `init` takes tables of any version, and the other actions need what every version has.
    hub = hub_connection.Hub(team_address, lambda session: None)
    with closing(hub), hub.translating_errors():
        session, team = hub.session(), team_address.team
        if args.action == "init":
            return _init(session, team, args.review)
        if args.action == "grant":
            password = _password(arguments.asker(args).can_ask) if args.create else None
            return _grant(session, team, args.login, args.role, password)
        if args.action == "invite":
            return _invite(session, team, args.login, args.role, f" --url {quote(args.url)}" if args.url else "")
        if args.action == "revoke":
            return _revoke(session, team, args.login)
        return _forget(session, team, args.path) if args.action == "forget" else _status(session, args.team)


def _url(address: str) -> str:
    """Return the address typed, of a remote, or of the environment; never one of a project. Raises BadInput."""
    address = address or os.environ.get(VARIABLE, "")
    if not address:
        raise BadInput("no hub is named", fix=f"add --url postgresql://HOST/DATABASE, or set {VARIABLE}")
    return address if "://" in address else remotes.get(address).url


def _init(session: HubSession, team: str, review: bool | None) -> CommandResult:
    from onrecord.shared import hub_connection, hub_teams

    before, after = hub_connection.migrate(session)
    is_new = hub_teams.make_team(session, team, review)
    data = {"schema_before": before, "schema": after, "team": team, "is_new": is_new}
    tables = f"updated from schema {before} to {after}" if before < after else f"up to date: schema {after}"
    lines = [f"tables {tables if before else 'created'}", f"team {team} {'created' if is_new else 'exists'}"]
    return CommandResult(
        data, lambda screen: "\n".join(lines), note=f"next: `onrecord hub invite LOGIN --team {team}`" if is_new else ""
    )


def _grant(session: HubSession, team: str, login: str, role: str, password: str | None) -> CommandResult:
    """Add a login to the team; with a password, create the login first."""
    from onrecord.shared import hub_teams

    with session.transaction():
        if password is not None:
            hub_teams.create_login(session, login, password)
        hub_teams.grant(session, team, login, role)
    data = {"team": team, "login": login, "role": role}
    return CommandResult(data, lambda screen: f"{clean(login)} is a {role} of the team {team}")


def _invite(session: HubSession, team: str, login: str, role: str, url_option: str) -> CommandResult:
    """Return the command that gives a login its role, if it does not have it, and the lines to send to the person."""
    from onrecord.shared import hub_teams

    member_role = hub_teams.role(session, team, login)
    create = "" if hub_teams.has_login(session, login) else " --create"
    grant = f"onrecord hub grant {quote(login)} {role} --team {team}{create}{url_option}"
    address = hub_teams.address_for(session, login, team)
    host = "*" if not session.info.host or session.info.host.startswith("/") else session.info.host
    data = {
        "team": team,
        "login": login,
        "role": role,
        "grant": "" if member_role == role else grant,
        "address": address,
        "install": extras.command_elsewhere("hub"),
        "commands": [f"onrecord remote add {team} {quote(address)}", f"onrecord sync {team}"],
        "password_line": ":".join(map(_in_pgpass, (host, session.info.port, session.info.dbname, login, "PASSWORD"))),
    }
    return CommandResult(data, lambda screen: _invitation(data))


def _invitation(data: dict[str, Any]) -> str:
    """Return an invitation for people: what to run first, and below a line what to send."""
    commands = [data["install"], *data["commands"]] if data["install"] else data["commands"]
    first = f"{data['login']} is a {data['role']} of the team {data['team']} already."
    lines = [f"First, here: {data['grant']}" if data["grant"] else first, "Then send this:", ""]
    lines += [f"You are a {data['role']} of the team {data['team']}; your login is {data['login']}."]
    lines += [f"Put a line with your password into ~/.pgpass, mode 0600: {data['password_line']}"]
    lines += ["Then:" if data["install"] else _THEN, *(f"  {command}" for command in commands)]
    return "\n".join(map(clean, lines))


def _in_pgpass(part: object) -> str:
    """Return a part of a line of ~/.pgpass."""
    return str(part).replace("\\", r"\\").replace(":", r"\:")


def _password(can_ask: bool) -> str:
    """Return a password typed unseen, or a line of standard input: other users can see the arguments of a command."""
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
    note = "replicas and backups may still have them"
    return CommandResult(data, lambda screen: f"deleted {plural(count, 'earlier version')} of {clean(path)}", note=note)


def _status(session: HubSession, team: str) -> CommandResult:
    """Return what is in the hub, only of `team` unless it is empty."""
    from onrecord.shared import hub_connection, hub_teams

    hub_connection.check_schema(session)
    teams = [row for row in hub_teams.list_teams(session) if not team or row.name == team]
    data = {
        "server": session.info.server_version,
        "schema": hub_connection.schema_version(session),
        "teams": [{**row._asdict(), "members": [member._asdict() for member in row.members]} for row in teams],
    }
    return CommandResult(data, lambda screen: _text(screen, data, teams))


def _text(screen: Screen, data: dict[str, Any], teams: list[Team]) -> str:
    lines = [f"PostgreSQL {data['server'] // 10_000}, schema {data['schema']}, {plural(len(teams), 'team')}"]
    for team in teams:
        review = ", writers send drafts" if team.asks_for_review else ""
        counts = (team.records, "record"), (team.drafts, "draft"), (team.deleted, "deleted record")
        contents = ", ".join(plural(count, noun) for count, noun in counts)
        lines += [
            "",
            f"{screen.paint(clean(team.name), 'bold')}: {contents}, {plural(team.replaced, 'earlier version')}{review}",
        ]
        lines += [table(screen, ("login", "role"), team.members)] if team.members else ["no members"]
    return "\n".join(lines)

"""The teams of a hub: their members, which only the owner of the schema can change, and the search in their records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from onrecord.coldstart import NamedTuple
from onrecord.errors import AlreadyExists, BadInput, BadRecord, BadRemote, NotFound
from onrecord.record import memory
from onrecord.record.memory import Memory
from onrecord.shared import hub_connection
from onrecord.shared.hub_connection import sql
from onrecord.shared.remotes import parse_team_address

if TYPE_CHECKING:
    from onrecord.shared.hub_connection import HubSession

ROLES = ("reader", "writer", "reviewer")
_SHARED_OPTIONS = ("sslmode", "channel_binding", "gssencmode", "target_session_attrs")
"""Parameters of the administrator's address that hold for everybody; others name files of one machine."""

_MAX_LOGIN_BYTES = 63
"""Bytes of a name in Postgres: it cuts a longer one, which could then be the name of another login."""

MAX_MATCHES = 100
"""Results of one search: each contains the whole record."""

MAX_SECONDS = 10

_SEARCH = "SELECT team, path, data, score, has_all, is_cut FROM onrecord.search(%s, %s, %s, %s, %s)"


class TeamMember(NamedTuple):
    """A database login and its role in a team."""

    login: str
    role: str


class Team(NamedTuple):
    """A team and its number of records, as far as the login may see them."""

    name: str
    asks_for_review: bool
    records: int
    drafts: int
    deleted: int
    replaced: int
    """Earlier versions, in the history."""

    members: tuple[TeamMember, ...]


def make_team(session: HubSession, name: str, asks_for_review: bool | None) -> bool:
    """Create a team or set its `asks_for_review`; return True if it is new."""
    with session.transaction():
        hub_connection.become_owner(session)
        inserted = session.execute(
            "INSERT INTO onrecord.teams (name) VALUES (%s) ON CONFLICT (name) DO NOTHING", (name,)
        )
        if asks_for_review is not None:
            parameters = (asks_for_review, name)
            session.execute("UPDATE onrecord.teams SET asks_for_review = %s WHERE name = %s", parameters)
    return inserted.rowcount == 1


def grant(session: HubSession, team: str, login: str, role: str) -> None:
    """Make a login a member of a team, or change its role. Raises BadInput or NotFound."""
    if role not in ROLES:
        raise BadInput(f"{role!r} is not a role", fix=f"choose one: {', '.join(ROLES)}")
    with session.transaction():
        key = _key(session, team)
        if not has_login(session, login):
            raise NotFound(f"the database server has no login {login!r}", fix="add --create to make it")
        hub_connection.become_owner(session)
        hub_connection.share_with(session, login)
        session.execute(
            "INSERT INTO onrecord.members (team, login, role) VALUES (%s, %s, %s)"
            " ON CONFLICT (team, login) DO UPDATE SET role = excluded.role",
            (key, login, role),
        )


def revoke(session: HubSession, team: str, login: str) -> None:
    """Remove a login from a team, and its rights in the schema with its last team. Raises NotFound."""
    with session.transaction():
        key = _key(session, team)
        hub_connection.become_owner(session)
        deleted = session.execute("DELETE FROM onrecord.members WHERE team = %s AND login = %s", (key, login))
        if not deleted.rowcount:
            raise NotFound(f"{login!r} is not a member of the team {team}", fix="onrecord hub status")
        others = session.execute("SELECT 1 FROM onrecord.members WHERE login = %s", (login,)).fetchone()
        if not others and has_login(session, login):
            hub_connection.withdraw_from(session, login)


def forget_history(session: HubSession, team: str, path: str) -> int:
    """Delete the earlier versions of a file permanently, not the current one; return their number."""
    with session.transaction():
        key = _key(session, team)
        hub_connection.become_owner(session)
        return session.execute("DELETE FROM onrecord.history WHERE team = %s AND path = %s", (key, path)).rowcount


def create_login(session: HubSession, login: str, password: str) -> None:
    """Create a login with a password; the server gets only the verifier. Raises BadInput or AlreadyExists."""
    if len(login.encode()) > _MAX_LOGIN_BYTES or not login.isprintable() or not login:
        raise BadInput(f"a login has 1 to {_MAX_LOGIN_BYTES} printable characters", fix="choose another one")
    if has_login(session, login):
        raise AlreadyExists(f"there is a login {login!r} already", fix="leave --create out")
    verifier = session.pgconn.encrypt_password(password.encode(), login.encode(), b"scram-sha-256").decode()
    statement = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(login), sql.Literal(verifier))
    session.execute(statement)
    # An open transaction in a forgotten program would keep its locks.
    session.execute(
        sql.SQL("ALTER ROLE {} SET idle_in_transaction_session_timeout = '1min'").format(sql.Identifier(login))
    )


def list_teams(session: HubSession) -> list[Team]:
    """Return the teams that the login may see: all for the owner, their own for members."""
    # `count(*)`: a login that can create functions in `public` could add a `count(text)` that runs with our rights.
    rows = session.execute(
        "SELECT t.team, t.name, t.asks_for_review,"
        " count(*) FILTER (WHERE r.hash <> '' AND NOT starts_with(r.path, 'inbox/')),"
        " count(*) FILTER (WHERE r.hash <> '' AND starts_with(r.path, 'inbox/')),"
        " count(*) FILTER (WHERE r.hash = '')"
        " FROM onrecord.teams t LEFT JOIN onrecord.records r ON r.team = t.team"
        " GROUP BY t.team ORDER BY t.name"
    ).fetchall()
    return [_team(session, *row) for row in rows]


def _team(session: HubSession, key: int, name: str, asks_for_review: bool, *counts: int) -> Team:
    records, drafts, deleted = counts
    members = _members(session, key)
    return Team(name, asks_for_review, records, drafts, deleted, _replaced(session, key), members)


def _replaced(session: HubSession, key: int) -> int:
    row = session.execute("SELECT count(*) FROM onrecord.history WHERE team = %s", (key,)).fetchone()
    return int(row[0]) if row else 0


def _members(session: HubSession, key: int) -> tuple[TeamMember, ...]:
    members = session.execute("SELECT login, role FROM onrecord.members WHERE team = %s ORDER BY login", (key,))
    return tuple(TeamMember(*row) for row in members.fetchall())


def role(session: HubSession, team: str, login: str) -> str:
    """Return the role of a login in a team; empty if it has none. Raises NotFound for a team that does not exist."""
    members = dict(_members(session, _key(session, team)))
    return members.get(login, "")


def address_for(session: HubSession, login: str, team: str) -> str:
    """Return the address by which a login reaches a team of this hub, without a password."""
    facts = session.info.get_parameters()
    host, port, database = session.info.host, session.info.port, quote(session.info.dbname, safe="")
    options = {key: facts[key] for key in _SHARED_OPTIONS if key in facts}
    if not host or host.startswith("/"):
        # A socket of this machine, as in a test or with everybody on one host.
        options = {"host": host, "port": str(port), **options}
        place = ""
    else:
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    query = f"?{urlencode(options)}" if options else ""
    return f"postgresql://{quote(login, safe='')}@{place}/{database}{query}#{team}"


def _key(session: HubSession, team: str) -> int:
    row = session.execute("SELECT team FROM onrecord.teams WHERE name = %s", (team,)).fetchone()
    if row is None:
        raise NotFound(f"there is no team {team!r} in this hub", fix="name one with --team; onrecord hub status")
    return int(row[0])


def has_login(session: HubSession, login: str) -> bool:
    """True if the database server has this login."""
    # As text: Postgres would cut a name that is too long and find another login.
    return session.execute("SELECT 1 FROM pg_roles WHERE rolname::text = %s", (login,)).fetchone() is not None


class ServerMatch(NamedTuple):
    """A matching record with its team and score; `has_all` if it has all the words."""

    team: str
    path: str
    memory: Memory
    score: float
    has_all: bool


class ServerMatches(NamedTuple):
    """The best matches; `is_cut` if too many records match, so that only some were compared."""

    hits: tuple[ServerMatch, ...]
    is_cut: bool


def search(
    url: str,
    text: str,
    limit: int = 10,
    *,
    categories: Sequence[str] = (),
    tags: Sequence[str] = (),
    include_retired: bool = False,
) -> ServerMatches:
    """Return the best matches; leave out files that are not records. Raises BadInput for a bad `limit`."""
    if not 1 <= limit <= MAX_MATCHES:
        raise BadInput(
            f"--limit {limit} is not between 1 and {MAX_MATCHES}", fix=f"give a number from 1 to {MAX_MATCHES}"
        )
    statuses = () if include_retired else ("active",)
    search_text = text.replace("\0", " ").encode("utf-8", "replace").decode()
    parameters = (search_text, list(categories), list(tags), list(statuses), limit)
    hub = hub_connection.Hub(parse_team_address(url), hub_connection.check_schema)
    try:
        rows = hub.run(lambda session: _matching_rows(session, parameters))
    finally:
        hub.close()
    hits = [hit for row in rows if (hit := _parse_match(row)) is not None]
    return ServerMatches(tuple(hits), any(row[-1] is True for row in rows))


def _matching_rows(session: HubSession, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    from psycopg import errors

    try:
        with session.transaction():
            # For this transaction only: behind a pool another client gets the session next.
            session.execute(f"SET LOCAL statement_timeout = '{MAX_SECONDS}s'")
            with session.cursor(binary=True) as cursor:
                return cursor.execute(_SEARCH, parameters).fetchmany(MAX_MATCHES)
    except errors.QueryCanceled as error:
        raise BadRemote(
            f"the search took longer than {MAX_SECONDS} seconds", fix="use rarer words, or ask the administrator"
        ) from error


def _parse_match(columns: Sequence[Any]) -> ServerMatch | None:
    """Return a row of the answer as a match; None if its file is not a record. Raises BadRemote."""
    team, path, data, score, has_all, _ = columns
    types = (str, str, bytes, float, bool)
    if not all(isinstance(value, kind) for value, kind in zip(columns, types)):
        raise BadRemote(
            "the database does not answer like a hub: a match has values of the wrong types",
            fix="ask its administrator",
        )
    try:
        return ServerMatch(team, path, memory.parse(data, path), score, has_all)
    except BadRecord:
        return None

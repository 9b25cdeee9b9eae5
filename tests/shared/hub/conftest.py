"""A hub on a real server: its owner is no superuser, as with a managed database, and so are none of the members."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import psycopg
import pytest

from onrecord.shared import hub_connection, hub_teams
from onrecord.shared.hub_transport import PostgresTransport
from onrecord.shared.remotes import parse_team_address
from onrecord.shared.transport import Push
from tests.postgres import Server

OWNER = "owner_of_the_hub"
ROLES = {"rita": "reader", "walt": "writer", "wilma": "writer", "vera": "reviewer"}
"""The members of the team `platform`, by login."""

STRANGER, OTHER = "sam", "olga"
"""A login that belongs to no team, and one that belongs to another."""


class TestHub:
    """A database with the teams `platform` and `other`."""

    __test__ = False

    def __init__(self, server: Server, database: str) -> None:
        self.server, self.database = server, database
        self._open = ExitStack()

    def url(self, login: str = "walt", team: str = "platform", **parameters: str) -> str:
        return f"{self.server.url(self.database, login, **parameters)}#{team}"

    def transport(self, login: str = "walt", team: str = "platform", **parameters: str) -> PostgresTransport:
        """Return a transport for this login, which is closed after the test."""
        return self._open.enter_context(closing(PostgresTransport(self.url(login, team, **parameters))))

    def session(self, login: str = "walt") -> psycopg.Connection:
        """Return a plain connection of this login, as any other program can have."""
        session = psycopg.connect(self.server.url(self.database, login), autocommit=True)
        return self._open.enter_context(closing(session))

    def rows(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """Run a statement as a superuser; return its rows."""
        return self.server.execute(statement, *values, database=self.database)

    def beside(self, database: str) -> TestHub:
        """Return a hub in another database of the same server, closed with this one."""
        return self._open.enter_context(closing(TestHub(self.server, database)))

    def empty(self) -> None:
        """Forget all files."""
        self.rows("TRUNCATE onrecord.records, onrecord.history")
        self.rows("UPDATE onrecord.teams SET number = 0, files = 0, bytes = 0, asks_for_review = false")

    def close(self) -> None:
        self._open.close()


def prepare(server: Server, url: str) -> None:
    """Make the tables and the two teams as the owner."""
    database = url.rpartition("@/")[2].partition("?")[0]
    for login in (OWNER, *ROLES, STRANGER, OTHER):
        server.login(login)
    server.execute(f"ALTER ROLE {OWNER} CREATEROLE")
    server.execute(f"GRANT CREATE ON DATABASE {database} TO {OWNER}")
    with hub_connection.connect(parse_team_address(server.url(database, OWNER))) as session:
        hub_connection.migrate(session)
        for team in ("platform", "other"):
            hub_teams.make_team(session, team, None)
        for login, role in ROLES.items():
            hub_teams.grant(session, "platform", login, role)
        hub_teams.grant(session, "other", OTHER, "reviewer")


@pytest.fixture(scope="session")
def template(postgres: Server) -> Callable[[str], None]:
    """Return a function that creates the first hub of a server; the others are copies of it."""
    return lambda url: prepare(postgres, url)


@pytest.fixture(scope="session")
def common_database(postgres: Server, template: Callable[[str], None]) -> str:
    return postgres.database(template)


@pytest.fixture
def hub(postgres: Server, common_database: str) -> Iterator[TestHub]:
    """Yield an empty hub that tests share, so none may change its tables."""
    hub = TestHub(postgres, common_database)
    hub.empty()
    yield hub
    hub.close()


@pytest.fixture
def own_hub(postgres: Server, template: Callable[[str], None]) -> Iterator[TestHub]:
    """Yield a hub whose tables a test may change."""
    hub = TestHub(postgres, postgres.database(template))
    yield hub
    hub.close()


def everything(transport: PostgresTransport, cursor: str = "") -> dict[str, bytes]:
    """Return the last version of each path of a pull."""
    return {version.path: version.data for version in transport.pull(cursor).versions}


def new(path: str, data: bytes) -> Push:
    """Return a push of a file that the remote does not have."""
    return Push(path, data, "")

"""The connection to a hub, with limits on every answer and database errors translated into ours, and the hub's schema.

libpq itself reads the environment (`PGHOST`, `PGSSLMODE`, …), the service file and the password file. No session
state is set on the server: behind a connection pool each statement may reach another session.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from onrecord import extras
from onrecord.errors import BadInput, BadRemote, Offline, OnrecordError, Refused
from onrecord.shared.remotes import TeamAddress
from onrecord.text import cut, flat

extras.add_to_path()
try:
    import psycopg

    # The other modules of the hub take it from here: without the package they fail with our error, too.
    from psycopg import conninfo, errors
    from psycopg import sql as sql  # noqa: PLC0414
except ImportError as error:
    raise BadInput(f"a Postgres remote needs a package: {error}", fix=extras.install_command("hub")) from error

if TYPE_CHECKING:
    from psycopg.abc import PQGen

Result = TypeVar("Result")

_DEFAULTS = {
    "fallback_application_name": "onrecord",
    "client_encoding": "utf8",
    # A lost network is noticed after half a minute, also while waiting for an answer.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "tcp_user_timeout": "30000",
}
_CONNECT_SECONDS = "10"
"""Time limit for a connection, if neither the address nor the environment has one."""

_MAX_REASON_LENGTH = 300
_RETRY_PAUSES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Seconds before each retry of a transaction that clashed with another one."""

_MAX_RECONNECTIONS = 1
_RETRYABLE = (errors.SerializationFailure, errors.DeadlockDetected)
_NO_HUB = (errors.InvalidSchemaName, errors.UndefinedTable, errors.UndefinedFunction)
_ACCESS_DENIED = (
    "authentication failed",
    "does not exist",
    "no such ",
    "pg_hba.conf",
    "not permitted",
    "permission denied",
)
"""Messages of a server that denies access. libpq gives no SQLSTATE for a failed connection.

Any other message, or one in another language, may be temporary, such as that of a server that is starting.
"""

_SILENCE_SECONDS = 60.0
"""Time limit for an answer that makes no progress at all."""

_MAX_ANSWER_BYTES = 300_000_000
"""Memory for one answer: a search returns at most 100 records of a megabyte."""

_FOLDER = os.path.join(os.path.dirname(__file__), "migrations")

_LOCK = 7_265_636_011
"""Key of the advisory lock for changes of the schema; any number that no other program uses."""

_LIMIT_LOCK_WAIT = "SET LOCAL lock_timeout = '10s'"
"""Limits the wait: any login of the database can hold some of the locks that are needed here."""


class HubSession(psycopg.Connection[Any]):
    """A connection that limits time and size of each answer: a server may send nothing, or never end."""

    patience = math.inf
    """Seconds without data from the server; then the connection is closed and Offline raised."""

    def wait(self, gen: PQGen[Result], *words: Any, **more: Any) -> Result:
        """Run one step of psycopg within the limits; psycopg calls this for each answer and each streamed row."""
        return super().wait(self._bounded(gen), *words, **more)

    def stream_rows(self, sql: str, parameters: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of an answer one by one. Stopping before the last row closes the connection.

        To keep it, the rest would have to be read, and a server may send rows without end.
        """
        with self.cursor(binary=True) as cursor:
            for row in cursor.stream(sql.encode(), parameters):
                try:
                    yield row
                except GeneratorExit:
                    self.close()
                    raise

    def _bounded(self, gen: PQGen[Result]) -> PQGen[Result]:
        try:
            event = next(gen)
            limit, last_data = _peak_memory() + _MAX_ANSWER_BYTES, time.monotonic()
            while True:
                if ready := (yield event):
                    last_data = time.monotonic()
                if time.monotonic() > last_data + self.patience:
                    raise Offline("the database server does not answer", fix="try again later")
                if _peak_memory() > limit:
                    raise BadRemote(
                        f"an answer takes more than {_MAX_ANSWER_BYTES:,} bytes", fix="ask the administrator"
                    )
                event = gen.send(ready)
        except StopIteration as end:
            answer: Result = end.value
            return answer
        except OnrecordError:
            # The rest of this answer could be taken for the next one.
            self.close()
            raise


def _peak_memory() -> int:
    """Return the peak memory of this process in bytes; 0 on Windows, which does not report it."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class Hub:
    """The database of a hub: connects on first use, and again if the connection breaks."""

    def __init__(self, address: TeamAddress, check_session: Callable[[HubSession], object]) -> None:
        self.address = address
        self._check_session = check_session
        self._session: HubSession | None = None
        self._password = ""

    def run(self, work: Callable[[HubSession], Result]) -> Result:
        """Run repeatable `work`; repeat it after a clash with another transaction, and once after a lost connection."""
        pauses, reconnections = iter(_RETRY_PAUSES), _MAX_RECONNECTIONS
        while True:
            try:
                return work(self.session())
            except _RETRYABLE as error:
                pause = next(pauses, None)
                if pause is None:
                    raise Offline("other writers kept the database busy", fix="try again later") from error
                time.sleep(pause)
            except psycopg.Error as error:
                is_lost = self._session is not None and self._session.closed
                if not is_lost or not reconnections:
                    raise translate(error, self.address, self._password) from error
                reconnections -= 1
                self.close()

    @contextmanager
    def translating_errors(self) -> Iterator[None]:
        """Translate errors of the database into ours, for work that is not repeated."""
        try:
            yield
        except psycopg.Error as error:
            raise translate(error, self.address, self._password) from error

    def session(self) -> HubSession:
        """Return the connection; connect and check it first if there is none."""
        if self._session is None:
            session = connect(self.address)
            session.patience = _SILENCE_SECONDS
            self._password = session.info.password
            try:
                self._check_session(session)
            except BaseException:
                session.close()
                raise
            self._session = session
        return self._session

    def close(self) -> None:
        """Close the connection."""
        if self._session is not None:
            self._session.close()
            self._session = None


def connect(address: TeamAddress) -> HubSession:
    """Return a new connection. Raises Offline, Refused or BadInput."""
    defaults = {"connect_timeout": os.environ.get("PGCONNECT_TIMEOUT", _CONNECT_SECONDS), **_DEFAULTS}
    try:
        explicit = conninfo.conninfo_to_dict(address.database)
        defaults = {key: value for key, value in defaults.items() if key not in explicit}
        merged = conninfo.make_conninfo(address.database, **defaults)
    except psycopg.Error as error:
        # The message of libpq repeats parts of the address.
        raise BadInput(
            "libpq does not understand the address", fix="compare it with the examples: onrecord docs team/postgres"
        ) from error
    try:
        # No prepared statements: behind a pool each transaction may get another session.
        return HubSession.connect(merged, autocommit=True, prepare_threshold=None)
    except psycopg.Error as error:
        raise _not_connected(error) from error


def translate(error: psycopg.Error, address: TeamAddress, password: str) -> OnrecordError:
    """Return our error for a failed statement."""
    text = _reason(error, password)
    if isinstance(error, _NO_HUB):
        return BadRemote(
            "there is no hub in this database",
            fix=f"ask its administrator for: `onrecord hub init --team {address.team}`",
        )
    if isinstance(error, errors.InsufficientPrivilege):
        fix = f"ask the administrator for: `onrecord hub grant LOGIN ROLE --team {address.team}`"
        return Refused(f"your login may not do this in the team {address.team}: {text}", fix=fix)
    if isinstance(error, errors.LockNotAvailable):
        fix = "try again later; how the administrator finds that session: onrecord docs team/postgres"
        return Offline("another session holds a lock that this needs", fix=fix)
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        what = "the database cannot do this now" if error.sqlstate else "the connection to the database was lost"
        return Offline(f"{what}: {text}", fix="try again later")
    return BadRemote(f"the database answered with an error: {text}", fix="ask its administrator")


def _not_connected(error: psycopg.Error) -> OnrecordError:
    password = error.pgconn.password.decode("utf-8", "replace") if error.pgconn else ""
    text = _reason(error, password)
    is_refusal = "FATAL:" in text and any(part in text for part in _ACCESS_DENIED)
    if is_refusal or (error.pgconn and error.pgconn.needs_password):
        fix = "check login and database; a password belongs in ~/.pgpass or PGPASSWORD"
        return Refused(f"the database server refused the connection: {text}", fix=fix)
    return Offline(f"the database server cannot be reached: {text}", fix="try again when it can be reached")


def _reason(error: psycopg.Error, password: str) -> str:
    """Return the message of the server or of libpq on one line, cut, and without the password.

    A hostile server can repeat a password that was sent to it.
    """
    text = " ".join(flat(error.diag.message_primary or str(error)).split())
    return cut(text.replace(password, "…") if password else text, _MAX_REASON_LENGTH)


def migrations() -> list[str]:
    """Return the SQL of each migration; the first one leads from version 0 to 1."""
    names = sorted(name for name in os.listdir(_FOLDER) if name.endswith(".sql"))
    return [_read(os.path.join(_FOLDER, name)) for name in names]


def schema_version(session: HubSession) -> int:
    """Return the version of the schema in a database; 0 if there is none."""
    row = session.execute("SELECT to_regclass('onrecord.schema_version') IS NOT NULL").fetchone()
    if not row or not row[0]:
        return 0
    row = session.execute("SELECT max(version) FROM onrecord.schema_version").fetchone()
    return row[0] if row and isinstance(row[0], int) else 0


def check_schema(session: HubSession) -> None:
    """Raise BadRemote if the schema is not the one that this version of Onrecord needs."""
    current, needed = schema_version(session), len(migrations())
    if current > needed:
        raise BadRemote(
            f"the hub has schema {current}, and this Onrecord knows {needed}", fix=extras.upgrade_command("hub")
        )
    if current < needed:
        reason = (
            f"the hub has schema {current}, and this Onrecord needs {needed}"
            if current
            else "there is no hub in this database"
        )
        raise BadRemote(reason, fix="ask its administrator for: `onrecord hub init`")


def migrate(session: HubSession) -> tuple[int, int]:
    """Upgrade a database in one transaction, one process at a time; return the versions before and after."""
    steps = migrations()
    # A million records take minutes, and the server sends nothing meanwhile.
    session.patience = math.inf
    with session.transaction():
        session.execute(_LIMIT_LOCK_WAIT)
        session.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        before = schema_version(session)
        if before > len(steps):
            check_schema(session)
        if before == 0:
            _refuse_encoding(session)
            session.execute("CREATE SCHEMA IF NOT EXISTS onrecord")
            session.execute("CREATE TABLE onrecord.schema_version (version integer PRIMARY KEY)")
        become_owner(session)
        for number, step in enumerate(steps[before:], before + 1):
            session.execute(step.encode())
            session.execute("INSERT INTO onrecord.schema_version VALUES (%s)", (number,))
        _share_with_members(session)
    return before, len(steps)


def _refuse_encoding(session: HubSession) -> None:
    """Raise BadInput for a database whose encoding cannot store every text."""
    encoding = session.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        fix = "create a database with ENCODING 'UTF8' TEMPLATE template0"
        raise BadInput(f"the database has the encoding {encoding}, and a hub needs UTF8", fix=fix)


def become_owner(session: HubSession) -> None:
    """Act as the owner of the schema in this transaction, and limit the wait for locks."""
    session.execute(_LIMIT_LOCK_WAIT)
    owners = session.execute("SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'onrecord'")
    for (owner,) in owners.fetchall():
        session.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(owner)))


def share_with(session: HubSession, login: str) -> None:
    """Let a login use the schema; its roles decide what it can see and do there."""
    for right in ("USAGE ON SCHEMA", "SELECT ON ALL TABLES IN SCHEMA", "EXECUTE ON ALL FUNCTIONS IN SCHEMA"):
        session.execute(sql.SQL(f"GRANT {right} onrecord TO {{}}").format(sql.Identifier(login)))


def withdraw_from(session: HubSession, login: str) -> None:
    """Revoke all rights in the schema from a login."""
    for right in ("ALL ON ALL FUNCTIONS IN SCHEMA", "ALL ON ALL TABLES IN SCHEMA", "ALL ON SCHEMA"):
        session.execute(sql.SQL(f"REVOKE {right} onrecord FROM {{}}").format(sql.Identifier(login)))


def _share_with_members(session: HubSession) -> None:
    """Give the members, and no other login, rights on what a migration has added."""
    session.execute("REVOKE ALL ON ALL FUNCTIONS IN SCHEMA onrecord FROM PUBLIC")
    logins = session.execute(
        "SELECT DISTINCT m.login FROM onrecord.members m JOIN pg_roles r ON r.rolname = m.login"
    ).fetchall()
    for (login,) in logins:
        share_with(session, login)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()

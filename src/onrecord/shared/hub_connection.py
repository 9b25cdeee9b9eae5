"""A connection to a hub, and what goes wrong with one in our own words.

libpq reads the rest of what it needs itself: the environment (`PGHOST`, `PGSSLMODE`, …), the service file and the
password file. Nothing that a session of the server would have to remember is set: behind a pool each statement may
reach another session.
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
    from psycopg import conninfo, errors
except ImportError as error:
    raise BadInput(f"a Postgres remote needs a package: {error}", fix=extras.install_command("hub")) from error

if TYPE_CHECKING:
    from psycopg.abc import PQGen

Result = TypeVar("Result")

_DEFAULTS = {
    "fallback_application_name": "onrecord",
    "client_encoding": "utf8",
    # A network that is gone is noticed after half a minute, also while an answer is awaited.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "tcp_user_timeout": "30000",
}
_PATIENCE = "10"
"""Seconds for a connection, where neither the address nor the environment says how many."""

_LONGEST_REASON = 300
_PAUSES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Seconds before a transaction that met another one is tried again."""

_RECONNECTIONS = 1
_AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)
_NO_HUB = (errors.InvalidSchemaName, errors.UndefinedTable, errors.UndefinedFunction)
_NOT_LET_IN = (
    "authentication failed",
    "does not exist",
    "no such ",
    "pg_hba.conf",
    "not permitted",
    "permission denied",
)
"""Reasons of a server that does not let this login in. For a connection that fails libpq gives no SQLSTATE.

A reason in another language, and any other, can be one that passes, such as a server that is starting.
"""

_SILENCE = 60.0
"""Seconds in which an answer makes no progress at all."""

_MOST_MEMORY = 300_000_000
"""Bytes that an answer may take: a search is answered with 100 records of a megabyte at most."""


class HubSession(psycopg.Connection[Any]):
    """A connection whose answers come within bounds: a server may say nothing, or never end."""

    patience = math.inf
    """Seconds without a sign of the server; a closed connection and Offline after that."""

    def wait(self, gen: PQGen[Result], *words: Any, **more: Any) -> Result:
        """What psycopg calls for each answer, and each row of one that is read row by row."""
        return super().wait(self._bounded(gen), *words, **more)

    def rows(self, query: str, values: Any) -> Iterator[tuple[Any, ...]]:
        """The rows of an answer, of which one is in memory; whoever stops before the last one gives the connection up.

        To go on with it, all the rest would have to be read, and a server may send without end.
        """
        with self.cursor(binary=True) as cursor:
            for row in cursor.stream(query.encode(), values):
                try:
                    yield row
                except GeneratorExit:
                    self.close()
                    raise

    def _bounded(self, gen: PQGen[Result]) -> PQGen[Result]:
        try:
            wanted = next(gen)
            most, last_sign = _memory() + _MOST_MEMORY, time.monotonic()
            while True:
                if ready := (yield wanted):
                    last_sign = time.monotonic()
                if time.monotonic() > last_sign + self.patience:
                    raise Offline("the database server does not answer", fix="try again later")
                if _memory() > most:
                    raise BadRemote(f"an answer takes more than {_MOST_MEMORY:,} bytes", fix="ask the administrator")
                wanted = gen.send(ready)
        except StopIteration as end:
            answer: Result = end.value
            return answer
        except OnrecordError:
            # What is still to come cannot be told from the next answer.
            self.close()
            raise


def _memory() -> int:
    """Bytes that this process had in memory at most, up to now; 0 on Windows, which does not say."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class Hub:
    """The database of a hub: connects when it is first asked, and again if the connection breaks."""

    def __init__(self, address: TeamAddress, check: Callable[[HubSession], object]) -> None:
        self.address = address
        self._check = check
        self._session: HubSession | None = None
        self._password = ""

    def run(self, work: Callable[[HubSession], Result]) -> Result:
        """Do work that may be repeated: after a clash with another transaction, or once after a lost connection."""
        pauses, reconnections = iter(_PAUSES), _RECONNECTIONS
        while True:
            try:
                return work(self.session())
            except _AGAIN as error:
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
        """Errors of the database as ours, for work that is not repeated."""
        try:
            yield
        except psycopg.Error as error:
            raise translate(error, self.address, self._password) from error

    def session(self) -> HubSession:
        """The connection, made and checked now if there is none."""
        if self._session is None:
            session = connect(self.address)
            session.patience = _SILENCE
            self._password = session.info.password
            try:
                self._check(session)
            except BaseException:
                session.close()
                raise
            self._session = session
        return self._session

    def close(self) -> None:
        """Give the connection up."""
        if self._session is not None:
            self._session.close()
            self._session = None


def connect(address: TeamAddress) -> HubSession:
    """A new connection; Offline, Refused or BadInput if there can be none."""
    defaults = {"connect_timeout": os.environ.get("PGCONNECT_TIMEOUT", _PATIENCE), **_DEFAULTS}
    try:
        typed = conninfo.conninfo_to_dict(address.database)
        unsaid = {key: value for key, value in defaults.items() if key not in typed}
        merged = conninfo.make_conninfo(address.database, **unsaid)
    except psycopg.Error as error:
        # The reason that libpq gives repeats parts of the address.
        raise BadInput("libpq does not understand the address", fix="compare it with docs/team/postgres.md") from error
    try:
        # Statements prepared on a session are lost behind a pool that gives each transaction another one.
        return HubSession.connect(merged, autocommit=True, prepare_threshold=None)
    except psycopg.Error as error:
        raise _not_connected(error) from error


def translate(error: psycopg.Error, address: TeamAddress, password: str) -> OnrecordError:
    """What a failed statement means for the person who waits for it."""
    text = _reason(error, password)
    if isinstance(error, _NO_HUB):
        return BadRemote("there is no hub in this database", fix="ask its administrator for: `onrecord hub init`")
    if isinstance(error, errors.InsufficientPrivilege):
        fix = "ask the administrator for: `onrecord hub grant`"
        return Refused(f"your login may not do this in the team {address.team}: {text}", fix=fix)
    if isinstance(error, errors.LockNotAvailable):
        fix = "try again later; docs/team/postgres.md says how the administrator finds out who it is"
        return Offline("somebody else keeps a lock that this needs", fix=fix)
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        what = "the database cannot do this now" if error.sqlstate else "the connection to the database was lost"
        return Offline(f"{what}: {text}", fix="try again later")
    return BadRemote(f"the database answered with an error: {text}", fix="ask its administrator")


def _not_connected(error: psycopg.Error) -> OnrecordError:
    password = error.pgconn.password.decode("utf-8", "replace") if error.pgconn else ""
    text = _reason(error, password)
    is_refusal = "FATAL:" in text and any(part in text for part in _NOT_LET_IN)
    if is_refusal or (error.pgconn and error.pgconn.needs_password):
        fix = "check login and database; a password belongs into ~/.pgpass or PGPASSWORD"
        return Refused(f"the database server refused the connection: {text}", fix=fix)
    return Offline(f"the database server cannot be reached: {text}", fix="try again when it can be reached")


def _reason(error: psycopg.Error, password: str) -> str:
    """The reason that the server or libpq gives: on one line, short, and without the password.

    A hostile server can repeat a password that it was sent.
    """
    text = " ".join(flat(error.diag.message_primary or str(error)).split())
    return cut(text.replace(password, "…") if password else text, _LONGEST_REASON)

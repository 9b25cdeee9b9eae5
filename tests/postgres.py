"""A real PostgreSQL server for tests: Debian's, on a socket in a temporary folder, for one process that runs tests.

A test asks for the fixture `postgres` and is marked `@pytest.mark.debian("postgresql")`. Each test takes a database of
its own, copied from a template in some milliseconds. The server ends with the process that started it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable, Optional
from urllib.parse import quote, urlencode

import pytest

from tests import debian

ADMIN = "administrator"
"""The login that owns the server; every other one is made by `Server.login`."""

PROGRAMS = "ONRECORD_TEST_POSTGRES"
"""A variable with the folder of another server's programs; `nox -s postgres` sets it."""

_HAS_PASSWORD = "logins_with_password"
_PATIENCE = 60
_ROOM = 1_000_000_000
"""Bytes that a server and its databases may need."""

_QUICK = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "wal_level": "minimal"}
_SMALL = {"max_wal_senders": "0", "shared_buffers": "64MB", "max_connections": "120", "autovacuum": "off"}


class Server:
    """A server with its data in a folder: a new one, or one that it or an earlier server has used.

    A `durable` one survives `kill` without a loss.
    """

    def __init__(
        self, *, durable: bool = False, settings: Optional[dict[str, str]] = None, folder: Optional[Path] = None
    ) -> None:
        self.programs = Path(os.environ.get(PROGRAMS) or Path(debian.program("postgresql") or "").parent)
        self._settings = {**({} if durable else _QUICK), **_SMALL, **(settings or {})}
        self._folder = folder or Path(tempfile.mkdtemp(prefix="onrecord-postgres-", dir=_fastest_folder()))
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._templates: dict[object, str] = {}
        self._databases = 0
        is_new = not self._data.exists()
        if is_new:
            self._create()
        self.start()
        if is_new:
            self.execute(f"CREATE ROLE {_HAS_PASSWORD}")

    def url(self, database: str = "postgres", login: str = ADMIN, password: str = "", **parameters: str) -> str:
        """Return the address of a database for a login, in the form that libpq takes."""
        who = f"{quote(login)}:{quote(password)}" if password else quote(login)
        return f"postgresql://{who}@/{database}?{urlencode({'host': str(self._folder), **parameters})}"

    def database(self, prepare: Optional[Callable[[str], object]] = None) -> str:
        """Create a database, empty or as `prepare` fills one at an address, and return its name."""
        template = self._template(prepare) if prepare else "template0"
        self._databases += 1
        name = f"database_{self._databases}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def login(self, name: str, password: str = "") -> str:
        """Create a login without rights, and return its name; only one with a password has to give it."""
        roles = self.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", name)
        verb = "ALTER" if roles else "CREATE"
        self.execute(f'{verb} ROLE "{name}" LOGIN PASSWORD ' + (_literal(password) if password else "NULL"))
        self.execute(f'GRANT {_HAS_PASSWORD} TO "{name}"' if password else f'REVOKE {_HAS_PASSWORD} FROM "{name}"')
        return name

    def execute(self, statement: str, *values: object, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run one statement as the administrator, and return its rows."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def start(self) -> None:
        """Start the server, and return when it answers."""
        words = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        words = [str(self.programs / "postgres"), "-D", str(self._data), "-k", str(self._folder), "-h", "", *words]
        with open(self.log, "ab") as log:
            # Without this a run of tests that is killed would leave its server behind.
            words = ["setpriv", "--pdeathsig=QUIT", *_as_nobody_special(), *words]
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._wait_until_it_answers()

    def stop(self) -> None:
        """Stop the server in order, ending all connections."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(_PATIENCE)
            self._process = None

    def kill(self) -> None:
        """End every process of the server at once, as a power cut would."""
        assert self._process is not None
        main = self._process.pid
        # Stopped, it starts no further process while these are listed.
        os.kill(main, signal.SIGSTOP)
        children = [int(word) for word in Path(f"/proc/{main}/task/{main}/children").read_text().split()]
        for process in (*children, main):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._process.wait(_PATIENCE)
        self._process = None
        _wait_for(lambda: not any(map(_is_running, children)), "the processes of the server to end")

    def remove(self) -> None:
        """Stop the server and delete its data."""
        self.stop()
        shutil.rmtree(self._folder)

    def computed_seconds(self) -> float:
        """Return the CPU time of the server's processes that have ended: those of closed connections."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    @property
    def log(self) -> Path:
        """The log file of the server."""
        return self._folder / "log"

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _create(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(self._folder, "postgres", "postgres")
        words = [*_as_nobody_special(), str(self.programs / "initdb"), "-D", str(self._data), "-U", ADMIN, "--no-sync"]
        words = ["setpriv", *words, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions"]
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600
        )
        assert done.returncode == 0, done.stdout.decode()
        (self._data / "pg_hba.conf").write_text(f"local all +{_HAS_PASSWORD} scram-sha-256\nlocal all all trust\n")

    def _template(self, prepare: Callable[[str], object]) -> str:
        if prepare not in self._templates:
            name = f"template_{len(self._templates)}_of_ours"
            self.execute(f"CREATE DATABASE {name} TEMPLATE template0")
            prepare(self.url(name))
            self._templates[prepare] = name
        return self._templates[prepare]

    def _wait_until_it_answers(self) -> None:
        import psycopg

        def answers() -> bool:
            assert self._process is not None and self._process.poll() is None, self.log.read_text()
            with contextlib.suppress(psycopg.OperationalError):
                self.execute("SELECT 1")
                return True
            return False

        _wait_for(answers, "the server to answer")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Start the server of this test process; its data are lost if it is killed."""
    server = Server()
    yield server
    server.remove()


@pytest.fixture
def durable_postgres() -> Iterator[Server]:
    """Start a server for one test, which can be killed and started again without losing what it has committed."""
    server = Server(durable=True)
    yield server
    server.remove()


def _fastest_folder() -> Optional[str]:
    # In a container it may be too small for a server.
    is_large = os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > _ROOM
    return "/dev/shm" if is_large else None


def _as_nobody_special() -> tuple[str, ...]:
    """Return options of `setpriv`: the server refuses to run as root."""
    return ("--reuid=postgres", "--regid=postgres", "--clear-groups") if os.geteuid() == 0 else ()


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def _wait_for(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited too long for {what}"
        time.sleep(0.01)

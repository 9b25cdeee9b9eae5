"""`python -m bench hub`: a hub of up to 1,000,000 records of 2,000 repositories, and 50 clients that sync at once.

The server is the one of the tests (Debian's package, `pip install -e .[test]`), but survives a power cut. It runs on
the same machine as the clients, on a socket, so no network is measured. It needs about 8 GB of disk, and takes a
quarter of an hour on an idle machine. With `--folder DIR` the hub is kept, and a run that was ended goes on there.
`python -m bench figures` writes the tables.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench import hub_clients, plot, results
from bench.hub_records import Generator
from onrecord.record import memory
from onrecord.shared import engine, hub_connection, hub_teams, remotes
from onrecord.shared.hub_transport import PostgresTransport
from onrecord.shared.replicas import Replica
from onrecord.shared.transport import Push, version_hash
from tests.postgres import Server

CHART = Path(__file__).parents[1] / "docs" / "team" / "scale.svg"
SIZES = (10_000, 100_000, 1_000_000)
REPOSITORIES, TEAMS, LARGEST_TEAM = 2_000, 50, 20_000
SETTINGS = {"shared_buffers": "1GB", "maintenance_work_mem": "1GB", "max_wal_size": "8GB", "autovacuum": "on"}
_CHANGES = 100
_DATABASE = "bench"
_TOGETHER = 50_000
"""Records that are loaded in one transaction: what is lost if the bench is ended."""

_COPY = "COPY onrecord.records (team, path, number, data) FROM STDIN (FORMAT BINARY)"
_COUNT = "SELECT count(*) FROM onrecord.records JOIN onrecord.teams USING (team) WHERE name ~ '^team-[0-9]+$'"
_SIZE = """
SELECT pg_table_size('onrecord.records'), pg_relation_size('onrecord.records_words'),
       pg_indexes_size('onrecord.records') - pg_relation_size('onrecord.records_words')
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="records in the hub, growing")
    parser.add_argument("--questions", type=int, default=300, help="searches of each kind (default 300)")
    parser.add_argument("--times", type=int, default=15, help="pulls and pushes of each kind (default 15)")
    parser.add_argument("--clients", type=int, default=50, help="clients that sync at once (default 50)")
    parser.add_argument("--rounds", type=int, default=5, help="what each client changes and syncs (default 5 times)")
    parser.add_argument("--folder", type=Path, help="keep the hub here, and go on with what is there already")
    parser.add_argument("--chart", type=Path, default=CHART, help="where the chart goes")


def run(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="onrecord-hub-") as temporary:
        # The server runs as another user, who must get into the folder.
        os.chmod(temporary, 0o755)
        server = Server(durable=True, settings=SETTINGS, folder=options.folder or Path(temporary, "server"))
        try:
            _run(Hub(server), options)
        finally:
            server.stop()
    draw(options.chart, results.load("hub") or {})
    return 0


def _run(hub: Hub, options: argparse.Namespace) -> None:
    """Measure the sizes that the hub has not outgrown, and then the clients; each result is saved at once."""
    earlier = (results.load("hub") or {}).get("sizes", {}) if hub.records else {}
    sizes = {size: figures for size, figures in earlier.items() if int(size) in options.sizes}
    measured: dict[str, Any] = {"measured on": circumstances(hub.server), "sizes": sizes}
    for size in options.sizes:
        if size < hub.records and str(size) in measured["sizes"]:
            continue
        hub.grow(size)
        measured["sizes"][str(size)] = measure(hub, options.questions, options.times)
        print(json.dumps({size: measured["sizes"][str(size)]}), flush=True)
        results.save("hub", measured)
    measured["clients"] = hub_clients.measure(hub, options.clients, options.rounds)
    print(json.dumps(measured["clients"]), flush=True)
    results.save("hub", measured)


class Hub:
    """A database with as many records as were asked for so far.

    The login `everything` reads all teams, `member` and `colleague` write to the first.
    """

    def __init__(self, server: Server, *, team_count: int = TEAMS, rare_words: int = 300_000) -> None:
        self.server = server
        self.team_count = team_count
        self.generator = Generator(rare_words)
        if not server.execute("SELECT 1 FROM pg_database WHERE datname = %s", _DATABASE):
            server.execute(f"CREATE DATABASE {_DATABASE} TEMPLATE template0")
        with hub_connection.connect(remotes.parse_team_address(server.url(_DATABASE))) as session:
            hub_connection.migrate(session)
        self.grant("everything", "reader", *map(_team, range(team_count)))
        for login in ("member", "colleague"):
            self.grant(login, "writer", _team(0))
        self.records = int(str(self._execute(_COUNT)[0][0]))

    def grant(self, login: str, role: str, *names: str) -> None:
        """Make a login and some teams, if they are not there, and the login a member of them."""
        self.server.login(login)
        with hub_connection.connect(remotes.parse_team_address(self.server.url(_DATABASE))) as session:
            for name in names:
                hub_teams.make_team(session, name, None)
                hub_teams.grant(session, name, login, role)

    def url(self, login: str, team: str = "") -> str:
        """Return the address of a team for a login, of the first team if none is named."""
        return f"{self.server.url(_DATABASE, login)}#{team or _team(0)}"

    def grow(self, size: int) -> None:
        """Load records until there are as many, and make the index for search only then: that is faster."""
        if self.records < size:
            self._execute("DROP INDEX IF EXISTS onrecord.records_words")
        while self.records < size:
            self._load(min(size, self.records + _TOGETHER))
            print(f"{self.records:,} records", flush=True)
        self._execute("CREATE INDEX IF NOT EXISTS records_words ON onrecord.records USING gin (words)")
        self._execute("VACUUM ANALYZE")

    def _load(self, size: int) -> None:
        """Load records up to that number in one transaction."""
        with (
            hub_connection.connect(remotes.parse_team_address(self.server.url(_DATABASE))) as session,
            session.transaction(),
        ):
            rows = session.execute("SELECT name, team, number FROM onrecord.teams").fetchall()
            keys, numbers = {row[0]: row[1] for row in rows}, Counter({row[0]: row[2] for row in rows})
            with session.cursor().copy(_COPY) as copy:
                copy.set_types(["int4", "text", "int8", "bytea"])
                for team, path, data in self._new(size):
                    numbers[team] += 1
                    copy.write_row((keys[team], path, numbers[team], data))
            for team, number in numbers.items():
                session.execute("UPDATE onrecord.teams SET number = %s WHERE name = %s", (number, team))
        self.records = size

    def _new(self, size: int) -> Iterator[tuple[str, str, bytes]]:
        """Yield the missing records, each with its team: every second is of the first team until that has enough."""
        for number in range(self.records, size):
            repository = number % REPOSITORIES
            record = self.generator.record(repository, number)
            is_first = number % 2 == 0 and number < 2 * LARGEST_TEAM
            yield _team(0 if is_first else 1 + repository % (self.team_count - 1)), record.path, memory.render(record)

    def questions(self, count: int) -> list[str]:
        """Return questions about records that are there."""
        numbers = random.Random(self.records).sample(range(self.records), min(count, self.records))
        return [self.generator.question(number % REPOSITORIES, number) for number in numbers]

    def bytes_for_a_record(self) -> dict[str, int]:
        """Return the bytes of one record on disk: in the table, in the search index, in the other indexes."""
        row = self._execute(_SIZE)[0]
        return {name: int(str(value)) // self.records for name, value in zip(("table", "search index", "indexes"), row)}

    def _execute(self, statement: str) -> list[tuple[object, ...]]:
        return self.server.execute(statement, database=_DATABASE)


def measure(hub: Hub, questions: int, times: int) -> dict[str, Any]:
    """Return milliseconds of each kind of use, and what the records take on disk."""
    texts = hub.questions(questions)
    figures: dict[str, Any] = {
        "load average": round(os.getloadavg()[0], 1),
        "bytes for a record": hub.bytes_for_a_record(),
        "connect": spread(
            lambda _: hub_connection.connect(remotes.parse_team_address(hub.url("member"))).close(), range(times)
        ),
    }
    for name, login in (("search in all teams", "everything"), ("search in one team", "member")):
        computed = hub.server.computed_seconds()
        figures[name] = spread(lambda text, login=login: hub_teams.search(hub.url(login), text), texts)
        cpu = (hub.server.computed_seconds() - computed) / len(texts)
        figures[name]["server cpu"] = round(cpu * 1000, 1)
    figures.update(_first_pull(hub))
    figures.update(_changes(hub, times))
    return figures


def _first_pull(hub: Hub) -> dict[str, Any]:
    """Return the seconds until everything of the first team has arrived, and until it is a replica of files."""
    transport = PostgresTransport(hub.url("member"))
    began = time.perf_counter()
    count = sum(1 for _ in transport.pull("").versions)
    pulled = time.perf_counter() - began
    with tempfile.TemporaryDirectory(prefix="onrecord-hub-") as folder, hub_clients.data_folder(folder):
        began = time.perf_counter()
        engine.sync(Replica("bench"), transport)
        synced = time.perf_counter() - began
    transport.close()
    return {
        "records of the first pull": count,
        "first pull seconds": round(pulled, 2),
        "first sync seconds": round(synced, 2),
    }


def _changes(hub: Hub, times: int) -> dict[str, Any]:
    """Push changes as one login, and pull them as another."""
    writer, reader = PostgresTransport(hub.url("colleague")), PostgresTransport(hub.url("member"))
    versions = list(writer.pull("").versions)[: _CHANGES * times]
    cursor = reader.pull("").cursor
    pushes, pulls = [], []
    for start in range(0, len(versions) - _CHANGES + 1, _CHANGES):
        changes = [_changed(each.path, each.data) for each in versions[start : start + _CHANGES]]
        pushes.append(timed(lambda changes=changes: writer.push(changes)))
        began = time.perf_counter()
        answer = reader.pull(cursor)
        count = sum(1 for _ in answer.versions)
        pulls.append((time.perf_counter() - began) * 1000)
        assert count == _CHANGES, count
        cursor = answer.cursor
    writer.close()
    reader.close()
    return {f"push of {_CHANGES}": percentiles(pushes), f"pull of {_CHANGES} changes": percentiles(pulls)}


def _changed(path: str, data: bytes) -> Push:
    record = memory.parse(data, path)
    return Push(path, memory.render(record._replace(times_updated=record.times_updated + 1)), version_hash(data))


def spread(work: Callable[[Any], object], values: Any) -> dict[str, float]:
    """Return milliseconds of the same work on many values."""
    return percentiles([timed(lambda value=value: work(value)) for value in values])


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def percentiles(milliseconds: list[float]) -> dict[str, float]:
    ordered = sorted(milliseconds)
    places = {"p50": 0.5, "p95": 0.95, "most": 1.0}
    return {name: round(ordered[min(int(len(ordered) * at), len(ordered) - 1)], 1) for name, at in places.items()}


def circumstances(server: Server) -> dict[str, Any]:
    """Return what else than the records decides the figures."""
    version = str(server.execute("SHOW server_version")[0][0]).split()[0]
    return {
        "machine": results.machine(),
        "python": platform.python_version(),
        "postgres": version,
        "settings": SETTINGS,
    }


def _team(number: int) -> str:
    return f"team-{number}"


def draw(chart: Path, measured: dict[str, Any]) -> None:
    """Draw how the times grow with the records in the hub."""
    names = ("search in all teams", "search in one team", "pull of 100 changes")
    sizes = [int(size) for size in measured["sizes"]]
    series = {f"{name}, p95": [figures[name]["p95"] for figures in measured["sizes"].values()] for name in names}
    chart.write_text(plot.growth("Milliseconds against the records in the hub", sizes, series), encoding="utf-8")

"""What goes wrong between a machine and a hub, with a real server: nothing is lost, nothing is written twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import psycopg
import pytest

from onrecord.errors import BadRemote, Offline, Refused
from onrecord.shared import hub_transport
from onrecord.shared.hub_transport import PostgresTransport
from onrecord.shared.transport import Push, Pushed, version_hash
from tests import time_limit
from tests.postgres import Server

from .conftest import TestHub, everything, new, prepare
from .cutting_proxy import CuttingProxy

pytestmark = pytest.mark.debian("postgresql")
A, B = "decisions/a.json", "decisions/b.json"


@pytest.fixture
def proxied(hub: TestHub) -> Iterator[Callable[..., tuple[PostgresTransport, CuttingProxy]]]:
    """Makes a transport whose connection breaks at a message."""
    proxies: list[CuttingProxy] = []

    def make(at: int, **more: object) -> tuple[PostgresTransport, CuttingProxy]:
        proxy = CuttingProxy(str(hub.server.log.parent), at, **more)  # type: ignore[arg-type]
        proxies.append(proxy)
        return hub.transport("walt", host=str(proxy.folder)), proxy

    yield make
    for proxy in proxies:
        proxy.close()


def _sync(machine: PostgresTransport) -> tuple[dict[str, bytes], Pushed]:
    """Pull and push as the engine does."""
    return everything(machine), machine.push(
        [Push(A, b"2", version_hash(b"1")), new(B, b"1"), Push("decisions/c.json", b"", version_hash(b"c"))]
    )


@pytest.mark.parametrize("is_heard", [False, True], ids=["lost", "answer lost"])
def test_cut_at_any_message_a_sync_fails_cleanly_and_the_next_one_ends_alike(hub: TestHub, proxied, is_heard: bool):
    was_cut, at = True, 1
    while was_cut:
        hub.empty()
        hub.transport("wilma").push([new(A, b"1"), new("decisions/c.json", b"c")])
        machine, proxy = proxied(at, is_heard=is_heard)
        try:
            _sync(machine)
        except Offline as error:
            assert proxy.was_cut
            assert "\n" not in error.message
        was_cut, at = proxy.was_cut, at + 1

        assert _sync(hub.transport("walt"))[1] == Pushed(accepted=(A, B, "decisions/c.json"))
        assert everything(hub.transport("rita")) == {A: b"2", B: b"1", "decisions/c.json": b""}
        assert hub.rows("SELECT path, data FROM onrecord.history ORDER BY path") == [
            (A, b"1"),
            ("decisions/c.json", b"c"),
        ]
    assert at > 6


def test_one_lost_connection_is_made_again(hub: TestHub, proxied):
    """Whatever is cut, but the stream of a pull: what came of it was already used."""
    hub.transport("wilma").push([new(A, b"1"), new("decisions/c.json", b"c")])
    plain, counting = proxied(1_000, is_heard=False)
    pulled = everything(plain)
    before_push = counting.messages
    plain.push([new("decisions/count.json", b"x")])
    for at in range(before_push + 1, counting.messages + 1):
        machine, proxy = proxied(at, is_heard=True, cuts=1)
        path = f"decisions/{at}.json"

        assert everything(machine).items() >= pulled.items()
        assert machine.push([new(path, b"x")]).accepted == (path,)
        assert proxy.was_cut
    assert hub.rows("SELECT count(*) FROM onrecord.history") == [(0,)]


@pytest.fixture
def durable_hub(durable_postgres: Server) -> Iterator[TestHub]:
    database = durable_postgres.database(lambda url: prepare(durable_postgres, url))
    with closing(TestHub(durable_postgres, database)) as hub:
        yield hub


def test_a_server_that_is_killed_in_the_middle_of_a_push_loses_nothing_that_it_acknowledged(
    durable_hub: TestHub, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hub_transport, "_MAX_BATCH_CHANGES", 3)
    hub = durable_hub
    machine = hub.transport("walt")
    files = {f"decisions/{number}.json": str(number).encode() for number in range(9)}
    changes = [new(path, data) for path, data in files.items()]
    machine.push(changes[:3])
    # While somebody else holds the team, a push waits in the middle of its transaction.
    holding = hub.session("wilma")
    holding.execute("BEGIN")
    holding.execute("SELECT * FROM onrecord.push('platform', 0, '{inbox/x.json}', '{x}', %s, '{\"\"}')", (["f" * 32],))
    failures: list[BaseException] = []

    def push() -> None:
        try:
            machine.push(changes)
        except BaseException as error:
            failures.append(error)

    pushing = threading.Thread(target=push)
    pushing.start()
    waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = 'walt'"
    while not hub.rows(waiting):
        pass
    hub.server.kill()
    time_limit.join(pushing)
    hub.server.start()

    (failure,) = failures
    assert isinstance(failure, Offline)
    assert everything(hub.transport("rita")) == dict(islice(files.items(), 3))
    assert hub.transport("walt").push(changes).accepted == tuple(files)
    assert everything(hub.transport("rita")) == files
    assert hub.rows("SELECT count(*) FROM onrecord.history") == [(0,)]


def test_a_server_that_is_not_there_is_offline(tmp_path: Path):
    machine = PostgresTransport(f"postgresql://ann@/memory?host={tmp_path}")

    with closing(machine), pytest.raises(Offline) as failure:
        machine.pull("")

    assert "cannot be reached" in failure.value.message


def test_a_wrong_password_is_refused_and_in_no_message(hub: TestHub, monkeypatch: pytest.MonkeyPatch):
    hub.server.login("penny", "the-right-one")
    monkeypatch.setenv("PGPASSWORD", "the-wrong-one")

    with pytest.raises(Refused) as failure:
        hub.transport("penny").pull("")
    monkeypatch.delenv("PGPASSWORD")
    with pytest.raises(Refused) as without:
        hub.transport("penny").pull("")

    for error in (failure.value, without.value):
        assert "the-" not in error.message + error.fix
        assert "PGPASSWORD" in error.fix


def test_a_password_that_the_server_repeats_is_left_out(own_hub: TestHub, monkeypatch: pytest.MonkeyPatch):
    own_hub.server.login("walt", "open-sesame")
    monkeypatch.setenv("PGPASSWORD", "open-sesame")
    own_hub.rows("DROP POLICY own_team ON onrecord.teams")
    own_hub.rows(
        "CREATE FUNCTION onrecord.shout() RETURNS boolean LANGUAGE plpgsql AS"
        " $$BEGIN RAISE 'you said open-sesame \x1b[2J'; END$$"
    )
    own_hub.rows("CREATE POLICY evil ON onrecord.teams USING (onrecord.shout())")

    with pytest.raises(BadRemote) as failure:
        own_hub.transport("walt").pull("")
    own_hub.server.login("walt")

    assert "you said …" in failure.value.message
    assert failure.value.message.isprintable()


def test_credentials_come_from_the_password_file(hub: TestHub, home: Path):
    hub.server.login("penny", "the-right-one")
    hub.rows("INSERT INTO onrecord.members SELECT team, 'penny', 'reader' FROM onrecord.teams WHERE name = 'platform'")
    hub.rows("GRANT USAGE ON SCHEMA onrecord TO penny")
    hub.rows("GRANT SELECT ON ALL TABLES IN SCHEMA onrecord TO penny")
    (home / ".pgpass").write_text("*:*:*:penny:the-right-one\n")
    (home / ".pgpass").chmod(0o600)

    assert everything(hub.transport("penny")) == {}


def _hostile(hub: TestHub, select: str) -> PostgresTransport:
    """Return a transport to a hub whose owner has replaced the table of records."""
    hub.rows("ALTER TABLE onrecord.records RENAME TO real_records")
    hub.rows(f"CREATE VIEW onrecord.records AS {select}")
    hub.rows("GRANT SELECT ON onrecord.records TO walt")
    hub.rows("UPDATE onrecord.teams SET number = 5000000")
    return hub.transport("walt")


_COLUMNS = "t.team, n AS number, NULL::uuid AS change, 'walt'::name AS login"
_FROM = "FROM onrecord.teams t, generate_series(1, {}) AS n WHERE t.name = 'platform'"


@pytest.mark.parametrize(
    "columns",
    ["n AS path, ''::bytea AS data", "'decisions/x.json'::text AS path, '{}'::jsonb AS data",
     "NULL::text AS path, ''::bytea AS data", "'x'::text AS path, NULL::bytea AS data",
     "ARRAY['x'] AS path, 'x'::bytea AS data", "'x'::bytea AS path, 'x'::text AS data"],
)  # fmt: skip
def test_values_of_other_types_are_refused(own_hub: TestHub, columns: str):
    machine = _hostile(own_hub, f"SELECT {_COLUMNS}, {columns} {_FROM.format(1)}")

    with pytest.raises(BadRemote):
        everything(machine)


def test_any_number_of_records_is_read_one_by_one(own_hub: TestHub):
    """Whoever has had enough stops, and the connection goes on to work."""
    machine = _hostile(
        own_hub,
        f"SELECT {_COLUMNS}, 'decisions/' || n || '.json' AS path, 'x'::bytea AS data {_FROM.format(100_000)}",
    )

    versions = machine.pull("").versions
    first = list(islice(versions, 3))
    versions.close()

    assert [version.path for version in first] == [f"decisions/{number}.json" for number in (1, 2, 3)]
    assert machine.wait(0) is False


def test_a_database_without_a_hub_is_named_as_such(postgres):
    with closing(PostgresTransport(postgres.url(postgres.database()))) as machine:
        for _ in range(2):
            with pytest.raises(BadRemote) as failure:
                machine.pull("")

            assert failure.value.message == "there is no hub in this database"


def test_answers_to_a_push_that_cannot_be_are_refused(own_hub: TestHub):
    signature = "onrecord.push(text, bigint, text[], bytea[], text[], text[])"
    answers = [
        "(1, 'granted')",
        "(2, 'accepted')",
        "(1, NULL)",
        "(1, 'accepted'), (2, 'accepted')",
        "(NULL::integer, 'accepted')",
    ]
    for answer in answers:
        own_hub.rows(f"DROP FUNCTION {signature}")
        own_hub.rows(
            f"CREATE FUNCTION {signature} RETURNS TABLE (place integer, outcome text) LANGUAGE sql"
            f" AS $$VALUES {answer}$$"
        )

        with pytest.raises(BadRemote):
            own_hub.transport("walt").push([new(A, b"1")])


def test_a_connection_that_the_administrator_ends_is_made_again(hub: TestHub):
    machine = hub.transport("walt")
    machine.push([new(A, b"1")])
    hub.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'walt'")

    assert machine.push([Push(A, b"2", version_hash(b"1"))]).accepted == (A,)
    with pytest.raises(psycopg.OperationalError):
        hub.server.execute("SELECT 1", database="no_such_database")

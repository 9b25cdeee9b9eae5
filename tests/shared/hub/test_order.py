"""An incremental pull misses nothing while others write: changes get their numbers in the order of their commits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

import psycopg
import pytest

from onrecord.shared.transport import Push, version_hash
from tests import time_limit

from .conftest import TestHub, new

pytestmark = pytest.mark.debian("postgresql")


class Writing(NamedTuple):
    """A way to number changes: how one is written, and how those after a number are read."""

    write: Callable[[psycopg.Connection, str], object]
    read: Callable[[psycopg.Connection, int], list[tuple[int, str]]]


def _push(session: psycopg.Connection, name: str) -> object:
    values = ([f"decisions/{name}.json"], [b"x"], ["f" * 32], [""])
    return session.execute("SELECT * FROM onrecord.push('platform', 0, %s, %s, %s, %s)", values)


def _pulled(session: psycopg.Connection, number: int) -> list[tuple[int, str]]:
    query = "SELECT number, path FROM onrecord.records WHERE number > %s ORDER BY number"
    return session.execute(query, (number,)).fetchall()


def _naive_write(session: psycopg.Connection, name: str) -> object:
    return session.execute("INSERT INTO naive (path) VALUES (%s)", (f"decisions/{name}.json",))


def _naive_read(session: psycopg.Connection, number: int) -> list[tuple[int, str]]:
    return session.execute("SELECT number, path FROM naive WHERE number > %s ORDER BY number", (number,)).fetchall()


def _read_while_two_write(hub: TestHub, way: Writing) -> list[str]:
    """Return what a reader gets in two pulls: before the first writer commits, and after both have."""
    first, second, reader = hub.session("walt"), hub.session("wilma"), hub.session("rita")
    first.execute("BEGIN")
    way.write(first, "first")
    # The second writer may have to wait for the first: it is not waited for here.
    writing = threading.Thread(target=lambda: way.write(second, "second"))
    writing.start()
    writing.join(0.2)
    early = way.read(reader, 0)
    first.execute("COMMIT")
    time_limit.join(writing)
    late = way.read(reader, max((number for number, _ in early), default=0))
    return sorted(path for _, path in (*early, *late))


def test_a_serial_number_misses_what_is_committed_out_of_order(own_hub: TestHub):
    """Why it is not used: the reader has seen the number of the second writer before the first has committed."""
    own_hub.rows("CREATE TABLE naive (number bigserial PRIMARY KEY, path text)")
    own_hub.rows("GRANT ALL ON naive, naive_number_seq TO PUBLIC")

    assert _read_while_two_write(own_hub, Writing(_naive_write, _naive_read)) == ["decisions/second.json"]


def test_the_counter_of_a_team_misses_nothing(hub: TestHub):
    pulled = _read_while_two_write(hub, Writing(_push, _pulled))

    assert pulled == ["decisions/first.json", "decisions/second.json"]


def test_a_reader_gets_every_change_of_many_writers(hub: TestHub):
    """Four machines write forty files each, and delete and change some of them; a fifth pulls all the time."""
    expected: dict[str, bytes] = {}
    failures: list[BaseException] = []

    def write(number: int) -> None:
        machine = hub.transport("walt" if number % 2 else "wilma")
        for step in range(40):
            path, data = f"decisions/{number}-{step}.json", f"{number} {step}".encode()
            assert machine.push([new(path, data)]).accepted == (path,)
            last = (data, data + b"!", b"")[step % 3]
            assert machine.push([Push(path, last, version_hash(data))]).accepted == (path,)
            expected[path] = last

    def guarded(number: int) -> None:
        try:
            write(number)
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=guarded, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    reader, cursor, replica = hub.transport("rita"), "", dict[str, bytes]()
    is_last = False
    while not is_last:
        is_last = not any(writer.is_alive() for writer in writers)
        pulled = reader.pull(cursor)
        replica.update((version.path, version.data) for version in pulled.versions)
        cursor = pulled.cursor

    assert failures == []
    assert len(replica) == 160
    assert replica == expected


def test_transactions_that_clash_are_tried_again(hub: TestHub):
    """A server may be set so that a writer who waited for another one fails."""
    option = "-cdefault_transaction_isolation=serializable"
    machines = [hub.transport(login, options=option) for login in ("walt", "wilma")]
    accepted: list[str] = []

    def write(number: int) -> None:
        for step in range(25):
            accepted.extend(machines[number].push([new(f"decisions/{number}-{step}.json", b"x")]).accepted)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for writer in writers:
        writer.start()
    time_limit.join(*writers)

    assert len(set(accepted)) == 50
    assert hub.rows("SELECT number FROM onrecord.teams WHERE name = 'platform'") == [(50,)]


def test_of_two_who_change_one_record_one_is_outdated(hub: TestHub):
    walt, wilma = hub.transport("walt"), hub.transport("wilma")
    path = "decisions/a.json"
    walt.push([new(path, b"0")])
    start = threading.Barrier(2)
    outcomes: dict[str, tuple[str, ...]] = {}

    def write(name: str, machine: object) -> None:
        start.wait(timeout=60)
        outcomes[name] = machine.push([Push(path, name.encode(), version_hash(b"0"))]).accepted  # type: ignore[attr-defined]

    writers = [threading.Thread(target=write, args=pair) for pair in (("walt", walt), ("wilma", wilma))]
    for writer in writers:
        writer.start()
    time_limit.join(*writers)

    (winner,) = [name for name, accepted in outcomes.items() if accepted]
    assert hub.rows("SELECT data, login::text FROM onrecord.records") == [(winner.encode(), winner)]


def test_a_reader_cannot_make_writers_wait(hub: TestHub):
    reader, writer = hub.session("rita"), hub.session("walt")
    reader.execute("BEGIN")
    assert _push(reader, "first").fetchall() == [(1, "reader")]  # type: ignore[attr-defined]

    writer.execute("SET lock_timeout = '10s'")
    assert _push(writer, "second").fetchall() == [(1, "accepted")]  # type: ignore[attr-defined]


TAKEN_AWAY = {
    "reader": "UPDATE onrecord.members SET role = 'reader' WHERE login = 'walt'",
    "none": "DELETE FROM onrecord.members WHERE login = 'walt'",
}


@pytest.mark.parametrize("role", TAKEN_AWAY)
def test_a_right_that_is_taken_away_while_a_push_waits_is_gone(own_hub: TestHub, role: str):
    holding = own_hub.session("wilma")
    holding.execute("BEGIN")
    _push(holding, "first")
    answers: list[object] = []

    def push() -> None:
        try:
            answers.append(_push(own_hub.session("walt"), "second").fetchall())  # type: ignore[attr-defined]
        except psycopg.errors.InsufficientPrivilege:
            answers.append("refused")

    waiting = threading.Thread(target=push)
    waiting.start()
    query = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = 'walt'"
    while not own_hub.rows(query):
        assert waiting.is_alive()
    own_hub.rows(TAKEN_AWAY[role])
    holding.execute("COMMIT")
    time_limit.join(waiting)

    assert answers == [{"reader": [(1, "reader")], "none": "refused"}[role]]
    assert own_hub.rows("SELECT path FROM onrecord.records") == [("decisions/first.json",)]


ISOLATIONS = ("REPEATABLE READ", "SERIALIZABLE")


@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize("role", TAKEN_AWAY)
def test_a_transaction_that_is_older_than_the_loss_of_a_right_pushes_nothing(
    own_hub: TestHub, role: str, isolation: str
):
    session = own_hub.session("walt")
    session.execute(f"BEGIN ISOLATION LEVEL {isolation}")
    assert session.execute("SELECT role FROM onrecord.members").fetchall() == [("writer",)]
    own_hub.rows(TAKEN_AWAY[role])

    with pytest.raises(psycopg.errors.SerializationFailure):
        _push(session, "late")


@pytest.mark.parametrize("role", TAKEN_AWAY)
def test_an_open_transaction_keeps_nobody_from_taking_a_right_away(own_hub: TestHub, role: str):
    session = own_hub.session("walt")
    session.execute("BEGIN")
    _push(session, "first")

    own_hub.rows(f"SET lock_timeout = '10s'; {TAKEN_AWAY[role]}")

    assert own_hub.rows("SELECT role FROM onrecord.members WHERE login = 'walt' AND role <> 'reader'") == []

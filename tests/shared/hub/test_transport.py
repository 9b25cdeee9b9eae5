"""Pull, push and wait with a real server: compare-and-set, deletions, cursors, a backup that was restored."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import Optional

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onrecord.errors import BadInput
from onrecord.shared import hub_connection, hub_transport, incoming
from onrecord.shared.remotes import parse_team_address
from onrecord.shared.transport import Push, Pushed, Version, version_hash

from .conftest import TestHub, everything, new

pytestmark = pytest.mark.debian("postgresql")
A, B, C = "decisions/a.json", "decisions/b.json", "runbooks/c.json"


def test_what_one_machine_pushes_the_other_pulls_byte_for_byte(hub: TestHub):
    walt, wilma = hub.transport("walt"), hub.transport("wilma")
    data = bytes(range(256))

    pushed = walt.push([new(A, data), new(B, b"b")])

    assert pushed == Pushed(accepted=(A, B))
    assert everything(wilma) == {A: data, B: b"b"}


def test_a_change_is_made_only_to_the_version_that_it_expects(hub: TestHub):
    walt, wilma = hub.transport("walt"), hub.transport("wilma")
    walt.push([new(A, b"1"), new(B, b"1")])

    first = wilma.push([Push(A, b"wilma's", version_hash(b"1"))])
    second = walt.push(
        [Push(A, b"walt's", version_hash(b"1")), Push(B, b"2", version_hash(b"1")), new(C, b"c"), new(A, b"x")][:3]
    )

    assert first.accepted == (A,)
    assert (second.accepted, second.outdated) == ((B, C), (A,))
    assert everything(wilma) == {A: b"wilma's", B: b"2", C: b"c"}


def test_a_deletion_is_a_version_like_any_other(hub: TestHub):
    walt, wilma = hub.transport("walt"), hub.transport("wilma")
    walt.push([new(A, b"1"), new(B, b"1")])
    cursor = wilma.pull("").cursor

    assert walt.push([Push(A, b"", version_hash(b"1"))]).accepted == (A,)
    assert walt.push([Push(A, b"", version_hash(b"1"))]).accepted == (A,)
    assert list(wilma.pull(cursor).versions) == [Version(A, b"")]
    assert wilma.push([new(A, b"again")]).accepted == (A,)
    assert everything(walt) == {A: b"again", B: b"1"}


def test_a_pull_gives_what_changed_since_the_last_one(hub: TestHub):
    walt, wilma = hub.transport("walt"), hub.transport("wilma")

    def pulled(cursor: str) -> tuple[str, list[Version], bool]:
        answer = wilma.pull(cursor)
        return answer.cursor, list(answer.versions), answer.is_reset

    start, *nothing = pulled("")
    walt.push([new(A, b"1"), new(B, b"1")])
    middle, *first = pulled(start)
    walt.push([Push(A, b"2", version_hash(b"1"))])
    walt.push([Push(A, b"3", version_hash(b"2"))])
    end, *second = pulled(middle)

    assert nothing == [[], False]
    assert first == [[Version(A, b"1"), Version(B, b"1")], False]
    assert second == [[Version(A, b"3")], False]
    assert pulled(end) == (end, [], False)


def test_what_is_replaced_while_it_is_pulled_comes_next_time(hub: TestHub):
    walt, wilma = hub.transport("walt"), hub.transport("wilma")
    walt.push([new(A, b"1"), new(B, b"1")])

    first = wilma.pull("")
    walt.push([Push(A, b"2", version_hash(b"1"))])

    assert list(first.versions) == [Version(B, b"1")]
    assert everything(wilma, first.cursor) == {A: b"2"}


def test_own_versions_that_somebody_replaced_come_first(hub: TestHub):
    """Killed before it noted that its push arrived, a machine has no conflict with itself."""
    walt, wilma = hub.transport("walt"), hub.transport("wilma")
    walt.push([new(A, b"1")])
    cursor = walt.pull("").cursor
    walt.push([Push(A, b"2", version_hash(b"1"))])
    wilma.push([Push(A, b"3", version_hash(b"2"))])

    assert list(walt.pull(cursor).versions) == [Version(A, b"2"), Version(A, b"3")]
    assert list(wilma.pull(cursor).versions) == [Version(A, b"3")]


def test_a_push_that_is_repeated_is_accepted_though_somebody_replaced_it_since(hub: TestHub):
    walt, wilma = hub.transport("walt"), hub.transport("wilma")
    walt.push([new(A, b"1")])
    list(walt.pull("").versions)
    change = [Push(A, b"2", version_hash(b"1"))]
    walt.push(change)
    wilma.push([Push(A, b"3", version_hash(b"2"))])

    assert walt.push(change).accepted == (A,)
    assert wilma.push(change).outdated == (A,)
    assert everything(walt) == {A: b"3"}
    assert hub.rows("SELECT count(*) FROM onrecord.history") == [(2,)]


def test_a_change_back_and_forth_is_not_taken_for_a_repetition(hub: TestHub):
    walt, wilma = hub.transport("walt"), hub.transport("wilma")
    walt.push([new(A, b"1")])
    walt.push([Push(A, b"2", version_hash(b"1"))])
    walt.push([Push(A, b"1", version_hash(b"2"))])
    list(walt.pull("").versions)
    wilma.push([Push(A, b"3", version_hash(b"1"))])

    assert walt.push([Push(A, b"2", version_hash(b"1"))]).outdated == (A,)


def test_a_restored_backup_is_noticed_even_after_it_was_written_to(own_hub: TestHub):
    walt = own_hub.transport("walt")
    walt.push([new(A, b"1")])
    old = walt.pull("").cursor
    walt.close()
    backup = own_hub.beside(own_hub.server.database(lambda url: _copied(own_hub, url)))
    walt.push([Push(A, b"2", version_hash(b"1"))])
    cursor = walt.pull("").cursor
    restored = backup.transport("walt")

    older = restored.pull(cursor)
    assert (older.is_reset, list(older.versions)) == (True, [Version(A, b"1")])

    backup.transport("wilma").push([Push(A, b"another 2", version_hash(b"1")), new(B, b"b")])
    assert restored.pull(cursor).is_reset
    assert everything(restored, cursor) == {A: b"another 2", B: b"b"}

    assert not restored.pull(old).is_reset
    assert everything(restored, old) == {A: b"another 2", B: b"b"}


def _copied(hub: TestHub, url: str) -> None:
    """Make the database of this address a copy of the hub's."""
    name = url.rpartition("@/")[2].partition("?")[0]
    hub.server.execute(f"DROP DATABASE {name}")
    hub.server.execute(f"CREATE DATABASE {name} TEMPLATE {hub.database}")


@pytest.mark.parametrize("cursor", ["x", "-", "0-", "99999999999999999999999-x", "1-", "1-not-a-uuid", "-5-x", "1.5"])
def test_any_text_can_be_a_cursor(hub: TestHub, cursor: str):
    walt = hub.transport("walt")
    walt.push([new(A, b"1")])

    assert everything(walt, cursor) == {A: b"1"}


def test_large_pushes_are_split(hub: TestHub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hub_transport, "_MAX_BATCH_CHANGES", 7)
    monkeypatch.setattr(hub_transport, "_MAX_BATCH_BYTES", 50)
    files = {f"decisions/{number}.json": b"x" * (number % 13 + 1) for number in range(100)}
    walt = hub.transport("walt")

    pushed = walt.push([new(path, data) for path, data in files.items()])

    assert pushed == Pushed(accepted=tuple(files))
    assert everything(walt) == files
    assert hub.rows("SELECT number FROM onrecord.teams WHERE name = 'platform'") == [(100,)]


def test_an_empty_push_asks_nobody(hub: TestHub):
    assert PostgresNowhere().push([]) == Pushed()


class PostgresNowhere(hub_transport.PostgresTransport):
    def __init__(self) -> None:
        super().__init__("postgresql:///nowhere?host=/nowhere")


LIES = {
    "that of what a colleague will push": version_hash(b"a colleague's"),
    "that of what is there": version_hash(b"there"),
    "made up": "f" * 64,
    "of the old kind": "f" * 32,
    "none": "",
    "no hash at all": "\u2603",
    "NULL": None,
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_the_hub_computes_the_hash_of_every_file(hub: TestHub, lie: Optional[str]):
    walt, wilma = hub.transport("walt"), hub.transport("wilma")
    wilma.push([new(B, b"there")])
    push = "SELECT outcome FROM onrecord.push('platform', 0, %s, %s, %s, %s)"

    def by_hand(path: str, data: bytes, expected: str) -> object:
        return hub.session("wilma").execute(push, ([path], [data], [lie], [expected])).fetchall()

    assert by_hand(A, b"hostile", "") == [("accepted",)]
    assert by_hand(B, b"hostile", version_hash(b"there")) == [("accepted",)]

    # Nothing is said to be accepted that is not there, and nobody is kept from writing.
    assert walt.push([new(A, b"a colleague's"), Push(B, b"mine", version_hash(b"there"))]).outdated == (A, B)
    assert everything(walt) == {A: b"hostile", B: b"hostile"}
    assert walt.push([Push(A, b"a colleague's", version_hash(b"hostile"))]).accepted == (A,)
    for table in ("records", "history"):
        rows = hub.rows(f"SELECT data, hash FROM onrecord.{table}")
        assert rows
        assert all(hash == version_hash(data) for data, hash in rows)


@pytest.mark.parametrize(("column", "most"), [("files", incoming.MAX_FILES), ("bytes", incoming.MAX_BYTES)])
def test_a_team_takes_no_more_than_a_machine_can_pull(hub: TestHub, column: str, most: int):
    """Else nobody could join it any more."""
    walt = hub.transport("walt")
    walt.push([new(A, b"1")])
    hub.rows(f"UPDATE onrecord.teams SET {column} = %s WHERE name = 'platform'", most - 1)

    pushed = walt.push([new(B, b"1"), new(C, b"1"), Push(A, b"2", version_hash(b"1"))])

    assert (pushed.accepted, list(pushed.refused)) == ((B, A), [C])
    assert "200,000 files" in pushed.refused[C]
    assert walt.push([Push(B, b"", version_hash(b"1"))]).accepted == (B,)


def test_the_size_of_a_team_is_counted(hub: TestHub):
    walt = hub.transport("walt")

    walt.push([new(A, b"12"), new(B, b"345")])
    walt.push([Push(A, b"1234", version_hash(b"12")), Push(B, b"", version_hash(b"345"))])

    assert hub.rows("SELECT files, bytes FROM onrecord.teams WHERE name = 'platform'") == [(2, 4)]


def test_waiting_ends_when_somebody_else_writes(hub: TestHub):
    walt, wilma = hub.transport("walt"), hub.transport("wilma")
    list(walt.pull("").versions)
    assert walt.wait(0) is False
    answers: list[bool] = []
    waiting = threading.Thread(target=lambda: answers.append(walt.wait(60)))

    waiting.start()
    wilma.push([new(A, b"1")])
    waiting.join(30)

    assert answers == [True]
    assert walt.wait(60) is True, "until it is pulled"
    list(walt.pull("").versions)
    assert walt.wait(0) is False


NAMES = st.text(st.characters(exclude_categories=("C",), exclude_characters="./"), min_size=1, max_size=30)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200), name=NAMES)
def test_any_bytes_and_any_harmless_name_come_back(hub: TestHub, data: bytes, name: str):
    path = f"decisions/{name}.json"
    hub.empty()
    with closing(hub_transport.PostgresTransport(hub.url())) as walt:
        assert walt.push([new(path, data or b"-")]).accepted == (path,)
        assert everything(walt) == {path: data or b"-"}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://ann@db/memory#platform", ("postgresql://ann@db/memory", "platform")),
        ("postgres:///?service=acme&sslmode=verify-full", ("postgres:///?service=acme&sslmode=verify-full", "default")),
        ("postgresql://ann.smith%40example.org@db/m", ("postgresql://ann.smith%40example.org@db/m", "default")),
        ("postgresql://[::1]:5433/m?host=/run/pg#a-1", ("postgresql://[::1]:5433/m?host=/run/pg", "a-1")),
    ],
)
def test_an_address_names_a_database_and_a_team(url, expected):
    assert parse_team_address(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "", "mysql://x/y", "host=x dbname=y", "postgresql://ann:secret@db/memory", "postgresql://:secret@db/m",
        "postgresql://ann:a#secret@db/m",
        "postgresql://db/m?password=secret", "postgresql://db/m?a=b&PASSWORD=secret", "postgresql://db/m?sslpassword=secret",
        "postgresql://db/m?pass%77ord=secret", "postgresql://db/m?%50ASSWORD=secret", "postgresql://ann:12?secret@db/m",
        "postgresql://ann?:secret@db/m", "postgresql://ann?@db/m?password=secret", "postgresql://ann@db?password=x@secret",
        "postgresql://db/m#Not A Team", "postgresql://db/m#-x", "postgresql://db/m#" + "x" * 41,
    ],
)  # fmt: skip
def test_an_address_without_a_team_name_or_with_a_password_is_refused_without_repeating_it(url):
    with pytest.raises(BadInput) as failure:
        parse_team_address(url)

    assert "secret" not in failure.value.message + failure.value.fix


PARTS = ["ann", "db", "12", ":", "@", "/", "?", "&", "=", ",", "#", "[", " ", "%40", "password", "pass%77ord", "x=y"]


@settings(max_examples=300)
@given(parts=st.lists(st.sampled_from(PARTS), max_size=12))
def test_libpq_finds_no_password_in_an_address_that_is_allowed(parts: list[str]):
    try:
        database = parse_team_address("postgresql://" + "".join(parts)).database
        understood = psycopg.conninfo.conninfo_to_dict(database)
    except (BadInput, psycopg.Error):
        return

    assert "password" not in understood


def test_the_parameters_of_an_address_reach_libpq_and_go_before_ours(monkeypatch: pytest.MonkeyPatch):
    connections: list[dict[str, str]] = []
    monkeypatch.setattr(
        hub_connection.HubSession,
        "connect",
        lambda words, **options: connections.append(psycopg.conninfo.conninfo_to_dict(words)),
    )
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "3")

    hub_connection.connect(
        parse_team_address("postgresql://ann@db:6432/memory?sslmode=verify-full&keepalives_idle=60#platform")
    )
    hub_connection.connect(
        parse_team_address("postgresql:///?service=memory&sslrootcert=/etc/ca.pem&connect_timeout=1")
    )

    assert {"user": "ann", "host": "db", "port": "6432", "dbname": "memory", "sslmode": "verify-full",
            "keepalives_idle": "60", "connect_timeout": "3"}.items() <= connections[0].items()  # fmt: skip
    assert {"service": "memory", "sslrootcert": "/etc/ca.pem", "connect_timeout": "1"}.items() <= connections[1].items()
    assert not {"password", "user", "host"} & set(connections[1])

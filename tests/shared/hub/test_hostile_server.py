"""A server that is broken or hostile: it ends no sync in a full memory, and makes nobody wait for ever."""

from __future__ import annotations

import itertools
import struct
import threading
from collections.abc import Iterable
from contextlib import closing

import pytest

from onrecord.errors import BadRemote, Offline, OnrecordError, Refused
from onrecord.shared import hub_connection, hub_transport
from onrecord.shared.hub_connection import Hub
from onrecord.shared.hub_transport import PostgresTransport
from onrecord.shared.remotes import parse_team_address
from tests import time_limit
from tests.cli.conftest import onrecord, project

from .conftest import OWNER, TestHub, new
from .false_server import BYTES, LET_IN, READY, TEXT, columns, failure, false_server, message, row

__all__ = ["onrecord", "project"]
HUGE_ROW = (b"D" + struct.pack("!IhI", 1_000_000_000, 1, 999_999_994), bytes(1 << 20))
HOLD = "SELECT * FROM onrecord.push('platform', 0, '{inbox/x.json}', '{x}', %s, '{\"\"}')"
ENDLESS_ROWS = (b"", row(bytes(1 << 20)))


@pytest.mark.parametrize("answer", [HUGE_ROW, ENDLESS_ROWS], ids=["one row", "many rows"])
def test_an_answer_without_end_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch, answer):
    monkeypatch.setattr(hub_connection, "_MAX_ANSWER_BYTES", 20_000_000)
    first, more = answer

    failed = _error_of(BadRemote, itertools.chain([columns(TEXT) + first], itertools.repeat(more)))

    assert failed.message == "an answer takes more than 20,000,000 bytes"


def test_a_server_that_lets_us_in_and_says_nothing_is_offline(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hub_connection, "_SILENCE_SECONDS", 0.2)

    failed = _error_of(Offline, ())

    assert failed.message == "the database server does not answer"


def _error_of(error: type[OnrecordError], answer: Iterable[bytes]) -> OnrecordError:
    """Return the error of a query that the server answers like this."""
    with (
        false_server(LET_IN + READY, answer) as url,
        closing(Hub(parse_team_address(url), lambda session: None)) as hub,
    ):
        with pytest.raises(error) as failed:
            hub.run(lambda session: session.execute("SELECT 1").fetchone())
        return failed.value


@pytest.mark.parametrize(
    ("sqlstate", "text", "error"),
    [
        ("57P03", "the database system is starting up", Offline),
        ("57P03", "das Datenbanksystem startet gerade", Offline),
        ("53300", "tut mir leid, schon zu viele Verbindungen", Offline),
        ("53300", "sorry, too many clients already", Offline),
        ("28000", 'no pg_hba.conf entry for host "[local]"', Refused),
        ("3D000", 'database "memory" does not exist', Refused),
    ],
)
def test_a_server_that_lets_nobody_in_for_an_unknown_reason_is_offline(sqlstate, text, error: type[OnrecordError]):
    """libpq does not give the code of this error, and a server says the reason in its own language."""
    with false_server(failure(sqlstate, text)) as url, pytest.raises(error) as failed:
        hub_connection.connect(parse_team_address(url))

    assert text in failed.value.message


def test_the_rest_is_not_read_when_the_first_records_were_enough():
    """A server may go on although it was told to stop."""
    numbers: list[int] = []
    rows = (numbers.append(number) or row(b"decisions/a.json", bytes(1 << 20)) for number in range(100))
    answer = itertools.chain([message(b"1", b"") + message(b"2", b"") + columns(TEXT, BYTES)], rows)
    with false_server(LET_IN + READY, answer) as url, closing(PostgresTransport(url)) as machine:
        machine._hub = Hub(parse_team_address(url), lambda session: None)
        versions = machine._versions(hub_transport._Team(1, 1, "", False, False), 0)
        first = next(versions)
        versions.close()

    assert first.path == "decisions/a.json"
    assert len(numbers) < 50


@pytest.mark.debian("postgresql")
def test_notices_without_end_cause_few_questions(hub: TestHub, monkeypatch: pytest.MonkeyPatch):
    walt, flood, is_over = hub.transport("walt"), hub.session("sam"), threading.Event()
    looks: list[object] = []
    look = hub_transport._team
    monkeypatch.setattr(hub_transport, "_team", lambda *words: (looks.append(words), look(*words))[1])

    def send() -> None:
        while not is_over.is_set():
            flood.execute(f"NOTIFY {hub_transport.CHANNEL}")

    sending = threading.Thread(target=send)
    sending.start()
    seconds = 2.0
    assert walt.wait(seconds) is False
    is_over.set()
    time_limit.join(sending)

    assert 1 < len(looks) <= seconds / hub_transport._PAUSE_SECONDS + 2


@pytest.mark.debian("postgresql")
def test_who_holds_the_lock_of_a_team_makes_others_wait_for_some_seconds(own_hub: TestHub):
    push = "onrecord.push(text, bigint, text[], bytea[], text[], text[])"
    assert own_hub.rows(f"SELECT proconfig::text FROM pg_proc WHERE oid = '{push}'::regprocedure") == [
        ('{"search_path=pg_catalog, pg_temp",lock_timeout=10s}',)
    ]
    own_hub.rows(f"ALTER FUNCTION {push} SET lock_timeout = '20ms'")
    holding = own_hub.session("wilma")
    holding.execute("BEGIN")
    holding.execute(HOLD, (["f" * 32],))

    with pytest.raises(Offline) as failed:
        own_hub.transport("walt").push([new("decisions/a.json", b"1")])

    assert failed.value.message == "another session holds a lock that this needs"
    holding.execute("ROLLBACK")
    assert own_hub.transport("walt").push([new("decisions/a.json", b"1")]).accepted == ("decisions/a.json",)


@pytest.mark.debian("postgresql")
def test_a_failure_that_the_server_names_is_not_called_a_lost_connection(hub: TestHub):
    machine = Hub(
        parse_team_address(hub.url("walt")), lambda session: session.execute("SET statement_timeout = '10ms'")
    )

    with closing(machine), pytest.raises(Offline) as failed:
        machine.run(lambda session: session.execute("SELECT pg_sleep(60)"))

    assert failed.value.message.startswith("the database cannot do this now: ")


@pytest.mark.debian("postgresql")
@pytest.mark.parametrize("words", [("init", "--review"), ("init",)], ids=["a team", "the tables"])
def test_who_keeps_a_lock_does_not_stop_the_administrator_for_ever(own_hub: TestHub, onrecord, monkeypatch, words):
    monkeypatch.setattr(hub_connection, "_LIMIT_LOCK_WAIT", "SET LOCAL lock_timeout = '20ms'")
    holding = own_hub.session("wilma")
    holding.execute("BEGIN")
    holding.execute(HOLD, (["f" * 32],))
    holding.execute("SELECT pg_advisory_xact_lock(%s)", (hub_connection._LOCK if len(words) == 1 else 0,))

    outcome = onrecord("hub", *words, "--team=platform", "--url", own_hub.url(OWNER))

    assert outcome.err.startswith("OFFLINE: another session holds a lock that this needs\n")

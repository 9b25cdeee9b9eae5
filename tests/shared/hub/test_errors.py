"""Our error for each kind of error of a database, with what to do: without a server."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors

from onrecord.errors import BadRemote, Offline, Refused
from onrecord.shared import hub_connection
from onrecord.shared.remotes import TeamAddress

ADDRESS = TeamAddress("postgresql://h/memory", "platform")


@pytest.mark.parametrize(
    ("error", "kind", "message", "fix"),
    [
        *(
            (kind("x"), BadRemote, "there is no hub in this database",
             "ask its administrator for: `onrecord hub init --team platform`")
            for kind in (errors.InvalidSchemaName, errors.UndefinedTable, errors.UndefinedFunction)
        ),
        (errors.InsufficientPrivilege("no\nright"), Refused,
         "your login may not do this in the team platform: no right",
         "ask the administrator for: `onrecord hub grant LOGIN ROLE --team platform`"),
        (errors.LockNotAvailable("x"), Offline, "another session holds a lock that this needs",
         "try again later; how the administrator finds that session: onrecord docs team/postgres"),
        (errors.DiskFull("x"), Offline, "the database cannot do this now: x", "try again later"),
        (psycopg.OperationalError("gone"), Offline, "the connection to the database was lost: gone", "try again later"),
        (psycopg.InterfaceError("gone"), Offline, "the connection to the database was lost: gone", "try again later"),
        (errors.DivisionByZero("x"), BadRemote, "the database answered with an error: x", "ask its administrator"),
    ],
)  # fmt: skip
def test_an_error_of_a_statement_says_what_to_do(error, kind, message, fix):
    translated = hub_connection.translate(error, ADDRESS, "")

    assert (type(translated), translated.message, translated.fix) == (kind, message, fix)


def test_a_password_is_left_out_of_a_message_and_a_long_one_cut():
    repeated = hub_connection.translate(errors.DivisionByZero("say secret twice: secret"), ADDRESS, "secret")
    long = hub_connection.translate(errors.DivisionByZero("x" * 400), ADDRESS, "")

    assert repeated.message == "the database answered with an error: say … twice: …"
    assert len(long.message) == len("the database answered with an error: ") + 300


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *(
            (f"FATAL: {text}", Refused)
            for text in ("password authentication failed for ann", "database x does not exist", "no such user: ann",
                         "no pg_hba.conf entry for host", "connection not permitted", "permission denied for database")
        ),
        ("FATAL: the database system is starting up", Offline),
        ("database x does not exist", Offline),
        ("", Offline),
    ],
)  # fmt: skip
def test_a_connection_that_is_refused_is_told_from_one_that_fails(text, kind):
    answer = hub_connection._not_connected(psycopg.OperationalError(text))

    expected = {
        Refused: ("the database server refused the connection: ",
                  "check login and database; a password belongs in ~/.pgpass or PGPASSWORD"),
        Offline: ("the database server cannot be reached: ", "try again when it can be reached"),
    }[kind]  # fmt: skip
    assert (type(answer), answer.message, answer.fix) == (kind, f"{expected[0]}{text}", expected[1])

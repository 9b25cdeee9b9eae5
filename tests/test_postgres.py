"""The server that other tests use: databases of their own, logins, and what a kill leaves."""

from __future__ import annotations

import psycopg
import pytest

from tests.postgres import Server

pytestmark = pytest.mark.debian("postgresql")


def _with_a_table(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE rows (number int)")


def test_every_database_is_a_copy_of_what_was_prepared_once(postgres: Server):
    first, second = postgres.database(_with_a_table), postgres.database(_with_a_table)

    postgres.execute("INSERT INTO rows VALUES (1)", database=first)

    assert postgres.execute("SELECT number FROM rows", database=first) == [(1,)]
    assert postgres.execute("SELECT number FROM rows", database=second) == []


def test_a_login_has_no_rights_and_only_one_with_a_password_is_asked_for_it(postgres: Server):
    database = postgres.database(_with_a_table)
    postgres.login("ann")
    postgres.login("bob", "it's secret")

    refused = pytest.raises(psycopg.errors.InsufficientPrivilege)
    with psycopg.connect(postgres.url(database, "ann")) as connection, refused:
        connection.execute("SELECT * FROM rows")
    psycopg.connect(postgres.url(database, "bob", "it's secret")).close()
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(postgres.url(database, "bob", "another"))


def test_a_killed_server_cuts_its_connections_and_has_what_was_committed_when_it_starts_again(durable_postgres: Server):
    database = durable_postgres.database(_with_a_table)
    with psycopg.connect(durable_postgres.url(database)) as connection:
        connection.execute("INSERT INTO rows VALUES (1)")
        connection.commit()
        connection.execute("INSERT INTO rows VALUES (2)")

        durable_postgres.kill()

        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(durable_postgres.url(database))
    durable_postgres.start()
    assert durable_postgres.execute("SELECT number FROM rows", database=database) == [(1,)]

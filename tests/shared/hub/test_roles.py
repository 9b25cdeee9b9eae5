"""Who may do what in a hub: a reader, a writer, a reviewer, a member of another team, a stranger.

Each is tried through the transport, and with SQL by hand: a login is a password, and any program can use it.
"""

from __future__ import annotations

import psycopg
import pytest

from onrecord.errors import Refused
from onrecord.shared.transport import Push, version_hash

from .conftest import OTHER, OWNER, ROLES, STRANGER, TestHub, everything, new

pytestmark = pytest.mark.debian("postgresql")
RECORD, DRAFT = "decisions/a.json", "inbox/d.json"
COLUMNS = "team, path, number, data, previous, change, login, at"
PUSH = "SELECT outcome FROM onrecord.push(%s, 0, %s, %s, %s, %s)"


@pytest.fixture
def filled(hub: TestHub) -> TestHub:
    """Return a hub in which both teams have a record with an earlier version."""
    for login, team in (("vera", "platform"), (OTHER, "other")):
        reviewer = hub.transport(login, team)
        reviewer.push([new(RECORD, b"1"), new(DRAFT, b"1")])
        reviewer.push([Push(RECORD, f"of {team}".encode(), version_hash(b"1"))])
    return hub


@pytest.mark.parametrize("login", ROLES)
def test_every_member_reads_the_team_and_no_other(filled: TestHub, login: str):
    assert everything(filled.transport(login)) == {RECORD: b"of platform", DRAFT: b"1"}
    session = filled.session(login)
    for table in ("teams", "records", "history"):
        teams = session.execute(f"SELECT DISTINCT t.name FROM onrecord.{table} JOIN onrecord.teams t USING (team)")
        assert teams.fetchall() == [("platform",)]
    assert session.execute("SELECT login, role FROM onrecord.members").fetchall() == [(login, ROLES[login])]


@pytest.mark.parametrize("login", [*ROLES, STRANGER, "walt"])
def test_nobody_gets_into_another_team(filled: TestHub, login: str):
    before = filled.rows("SELECT * FROM onrecord.records ORDER BY team, path")
    with pytest.raises(Refused):
        filled.transport(login, "other").pull("")
    with pytest.raises(Refused):
        filled.transport(login, "other").push([new("decisions/x.json", b"x")])
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        filled.session(login).execute(PUSH, ("other", ["decisions/x.json"], [b"x"], ["f" * 32], [""]))
    assert filled.rows("SELECT * FROM onrecord.records ORDER BY team, path") == before


def test_a_stranger_does_not_even_see_the_tables(filled: TestHub):
    for table in ("teams", "members", "records", "history", "schema_version"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            filled.session(STRANGER).execute(f"SELECT * FROM onrecord.{table}")


OUTCOMES = {
    # role: whether a record and a draft are accepted, without and with review
    "rita": ((False, False), (False, False)),
    "walt": ((True, True), (False, True)),
    "vera": ((True, True), (True, True)),
}


@pytest.mark.parametrize("asks_for_review", [False, True])
@pytest.mark.parametrize("login", OUTCOMES)
def test_what_each_role_writes(filled: TestHub, login: str, asks_for_review: bool):
    filled.rows("UPDATE onrecord.teams SET asks_for_review = %s", asks_for_review)
    changes = [
        Push(RECORD, b"changed", version_hash(b"of platform")),
        new("decisions/new.json", b"new"),
        Push(DRAFT, b"", version_hash(b"1")),
        new("inbox/new.json", b"new"),
    ]

    member = filled.transport(login)
    pushed = member.push(changes)

    record, draft = OUTCOMES[login][asks_for_review]
    allowed = [change for change in changes if (draft if change.path.startswith("inbox/") else record)]
    assert pushed.accepted == tuple(change.path for change in allowed)
    assert set(pushed.refused) == {change.path for change in changes} - set(pushed.accepted)
    assert everything(member) == {
        RECORD: b"of platform",
        DRAFT: b"1",
        **{change.path: change.data for change in allowed},
    }
    assert member.pull("").asks_for_review == (login == "walt" and asks_for_review)


def test_the_author_is_the_login_whatever_the_session_says(filled: TestHub):
    session = filled.session("walt")
    # What a program could try before it pushes.
    session.execute("SET application_name = 'vera'")
    session.execute("CREATE TEMP TABLE members (team integer, login name, role text)")
    session.execute("CREATE TEMP TABLE teams (team integer, name text, asks_for_review boolean, number bigint)")
    session.execute("CREATE FUNCTION pg_temp.starts_with(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'")
    session.execute("SET search_path = pg_temp, onrecord, pg_catalog")
    for statement in ("SET ROLE vera", f"SET ROLE {OWNER}", "SET SESSION AUTHORIZATION vera"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute(statement)

    session.execute(PUSH, ("platform", ["decisions/by-walt.json"], [b"x"], ["f" * 32], [""]))

    assert filled.rows("SELECT login FROM onrecord.records WHERE path = 'decisions/by-walt.json'") == [("walt",)]


def test_a_temporary_function_does_not_get_a_writer_past_review(filled: TestHub):
    filled.rows("UPDATE onrecord.teams SET asks_for_review = true")
    session = filled.session("walt")
    session.execute("CREATE FUNCTION pg_temp.starts_with(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'")
    session.execute("SET search_path = pg_temp, pg_catalog")

    assert session.execute(PUSH, ("platform", ["decisions/x.json"], [b"x"], ["f" * 32], [""])).fetchall() == [
        ("review",)
    ]


BY_HAND = [
    "INSERT INTO onrecord.records (team, path, number, data) VALUES (1, 'decisions/x.json', 99, '')",
    "UPDATE onrecord.records SET data = 'x'",
    "DELETE FROM onrecord.records",
    "TRUNCATE onrecord.records",
    "UPDATE onrecord.teams SET number = 99",
    "UPDATE onrecord.teams SET asks_for_review = false",
    "INSERT INTO onrecord.members VALUES (2, session_user, 'reviewer')",
    "UPDATE onrecord.members SET role = 'reviewer'",
    f"INSERT INTO onrecord.history ({COLUMNS}) SELECT {COLUMNS} FROM onrecord.history",
    "UPDATE onrecord.history SET login = 'vera'",
    "DELETE FROM onrecord.history",
    "ALTER TABLE onrecord.records DISABLE ROW LEVEL SECURITY",
    "CREATE TABLE onrecord.mine (x integer)",
    "CREATE OR REPLACE FUNCTION onrecord.is_administrator() RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    "DROP SCHEMA onrecord CASCADE",
    "UPDATE onrecord.schema_version SET version = 99",
]


@pytest.mark.parametrize("login", ["rita", "walt", "vera", OTHER])
def test_no_member_writes_past_the_function(filled: TestHub, login: str):
    before = [filled.rows(f"SELECT * FROM onrecord.{table} ORDER BY 1, 2") for table in ("records", "history", "teams")]
    session = filled.session(login)
    for statement in BY_HAND:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute(statement)
    assert [
        filled.rows(f"SELECT * FROM onrecord.{table} ORDER BY 1, 2") for table in ("records", "history", "teams")
    ] == before


def test_not_even_the_owner_rewrites_history(filled: TestHub):
    session = filled.session(OWNER)
    before = filled.rows("SELECT * FROM onrecord.history ORDER BY team")

    changed = session.execute("UPDATE onrecord.history SET login = 'vera'").rowcount
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.execute(f"INSERT INTO onrecord.history ({COLUMNS}) SELECT {COLUMNS} FROM onrecord.history")

    assert changed == 0
    assert filled.rows("SELECT * FROM onrecord.history ORDER BY team") == before


def test_who_administers_is_asked_once_and_not_for_every_version(filled: TestHub):
    for statement in ("SELECT count(*) FROM onrecord.history", "DELETE FROM onrecord.history"):
        plan = filled.session(OWNER).execute(f"EXPLAIN (VERBOSE) {statement}").fetchall()
        lines = [str(line) for (line,) in plan]

        assert any("is_administrator()" in line for line in lines)
        assert not any("Filter:" in line and "is_administrator()" in line for line in lines)


HOSTILE_PATHS = [
    "../escape.json", "decisions/../../x.json", "/etc/x.json", "decisions/.hidden.json", "decisions/x.txt", "",
    "decisions/a/b.json", "decisions/a\nb.json", "Decisions/x.json", "decisions/", "index.md", ".journal",
    "decisions/" + "x" * 300 + ".json",
]  # fmt: skip


@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_no_path_but_that_of_a_record_is_stored(filled: TestHub, path: str):
    with pytest.raises(psycopg.errors.CheckViolation):
        filled.session("vera").execute(PUSH, ("platform", [path], [b"x"], ["f" * 32], [""]))


def test_nothing_larger_than_a_record_is_stored(filled: TestHub):
    with pytest.raises(psycopg.errors.CheckViolation):
        filled.session("vera").execute(PUSH, ("platform", ["decisions/x.json"], [b"x" * 1_000_001], ["f" * 32], [""]))

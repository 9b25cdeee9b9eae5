"""`onrecord hub` against a real server, as its owner, a member, a stranger."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading

import psycopg
import pytest

from onrecord import extras
from onrecord.cli.commands import COMMANDS
from onrecord.remedy import COMMAND
from onrecord.shared import hub_connection
from onrecord.shared.remotes import parse_team_address
from onrecord.shared.transport import Push, version_hash
from tests import time_limit
from tests.cli.conftest import BIN, Outcome, onrecord, project

from .conftest import OWNER, STRANGER, TestHub, everything

pytestmark = pytest.mark.debian("postgresql")
__all__ = ["onrecord", "project"]
VERSION = len(hub_connection.migrations())


@pytest.fixture
def owner(own_hub: TestHub, monkeypatch: pytest.MonkeyPatch) -> TestHub:
    """Return the hub that the commands act on, as its owner."""
    monkeypatch.setenv("ONRECORD_HUB_URL", own_hub.url(OWNER))
    return own_hub


def test_the_examples_of_the_help_run(postgres, onrecord, monkeypatch):
    database = postgres.database()
    postgres.login("ann")
    for example in COMMANDS["hub"].examples:
        words = shlex.split(example.command.replace("postgresql://localhost/memory", postgres.url(database)))
        monkeypatch.setenv("ONRECORD_HUB_URL", postgres.url(database))
        outcome: Outcome = onrecord(*words)

        assert outcome.code == 0, outcome
    ((server,),) = postgres.execute("SHOW server_version")
    assert outcome.out == (
        f"PostgreSQL {server.partition('.')[0]}, schema {VERSION}, 1 team\n\n"
        "platform: 0 records, 0 drafts, 0 deleted records, 0 earlier versions\nann\twriter\n"
    )


def test_init_makes_the_tables_once_and_a_team_each_time(postgres, onrecord, monkeypatch):
    database = postgres.database()
    monkeypatch.setenv("ONRECORD_HUB_URL", postgres.url(database))

    first = json.loads(onrecord("hub", "init", "--json").out)
    second = json.loads(onrecord("hub", "init", "--team=platform", "--review", "--json").out)
    third = onrecord("hub", "init", "--team=platform", "--no-review")

    assert first == {"schema_before": 0, "schema": VERSION, "team": "default", "is_new": True}
    assert second == {"schema_before": VERSION, "schema": VERSION, "team": "platform", "is_new": True}
    assert third.out == f"tables up to date: schema {VERSION}\nteam platform exists\n"
    assert postgres.execute("SELECT name, asks_for_review FROM onrecord.teams ORDER BY 1", database=database) == [
        ("default", False),
        ("platform", False),
    ]


def test_two_who_make_the_tables_at_once_both_succeed(postgres):
    url = postgres.url(postgres.database())
    versions: list[tuple[int, int]] = []

    def init() -> None:
        with hub_connection.connect(parse_team_address(url)) as session:
            versions.append(hub_connection.migrate(session))

    threads = [threading.Thread(target=init) for _ in range(2)]
    for thread in threads:
        thread.start()
    time_limit.join(*threads)

    assert sorted(versions) == [(0, VERSION), (VERSION, VERSION)]


def test_without_the_package_it_says_what_to_install():
    words = [sys.executable, "-S", str(BIN), "hub", "status", "--url", "postgresql:///memory"]

    process = subprocess.run(words, capture_output=True, text=True, timeout=120)

    assert process.returncode == 1
    needs, fix, _ = process.stderr.splitlines()
    assert needs == "BAD_INPUT: a Postgres remote needs a package: No module named 'psycopg'"
    assert fix.startswith("fix: ") and fix.endswith(" 'psycopg[binary]>=3.2.11,<4'")


@pytest.mark.parametrize("words", [("remote", "add", "acme", "postgresql:///memory"), ("sync",)])
def test_a_hub_without_the_package_is_no_bug(words, home, tmp_path, onrecord):
    onrecord("remote", "add", "platform", "postgresql:///memory#platform", "--offline")

    process = subprocess.run(
        [sys.executable, "-S", str(BIN), *words], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )

    assert process.returncode == 1
    assert "a Postgres remote needs a package: No module named 'psycopg'" in process.stdout + process.stderr
    assert "Traceback" not in process.stderr


def test_a_new_login_gets_its_password_from_standard_input_and_no_other_place(owner, onrecord):
    outcome = onrecord("hub", "grant", "nina", "writer", "--team=platform", "--create", stdin="correct horse\n")

    assert outcome == (0, "nina is a writer of the team platform\n", "")
    assert b"correct horse" not in owner.server.log.read_bytes()
    (row,) = owner.rows("SELECT rolpassword FROM pg_authid WHERE rolname = 'nina'")
    assert str(row[0]).startswith("SCRAM-SHA-256$")
    assert owner.rows("SELECT rolconfig FROM pg_roles WHERE rolname = 'nina'") == [
        (["idle_in_transaction_session_timeout=1min"],)
    ]
    owner.rows("GRANT logins_with_password TO nina")
    with psycopg.connect(owner.server.url(owner.database, "nina", password="correct horse")) as session:
        assert session.execute("SELECT name FROM onrecord.teams").fetchall() == [("platform",)]
    owner.rows("DROP OWNED BY nina")
    owner.rows("DROP ROLE nina")


def test_a_login_that_could_not_be_made_a_member_is_not_made_at_all(owner, onrecord):
    outcome = onrecord("hub", "grant", "nobody-yet", "king", "--team=platform", "--create", stdin="x\n")

    assert outcome.code == 2 and "ROLE must be one of reader, writer, reviewer, not king" in outcome.err
    assert owner.rows("SELECT 1 FROM pg_roles WHERE rolname = 'nobody-yet'") == []


def test_whoever_is_revoked_sees_nothing_any_more(owner, onrecord):
    walt = owner.transport("walt")
    assert list(walt.pull("").versions) == []

    assert onrecord("hub", "revoke", "walt", "--team=platform").code == 0
    again = onrecord("hub", "revoke", "walt", "--team=platform")

    assert again.err == (
        "NOT_FOUND: 'walt' is not a member of the team platform\n"
        "fix: onrecord hub status\ndocs: onrecord docs NOT_FOUND\n"
    )
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        owner.session("walt").execute("SELECT * FROM onrecord.records")


def test_whoever_leaves_one_team_stays_in_the_other(owner, onrecord):
    assert onrecord("hub", "grant", "walt", "reader", "--team=other").code == 0
    assert onrecord("hub", "revoke", "walt", "--team=platform").code == 0

    assert owner.session("walt").execute("SELECT name FROM onrecord.teams").fetchall() == [("other",)]


def test_a_login_that_is_too_long_is_not_taken_for_another(owner, onrecord):
    owner.server.login("a" * 63)

    outcome = onrecord("hub", "grant", "a" * 64, "writer", "--team=platform")

    assert outcome.err.startswith("NOT_FOUND: the database server has no login")


def test_status_runs_no_function_that_others_have_made(owner, onrecord):
    """Before PostgreSQL 15 every login may make functions in the schema `public`."""
    owner.rows("GRANT CREATE ON SCHEMA public TO PUBLIC")
    stranger = owner.session(STRANGER)
    stranger.execute(
        "CREATE FUNCTION public.step(bigint, text) RETURNS bigint LANGUAGE plpgsql AS"
        " $$BEGIN RAISE 'run as %', current_user; END$$"
    )
    stranger.execute("CREATE AGGREGATE public.count(text) (sfunc = public.step, stype = bigint, initcond = '0')")
    owner.transport("walt").push([Push("decisions/a.json", b"1", "")])

    outcome = onrecord("hub", "status", "--team=platform")

    assert "platform: 1 record, 0 drafts, 0 deleted records, 0 earlier versions" in outcome.out


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_hold_every_text_becomes_no_hub(postgres, onrecord, encoding):
    name = f"in_{encoding.lower()}"
    postgres.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'")

    outcome = onrecord("hub", "init", postgres.url(name))

    assert outcome.err.startswith(f"BAD_INPUT: the database has the encoding {encoding}, and a hub needs UTF8")
    assert postgres.execute("SELECT to_regnamespace('onrecord')", database=name) == [(None,)]


def test_an_owner_who_is_no_superuser_makes_and_restores_a_backup(owner, tmp_path):
    """As docs/team/postgres.md says."""
    walt, folder = owner.transport("walt"), owner.server.programs
    if not (folder / "pg_dump").exists():
        pytest.skip("this server comes without pg_dump")
    walt.push([Push("decisions/a.json", b"1", "")])
    walt.push([Push("decisions/a.json", b"2", version_hash(b"1"))])
    url, dump = (lambda name: owner.server.url(name, OWNER)), str(tmp_path / "dump")
    owner.server.execute(f"CREATE DATABASE restored OWNER {OWNER}")

    words = ["--format=custom", "--enable-row-security", f"--file={dump}", url(owner.database)]
    subprocess.run([str(folder / "pg_dump"), *words], check=True, timeout=120)
    subprocess.run([str(folder / "pg_restore"), f"--dbname={url('restored')}", dump], check=True, timeout=120)

    restored = owner.beside("restored")
    assert everything(restored.transport("rita")) == {"decisions/a.json": b"2"}
    assert restored.rows("SELECT data FROM onrecord.history") == [(b"1",)]


def test_earlier_versions_are_deleted_for_good(owner, onrecord):
    walt = owner.transport("walt")
    path = "decisions/secret.json"
    walt.push([Push(path, b"a secret", ""), Push("decisions/other.json", b"1", "")])
    walt.push([Push(path, b"", version_hash(b"a secret")), Push("decisions/other.json", b"2", version_hash(b"1"))])
    cursor = walt.pull("").cursor

    outcome = onrecord("hub", "forget", path, "--team=platform")
    again = onrecord("hub", "forget", path, "--team=platform")

    assert outcome == (0, f"deleted 1 earlier version of {path}\n", "replicas and backups may still have them\n")
    assert again.err.startswith(f"NOT_FOUND: the hub has no earlier version of '{path}'")
    assert owner.rows("SELECT path FROM onrecord.history") == [("decisions/other.json",)]
    assert list(walt.pull(cursor).versions) == []


@pytest.mark.parametrize(
    ("login", "words", "code"),
    [
        ("walt", ("init",), "REFUSED"),
        ("walt", ("grant", "sam", "reader", "--team=platform"), "REFUSED"),
        ("walt", ("grant", "walt", "reviewer", "--team=platform"), "REFUSED"),
        ("walt", ("grant", "x", "reader", "--create", "--team=platform"), "REFUSED"),
        ("walt", ("revoke", "vera", "--team=platform"), "REFUSED"),
        ("walt", ("forget", "decisions/x.json", "--team=platform"), "REFUSED"),
        ("sam", ("status",), "REFUSED"),
        (OWNER, ("grant", "sam", "reader", "--team=none"), "NOT_FOUND"),
        (OWNER, ("grant", "not-a-login", "reader", "--team=platform"), "NOT_FOUND"),
        (OWNER, ("grant", "sam", "reader", "--create", "--team=platform"), "ALREADY_EXISTS"),
    ],
)
def test_what_is_not_allowed_is_refused(own_hub, onrecord, login, words, code):
    outcome = onrecord("hub", *words, "--url", own_hub.url(login), "--json", stdin="password\n")

    assert outcome.code == 1
    assert json.loads(outcome.out)["error"]["code"] == code
    assert own_hub.rows("SELECT login, role FROM onrecord.members WHERE login IN ('walt', 'vera', 'sam')") == [
        ("walt", "writer"),
        ("vera", "reviewer"),
    ]


def test_a_member_sees_the_team_and_its_own_role(own_hub, onrecord):
    outcome = onrecord("hub", "status", "--url", own_hub.url("rita"), "--json")

    assert json.loads(outcome.out)["teams"] == [
        {"name": "platform", "asks_for_review": False, "records": 0, "drafts": 0, "deleted": 0, "replaced": 0,
         "members": [{"login": "rita", "role": "reader"}]}
    ]  # fmt: skip


def test_a_connected_remote_names_the_hub(own_hub, onrecord):
    assert onrecord("remote", "add", "--offline", "acme", own_hub.url("rita")).code == 0

    outcome = onrecord("hub", "status", "--url=acme")

    assert outcome.out.splitlines()[2:] == [
        "platform: 0 records, 0 drafts, 0 deleted records, 0 earlier versions",
        "rita\treader",
    ]


def test_an_older_schema_and_a_newer_one_are_named_with_what_to_do(own_hub, onrecord, monkeypatch):
    steps = hub_connection.migrations()
    monkeypatch.setattr(hub_connection, "migrations", lambda: [*steps, "CREATE TABLE onrecord.more (x integer)"])
    url = ("--url", own_hub.url(OWNER))

    older = onrecord("hub", "status", *url)
    migrated = onrecord("hub", "init", *url)
    monkeypatch.setattr(hub_connection, "migrations", lambda: steps)
    newer = [onrecord("hub", action, *url) for action in ("status", "init")]

    needs = len(steps) + 1
    assert older.err == (
        f"BAD_REMOTE: the hub has schema {len(steps)}, and this Onrecord needs {needs}\n"
        "fix: ask its administrator for: `onrecord hub init`\n"
        "docs: onrecord docs BAD_REMOTE\n"
    )
    assert migrated.out.startswith(f"tables updated from schema {len(steps)} to {needs}\n")
    for outcome in newer:
        assert outcome.err == (
            f"BAD_REMOTE: the hub has schema {needs}, and this Onrecord knows {len(steps)}\n"
            f"fix: {extras.upgrade_command('hub')}\n"
            "docs: onrecord docs BAD_REMOTE\n"
        )
    assert own_hub.session("walt").execute("SELECT * FROM onrecord.more").fetchall() == []


def test_a_migration_that_fails_leaves_everything_as_it_was(own_hub, onrecord, monkeypatch):
    steps = hub_connection.migrations()
    broken = "CREATE TABLE onrecord.more (x integer); SELECT 1 / 0"
    monkeypatch.setattr(hub_connection, "migrations", lambda: [*steps, broken])

    outcome = onrecord("hub", "init", "--url", own_hub.url(OWNER))

    assert outcome.err.startswith("BAD_REMOTE: the database answered with an error: division by zero")
    assert own_hub.rows("SELECT to_regclass('onrecord.more'), max(version) FROM onrecord.schema_version") == [
        (None, len(steps))
    ]


def test_the_files_that_a_team_has_already_are_counted(postgres, onrecord, monkeypatch):
    database, steps = postgres.database(), hub_connection.migrations()
    monkeypatch.setattr(hub_connection, "migrations", lambda: steps[:2])
    assert onrecord("hub", "init", postgres.url(database)).code == 0
    postgres.execute(
        "INSERT INTO onrecord.records (team, path, number, data, hash)"
        " SELECT 1, 'decisions/' || n || '.json', n, '123', repeat('f', 32) FROM generate_series(1, 5) n",
        database=database,
    )
    monkeypatch.setattr(hub_connection, "migrations", lambda: steps)

    assert onrecord("hub", "init", postgres.url(database)).out.startswith(
        f"tables updated from schema 2 to {VERSION}\n"
    )

    assert postgres.execute("SELECT files, bytes FROM onrecord.teams", database=database) == [(5, 15)]


def test_a_superuser_who_migrates_leaves_the_owner_in_charge(own_hub, onrecord, monkeypatch):
    steps = hub_connection.migrations()
    monkeypatch.setattr(hub_connection, "migrations", lambda: [*steps, "CREATE TABLE onrecord.more (x integer)"])

    assert onrecord("hub", "init", "--url", own_hub.server.url(own_hub.database)).code == 0

    assert own_hub.rows("SELECT tableowner FROM pg_tables WHERE schemaname = 'onrecord' GROUP BY 1") == [(OWNER,)]


def test_the_hashes_of_an_earlier_schema_are_computed_again(postgres, onrecord, monkeypatch):
    database, steps = postgres.database(), hub_connection.migrations()
    monkeypatch.setattr(hub_connection, "migrations", lambda: steps[:3])
    assert onrecord("hub", "init", postgres.url(database)).code == 0
    postgres.execute(
        "INSERT INTO onrecord.records (team, path, number, data, hash)"
        " VALUES (1, 'decisions/a.json', 1, '123', repeat('f', 32)), (1, 'decisions/b.json', 2, '', '')",
        database=database,
    )
    monkeypatch.setattr(hub_connection, "migrations", lambda: steps)

    assert onrecord("hub", "init", postgres.url(database)).code == 0

    rows = postgres.execute("SELECT path, hash FROM onrecord.records ORDER BY path", database=database)
    assert rows == [("decisions/a.json", version_hash(b"123")), ("decisions/b.json", "")]


def test_adding_a_hub_says_login_role_team_and_number_of_records(own_hub, onrecord, home):
    own_hub.transport("walt").push([Push("decisions/a.json", b"{}", ""), Push("inbox/b.json", b"{}", "")])

    added = onrecord("remote", "add", "platform", own_hub.url("walt"))

    assert added.out == (
        "connected platform (postgres): you are walt, writer in the team platform, which has 1 record and 1 draft; "
        "to fetch its records: onrecord sync platform\n"
    )
    data = json.loads(onrecord("remote", "add", "again", own_hub.url("rita"), "--json").out)
    assert data["access"] == {"records": 1, "drafts": 1, "role": "reader", "login": "rita", "team": "platform",
                              "asks_for_review": False}  # fmt: skip


def test_a_hub_that_has_no_such_member_is_not_connected_and_the_way_in_is_named(own_hub, onrecord, home):
    refused = json.loads(onrecord("remote", "add", "platform", own_hub.url("olga"), "--json").out)["error"]

    assert refused["code"] == "REFUSED" and refused["message"].endswith("; platform is not connected")
    assert "yours: other; write one behind # in the address" in refused["fix"]
    assert "`onrecord hub grant olga writer --team platform`" in refused["fix"]
    assert COMMAND.findall(refused["fix"]) == [
        f"onrecord remote add platform {shlex.quote(own_hub.url('olga'))} --offline"
    ]
    assert json.loads(onrecord("remote", "--json").out)["remotes"] == []


def test_an_address_without_a_team_says_which_team_it_means(own_hub, onrecord, home):
    address = own_hub.url("walt").partition("#")[0]

    refused = json.loads(onrecord("remote", "add", "platform", address, "--json").out)["error"]
    connected = onrecord("remote", "add", "platform", address, "--offline")

    assert "the address names no team, so it is the team default" in refused["message"]
    assert "the address names no team, so it is the team default" in " ".join(connected.err.split())


def test_every_line_of_an_invitation_works_as_it_is_printed(owner, onrecord, home, monkeypatch):
    invited = json.loads(onrecord("hub", "invite", "nina", "--role", "reader", "--team", "platform", "--json").out)
    text = onrecord("hub", "invite", "nina", "--role", "reader", "--team", "platform").out

    assert invited["grant"] == "onrecord hub grant nina reader --team platform --create"
    assert "correct horse" not in text and all(command in text for command in invited["commands"])
    try:
        granted = onrecord(*shlex.split(invited["grant"])[1:], stdin="correct horse\n")
        assert granted.out == "nina is a reader of the team platform\n"
        owner.rows("GRANT logins_with_password TO nina")
        monkeypatch.setenv("PGPASSWORD", invited["password_line"].replace("PASSWORD", "correct horse").split(":")[-1])
        add, sync = invited["commands"]
        assert "you are nina, reader in the team platform" in onrecord(*shlex.split(add)[1:]).out
        assert onrecord(*shlex.split(sync)[1:]).code == 0
        again = onrecord("hub", "invite", "nina", "--role", "reader", "--team", "platform").out
        assert again.startswith("nina is a reader of the team platform already.\nThen send this:\n")
    finally:
        owner.rows("DROP OWNED BY nina")
        owner.rows("DROP ROLE nina")


def test_an_invitation_has_nothing_of_this_machine_only(owner, onrecord, monkeypatch):
    asked = ("hub", "invite", "a:b", "--team", "platform")
    assert sys.executable not in onrecord(*asked).out
    assert "the first line prints how to install it" in onrecord(*asked).out
    assert json.loads(onrecord(*asked, "--json").out)["password_line"].endswith(r":a\:b:PASSWORD")

    monkeypatch.setattr(extras, "_origin", lambda: extras.Origin(address="git+https://host.test/onrecord@v1"))
    command = "python3 -m pip install 'onrecord[hub] @ git+https://host.test/onrecord@v1'"
    assert command in onrecord(*asked).out
    monkeypatch.setattr(extras, "_origin", lambda: extras.Origin(address="git+file:///home/ann/onrecord"))
    assert "/home/ann" not in onrecord(*asked).out


def test_init_names_the_next_command_whole(postgres, onrecord, monkeypatch):
    monkeypatch.setenv("ONRECORD_HUB_URL", postgres.url(postgres.database()))

    assert onrecord("hub", "init", "--team=acme").err == "next: `onrecord hub invite LOGIN --team acme`\n"
    assert onrecord("hub", "invite", "ann", "--team=acme").code == 0
    assert onrecord("hub", "invite", "ann", "--team=nobody").err.startswith("NOT_FOUND: there is no team 'nobody'")

"""A whole sync of machines with a hub: everything in between is real, and one of them is killed again and again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

import onrecord.shared
from onrecord.errors import Offline
from onrecord.shared import hub_connection, hub_teams
from onrecord.shared.hub_transport import PostgresTransport
from onrecord.shared.remotes import parse_team_address
from onrecord.shared.transport import Transport
from tests.killed import killed_at
from tests.shared.machines import Machine
from tests.shared.test_sync_model import SharedStore

from .conftest import OWNER, TestHub

pytestmark = pytest.mark.debian("postgresql")
WATCHED = (str(Path(onrecord.shared.__file__ or "").parent),)
COLUMNS = "team, path, number, data, previous, change, login, at"
STEP = 211
"""Lines between two kills: a sync has some thousand."""


@pytest.fixture
def machines(hub: TestHub, tmp_path: Path) -> tuple[Machine, Machine]:
    """Return the machines of two writers."""
    walt = Machine(tmp_path / "walt", hub.transport("walt"))
    return walt, Machine(tmp_path / "wilma", hub.transport("wilma"), now="2026-05-02T13:00:00Z")


def _equal(*machines: Machine) -> bool:
    """True if all machines have the same files, and at least one."""
    first, *others = [machine.files() for machine in machines]
    return bool(first) and all(files == first for files in others)


def test_edits_of_one_record_are_merged_and_what_clashes_is_a_draft_on_both(hub: TestHub, machines):
    walt, wilma = machines
    walt.save("use-uv")
    walt.sync()
    wilma.sync()
    walt.edit("use-uv", {"content": {"decision": "By Walt", "context": "Walt's"}})
    wilma.edit("use-uv", {"content": {"decision": "By Wilma", "rationale": ["Wilma's"]}})

    walt.sync()
    (conflict,) = wilma.sync().conflicts
    walt.sync()

    assert _equal(walt, wilma)
    content = walt.read("use-uv").content
    assert (content["decision"], content["context"], content["rationale"]) == ("By Walt", "Walt's", ["Wilma's"])
    assert conflict.fields == ("content.decision",)
    authors = hub.rows("SELECT path, login::text FROM onrecord.records ORDER BY path")
    assert authors == [("decisions/use-uv.json", "wilma"), (f"inbox/{conflict.draft}.json", "wilma")]


def test_a_deleted_record_whose_versions_the_hub_forgot_stays_deleted(hub: TestHub, machines):
    """The last change that a machine has pulled may be one of those."""
    walt, wilma = machines
    walt.save("a-secret")
    walt.sync()
    wilma.sync()
    walt.delete("decisions/a-secret.json")
    walt.sync()
    with hub_connection.connect(parse_team_address(hub.url(OWNER))) as session:
        assert hub_teams.forget_history(session, "platform", "decisions/a-secret.json") == 1

    result = wilma.sync()

    assert not result.is_reset
    assert result.pushed == ()
    assert walt.files() == wilma.files() == {}


def test_a_writer_of_a_team_that_reviews_is_told_so_and_keeps_the_record(hub: TestHub, machines):
    hub.rows("UPDATE onrecord.teams SET asks_for_review = true")
    walt, wilma = machines
    walt.save("use-uv")

    result = walt.sync()
    wilma.sync()

    assert result.refused == {"decisions/use-uv.json": "this team reviews changes, and accepts only drafts from you"}
    assert walt.replica.state.asks_for_review
    assert (list(walt.files()), wilma.files()) == (["decisions/use-uv.json"], {})


def test_after_a_restored_backup_everything_comes_back_from_the_replicas(hub: TestHub, machines):
    walt, wilma = machines
    walt.save("old")
    walt.sync()
    rows = hub.rows(f"SELECT {COLUMNS} FROM onrecord.records")
    walt.edit("old", {"content": {"decision": "Edited after the backup"}})
    walt.save("new")
    walt.sync()
    wilma.sync()
    before = walt.files()
    hub.rows("TRUNCATE onrecord.records, onrecord.history")
    _insert(hub, "records", rows)
    hub.rows("UPDATE onrecord.teams SET number = 1 WHERE name = 'platform'")

    assert walt.sync().is_reset
    wilma.sync()
    walt.sync()

    assert _equal(walt, wilma)
    assert walt.files()["decisions/new.json"] == before["decisions/new.json"]
    assert "Edited after the backup" in b"".join(walt.files().values()).decode()


def test_offline_the_replica_stays_as_it_is(hub: TestHub, tmp_path: Path):
    machine = Machine(tmp_path / "walt", PostgresTransport(hub.url("walt", host="/nowhere")))
    machine.save("use-uv")
    before = machine.files()

    with pytest.raises(Offline):
        machine.sync()

    assert machine.files() == before
    assert machine.replica.state.offline_since


def _begin(hub: TestHub, folder: Path) -> None:
    """Three records on both machines and in the hub; then each side edits, adds and deletes."""
    hub.empty()
    walt, wilma = _both(hub, folder)
    walt.save_all(range(3), "first")
    walt.sync()
    wilma.sync()
    wilma.edit("record-0", {"content": {"context": "By Wilma"}})
    wilma.edit("record-1", {"content": {"decision": "By Wilma"}})
    wilma.save("of-wilma")
    wilma.sync()
    walt.edit("record-0", {"content": {"decision": "By Walt"}})
    walt.edit("record-1", {"content": {"decision": "By Walt"}})
    walt.delete("decisions/record-2.json")
    walt.save("of-walt")
    for machine in (walt, wilma):
        machine.transport.close()


def _both(hub: TestHub, folder: Path) -> tuple[Machine, Machine]:
    walt = Machine(folder / "walt", hub.transport("walt"))
    return walt, Machine(folder / "wilma", hub.transport("wilma"), now="2026-05-02T13:00:00Z")


def _end(hub: TestHub, folder: Path) -> dict[str, bytes]:
    """Sync both machines until they are equal; return their files."""
    walt, wilma = _both(hub, folder)
    for machine in (walt, wilma, walt):
        machine.sync()
    assert _equal(walt, wilma)
    for machine in (walt, wilma):
        machine.transport.close()
    return walt.files()


def test_killed_at_any_line_the_next_sync_ends_with_the_same_files(hub: TestHub, tmp_path: Path):
    _begin(hub, tmp_path / "pattern")
    tables = {table: hub.rows(f"SELECT {COLUMNS} FROM onrecord.{table}") for table in ("records", "history")}
    number = hub.rows("SELECT max(number) FROM onrecord.teams")[0][0]
    shutil.copytree(tmp_path / "pattern", tmp_path / "undisturbed")
    expected = _end(hub, tmp_path / "undisturbed")
    versions = hub.rows("SELECT max(number) FROM onrecord.teams")

    line, was_killed = 1, True
    while was_killed:
        _put_back(hub, tables, number)
        folder = tmp_path / str(line)
        shutil.copytree(tmp_path / "pattern", folder)

        def work(folder: Path = folder) -> None:
            Machine(folder / "walt", PostgresTransport(hub.url("walt"))).sync()

        was_killed = killed_at(line, work, WATCHED)

        assert _end(hub, folder) == expected, line
        assert hub.rows("SELECT max(number) FROM onrecord.teams") == versions, line
        line += STEP
    assert line > 5 * STEP


def test_random_work_over_a_hub_ends_with_the_same_files_and_nothing_lost(hub: TestHub):
    class PostgresSharedStore(SharedStore):
        """The machines of three members."""

        def transport(self, number: int) -> Transport:
            if number == 0:
                hub.empty()
            return hub.transport(("walt", "wilma", "vera")[number])

        def teardown(self) -> None:
            super().teardown()
            hub.close()

    examples = settings().max_examples // 25
    run_state_machine_as_test(PostgresSharedStore, settings=settings(max_examples=examples, stateful_step_count=20))


def _put_back(hub: TestHub, tables: dict[str, list[tuple[object, ...]]], number: object) -> None:
    """Give the hub the files that it had before the first kill."""
    hub.empty()
    for table, rows in tables.items():
        _insert(hub, table, rows)
    hub.rows("UPDATE onrecord.teams SET number = %s WHERE name = 'platform'", number)


def _insert(hub: TestHub, table: str, rows: list[tuple[object, ...]]) -> None:
    for row in rows:
        hub.rows(f"INSERT INTO onrecord.{table} ({COLUMNS}) VALUES ({', '.join(['%s'] * len(row))})", *row)
